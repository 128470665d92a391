"""Read the return value of a function: one checked output per sample, or an error message."""

from collections.abc import Sequence
from typing import Any

from msgspec.structs import force_setattr

from plaudit.contract.alignment import check_lengths
from plaudit.contract.failures import describe_failure, passed_on
from plaudit.contract.output import RewardOutput, Status, as_number
from plaudit.errors import InvalidOutput
from plaudit.jsonline import as_plain
from plaudit.trajectory import Trajectory

RETURNED_NONE = "the reward returned None; a sample is scored if it returns a number"


class NotOnePerSample(InvalidOutput):
    """A function written for batches did not return one value per sample."""


def as_output(value: Any, trajectory: Trajectory, seconds: float | None = None, pure: bool = False) -> RewardOutput:
    """The checked output for a function's return value for one sample, with its latency.

    The output of a `pure` reward is not shared, and therefore not copied unless it has metadata to be made plain.
    """
    if value is None:
        return RewardOutput(None, status=Status.SKIPPED, reason=RETURNED_NONE, latency_s=seconds)
    if isinstance(value, RewardOutput):
        output = value if pure and not (value.metadata or value.components) else _own_output(value)
        check_lengths(output, trajectory)
        if output.latency_s is None:
            force_setattr(output, "latency_s", seconds)
        return output
    return RewardOutput(as_number("reward", value), latency_s=seconds)


def _own_output(output: RewardOutput) -> RewardOutput:
    """A checked copy that holds only plain data, with metadata as in a rollouts file.

    The function may keep its object and change it later, and no code of the user runs where an output is read.
    """
    components = output.components
    if type(output) is RewardOutput and not components and output.token_rewards is None:  # only metadata can change
        copied: RewardOutput = output.__copy__()  # type: ignore[attr-defined]  # of every msgspec.Struct
        force_setattr(copied, "metadata", as_plain(output.metadata) if output.metadata else {})
        return copied
    if isinstance(components, dict) and components:
        components = {
            name: _own_output(part) if isinstance(part, RewardOutput) else part for name, part in components.items()
        }
    fields = {name: getattr(output, name) for name in RewardOutput.__struct_fields__}
    return RewardOutput(**fields | {"metadata": as_plain(output.metadata), "components": components})


def read_batch(
    name: str, values: Any, samples: Sequence[Trajectory], seconds: float, pure: bool = False
) -> list[RewardOutput]:
    """The checked outputs for a function's return value for a batch; each value is checked separately."""
    each_s = seconds / len(samples) if samples else 0.0
    outputs = []
    for value, sample in zip(listed(values, len(samples)), samples, strict=True):
        try:
            outputs.append(as_output(value, sample, each_s, pure))
        except passed_on():
            raise
        except BaseException as error:  # noqa: BLE001 - a value's __float__ and __repr__ are the user's code
            outputs.append(describe_failure(name, error, each_s))
    return outputs


def listed(values: Any, count: int, what: str = "it returned") -> list[Any]:
    """The values of a batch result, which is one list, tuple or array with a value per sample; `what` begins errors."""
    if not isinstance(values, list | tuple) and not (is_array(values) and values.ndim):
        raise NotOnePerSample(
            f"{what} {_what(values)} for {count} samples; return one list, tuple or array with a value per sample, or "
            "declare that a call takes one sample: max_batch=1 (--max-batch 1)"
        )
    rows = list(values)
    if len(rows) != count:
        raise NotOnePerSample(f"{what} {len(rows)} values for {count} samples; return one per sample")
    return rows


def is_array(value: Any) -> bool:
    """Whether a value is an array or a tensor, which may have no dimension."""
    return hasattr(value, "__array__") and hasattr(value, "ndim")


def _what(value: Any) -> str:
    if value is None:
        return "None"
    kind = type(value).__name__
    return f"an {kind}" if kind[0] in "aeiou" else f"a {kind}"
