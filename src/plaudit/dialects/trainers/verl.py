"""verl rewards: `compute_score(data_source, solution_str, ground_truth, extra_info)`, or all four in the plural.

They return a number, or a dict whose `score` is the reward and whose other keys are logged.
"""

from functools import partial
from operator import attrgetter

from plaudit.contract.binding import Convention, Lookup, own_values
from plaudit.dialects.dialect import (
    Dialect,
    ForeignReward,
    System,
    asks_for,
    read_result,
    truth_as_text,
)

__all__ = ["SYSTEM"]

_SOLUTIONS = ("solution_str", "model_output")
_ARGUMENTS: dict[str, Lookup] = {
    "data_source": lambda trajectory: trajectory.task or own_values(trajectory).get("data_source", ""),
    **dict.fromkeys(_SOLUTIONS, attrgetter("response")),
    "ground_truth": truth_as_text,
    "extra_info": own_values,
}
_PLURALS = {f"{name}s": lookup for name, lookup in _ARGUMENTS.items()}
_CONVENTION = Convention(_ARGUMENTS, _PLURALS, fills_columns=False)

_TO_REWARD = partial(ForeignReward, convention=_CONVENTION, read=read_result)
SYSTEM = System(
    name="verl",
    title="verl",
    distribution="verl",
    shape="`compute_score(data_source, solution_str, ground_truth, extra_info)`, or in the plural",
    dialects=(
        Dialect("verl function", _TO_REWARD, asks_for(_CONVENTION, *({name, "ground_truth"} for name in _SOLUTIONS))),
        Dialect("verl batch function", _TO_REWARD, asks_for(_CONVENTION, {"solution_strs", "ground_truths"})),
    ),
    stand_ins={"verl": {"verl": {}}},
)
