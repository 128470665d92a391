"""Predibase rewards: `reward(prompt, completion, example) -> float`, where `example` is the row of the data."""

from functools import partial
from operator import attrgetter

from plaudit.contract.binding import Convention, row_of
from plaudit.dialects.dialect import Dialect, ForeignReward, System, asks_for, read_result

__all__ = ["SYSTEM"]

_CONVENTION = Convention(
    names={
        "prompt": attrgetter("prompt_text"),
        "completion": attrgetter("response"),
        "example": lambda trajectory: {"prompt": trajectory.prompt_text, **row_of(trajectory)},
    },
    fills_columns=False,
)

SYSTEM = System(
    name="predibase",
    title="Predibase",
    distribution="predibase",
    shape="function of `(prompt, completion, example)`; `example` is the row",
    dialects=(
        Dialect(
            "Predibase function",
            partial(ForeignReward, convention=_CONVENTION, read=read_result),
            asks_for(_CONVENTION, {"completion", "example"}),
        ),
    ),
    packages=frozenset({"predibase"}),
)
