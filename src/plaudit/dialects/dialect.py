"""What a system and its dialects are: how to know a foreign convention, and how to make a reward of what follows it.

A foreign class is recognised before it is built and wrapped afterwards, so `recognises` takes classes, objects and
functions while `to_reward` takes only objects and functions. Some conventions share a signature: what only `resembles`
one is taken for it when the file imports that system, or when the user says so.
"""

import inspect
import math
import warnings
from abc import abstractmethod
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any, ClassVar

from plaudit.contract.boundary import Style, score_samples
from plaudit.contract.function import RewardFunction
from plaudit.contract.output import RewardOutput, as_number
from plaudit.dialects.export import Export
from plaudit.dialects.standins import Packages, StandIns
from plaudit.errors import InvalidOutput, did_you_mean
from plaudit.trajectory import Trajectory

__all__ = [
    "Dialect", "ForeignBatchReward", "ForeignReward", "System", "await_result", "file_of", "method_parameters",
    "name_of", "parameters", "read_columns", "read_result", "required_names", "truth_as_text",
]  # fmt: skip


def _never(candidate: Any) -> bool:
    return False


@dataclass(frozen=True, slots=True)
class Dialect:
    """One foreign convention; `packages` are the imports that tell it from others of the same shape.

    `of_class`: what is wrapped is a class, which is made anew for each sample.
    """

    name: str
    convention: str
    packages: frozenset[str]
    to_reward: Callable[[Any], RewardFunction]
    recognises: Callable[[Any], bool] = _never
    resembles: Callable[[Any], bool] = _never
    of_class: bool = False

    def fits(self, candidate: Any) -> bool:
        """Whether the candidate could be called as this convention has it."""
        return self.recognises(candidate) or self.resembles(candidate)


@dataclass(frozen=True, slots=True)
class System:
    """Another system: how it writes rewards, how ours follow it, and what answers for its absent package.

    `distribution` is what pip installs; `shape` says in words how it calls a reward. `find_named` gives what makes the
    reward that the system has under a name, where its package does not define that name.
    """

    name: str
    title: str
    distribution: str
    shape: str
    dialects: tuple[Dialect, ...]
    exports: tuple[Export, ...] = ()
    stand_ins: Packages = field(default_factory=dict)
    find_named: Callable[[ModuleType, str], Callable[..., Any]] | None = None


class ForeignReward(RewardFunction):
    """A foreign function or object as a reward, under its own name; `method` is called where it has one."""

    find_packages: ClassVar[Callable[[], Packages]] = staticmethod(dict)
    method: ClassVar[str] = ""

    def __init__(self, foreign: Any) -> None:
        self.foreign = foreign
        self.name = name_of(foreign)

    def compute_reward(self, trajectory: Trajectory) -> Any:
        raise NotImplementedError

    def ask(self, *arguments: Any, **keywords: Any) -> Any:
        """Call what was wrapped; an absent package that it imports only now is answered for too."""
        foreign = getattr(self.foreign, self.method, self.foreign) if self.method else self.foreign
        try:
            return foreign(*arguments, **keywords)
        except ModuleNotFoundError as error:
            if str(error.name).partition(".")[0] not in type(self).find_packages():
                raise
        with StandIns(type(self).find_packages()):
            return foreign(*arguments, **keywords)

    def __repr__(self) -> str:
        return self.name


class ForeignBatchReward(ForeignReward):
    """A foreign function that is called with many samples at once.

    It is given the samples of one batch, as its home does. Where it gives the first sample another reward alone, a
    warning says so once: then `scope` decides what it sees together.
    """

    def __init__(self, foreign: Any) -> None:
        super().__init__(foreign)
        self.style = Style.BATCH
        self.checked = False

    @abstractmethod
    def call(self, trajectories: Sequence[Trajectory]) -> Any:
        """What the foreign function returns, as it is."""

    @abstractmethod
    def read(self, returned: Any, trajectories: Sequence[Trajectory]) -> Sequence[Any]:
        """What it returned, as one output or number per sample."""

    def compute_rewards(self, trajectories: Sequence[Trajectory]) -> Any:
        returned = self.call(trajectories)
        if inspect.isawaitable(returned):
            return self._await_outputs(returned, trajectories)
        outputs = self.read(returned, trajectories)
        if not self.checked and self.scope == "sample" and len(trajectories) > 1:
            self.checked = True
            self._check_independence(trajectories, outputs)
        return outputs

    async def _await_outputs(self, returned: Awaitable[Any], trajectories: Sequence[Trajectory]) -> Sequence[Any]:
        return self.read(await returned, trajectories)

    def _check_independence(self, trajectories: Sequence[Trajectory], outputs: Sequence[Any]) -> None:
        among = next(iter(outputs), None)
        alone = score_samples(self, trajectories[:1])[0]
        value = getattr(among, "reward", among)
        if alone.reward is None or value is None or math.isclose(alone.reward, float(value), rel_tol=1e-6):
            return
        warnings.warn(
            f"{self.name} in {file_of(self.foreign)} gives the first sample {float(value):g} among {len(trajectories)} "
            f"samples and {alone.reward:g} alone: its rewards depend on the batch, or are random; where it compares "
            "the samples of one prompt, say scope='group' (--scope group)",
            stacklevel=2,
        )


def read_columns(returned: Any, count: int) -> list[Any]:
    """One value per sample; of a tuple of several columns the first is the reward, the others go to the metadata."""
    if returned is None:
        raise InvalidOutput(f"it returned None for {count} samples; give a list with one number per sample")
    columns = list(returned) if isinstance(returned, tuple) else []
    if len(columns) < 2 or not all(isinstance(column, list) and len(column) == count for column in columns):
        return list(returned)
    rows = zip(*columns, strict=True)
    return [RewardOutput(reward, metadata={"parts": list(parts)}) for reward, *parts in rows]


def read_result(returned: Any) -> Any:
    """A number as it is; of a mapping, `score` is the reward and of a tuple the first; the rest is metadata."""
    if isinstance(returned, tuple) and len(returned) > 1:
        return RewardOutput(as_number("reward", returned[0]), metadata={"parts": list(returned[1:])})
    if not isinstance(returned, Mapping):
        return returned
    if returned.get("score") is None:
        hint = did_you_mean("score", map(str, returned))
        raise InvalidOutput(f"it returned no 'score' but {', '.join(map(str, returned)) or 'nothing'}{hint}")
    return RewardOutput(
        returned["score"], metadata={str(key): each for key, each in returned.items() if key != "score"}
    )


async def await_result(returned: Awaitable[Any]) -> Any:
    """`read_result` of what is awaited."""
    return read_result(await returned)


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


def file_of(foreign: Any) -> str:
    """The file a foreign function or the class of an object stands in."""
    home = foreign if inspect.isroutine(foreign) else type(foreign)
    try:
        return inspect.getfile(inspect.unwrap(home))
    except TypeError:
        return "an unknown file"
