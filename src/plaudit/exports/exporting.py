"""Export a reward to another trainer: `plaudit.export("rewards.py:quality", "trl")`.

Inside that trainer it still uses the engine: enforced deadlines, worker processes, statuses, a cache.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from plaudit.columns import ColumnMapping
from plaudit.contract.combination import component_names_of
from plaudit.contract.function import RewardFunction, RewardLike
from plaudit.engine.backends.backend import Limits
from plaudit.engine.scorer import Scorer
from plaudit.engine.shipping import Shipment
from plaudit.errors import InvalidSettings, did_you_mean
from plaudit.exports import completions, environments, functions
from plaudit.exports.convention import Export, Grouping
from plaudit.exports.exported import ExportedReward, ExportSettings, OnUnscored
from plaudit.exports.shim import shim_text, usage_lines
from plaudit.loading import load

DEADLINE_S = 10.0
GROUP_WAIT_S = 60.0
_ALL = (*completions.EXPORTS, *environments.EXPORTS, *functions.EXPORTS)
EXPORTS: dict[str, Export] = {export.name: export for export in sorted(_ALL, key=lambda each: each.name)}
"""All exports by name: `verl`, `verl:batch`, …"""


def export(
    reward: RewardLike | str,
    trainer: str,
    *,
    on_unscored: str | None = None,
    backend: str = "processes",
    workers: int | None = None,
    deadline_s: float | None = DEADLINE_S,
    cache: str | None = None,
    columns: Mapping[str, str] | None = None,
    group_size: int | None = None,
    group_wait_s: float = GROUP_WAIT_S,
) -> ExportedReward:
    """The reward as `trainer` calls it, e.g. for `GRPOTrainer(reward_funcs=export("math", "trl"))`.

    `on_unscored` says what the trainer is given for a sample without a number: "none", "nan", "mean" (of its group),
    "mask" or "raise"; each trainer has a safe default and refuses what would spoil its batch. `columns` says which
    column of the data holds a field, e.g. `{"ground_truth": "expected"}`; usual names are found without it. A reward of
    groups needs their size. The object can be pickled into other processes, where it starts its workers.
    """
    form = _find_export(trainer)
    loaded = load(reward)
    _check_scope(loaded, form, group_size)
    limits = Limits(None if backend == "inline" else deadline_s)
    recipe = ScorerRecipe(
        reward, {"backend": backend, "workers": workers, "deadline_s": limits.deadline_s, "cache": cache}
    )
    settings = ExportSettings(
        name=loaded.name,
        convert=form.convert,
        build_scorer=recipe,
        on_unscored=_policy(on_unscored, form),
        takes_none=OnUnscored.NONE in form.policies,
        columns=ColumnMapping(dict(columns or {})),
        group_size=group_size if loaded.scope != "sample" else None,
        group_wait_s=group_wait_s,
        components=tuple(component_names_of(loaded)),
    )
    return form.build(settings)


@dataclass(frozen=True, slots=True)
class Shim:
    """A written shim: the file, and the lines that make the trainer use it."""

    file: Path
    usage: str


def write_shim(reward: str, trainer: str, file: Path, **options: Any) -> Shim:
    """Write a file that builds the reward of a spec for a trainer; the options are those of `export`."""
    form = _find_export(trainer)
    chosen = {name: value for name, value in options.items() if value is not None}
    exported = export(reward, trainer, **chosen)
    name = exported.__name__
    if not name.isidentifier():
        raise InvalidSettings(f"the reward is called {name!r}, which cannot be a name in Python: give it another name")
    options = {"on_unscored": exported.settings.on_unscored.value, **chosen}
    command = f"plaudit export {reward!r} {trainer} -o {file.name}"
    text = shim_text(form, reward, file, name=name, options=options, command=command)
    file.write_text(text, encoding="utf-8")
    return Shim(file, usage_lines(form, name, file))


class ScorerRecipe:
    """The arguments that build a scorer, here or in the process that unpickles them."""

    def __init__(self, reward: RewardLike | str, options: Mapping[str, Any]) -> None:
        self.reward, self.options = reward, options

    def __call__(self) -> Scorer:
        reward = self.reward.as_given() if isinstance(self.reward, Shipment) else self.reward
        return Scorer(reward, **self.options)

    def __reduce__(self) -> tuple[Any, ...]:
        reward = self.reward if isinstance(self.reward, Shipment | str) else Shipment.of(self.reward)
        return ScorerRecipe, (reward, self.options)


def _find_export(trainer: str) -> Export:
    if trainer not in EXPORTS:
        hint = did_you_mean(trainer, EXPORTS)
        raise InvalidSettings(f"no export for {trainer!r}{hint} (there are {', '.join(EXPORTS)})")
    return EXPORTS[trainer]


def _check_scope(reward: RewardFunction, form: Export, group_size: int | None) -> None:
    if reward.scope == "sample":
        return
    if form.grouping is Grouping.NEVER:
        others = [name for name, other in EXPORTS.items() if other.system == form.system and other is not form]
        instead = f"; export it as {' or '.join(others)}" if others else ""
        raise InvalidSettings(
            f"{reward.name} looks at a {reward.scope} at once, and {form.title} gives this form single samples, in "
            f"several processes{instead}"
        )
    if reward.scope == "batch" and form.grouping is Grouping.COLLECTED:
        raise InvalidSettings(
            f"{reward.name} looks at a batch at once, and {form.title} gives it single samples, of which only "
            "groups can be collected"
        )
    if group_size is None:
        raise InvalidSettings(
            f"{reward.name} looks at a {reward.scope} at once, and {form.title} may give it part of one: say "
            "group_size= (--group-size)"
        )


def _policy(on_unscored: str | None, form: Export) -> OnUnscored:
    if on_unscored is None:
        return form.policies[0]
    if on_unscored not in form.policies:
        hint = did_you_mean(on_unscored, form.policies)
        raise InvalidSettings(
            f"on_unscored for {form.title} is one of {', '.join(form.policies)}, got {on_unscored!r}{hint}"
        )
    return OnUnscored(on_unscored)
