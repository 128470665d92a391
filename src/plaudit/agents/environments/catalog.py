"""The built-in environments by name, and variants of them: `treasure_hunt(hints=False)`."""

import ast

from plaudit.agents.environment import Environment
from plaudit.agents.environments.calculator import Calculator
from plaudit.agents.environments.code_feedback import CodeFeedback
from plaudit.agents.environments.math_retries import MathRetries
from plaudit.agents.environments.number_guessing import NumberGuessing
from plaudit.agents.environments.treasure_hunt import TreasureHunt
from plaudit.errors import AgentError, did_you_mean

__all__ = ["ENVIRONMENTS", "build_environment"]

ENVIRONMENTS: dict[str, type[Environment]] = {
    "math_retries": MathRetries,
    "number_guessing": NumberGuessing,
    "calculator": Calculator,
    "code_feedback": CodeFeedback,
    "treasure_hunt": TreasureHunt,
}


def build_environment(spec: str) -> type[Environment] | None:
    """The class of a name, with settings in brackets where there are some; None for what is not a built-in name."""
    name, bracket, settings = spec.partition("(")
    if name not in ENVIRONMENTS:
        return None
    environment = ENVIRONMENTS[name]
    if not bracket:
        return environment
    return type(environment.__name__, (environment,), _read_settings(environment, spec, f"f({settings}"))


def _read_settings(environment: type[Environment], spec: str, call: str) -> dict[str, object]:
    try:
        node = ast.parse(call, mode="eval").body
        assert isinstance(node, ast.Call)
        if node.args:
            raise ValueError("settings are given by name")
        given = {str(keyword.arg): ast.literal_eval(keyword.value) for keyword in node.keywords}
    except (SyntaxError, ValueError, AssertionError) as error:
        raise AgentError(f"{spec}: write settings as name(setting=value): {error}") from None
    for setting, value in given.items():
        known = [name for name in _settings_of(environment) if name != "in_threads"]
        if setting not in known:
            raise AgentError(
                f"{spec}: no setting {setting!r}{did_you_mean(setting, known)} (there is {', '.join(known)})"
            )
        expected = type(getattr(environment, setting))
        if not isinstance(value, (int, float) if expected is float else expected):
            raise AgentError(f"{spec}: {setting} must be {expected.__name__}, got {value!r}")
    return given


def _settings_of(environment: type[Environment]) -> list[str]:
    plain = (bool, int, float, str)
    return [name for name, value in vars(environment).items() if not name.startswith("_") and isinstance(value, plain)]
