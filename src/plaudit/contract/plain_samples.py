"""Samples that are no more than a prompt, a response and a truth, kept column by column.

A server reads hundreds of thousands of them a second for functions that look at a text or two: a trajectory is made of
one only when somebody asks for it.
"""

from collections.abc import Iterator, Sequence
from typing import Any, overload

from plaudit.trajectory import Trajectory

__all__ = ["PLAIN_FIELDS", "PlainSamples"]

PLAIN_FIELDS = ("prompt", "response", "ground_truth")


class PlainSamples(Sequence[Trajectory]):
    """A sequence of trajectories; `columns` has the values of each of `PLAIN_FIELDS`, one per sample."""

    __slots__ = ("columns",)

    def __init__(self, prompts: Sequence[str], responses: Sequence[str], ground_truths: Sequence[Any]) -> None:
        self.columns: tuple[Sequence[Any], ...] = (prompts, responses, ground_truths)

    def __len__(self) -> int:
        return len(self.columns[0])

    def __iter__(self) -> Iterator[Trajectory]:
        return map(Trajectory, *self.columns)

    @overload
    def __getitem__(self, place: int) -> Trajectory: ...
    @overload
    def __getitem__(self, place: slice) -> "PlainSamples": ...
    def __getitem__(self, place: int | slice) -> "Trajectory | PlainSamples":
        values: list[Any] = [column[place] for column in self.columns]
        return PlainSamples(*values) if isinstance(place, slice) else Trajectory(*values)
