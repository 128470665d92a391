"""Take a reward to another trainer: `plaudit.export("rewards.py:quality", "trl")`.

Inside that trainer it keeps what the engine gives: deadlines that kill, worker processes, statuses.
"""

from functools import partial

from plaudit.contract.function import Rewarding
from plaudit.dialects import DIALECTS
from plaudit.dialects.export import ExportedReward, OnUnscored
from plaudit.engine.scorer import Scorer
from plaudit.errors import InvalidSettings, did_you_mean
from plaudit.loading import load

__all__ = ["export"]

DEADLINE_S = 10.0


def export(
    reward: Rewarding | str,
    trainer: str,
    *,
    on_unscored: str | None = None,
    backend: str = "processes",
    workers: int | None = None,
    deadline_s: float | None = DEADLINE_S,
    group_size: int | None = None,
) -> ExportedReward:
    """The reward as `trainer` calls it, e.g. for `GRPOTrainer(reward_funcs=export("math", "trl"))`.

    `on_unscored` says what the trainer is given for a sample without a number: "none", "nan", "mean" (of its group) or
    "raise"; each trainer has a safe default. A reward of groups needs their size. Give a spec where the object is to be
    pickled into other processes and the reward itself cannot be.
    """
    exporters = {dialect.name: dialect for dialect in DIALECTS if dialect.export is not None}
    if trainer not in exporters:
        hint = did_you_mean(trainer, exporters)
        raise InvalidSettings(f"no export for {trainer!r}{hint} (there is {', '.join(exporters)})")
    dialect = exporters[trainer]
    loaded = load(reward)
    if loaded.scope != "sample" and group_size is None:
        raise InvalidSettings(
            f"{loaded.name} looks at a {loaded.scope} at once, and {trainer} may give it part of one: say group_size="
        )
    deadline = None if backend == "inline" else deadline_s
    build = partial(Scorer, reward, backend=backend, workers=workers, deadline_s=deadline)
    policy = dialect.on_unscored if on_unscored is None else _policy(on_unscored)
    assert dialect.export is not None
    return dialect.export(loaded.name, build, policy, group_size)


def _policy(on_unscored: str) -> OnUnscored:
    if on_unscored not in set(OnUnscored):
        hint = did_you_mean(on_unscored, OnUnscored)
        raise InvalidSettings(f"on_unscored is one of {', '.join(OnUnscored)}, got {on_unscored!r}{hint}")
    return OnUnscored(on_unscored)
