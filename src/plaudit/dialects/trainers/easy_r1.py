"""EasyR1 rewards: `compute_score(reward_inputs)` of many dicts, or `compute_score(reward_input)` of one.

A dict holds `response`, `response_length` and `ground_truth`; the result has the reward as `overall`, the other numbers
are logged. Files for its earlier releases take `(predict_str, ground_truth)` or both in the plural.
"""

from collections.abc import Collection
from functools import partial
from operator import attrgetter
from typing import Any

from plaudit.contract.binding import Convention, Lookup, own_values
from plaudit.dialects.dialect import (
    Dialect,
    ForeignReward,
    System,
    parameters,
    read_result,
    required_names,
    truth_as_text,
)
from plaudit.trajectory import Trajectory

__all__ = ["SYSTEM"]


def _input(trajectory: Trajectory) -> dict[str, Any]:
    """EasyR1's dict of a sample; the length counts tokens, or words where the sample has no tokens."""
    length = len(trajectory.response.split()) if trajectory.tokens is None else len(trajectory.tokens)
    return {
        **own_values(trajectory),
        "response": trajectory.response,
        "response_length": length,
        "ground_truth": truth_as_text(trajectory),
    }


_NAMES: dict[str, Lookup] = {
    "reward_input": _input,
    "predict_str": attrgetter("response"),
    "predict": attrgetter("response"),
    "ground_truth": truth_as_text,
}
_PLURALS = {f"{name}s": lookup for name, lookup in _NAMES.items()}
_CONVENTION = Convention(_NAMES, _PLURALS, fills_columns=False)


def _matches(candidate: Any, *, names: Collection[str]) -> bool:
    """Whether the first parameter is EasyR1's, and an earlier form needs nothing but the ground truth besides."""
    asked = parameters(candidate)
    of_dicts, *predictions, truth = names
    first = next(iter(asked), "")
    return first == of_dicts or (first in predictions and required_names(asked) == {first, truth})


_TO_REWARD = partial(ForeignReward, convention=_CONVENTION, read=partial(read_result, key="overall"))
SYSTEM = System(
    name="easy_r1",
    title="EasyR1",
    distribution="",
    shape="`compute_score(reward_inputs)` of dicts with `response` and `ground_truth`; the reward is `overall`",
    dialects=(
        Dialect("EasyR1 function", _TO_REWARD, partial(_matches, names=_NAMES)),
        Dialect("EasyR1 batch function", _TO_REWARD, partial(_matches, names=_PLURALS)),
    ),
    packages=frozenset({"mathruler"}),
)
