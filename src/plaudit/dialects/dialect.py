"""Systems and their dialects: how to recognise a foreign convention, and how to wrap its rewards.

A foreign class is recognised before it is built and wrapped afterwards, so `matches` takes classes, objects and
functions while `to_reward` takes only objects and functions. Some conventions share a signature: these are recognised
only when the file imports the system (`matches_if_imported`), or when the user names it.
"""

import inspect
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import partial
from types import ModuleType
from typing import Any, ClassVar

from plaudit.contract.binding import Binding, Convention
from plaudit.contract.function import RewardFunction, printed
from plaudit.contract.scoring import Style
from plaudit.dialects.results import as_it_is, read_each
from plaudit.dialects.stub_packages import Packages, StubFinder
from plaudit.normalize import Scope
from plaudit.trajectory import Trajectory

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
    """Another system: how it writes rewards, and the stubs of its packages.

    A file is written for the system if it imports one of `packages` or of the packages with stubs. `find_named`
    gives what makes the reward that the system has under a name, where its package does not define that name.
    """

    name: str
    title: str
    dialects: tuple[Dialect, ...] = ()
    packages: frozenset[str] = frozenset()
    stubs: Packages = field(default_factory=dict)
    find_named: Callable[[ModuleType, str], Callable[..., Any]] | None = None

    def is_imported_by(self, imports: Iterable[str]) -> bool:
        """Whether one of these imported packages is the system's."""
        return not {*self.packages, *self.stubs}.isdisjoint(imports)


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
        self.read = read or as_it_is
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
        with StubFinder({name: packages[name] for name in self.stubs}) if self.stubs else nullcontext():
            try:
                yield
            except _WRONG_FORM as error:
                if self.note:
                    error.add_note(self.note)
                raise

    def __repr__(self) -> str:
        return printed(self.foreign, "", self.load_options) or self.name


def name_of(foreign: Any) -> str:
    """The name of a foreign function or object."""
    return str(getattr(foreign, "__name__", type(foreign).__name__))


def truth_as_text(trajectory: Trajectory) -> Any:
    """The ground truth in the form of text data sets: numbers are written out, other values are unchanged."""
    truth = trajectory.ground_truth
    return str(truth) if isinstance(truth, int | float) and not isinstance(truth, bool) else truth
