"""Reward output that a program can read: JSON (with JSON Schema), XML, markdown, a code block.

Judges structure alone; whether the content is right is for another reward to say.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from plaudit.contract.function import RewardFunction
from plaudit.contract.output import RewardOutput
from plaudit.errors import InvalidSettings
from plaudit.settings import as_text_tuple, check_choice, set_field
from plaudit.trajectory import Trajectory
from plaudit.verify.structure import Finding, check_code, check_json, check_markdown, check_schema, check_xml

__all__ = ["StructuredOutputReward"]


@dataclass(frozen=True, repr=False)
class StructuredOutputReward(RewardFunction):
    """1.0 when the response is well-formed "json", "xml", "markdown" or "code", else 0.0.

    `schema` (json) is a JSON Schema; `required_tags` (xml) and `required_headings` (markdown) must be there with text
    in them; `language` (code) is what the block must be marked as.
    """

    format: str = "json"
    schema: Mapping[str, Any] | None = field(default=None, hash=False)
    required_tags: Sequence[str] = ()
    required_headings: Sequence[str] = ()
    language: str | None = None

    bounds = (0.0, 1.0)
    deterministic = True

    def __post_init__(self) -> None:
        check_choice("format", self.format, CHECKS)
        for name in ("required_tags", "required_headings"):
            set_field(self, name, as_text_tuple(name, getattr(self, name)))
        for name, belongs in OPTIONS.items():
            if getattr(self, name) and belongs != self.format:
                raise InvalidSettings(f"{name} belongs to format={belongs!r}, got format={self.format!r}")
        if self.schema is not None:
            check_schema(self.schema)

    def compute_reward(self, trajectory: Trajectory) -> RewardOutput:
        finding = CHECKS[self.format](self, trajectory.response)
        return RewardOutput(1.0 if finding.ok else 0.0, reason=finding.reason)


CHECKS: dict[str, Callable[[StructuredOutputReward, str], Finding]] = {
    "json": lambda reward, response: check_json(response, reward.schema),
    "xml": lambda reward, response: check_xml(response, reward.required_tags),
    "markdown": lambda reward, response: check_markdown(response, reward.required_headings),
    "code": lambda reward, response: check_code(response, reward.language),
}
OPTIONS = {"schema": "json", "required_tags": "xml", "required_headings": "markdown", "language": "code"}
