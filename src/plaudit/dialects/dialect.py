"""What a system and its dialects are: how to know a foreign convention, and how to make a reward of what follows it.

A foreign class is recognised before it is built and wrapped afterwards, so `matches` takes classes, objects and
functions while `to_reward` takes only objects and functions. Some conventions share a signature: these are recognised
only when the file imports the system (`matches_if_imported`), or when the user names it.
"""

import inspect
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import partial
from types import ModuleType
from typing import Any, ClassVar

from plaudit.contract.binding import Binding, Convention
from plaudit.contract.function import RewardFunction
from plaudit.contract.output import RewardOutput, Status, as_number
from plaudit.contract.results import listed
from plaudit.contract.scoring import Style
from plaudit.dialects.standins import Packages, StandIns
from plaudit.errors import InvalidOutput, did_you_mean
from plaudit.normalize import Scope
from plaudit.trajectory import Trajectory

__all__ = [
    "Dialect", "ForeignReward", "System", "asks_for", "call_parameters", "method_parameters", "name_of", "parameters",
    "read_columns", "read_each", "read_object", "read_result", "read_value", "required_names", "truth_as_text",
]  # fmt: skip


_WRONG_FORM = (TypeError, AttributeError, LookupError)
"""Errors that a function raises if an argument has another form than it expects."""


def _never(candidate: Any) -> bool:
    return False


@dataclass(frozen=True, slots=True)
class Dialect:
    """One foreign convention, e.g. "verl function".

    `of_class`: what is wrapped is a class, which is made anew for each sample. `form`: a variant that is used only
    where the user names it, as `trl:messages`.
    """

    convention: str
    to_reward: Callable[[Any], RewardFunction]
    matches: Callable[[Any], bool] = _never
    matches_if_imported: Callable[[Any], bool] = _never
    of_class: bool = False
    form: str = ""

    def accepts(self, candidate: Any) -> bool:
        """Whether the candidate can be called by this convention."""
        return self.matches(candidate) or self.matches_if_imported(candidate)


@dataclass(frozen=True, slots=True)
class System:
    """Another system: how it writes rewards, and what answers for its absent package.

    A file is written for the system if it imports one of `packages` or of the packages with stand-ins. `find_named`
    gives what makes the reward that the system has under a name, where its package does not define that name.
    """

    name: str
    title: str
    dialects: tuple[Dialect, ...] = ()
    packages: frozenset[str] = frozenset()
    stand_ins: Packages = field(default_factory=dict)
    find_named: Callable[[ModuleType, str], Callable[..., Any]] | None = None

    def is_imported_by(self, imports: Iterable[str]) -> bool:
        """Whether one of these imported packages is the system's."""
        return not {*self.packages, *self.stand_ins}.isdisjoint(imports)


class ForeignReward(RewardFunction):
    """A foreign function or object as a reward, under its own name.

    The convention says how it is called. `read` turns what it returned for one sample into a number or an output;
    `read_batch` does so for a call with many samples, and by default reads one value after the other. `call` is what is
    called instead of the foreign object itself, e.g. one of its methods. `note` is added to errors that a wrong form of
    an argument may have caused.
    """

    find_packages: ClassVar[Callable[[], Packages]] = staticmethod(dict)
    stubs: frozenset[str] = frozenset()
    """The absent packages that it imports while it runs and that have a stub."""

    def __init__(
        self,
        foreign: Any,
        convention: Convention,
        read: Callable[[Any], Any] | None = None,
        *,
        read_batch: Callable[[Any, int], Sequence[Any]] | None = None,
        call: Callable[..., Any] | None = None,
        scope: Scope = "sample",
        note: str = "",
    ) -> None:
        self.foreign, self.name = foreign, name_of(foreign)
        self.binding = Binding.of(call or foreign, convention)
        self.read = read or _as_it_is
        self.read_batch = read_batch or partial(read_each, read=self.read)
        self.note = note
        self.call_style = Style.BATCH if self.binding.batched else Style.SAMPLE
        self.scope = scope if self.binding.batched else "sample"

    @property
    def is_async(self) -> bool:
        return self.binding.is_async

    def compute_reward(self, trajectory: Trajectory) -> Any:
        if self.binding.batched:
            return super().compute_reward(trajectory)
        return self._call(self.binding.call, trajectory, self.read)

    def compute_rewards(self, trajectories: Sequence[Trajectory]) -> Any:
        if not self.binding.batched:
            return super().compute_rewards(trajectories)
        return self._call(
            self.binding.call_batch, trajectories, lambda values: self.read_batch(values, len(trajectories))
        )

    def _call(self, call: Callable[[Any], Any], samples: Any, read: Callable[[Any], Any]) -> Any:
        with self._called():
            returned = call(samples)
        return self._read_later(returned, read) if inspect.isawaitable(returned) else read(returned)

    async def _read_later(self, returned: Awaitable[Any], read: Callable[[Any], Any]) -> Any:
        with self._called():
            value = await returned
        return read(value)

    @contextmanager
    def _called(self) -> Iterator[None]:
        """While foreign code runs: its stubs can be imported, and an error of a wrong form gets the note."""
        packages = type(self).find_packages() if self.stubs else {}
        with StandIns({name: packages[name] for name in self.stubs}) if self.stubs else nullcontext():
            try:
                yield
            except _WRONG_FORM as error:
                if self.note:
                    error.add_note(self.note)
                raise

    def __repr__(self) -> str:
        return self.name


