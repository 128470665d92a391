"""ms-swift rewards: ORM classes, called with text completions and the columns of the data, and registered in `orms`."""

import logging
from collections.abc import Sequence
from typing import Any

from plaudit.dialects.completions import TextCompletionsReward, is_completions_class, trajectories_of
from plaudit.dialects.dialect import Dialect, System
from plaudit.dialects.export import Export, ExportedReward, OnUnscored

__all__ = ["SYSTEM", "SwiftExport"]


class ORM:
    """The base of outcome rewards: define `__call__(completions, **columns)`, sync or async."""

    def __init__(self, args: Any = None, **keywords: Any) -> None:
        self.args = args

    def __call__(self, **keywords: Any) -> list[float]:
        raise NotImplementedError


_REWARDS: dict[str, object] = {"ORM": ORM, "AsyncORM": ORM, "orms": {}, "rm_plugins": {}, "prms": {}}


class SwiftReward(TextCompletionsReward):
    """An ORM object; `**columns` also hold the state of the trainer and the whole chat."""

    extras = ("trainer_state", "messages")


class SwiftExport(ExportedReward):
    """A reward for `--reward_funcs`: called with completions and the columns of the data; None leaves a sample out."""

    takes_nan = True

    def __call__(self, completions: Sequence[str], **columns: Any) -> list[float | None]:
        """One number per sample, None where there is none."""
        prompts = [_prompt(chat) for chat in columns.pop("messages", None) or [""] * len(completions)]
        trajectories = trajectories_of(prompts, completions, columns)
        self.check_groups(trajectories, "make the batch of a process a multiple of num_generations")
        return self.values(trajectories, self.score(trajectories))


def _prompt(chat: Any) -> Any:
    """The messages before the response, which ms-swift appends to them."""
    if isinstance(chat, list) and chat and chat[-1].get("role") == "assistant":
        return chat[:-1]
    return chat


_SETUP = """

class {title}(ORM):
    def __init__(self, args=None, **kwargs):
        super().__init__(args, **kwargs)
        self.reward = reward

    def __call__(self, completions, **columns):
        return self.reward(completions, **columns)


orms["{name}"] = {title}
"""
SYSTEM = System(
    name="swift",
    title="ms-swift",
    distribution="ms-swift",
    shape="ORM class with `__call__(completions, **columns)`",
    dialects=(Dialect("swift", "ms-swift ORM", frozenset({"swift"}), SwiftReward, resembles=is_completions_class),),
    exports=(
        Export(
            SwiftExport,
            (OnUnscored.NONE, OnUnscored.NAN, OnUnscored.MEAN, OnUnscored.RAISE),
            usage="swift rlhf --rlhf_type grpo … --external_plugins {argument} --reward_funcs {name}",
            imports="from swift.rewards import ORM, orms",
            setup=_SETUP,
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
