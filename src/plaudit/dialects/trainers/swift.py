"""ms-swift rewards: ORM classes, called with text completions and the columns of the data, and registered in `orms`."""

import logging
from functools import partial
from typing import Any

from plaudit.contract.binding import PerCall
from plaudit.dialects.completions import completions_reward, is_completions_class, trainer_state
from plaudit.dialects.dialect import Dialect, System

__all__ = ["SYSTEM"]


class ORM:
    """The base of outcome rewards: define `__call__(completions, **columns)`, sync or async."""

    def __init__(self, args: Any = None, **keywords: Any) -> None:
        self.args = args

    def __call__(self, **keywords: Any) -> list[float]:
        raise NotImplementedError


_OF_SWIFT: dict[str, PerCall] = {
    "trainer_state": trainer_state,
    "messages": lambda trajectories: [trajectory.messages for trajectory in trajectories],
}
_REWARDS: dict[str, object] = {"ORM": ORM, "AsyncORM": ORM, "orms": {}, "rm_plugins": {}, "prms": {}}


SYSTEM = System(
    name="swift",
    title="ms-swift",
    distribution="ms-swift",
    shape="ORM class with `__call__(completions, **columns)`",
    dialects=(
        Dialect(
            "ms-swift ORM",
            partial(completions_reward, form="text", per_call=_OF_SWIFT),
            matches_if_imported=is_completions_class,
        ),
    ),
    stand_ins={
        "swift": {
            "swift.rewards": _REWARDS,
            "swift.rewards.orm": _REWARDS,
            "swift.plugin": _REWARDS,
            "swift.plugin.orm": _REWARDS,
            "swift.plugin.multi_turn": {"multi_turns": {}},
            "swift.rollout.multi_turn": {"multi_turns": {}},
            "swift.rollout.gym_env": {"envs": {}, "context_managers": {}},
            "swift.utils": {"get_logger": logging.getLogger},
        }
    },
)
