"""What the calls behind some outputs cost, as far as the endpoint reports it.

A reward reports it as `metadata={"usage": {...}}`, in the words of OpenAI's or Anthropic's answers. Where an output and
its components report the same call (a normalised reward keeps its raw output), the outermost report counts.
"""

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Any

from plaudit.contract.output import RewardOutput

__all__ = ["Usage"]

_PROMPT = ("prompt_tokens", "input_tokens")
_RESPONSE = ("completion_tokens", "output_tokens")


@dataclass(frozen=True, slots=True)
class Usage:
    """Sums over calls: `Usage.of(outputs)`, or `a + b`; `reported` counts the outputs that report their usage."""

    attempts: int = 0
    waited_s: float = 0.0
    reported: int = 0
    prompt_tokens: int = 0
    response_tokens: int = 0
    total_tokens: int = 0
    cost: float = 0.0

    @classmethod
    def of(cls, outputs: Iterable[RewardOutput]) -> "Usage":
        """The sum over all outputs and their components."""
        total = cls()
        for output in outputs:
            for metadata in _reports(output):
                total += cls._from_metadata(metadata)
        return total

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(*(getattr(self, field.name) + getattr(other, field.name) for field in fields(self)))

    @classmethod
    def _from_metadata(cls, metadata: Mapping[str, Any]) -> "Usage":
        reported = metadata.get("usage")
        usage = reported if isinstance(reported, Mapping) else {}
        prompt, response = int(_number(usage, *_PROMPT)), int(_number(usage, *_RESPONSE))
        return cls(
            attempts=int(_number(metadata, "attempts")),
            waited_s=_number(metadata, "waited_s"),
            reported=int(bool(usage)),
            prompt_tokens=prompt,
            response_tokens=response,
            total_tokens=int(_number(usage, "total_tokens")) or prompt + response,
            cost=_number(usage, "cost"),
        )


def _reports(output: RewardOutput) -> Iterator[Mapping[str, Any]]:
    if "usage" in output.metadata or "attempts" in output.metadata:
        yield output.metadata
        return
    for component in output.components.values():
        yield from _reports(component)


def _number(values: Mapping[str, Any], *names: str) -> float:
    """The first of the named values that is a number; what an endpoint leaves out or garbles counts as 0."""
    for name in names:
        value = values.get(name)
        if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value):
            return value
    return 0.0
