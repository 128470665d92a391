"""ms-swift rewards: ORM classes, called with text completions and the columns of the data, and registered in `orms`."""

import logging
from typing import Any

from plaudit.dialects.completions import TextCompletionsReward, is_completions_class
from plaudit.dialects.dialect import Dialect
from plaudit.dialects.standins import Packages

__all__ = ["DIALECTS", "STAND_INS"]


class ORM:
    """The base of outcome rewards: define `__call__(completions, **columns)`, sync or async."""

    def __init__(self, args: Any = None, **keywords: Any) -> None:
        self.args = args

    def __call__(self, **keywords: Any) -> list[float]:
        raise NotImplementedError


_REWARDS: dict[str, object] = {"ORM": ORM, "AsyncORM": ORM, "orms": {}, "rm_plugins": {}, "prms": {}}

DIALECTS = (
    Dialect("swift", "ms-swift ORM", frozenset({"swift"}), TextCompletionsReward, resembles=is_completions_class),
)
STAND_INS: Packages = {
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
}