def _as_it_is(returned: Any) -> Any:
    return returned


def read_each(returned: Any, count: int, read: Callable[[Any], Any] = _as_it_is) -> list[Any]:
    """One output or number per sample; a value that cannot be read is an error of its sample alone."""
    return [read_value(value, read) for value in listed(returned, count)]


def read_value(value: Any, read: Callable[[Any], Any], metadata: Mapping[str, Any] | None = None) -> Any:
    """What `read` makes of the value of one sample of a batch; an output with the error where it cannot be read."""
    try:
        return read(value)
    except Exception as error:  # noqa: BLE001 - __float__ and __repr__ of a value are the user's code
        described = str(error) if isinstance(error, InvalidOutput) else f"{type(error).__name__}: {error}"
        return RewardOutput.unscored(Status.ERROR, described, metadata=dict(metadata or {}))


def read_columns(returned: Any, count: int) -> list[Any]:
    """One value per sample; of a tuple of several lists the first has the rewards, the others go to the metadata."""
    columns = list(returned) if isinstance(returned, tuple) else []
    if len(columns) < 2 or not all(isinstance(column, list) and len(column) == count for column in columns):
        return listed(returned, count)
    rows = zip(*columns, strict=True)
    return [RewardOutput(reward, metadata={"parts": list(parts)}) for reward, *parts in rows]


def read_result(returned: Any, key: str = "score") -> Any:
    """A number as it is; `key` of a mapping is the reward, as is the first value of a tuple; the rest is metadata."""
    if isinstance(returned, tuple) and len(returned) > 1:
        return RewardOutput(as_number("reward", returned[0]), metadata={"parts": list(returned[1:])})
    if not isinstance(returned, Mapping):
        return returned
    if returned.get(key) is None:
        hint = did_you_mean(key, map(str, returned))
        raise InvalidOutput(f"it returned no {key!r} but {', '.join(map(str, returned)) or 'nothing'}{hint}")
    return RewardOutput(returned[key], metadata={str(name): each for name, each in returned.items() if name != key})


def read_object(returned: Any) -> Any:
    """An object with a `reward` as an output; numbers and outputs as they are."""
    if isinstance(returned, RewardOutput) or not hasattr(returned, "reward"):
        return returned
    metadata = getattr(returned, "metadata", None)
    found = dict(metadata) if isinstance(metadata, Mapping) else {}
    if getattr(returned, "is_correct", None) is not None:
        found["is_correct"] = bool(returned.is_correct)
    token_rewards = list(getattr(returned, "token_rewards", None) or ())
    return RewardOutput(returned.reward, token_rewards=token_rewards or None, metadata=found)


def parameters(function: Any) -> dict[str, inspect.Parameter]:
    """The parameters a caller fills, by name; none where the signature cannot be read or a class is given."""
    if isinstance(function, type):
        return {}
    try:
        return dict(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        return {}


def method_parameters(owner: Any, method: str) -> dict[str, inspect.Parameter]:
    """The parameters of a method of a class or of an object, without `self`; what its metaclass has is not its own."""
    if not isinstance(owner, type):
        return parameters(getattr(owner, method, None))
    own = next((vars(each)[method] for each in owner.__mro__ if method in vars(each)), None)
    return dict(list(parameters(own).items())[1:])


def call_parameters(candidate: Any) -> dict[str, inspect.Parameter]:
    """The parameters of a function, or of the `__call__` of an object or of a class's objects."""
    return method_parameters(candidate, "__call__") if isinstance(candidate, type) else parameters(candidate)


def asks_for(convention: Convention, *needed: set[str]) -> Callable[[Any], bool]:
    """What tells a function of a convention: it has all names of one of the `needed` sets, and requires no others."""
    known = {*convention.names, *convention.plurals}

    def matches(candidate: Any) -> bool:
        asked = call_parameters(candidate)
        return any(names <= set(asked) for names in needed) and required_names(asked) <= known

    return matches


def required_names(asked: dict[str, inspect.Parameter]) -> set[str]:
    """The names that a caller must fill."""
    return {
        name
        for name, parameter in asked.items()
        if parameter.default is parameter.empty
        and parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
    }


def truth_as_text(trajectory: Trajectory) -> Any:
    """The ground truth as data sets of texts hold it: numbers are written out, the rest is as it is."""
    truth = trajectory.ground_truth
    return str(truth) if isinstance(truth, int | float) and not isinstance(truth, bool) else truth


def name_of(foreign: Any) -> str:
    """What a foreign function or object is called."""
    return str(getattr(foreign, "__name__", type(foreign).__name__))
