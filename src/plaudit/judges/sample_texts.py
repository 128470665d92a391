"""The texts of a sample that a judge is shown, within limits.

A text that is longer than the limit is refused, or its middle is left out with a note; it is never cut in silence.
"""

import json
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

from plaudit.errors import InvalidSettings, did_you_mean
from plaudit.judges.fence import remove_unseen
from plaudit.trajectory import Prompt, Trajectory, message_text

__all__ = ["Reading", "Refused", "SampleTexts"]

ReferenceUse: TypeAlias = Literal["auto", "required", "never"]
TooLong: TypeAlias = Literal["refuse", "truncate"]


class Refused(Exception):
    """The judge is not asked about a sample; the words say why."""


@dataclass(frozen=True, slots=True)
class SampleTexts:
    """Prompt and response of a sample, the reference where there is one, and how many characters were left out."""

    prompt: str
    response: str
    reference: str | None = None
    left_out: int = 0

    @property
    def is_empty(self) -> bool:
        """Whether the response shows a reader nothing."""
        return not remove_unseen(self.response).strip()

    @property
    def all(self) -> list[str]:
        """Every text that nobody vouches for."""
        return [self.prompt, self.response, *([] if self.reference is None else [self.reference])]


@dataclass(frozen=True, slots=True)
class Reading:
    """How samples are read: whether the ground truth is shown as a reference, and how long a text may be."""

    reference: ReferenceUse = "auto"
    max_chars: int = 60_000
    too_long: TooLong = "refuse"

    def __post_init__(self) -> None:
        for name, value, choices in (
            ("reference", self.reference, get_args(ReferenceUse)),
            ("too_long", self.too_long, get_args(TooLong)),
        ):
            if value not in choices:
                hint = did_you_mean(str(value), choices)
                raise InvalidSettings(f"{name} is one of {', '.join(choices)}, got {value!r}{hint}")
        if type(self.max_chars) is not int or self.max_chars < 100:
            raise InvalidSettings(f"max_chars is a whole number of at least 100, got {self.max_chars!r}")

    def read(self, trajectory: Trajectory) -> SampleTexts:
        """The texts of a sample; Refused where it cannot be shown as it is."""
        reference = None if self.reference == "never" else _as_text(trajectory.ground_truth)
        if reference is None and self.reference == "required":
            raise Refused("there is no ground truth, and the judge needs one as its reference")
        given = {"prompt": _prompt_text(trajectory.prompt), "response": trajectory.response}
        if reference is not None:
            given["reference"] = reference
        kept = {name: self._limit(name, text) for name, text in given.items()}
        left_out = sum(max(0, len(text) - self.max_chars) for text in given.values())
        return SampleTexts(kept["prompt"], kept["response"], kept.get("reference"), left_out)

    def _limit(self, name: str, text: str) -> str:
        if len(text) <= self.max_chars:
            return text
        if self.too_long == "refuse":
            raise Refused(
                f"the {name} has {len(text):,} characters, more than max_chars={self.max_chars}; the judge was not "
                "asked (too_long='truncate' shows it without its middle)"
            )
        half = self.max_chars // 2
        note = f"[{len(text) - 2 * half:,} characters are left out here]"
        return f"{text[:half]}\n{note}\n{text[-half:]}"


def _prompt_text(prompt: Prompt) -> str:
    """The prompt as text; of a chat each message with its role, which is a word of the data like any other."""
    if isinstance(prompt, str):
        return prompt
    return "\n\n".join(f"[{message['role']}] {message_text(message)}" for message in prompt)


def _as_text(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, default=str)
