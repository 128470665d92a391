"""What comes of calling a reward directly, outside `plaudit.score`: failures raise."""

from typing import Any

from plaudit.contract.output import RewardOutput, Status
from plaudit.contract.waiting import complete
from plaudit.errors import InvalidOutput, ScoringFailed

__all__ = ["only", "raised", "settled"]


def raised(outputs: list[RewardOutput]) -> list[RewardOutput]:
    """The outputs, unless one failed: then ScoringFailed tells of the first."""
    failed = [output for output in outputs if output.status is Status.ERROR]
    if failed:
        more = f" (and {len(failed) - 1} more samples)" if len(failed) > 1 else ""
        raise ScoringFailed(f"{failed[0].reason}{more}; plaudit.score(...) returns failures as data instead")
    return outputs


def settled(value: Any) -> Any:
    """What a method returned, awaited where it is async."""
    return complete(value) if hasattr(value, "__await__") else value


def only(values: Any) -> Any:
    """The one value of a batch of one sample."""
    listed = list(values)
    if len(listed) != 1:
        raise InvalidOutput(f"it returned {len(listed)} values for 1 sample; give one per sample")
    return listed[0]
