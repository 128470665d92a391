"""Call a plain function with what it asks for, by the names of its parameters.

A parameter is a field of the trajectory (`response`, `ground_truth`, `messages`, …), a column of the data set, a key of
the metadata, or a usual foreign name of a field (`answer`). A function that asks for plurals (`responses`,
`ground_truths`, `trajectories`) is given whole batches as lists.
"""

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

from plaudit.columns import our_name
from plaudit.contract.plain_samples import PLAIN_FIELDS, PlainSamples
from plaudit.errors import InvalidSettings, InvalidTrajectory, did_you_mean
from plaudit.trajectory import Trajectory

__all__ = ["Binding"]

FIELDS: tuple[str, ...] = (*Trajectory.FIELDS, "columns", "messages", "prompt_text")
PLURALS: dict[str, str] = {
    "trajectories": "trajectory", "prompts": "prompt", "responses": "response", "ground_truths": "ground_truth",
}  # fmt: skip

_MISSING = inspect.Parameter.empty
Lookup = Callable[[Trajectory], Any]


@dataclass(frozen=True, slots=True)
class Binding:
    """How to call one function: where each argument comes from, and whether it wants whole batches."""

    function: Callable[..., Any]
    positional: tuple[Lookup, ...]
    keywords: tuple[tuple[str, Lookup], ...]
    takes_columns: bool
    plain_fields: tuple[int, ...] | None
    """What is asked for, as places among `PLAIN_FIELDS`, where that is all."""
    batched: bool
    is_async: bool

    @classmethod
    def of(cls, function: Callable[..., Any], *, plurals: Mapping[str, str] = PLURALS) -> "Binding":
        """Read a function's parameters once, so that calling it later costs little; `plurals` ask for lists."""
        parameters = _parameters(function)
        plain = [p for p in parameters if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
        if not plain:
            raise InvalidSettings(
                f"{_name(function)} takes no parameter that plaudit could fill; ask for any of {', '.join(FIELDS)}, "
                "trajectory, or a column of your data"
            )
        batched = any(p.name in plurals for p in plain)
        is_plain = all(p.name in PLAIN_FIELDS and p.kind is not p.KEYWORD_ONLY for p in parameters)
        lookups = [(p, _lookup(plurals.get(p.name, p.name) if batched else p.name, p.default)) for p in plain]
        return cls(
            function=function,
            positional=tuple(lookup for p, lookup in lookups if p.kind is not p.KEYWORD_ONLY),
            keywords=tuple((p.name, lookup) for p, lookup in lookups if p.kind is p.KEYWORD_ONLY),
            takes_columns=any(p.kind is p.VAR_KEYWORD for p in parameters),
            plain_fields=tuple(PLAIN_FIELDS.index(p.name) for p in plain) if is_plain else None,
            batched=batched,
            is_async=inspect.iscoroutinefunction(inspect.unwrap(function))
            or inspect.iscoroutinefunction(getattr(function, "__call__", None)),  # noqa: B004 - its kind, not its presence
        )

    def call(self, trajectory: Trajectory) -> Any:
        """Call a per-sample function for one sample."""
        if self.keywords or self.takes_columns:
            return self._call_with_keywords(trajectory)
        if len(self.positional) == 1:  # as many are written, and a comprehension costs more than they do
            return self.function(self.positional[0](trajectory))
        return self.function(*[lookup(trajectory) for lookup in self.positional])

    def call_plainly(self, samples: PlainSamples) -> Iterator[Any] | None:
        """Call a per-sample function for one sample after the other; None where it asks for more than there is."""
        if self.plain_fields is None:
            return None
        return map(self.function, *[samples.columns[field] for field in self.plain_fields])

    def _call_with_keywords(self, trajectory: Trajectory) -> Any:
        arguments = [lookup(trajectory) for lookup in self.positional]
        keywords = {name: lookup(trajectory) for name, lookup in self.keywords}
        return self.function(*arguments, **(self._columns(trajectory) if self.takes_columns else {}), **keywords)

    def call_batch(self, trajectories: Sequence[Trajectory]) -> Any:
        """Call a batched function for many samples."""
        arguments = [_column(lookup, trajectories) for lookup in self.positional]
        keywords = {name: _column(lookup, trajectories) for name, lookup in self.keywords}
        if self.takes_columns:
            each = [self._columns(trajectory) for trajectory in trajectories]
            names = dict.fromkeys(name for columns in each for name in columns)
            keywords |= {name: [columns.get(name) for columns in each] for name in names}
        return self.function(*arguments, **keywords)

    def _columns(self, trajectory: Trajectory) -> dict[str, Any]:
        named = set(inspect.signature(self.function).parameters)
        return {name: value for name, value in trajectory.columns.items() if name not in named}


def _parameters(function: Callable[..., Any]) -> list[inspect.Parameter]:
    try:
        return list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        raise InvalidSettings(
            f"the parameters of {_name(function)} cannot be read; wrap it: def my_reward(response): ..."
        ) from None


def _lookup(name: str, default: Any) -> Lookup:
    if name == "trajectory":
        return _itself
    if name in FIELDS:
        return attrgetter(name)
    return _ColumnLookup(name, our_name(name), default)


def _column(lookup: Lookup, trajectories: Sequence[Trajectory]) -> Any:
    """One value per sample; the bare default where no sample has the column, as it is then a setting."""
    if isinstance(lookup, _ColumnLookup) and lookup.is_setting_for(trajectories):
        return lookup.default
    return [lookup(trajectory) for trajectory in trajectories]


def _itself(trajectory: Trajectory) -> Trajectory:
    return trajectory


@dataclass(frozen=True, slots=True)
class _ColumnLookup:
    name: str
    field: str | None
    default: Any

    def is_setting_for(self, trajectories: Sequence[Trajectory]) -> bool:
        return self.default is not _MISSING and not any(
            self.name in trajectory.columns or self.name in trajectory.metadata for trajectory in trajectories
        )

    def __call__(self, trajectory: Trajectory) -> Any:
        if self.name in trajectory.columns:
            return trajectory.columns[self.name]
        if self.name in trajectory.metadata:
            return trajectory.metadata[self.name]
        if self.field is not None and (value := getattr(trajectory, self.field)) is not None:
            return value
        if self.default is not _MISSING:
            return self.default
        present = [*FIELDS, *trajectory.columns, *trajectory.metadata]
        raise InvalidTrajectory(
            f"the reward asks for {self.name!r}, which the sample does not have{did_you_mean(self.name, present)} "
            f"(it has {', '.join([*trajectory.columns, *trajectory.metadata]) or 'no further columns'})"
        )


def _name(function: Callable[..., Any]) -> str:
    return getattr(function, "__name__", type(function).__name__)
