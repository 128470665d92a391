"""Call a function with the values that the names of its parameters request.

A parameter is filled from the first of these that has a value: an argument that the calling convention defines, a
column of the data, a key of the metadata, the field that the name stands for (`answer` is the ground truth). Its
default is used only if none of them has one. A `Convention` lists the arguments of one system; `NATIVE` is the
convention of plain functions, whose arguments are the fields of a trajectory.
"""

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any, TypeAlias

from plaudit.columns import our_name, usual_names_of
from plaudit.errors import InvalidSettings, InvalidTrajectory, MissingGroundTruth, did_you_mean
from plaudit.trajectory import Trajectory

FIELDS: tuple[str, ...] = (*Trajectory.FIELDS, "columns", "messages", "prompt_text")
PLURALS: dict[str, str] = {
    "trajectories": "trajectory", "prompts": "prompt", "responses": "response", "ground_truths": "ground_truth",
}  # fmt: skip

MISSING = inspect.Parameter.empty
"""The return value of a lookup for a sample without the value."""
Lookup: TypeAlias = Callable[[Trajectory], Any]
PerCall: TypeAlias = Callable[[Sequence[Trajectory]], Any]
_TRUTHS = usual_names_of("ground_truth")
_TRUTH_PROBE = Trajectory("", "", ground_truth="the ground truth")


def own_values(trajectory: Trajectory) -> dict[str, Any]:
    """The values that come with the sample's data: its metadata and its columns; a column precedes metadata."""
    return {**trajectory.metadata, **trajectory.columns}


def row_of(trajectory: Trajectory) -> dict[str, Any]:
    """The sample as a row of a data set: its own values, and the ground truth under its usual names."""
    truths = {} if trajectory.ground_truth is None else dict.fromkeys(_TRUTHS, trajectory.ground_truth)
    return {**truths, **own_values(trajectory)}


@dataclass(frozen=True, slots=True)
class Convention:
    """How one system calls its reward functions.

    `names` are its arguments for one sample, `plurals` those that hold one value per sample: a function that asks for
    one of them is called with many samples, and so is every function where `batched` is set. `per_call` are arguments
    that are given once per call. `by_place` are the arguments that are passed by position, whatever the parameters are
    called. `**keywords` of a function get the arguments of `per_call` and, of each sample, the `rest`. Where
    `fills_columns` is not set, the system passes only its arguments, and every other parameter is a setting that needs
    a default. `remedies` end the message about a parameter that has no value.
    """

    names: Mapping[str, Lookup] = field(default_factory=dict)
    plurals: Mapping[str, Lookup] = field(default_factory=dict)
    per_call: Mapping[str, PerCall] = field(default_factory=dict)
    by_place: tuple[str, ...] = ()
    rest: Callable[[Trajectory], Mapping[str, Any]] = lambda trajectory: {}
    batched: bool = False
    fills_columns: bool = True
    remedies: Mapping[str, str] = field(default_factory=dict)


def _itself(trajectory: Trajectory) -> Trajectory:
    return trajectory


def _ground_truth(trajectory: Trajectory) -> Any:
    return MISSING if trajectory.ground_truth is None else trajectory.ground_truth


_FIELD_LOOKUPS: dict[str, Lookup] = {
    **{name: attrgetter(name) for name in FIELDS}, "trajectory": _itself, "ground_truth": _ground_truth,
}  # fmt: skip
NATIVE = Convention(
    names=_FIELD_LOOKUPS,
    plurals={plural: _FIELD_LOOKUPS[name] for plural, name in PLURALS.items()},
    rest=attrgetter("columns"),
)
"""The convention of plain functions: fields of the trajectory, or lists of them; `**keywords` get the columns."""


