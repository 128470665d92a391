"""The built-in environments by name, and variants of them: `treasure_hunt(hints=False)`."""

import ast

import msgspec

from plaudit.agents.environment import Environment
from plaudit.agents.environments.calculator import Calculator
from plaudit.agents.environments.code_feedback import CodeFeedback
from plaudit.agents.environments.games import MathRetries, TreasureHunt
from plaudit.errors import AgentError, InvalidSettings
from plaudit.settings import check_keys

__all__ = ["ENVIRONMENTS", "build_environment"]

ENVIRONMENTS: dict[str, type[Environment]] = {
    "math_retries": MathRetries,
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
        settings = {str(keyword.arg): ast.literal_eval(keyword.value) for keyword in node.keywords}
    except (SyntaxError, ValueError, AssertionError) as error:
        raise AgentError(f"{spec}: write settings as name(setting=value): {error}") from None
    defaults = {
        name: value
        for name, value in vars(environment).items()
        if not name.startswith("_") and name != "in_threads" and isinstance(value, bool | int | float | str)
    }
    try:
        check_keys(settings, defaults, spec)
        for name, value in settings.items():
            msgspec.convert(value, type(defaults[name]))
    except InvalidSettings as error:
        raise AgentError(str(error)) from None
    except msgspec.ValidationError as error:
        raise AgentError(f"{spec}: {name}: {str(error).lower()}") from None
    return settings
