"""AReaL rewards: `f(prompt, completions, prompt_ids, completion_ids, **row) -> float`, one sample a call.

`completions` is one text in spite of its name, and the row's other columns are given by name.
"""

import inspect
import logging
from functools import partial
from operator import attrgetter
from types import SimpleNamespace
from typing import Any

from plaudit.contract.binding import Convention, row_of
from plaudit.dialects.dialect import Dialect, ForeignReward, System, parameters

__all__ = ["SYSTEM"]

_SHAPE = {"completions", "prompt_ids", "completion_ids"}


_CONVENTION = Convention(
    names={
        "prompt": attrgetter("prompt_text"),
        "prompts": attrgetter("prompt_text"),  # AReaL passes it by position, so files have either name
        "completions": attrgetter("response"),
        "prompt_ids": lambda trajectory: None,
        "completion_ids": lambda trajectory: None if trajectory.tokens is None else trajectory.tokens.ids,
    },
    rest=row_of,
)


def _matches(candidate: Any) -> bool:
    return set(parameters(candidate)) >= _SHAPE


def _matches_if_imported(candidate: Any) -> bool:
    """Whether a function of one completion leaves out the tokens, as those do that an agent calls."""
    return inspect.isroutine(candidate) and "completions" in parameters(candidate)


SYSTEM = System(
    name="areal",
    title="AReaL",
    distribution="areal",
    shape="function of `(prompt, completions, prompt_ids, completion_ids, **row)`",
    dialects=(
        Dialect("AReaL function", partial(ForeignReward, convention=_CONVENTION), _matches, _matches_if_imported),
    ),
    stand_ins={
        "areal": {
            "areal.utils": {"logging": SimpleNamespace(getLogger=lambda name=None, *_: logging.getLogger(name))},
        }
    },
)