@dataclass(frozen=True, slots=True)
class _Argument:
    """One parameter of a function, and where its value comes from."""

    name: str
    default: Any
    lookup: Lookup | None
    per_call: PerCall | None
    fills_columns: bool
    remedy: str

    @classmethod
    def of(cls, parameter: inspect.Parameter, known_as: str, convention: Convention) -> "_Argument":
        lookup = convention.plurals.get(known_as) or convention.names.get(known_as)
        per_call, remedy = convention.per_call.get(known_as), convention.remedies.get(known_as, "")
        return cls(parameter.name, parameter.default, lookup, per_call, convention.fills_columns, remedy)

    @property
    def is_setting(self) -> bool:
        """Whether only a default can be its value."""
        return not (self.fills_columns or self.lookup or self.per_call)

    @property
    def is_ground_truth(self) -> bool:
        """Whether it is filled with the ground truth of a sample."""
        return self.find(_TRUTH_PROBE) is _TRUTH_PROBE.ground_truth

    def find(self, trajectory: Trajectory) -> Any:
        """The value for one sample, MISSING where it has none."""
        if self.lookup is not None and (value := self.lookup(trajectory)) is not MISSING:
            return value
        if not self.fills_columns:
            return MISSING
        if self.name in trajectory.columns:
            return trajectory.columns[self.name]
        if self.name in trajectory.metadata:
            return trajectory.metadata[self.name]
        value = _FIELD_LOOKUPS.get(our_name(self.name) or self.name, _nothing)(trajectory)
        return MISSING if value is None else value

    def value(self, trajectory: Trajectory) -> Any:
        """The value for one sample, or the default; an error if there is neither."""
        if self.per_call is not None:
            return self.per_call([trajectory])
        value = self.find(trajectory)
        if value is MISSING and (value := self.default) is MISSING:
            raise self._error([trajectory])
        return value

    def column(self, trajectories: Sequence[Trajectory]) -> Any:
        """One value per sample; the bare default if no sample has one, since it is then a setting of the function."""
        if self.per_call is not None:
            return self.per_call(trajectories)
        values = [self.find(trajectory) for trajectory in trajectories]
        if all(value is MISSING for value in values):
            if self.default is MISSING:
                raise self._error(trajectories)
            return self.default
        empty = None if self.default is MISSING else self.default
        return [empty if value is MISSING else value for value in values]

    def _error(self, trajectories: Sequence[Trajectory]) -> InvalidTrajectory:
        columns = list(dict.fromkeys(name for trajectory in trajectories for name in own_values(trajectory)))
        fields = [name for name in Trajectory.FIELDS if any(_is_set(getattr(each, name)) for each in trajectories)]
        usual = [name for each in fields for name in usual_names_of(each)]
        absent, have = ("the sample does", "it has") if len(trajectories) == 1 else ("the samples do", "they have")
        known = [name for name in (*FIELDS, *columns, *usual) if name != self.name]
        hint = self.remedy or did_you_mean(self.name, known)
        if self.is_ground_truth:
            return MissingGroundTruth(
                f"the reward asks for {self.name!r}, and {MissingGroundTruth.among(columns)}{hint}"
            )
        return InvalidTrajectory(
            f"the reward asks for {self.name!r}, which {absent} not have{hint} ({have} {', '.join(columns or fields)})"
        )


def _is_set(value: Any) -> bool:
    """Whether a field of a sample holds something; the truth value of a ground truth may be the user's code."""
    return value is not None and (type(value) not in (str, list, dict) or bool(value))


def _nothing(trajectory: Trajectory) -> None:
    return None


