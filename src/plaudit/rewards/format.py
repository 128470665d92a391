"""Reward a required format: sections, patterns that must or must not appear, a closing statement.

Sections count only when they are whole: exactly once, in order, with something readable inside, not inside each other,
and nothing after the last. Patterns are used as written: one that backtracks without end does so here too.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from plaudit.checks.quality import match_format_exactly
from plaudit.contract.function import RewardFunction
from plaudit.contract.output import RewardOutput, Status
from plaudit.errors import InvalidSettings
from plaudit.settings import as_text_tuple, set_field
from plaudit.trajectory import Trajectory
from plaudit.verify.tags import find_faults

DEFAULT_SECTIONS = ("think", "answer")


@dataclass(frozen=True, repr=False)
class FormatReward(RewardFunction):
    """1.0 when every section and pattern asked for is there, else 0.0; by default <think> and then <answer>.

    Where only patterns are given, no sections are asked for. `partial=True` gives the share of what was asked for; a
    forbidden pattern is 0.0 in any case. Flux's `FormatReward()` differs: without patterns it gives 1.0 to everything,
    and with patterns the share of those that occur.
    """

    required_sections: Sequence[str] | None = None
    required_patterns: Sequence[str] = ()
    forbidden_patterns: Sequence[str] = ()
    partial: bool = False
    sections: tuple[str, ...] = field(init=False, repr=False)
    required: tuple[re.Pattern[str], ...] = field(init=False, repr=False)
    forbidden: tuple[re.Pattern[str], ...] = field(init=False, repr=False)

    bounds = (0.0, 1.0)
    deterministic = True
    pure = True

    def __post_init__(self) -> None:
        for name in ("required_patterns", "forbidden_patterns"):
            set_field(self, name, as_text_tuple(name, getattr(self, name)))
        sections = self.required_sections
        if sections is None:
            sections = () if self.required_patterns or self.forbidden_patterns else DEFAULT_SECTIONS
        else:
            set_field(self, "required_sections", as_text_tuple("required_sections", sections))
        set_field(self, "sections", tuple(sections))
        set_field(self, "required", tuple(_compile(pattern) for pattern in self.required_patterns))
        set_field(self, "forbidden", tuple(_compile(pattern) for pattern in self.forbidden_patterns))

    def compute_reward(self, trajectory: Trajectory) -> RewardOutput:
        response = trajectory.response
        forbidden = next((pattern.pattern for pattern in self.forbidden if pattern.search(response)), None)
        if forbidden is not None:
            return RewardOutput(0.0, reason=f"forbidden pattern {forbidden!r} appears")
        count = len(self.sections) + len(self.required)
        faults = [str(fault) for fault in find_faults(response, self.sections)] if self.sections else []
        faults += [
            f"pattern {pattern.pattern!r} is missing" for pattern in self.required if not pattern.search(response)
        ]
        if not faults:
            return RewardOutput(1.0 if response.strip() else 0.0, reason="as asked" if response.strip() else "empty")
        value = 1.0 - len(faults) / count if self.partial else 0.0
        return RewardOutput(value, reason="; ".join(faults))


def _compile(pattern: str) -> re.Pattern[str]:
    try:
        return re.compile(pattern, re.DOTALL | re.MULTILINE)
    except re.error as error:
        raise InvalidSettings(f"{pattern!r} is not a regular expression: {error}") from None


_TEMPLATE_COLUMNS = ("expected_format", "format")
_REASONS = {1.0: "closes with", 0.5: "partly fits", 0.0: "does not fit"}


@dataclass(frozen=True, repr=False)
class TemplateReward(RewardFunction):
    """1.0 when the response closes with the template's statement, 0.5 for a partial match, else 0.0.

    Templates hold the placeholders `[NUM]`, `[WORD]` and `[TEXT]`: "The answer is [NUM]." Without `expected_format`,
    each sample brings its own as the column or metadata `expected_format` or `format`.
    """

    expected_format: str | None = None

    bounds = (0.0, 1.0)
    deterministic = True
    pure = True

    def __post_init__(self) -> None:
        if self.expected_format is not None and not str(self.expected_format).strip():
            raise InvalidSettings("expected_format is empty; give a template like 'The answer is [NUM].'")

    def compute_reward(self, trajectory: Trajectory) -> RewardOutput:
        template = self.expected_format or _own_template(trajectory)
        if not isinstance(template, str) or not template.strip():
            reason = "no template: give expected_format, or a column or metadata of that name"
            return RewardOutput.unscored(Status.SKIPPED, reason)
        value = match_format_exactly(trajectory.response, template)
        return RewardOutput(value, reason=f"{_REASONS[value]} {template!r:.80}")


def _own_template(trajectory: Trajectory) -> object:
    sources = (trajectory.columns, trajectory.metadata)
    return next((source[name] for name in _TEMPLATE_COLUMNS for source in sources if source.get(name)), None)
