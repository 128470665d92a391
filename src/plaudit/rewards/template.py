"""Reward a response that closes with the statement a template asks for.

Templates hold the placeholders `[NUM]`, `[WORD]` and `[TEXT]`: "The answer is [NUM]."
"""

from dataclasses import dataclass

from plaudit.checks.form import match_format_exactly
from plaudit.contract.function import RewardFunction
from plaudit.contract.output import RewardOutput, Status
from plaudit.errors import InvalidReward
from plaudit.trajectory import Trajectory

__all__ = ["TemplateReward"]

COLUMNS = ("expected_format", "format")
_REASONS = {1.0: "closes with", 0.5: "partly fits", 0.0: "does not fit"}


@dataclass(frozen=True, repr=False)
class TemplateReward(RewardFunction):
    """1.0 when the response closes with the template's statement, 0.5 for a partial match, else 0.0.

    Without `expected_format`, each sample brings its own as the column or metadata `expected_format` or `format`.
    """

    expected_format: str | None = None

    bounds = (0.0, 1.0)

    def __post_init__(self) -> None:
        if self.expected_format is not None and not str(self.expected_format).strip():
            raise InvalidReward("expected_format is empty; give a template like 'The answer is [NUM].'")

    def compute_reward(self, trajectory: Trajectory) -> RewardOutput:
        template = self.expected_format or _own_template(trajectory)
        if not isinstance(template, str) or not template.strip():
            reason = "no template: give expected_format, or a column or metadata of that name"
            return RewardOutput.unscored(Status.SKIPPED, reason)
        value = match_format_exactly(trajectory.response, template)
        return RewardOutput(value, reason=f"{_REASONS[value]} {template!r:.80}")


def _own_template(trajectory: Trajectory) -> object:
    sources = (trajectory.columns, trajectory.metadata)
    return next((source[name] for name in COLUMNS for source in sources if source.get(name)), None)