@dataclass(frozen=True, slots=True)
class Binding:
    """How to call one function: where each argument comes from, and whether it is called with many samples."""

    function: Callable[..., Any]
    convention: Convention
    positional: tuple[_Argument, ...]
    keywords: tuple[_Argument, ...]
    takes_rest: bool
    filled: frozenset[str]
    """Names that are passed as declared parameters; `**rest` does not repeat them."""
    batched: bool
    is_async: bool

    @classmethod
    def of(cls, function: Callable[..., Any], convention: Convention = NATIVE) -> "Binding":
        """Read a function's parameters once; calls do not inspect it again."""
        parameters = _parameters(function)
        takes_rest = any(p.kind is p.VAR_KEYWORD for p in parameters)
        named = [p for p in parameters if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
        if not named and not (takes_rest and convention.batched):
            raise InvalidSettings(
                f"{_name(function)} takes no parameter that plaudit could fill; ask for any of "
                f"{', '.join(convention.names)} or a column of your data (a decorator keeps them by functools.wraps)"
            )
        positional = [p.name for p in named if p.kind is not p.KEYWORD_ONLY]
        by_place = dict(zip(positional, convention.by_place, strict=False))
        arguments = {p.name: _Argument.of(p, by_place.get(p.name, p.name), convention) for p in named}
        _check_settings(_name(function), [each for each in arguments.values() if each.is_setting])
        return cls(
            function=function,
            convention=convention,
            positional=tuple(arguments[name] for name in positional),
            keywords=tuple(argument for name, argument in arguments.items() if name not in positional),
            takes_rest=takes_rest,
            filled=frozenset([*arguments, *by_place.values()]),
            batched=convention.batched or not convention.plurals.keys().isdisjoint(arguments),
            is_async=_is_coroutine_function(function),
        )

    @property
    def truth_parameters(self) -> list[str]:
        """The parameters without a default that are filled with the ground truth."""
        required = [
            each for each in (*self.positional, *self.keywords) if each.default is MISSING and not each.per_call
        ]
        return [each.name for each in required if each.is_ground_truth]

    def call(self, trajectory: Trajectory) -> Any:
        """Call a per-sample function for one sample."""
        if self.keywords or self.takes_rest:
            arguments = [argument.value(trajectory) for argument in self.positional]
            keywords = {argument.name: argument.value(trajectory) for argument in self.keywords}
            return self.function(*arguments, **keywords, **self._rest([trajectory], self.convention.rest(trajectory)))
        if len(self.positional) == 1:  # the most frequent form; a comprehension would cost more than the lookup
            return self.function(self.positional[0].value(trajectory))
        return self.function(*[argument.value(trajectory) for argument in self.positional])

    def call_batch(self, trajectories: Sequence[Trajectory]) -> Any:
        """Call a batched function for many samples."""
        arguments = [argument.column(trajectories) for argument in self.positional]
        keywords = {argument.name: argument.column(trajectories) for argument in self.keywords}
        rows = [self.convention.rest(trajectory) for trajectory in trajectories] if self.takes_rest else []
        names = dict.fromkeys(name for row in rows for name in row)
        rest = self._rest(trajectories, {name: [row.get(name) for row in rows] for name in names})
        return self.function(*arguments, **keywords, **rest)

    def _rest(self, trajectories: Sequence[Trajectory], rest: Mapping[str, Any]) -> dict[str, Any]:
        """The values for `**keywords` of the function."""
        if not self.takes_rest:
            return {}
        keywords = {name: value for name, value in rest.items() if name not in self.filled}
        for name, argument in self.convention.per_call.items():
            if name not in self.filled:
                keywords[name] = argument(trajectories)
        return keywords


def _is_coroutine_function(function: Callable[..., Any]) -> bool:
    called = getattr(function, "__call__", None)  # noqa: B004 - its kind is asked for, not whether it is there
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(called)


def _parameters(function: Callable[..., Any]) -> list[inspect.Parameter]:
    """The parameters that are to be filled; those that a partial has values for are not."""
    settled = function.keywords if isinstance(function, functools.partial) else {}
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        raise InvalidSettings(
            f"the parameters of {_name(function)} cannot be read; wrap it: def my_reward(response): ..."
        ) from None
    return [parameter for parameter in parameters if parameter.name not in settled]


def _check_settings(function: str, settings: Sequence[_Argument]) -> None:
    """Refuse a function with settings that have no default."""
    empty = [each for each in settings if each.default is MISSING]
    if empty and empty[0].remedy:
        raise InvalidSettings(f"{function} asks for {empty[0].name!r}{empty[0].remedy}")
    if empty:
        raise InvalidSettings(
            f"{function} has settings that its trainer takes from a config; give them behind its name: "
            f"{function}({', '.join(f'{each.name}=…' for each in empty)})"
        )


def _name(function: Callable[..., Any]) -> str:
    return getattr(function, "__name__", type(function).__name__)
