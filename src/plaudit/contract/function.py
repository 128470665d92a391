"""Rewards: subclass `RewardFunction` and define one method, or make a `FunctionReward` of a plain function.

Adding, weighting and gating rewards makes new rewards, as `combination` defines them. The base class keeps no state of
its own, so a subclass need not call `super().__init__()`.
"""

import dataclasses
import functools
import inspect
import sys
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType, ModuleType
from typing import TYPE_CHECKING, Any, TypeAlias, overload

from plaudit.contract import rules
from plaudit.contract.binding import Binding
from plaudit.contract.calling import are_samples, await_value, raise_failures, with_truths
from plaudit.contract.output import RewardOutput
from plaudit.contract.results import listed
from plaudit.contract.rules import Bounds, Rule, Weight, WeightedSum
from plaudit.contract.scoring import Style, check_declared, invoke_batch, paired_method, score_samples
from plaudit.errors import InvalidSettings
from plaudit.normalize import Normalizer, Scope, normalizer
from plaudit.schedules import Schedule
from plaudit.trajectory import Trajectory

if TYPE_CHECKING:
    from plaudit.contract.combination import Combination, CompositeReward, NormalizedReward, Terms

_STYLES = {"compute_rewards": Style.BATCH, "compute_reward": Style.SAMPLE, "__call__": Style.PAIRED}


class RewardFunction:
    """Subclass this and define `compute_reward`, `compute_rewards`, or `__call__(trajectories, ground_truths)`.

    Each may be `async`. The class attributes below are promises to those who call the reward; set the ones that differ.
    """

    name: str = "RewardFunction"
    """The name in components, logs and messages; the class name unless set."""
    scope: Scope = "sample"
    """"group": a call gets whole groups; "batch": a call gets everything at once."""
    max_batch: int | None = None
    """The most samples that one call of `compute_rewards` may get; None: a batch is never cut."""
    bounds: Bounds | None = None
    """The range that every reward lies in, if there is one."""
    deterministic: bool | None = None
    """True: equal samples get equal outputs. False: they may not, so nothing is cached. None: not declared."""
    pure: bool = False
    """Whether a call only computes its output from the sample: such a call needs no copies and changes no setting of
    the process. Not inherited: a subclass may define other methods."""
    concurrency: int = 32
    """The number of calls of an async reward that may run at the same time."""
    needs_ground_truth: bool = False
    """Whether a sample without a ground truth cannot be scored; functions need not declare it, their parameters show
    it.
    """
    copies: int | None = None
    """The number of processes that may hold the reward at once; 1 for a reward that holds a model. None: any number."""
    call_style: Style = Style.SAMPLE
    load_options: Mapping[str, Any] = MappingProxyType({})
    """The options of `load` that the reward was loaded with."""

    @property
    def is_async(self) -> bool:
        """Whether the method that computes rewards is a coroutine function."""
        if self.call_style is Style.PAIRED:
            return inspect.iscoroutinefunction(paired_method(self))
        return inspect.iscoroutinefunction(
            {Style.SAMPLE: self.compute_reward, Style.BATCH: self.compute_rewards}.get(self.call_style)
        )

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        if "name" not in cls.__dict__:
            cls.name = cls.__name__
        defined = [style for method, style in _STYLES.items() if method in cls.__dict__]
        if defined and "call_style" not in cls.__dict__:
            cls.call_style = defined[0]
        cls.pure = cls.__dict__.get("pure", False)
        if defined and cls.call_style is Style.PAIRED:
            cls.__call__ = _score_if_called(cls.__call__)  # type: ignore[method-assign]
        cls.__repr__ = cls.__repr__  # type: ignore[method-assign]  # a dataclass replaces a method that is inherited

    def __new__(cls, *args: Any, **keywords: Any) -> "RewardFunction":
        bases = [base for base in cls.__mro__ if base is not RewardFunction]
        if not any(method in base.__dict__ for base in bases for method in _STYLES):
            raise TypeError(
                f"{cls.__name__} defines no reward: give it compute_reward(self, trajectory), "
                "compute_rewards(self, trajectories) or __call__(self, trajectories, ground_truths)"
            )
        return super().__new__(cls)

    def warm_up(self) -> None:
        """Load what takes long; called in each process that scores, before its first sample and outside deadlines."""

    def compute_reward(self, trajectory: Trajectory) -> Any:
        """The reward of one sample."""
        return listed(self._many([trajectory]), 1)[0]

    def compute_rewards(self, trajectories: Sequence[Trajectory]) -> Any:
        """The rewards of many samples, in order."""
        if self.call_style is Style.SAMPLE:
            return [await_value(self.compute_reward(trajectory)) for trajectory in trajectories]
        return self._many(trajectories)

    def _many(self, trajectories: Sequence[Trajectory]) -> Any:
        return await_value(invoke_batch(self, list(trajectories)))

    @overload
    def __call__(self, trajectories: Trajectory, ground_truths: Any = None) -> RewardOutput: ...
    @overload
    def __call__(
        self, trajectories: Sequence[Trajectory | Mapping[str, Any]], ground_truths: Sequence[Any] | None = None
    ) -> list[float | None]: ...
    def __call__(self, trajectories: Any, ground_truths: Any = None) -> Any:
        """Score: one trajectory gives a RewardOutput, a list gives a list of numbers (None if not scored).

        A failure raises `ScoringFailed`; to get failures as data, use `plaudit.score`.
        """
        if isinstance(trajectories, Trajectory):
            return _score_or_raise(self, [trajectories], None if ground_truths is None else [ground_truths])[0]
        return [output.reward for output in _score_or_raise(self, trajectories, ground_truths)]

    def __add__(self, other: "Addend") -> "CompositeReward":
        if isinstance(other, int | float):
            terms, offset = _terms(self)
            return _weighted_sum(terms, offset + other)
        if not isinstance(other, RewardFunction):
            return NotImplemented
        (left, left_offset), (right, right_offset) = _terms(self), _terms(other)
        return _weighted_sum([*left, *right], left_offset + right_offset)

    def __radd__(self, other: float) -> "CompositeReward":
        return self + other

    def __sub__(self, other: "Addend") -> "CompositeReward":
        return self + -other

    def __rsub__(self, other: float) -> "CompositeReward":
        return -self + other

    def __neg__(self) -> "CompositeReward":
        return self._times(-1.0)

    @overload
    def __mul__(self, other: Weight) -> "CompositeReward": ...
    @overload
    def __mul__(self, other: "RewardFunction") -> "Combination": ...
    def __mul__(self, other: Any) -> Any:
        if isinstance(other, RewardFunction):
            return _combine([self, other], rules.Product())
        return self._times(other) if isinstance(other, int | float | Schedule) else NotImplemented

    def __rmul__(self, other: Weight) -> "CompositeReward":
        return self._times(other)

    def __truediv__(self, other: float) -> "CompositeReward":
        return self._times(1.0 / other)

    def _times(self, factor: Weight) -> "CompositeReward":
        terms, offset = _terms(self)
        weights = [weight for _, weight in terms]
        if isinstance(factor, Schedule) or any(isinstance(weight, Schedule) for weight in weights):
            return _weighted_sum([(self, factor)], 0.0)
        return _weighted_sum([(part, factor * weight) for part, weight in terms], factor * offset)  # type: ignore[operator]  # no schedules here

    def clip(self, low: float | None = 0.0, high: float | None = 1.0) -> "Combination":
        """This reward, kept within [low, high]; None leaves an end open."""
        return _combine([self], rules.Clip(low, high))

    def floor(self, low: float) -> "Combination":
        """This reward, but never below `low`."""
        return self.clip(low, None)

    def scale(self, source: Bounds | None = None, *, to: Bounds = (0.0, 1.0)) -> "Combination":
        """The range `source` (the reward's own bounds if not given) stretched to the range `to`."""
        source = source or self.bounds
        if source is None:
            raise InvalidSettings(f"{self.name} declares no bounds; say which range to scale from: .scale((low, high))")
        return _combine([self], rules.Affine(source, to))

    def smooth(self, amount: float = 0.1) -> "Combination":
        """Pulled towards the middle of its bounds, so that no reward sits exactly at an end: [0, 1] → [0.05, 0.95]."""
        if self.bounds is None or not 0.0 <= amount < 1.0:
            raise InvalidSettings(
                f"smoothing needs declared bounds and 0 <= amount < 1; {self.name} has bounds {self.bounds}, "
                f"amount is {amount}"
            )
        low, high = self.bounds
        margin = 0.5 * amount * (high - low)
        return self.scale(self.bounds, to=(low + margin, high - margin))

    def sigmoid(self, reference: float = 0.0) -> "Combination":
        """σ(reward − reference): any reward becomes one in (0, 1)."""
        return _combine([self], rules.Sigmoid(reference))

    def gate(self, on: "RewardLike", at: float, otherwise: float = 0.0) -> "Combination":
        """This reward where `on` reaches `at`, else `otherwise`: nothing is earned without the gate."""
        return _combine([self, as_reward(on)], rules.Gate(at, otherwise))

    def normalized(self, how: str | Normalizer) -> "NormalizedReward":
        """This reward on a common scale: "group", "zscore", "minmax", "rank", "quantile" or "running"."""
        normalized: NormalizedReward = _combinations().NormalizedReward(self, normalizer(how))
        return normalized

    def named(self, name: str) -> "Combination":
        """This reward under another name."""
        renamed = _combine([self], WeightedSum((1.0,)))
        renamed.name = name
        return renamed

    def __repr__(self) -> str:
        """The argument of `load` for the same reward."""
        arguments = f"({', '.join(_changed_arguments(self))})"
        return printed(type(self), arguments, self.load_options) or f"{type(self).__name__}{arguments}"


class FunctionReward(RewardFunction):
    """A plain function as a reward; its parameters are filled by name.

    `function` is the function itself, and the reward may still be called like it: `brief("Hello")`.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        *,
        name: str | None = None,
        scope: Scope = "sample",
        max_batch: int | None = None,
        bounds: Bounds | None = None,
        deterministic: bool | None = None,
    ) -> None:
        if not callable(function):
            raise InvalidSettings(f"a reward function must be callable, got {type(function).__name__}")
        self.function = function
        self.binding = Binding.of(function)
        self.name = name or str(getattr(function, "__name__", type(function).__name__))
        self.call_style = Style.BATCH if self.binding.batched else Style.SAMPLE
        self.scope, self.bounds, self.deterministic = scope, bounds, deterministic
        self.max_batch = max_batch
        check_declared(self)
        if scope != "sample" and not self.binding.batched:
            raise InvalidSettings(
                f"{self.name} is a {scope} reward but asks for one sample at a time; "
                "ask for lists: trajectories, prompts, responses or ground_truths"
            )
        self.__doc__ = getattr(function, "__doc__", None)

    @property
    def is_async(self) -> bool:
        return self.binding.is_async

    def compute_reward(self, trajectory: Trajectory) -> Any:
        if self.binding.batched:
            return listed(await_value(self.binding.call_batch([trajectory])), 1)[0]
        return self.binding.call(trajectory)

    def compute_rewards(self, trajectories: Sequence[Trajectory]) -> Any:
        if self.binding.batched:
            return self.binding.call_batch(trajectories)
        return [await_value(self.binding.call(trajectory)) for trajectory in trajectories]

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        """Score trajectories as every reward does; with any other arguments, call the function itself.

        A batched function gets the ground truths exactly as given.
        """
        first = arguments[0] if arguments else keywords.get("trajectories")
        if not are_samples(first):
            return self.function(*arguments, **keywords)
        return self._score(*arguments, **keywords)

    def _score(self, trajectories: Any, ground_truths: Any = None) -> Any:
        if self.binding.batched and ground_truths is not None and not isinstance(trajectories, Trajectory):
            return super().__call__(with_truths(trajectories, ground_truths, unwrap=False))
        return super().__call__(trajectories, ground_truths)

    def __repr__(self) -> str:
        return printed(self.function, "", self.load_options) or self.name


RewardLike: TypeAlias = RewardFunction | Callable[..., Any]
Addend: TypeAlias = RewardFunction | float


def as_reward(rewarding: RewardLike) -> RewardFunction:
    """A reward unchanged, a plain function as a `FunctionReward`."""
    if isinstance(rewarding, RewardFunction):
        return rewarding
    if isinstance(rewarding, type):
        raise InvalidSettings(f"{rewarding.__name__} is a class; make a reward of it first: {rewarding.__name__}(...)")
    return FunctionReward(rewarding)


def _score_if_called(method: Callable[..., Any]) -> Callable[..., Any]:
    """A `__call__(trajectories, ground_truths)` that scores, like a direct call of any reward, and raises on failure.

    The scoring path calls the method itself, and so does a subclass that overrides it and calls it by `super()`.
    """

    @functools.wraps(method)
    def call(self: RewardFunction, *arguments: Any, **keywords: Any) -> Any:
        samples = arguments[0] if arguments else keywords.get("trajectories")
        if type(self).__call__ is not call or not are_samples(samples):
            return method(self, *arguments, **keywords)
        return RewardFunction.__call__(self, *arguments, **keywords)

    return call


def _score_or_raise(
    reward: RewardFunction, trajectories: Sequence[Trajectory], ground_truths: Sequence[Any] | None
) -> list[RewardOutput]:
    samples = with_truths(trajectories, ground_truths)
    outputs = score_samples(reward, samples)
    raise_failures(samples, outputs)
    return outputs


def _combine(parts: Sequence[RewardLike], rule: Rule) -> "Combination":
    combination: Combination = _combinations().Combination(parts, rule)
    return combination


def _weighted_sum(terms: Sequence[tuple[RewardLike, Weight]], offset: float) -> "CompositeReward":
    composite: CompositeReward = _combinations().CompositeReward(terms, offset=offset)
    return composite


def _terms(reward: RewardFunction) -> "Terms":
    terms: Terms = _combinations().terms_of(reward)
    return terms


def _combinations() -> ModuleType:
    """The module of combinations, which are rewards themselves and so cannot be imported before them."""
    from plaudit.contract import combination  # noqa: PLC0415 - see above

    return combination


def printed(defined: Any, arguments: str, options: Mapping[str, Any]) -> str | None:
    """`'rewards.py:Brief(limit=3)'`: the quoted spec of what a user's file defines at its top level; None elsewhere."""
    name, module = getattr(defined, "__name__", ""), sys.modules.get(getattr(defined, "__module__", None) or "")
    file, member = getattr(module, "__file__", None), getattr(module, name, None)
    if file is None or module is None or module.__name__.partition(".")[0] == "plaudit":
        return None
    if member is not defined and getattr(member, "function", None) is not defined:
        return None
    spec = repr(f"{file}:{name}{arguments}")
    return f"using({', '.join([spec, *(f'{key}={value!r}' for key, value in options.items())])})" if options else spec


def _changed_arguments(reward: object) -> list[str]:
    """`["target=200"]`: the fields of a dataclass that differ from their defaults; nothing for other classes."""
    if not dataclasses.is_dataclass(reward):
        return []
    return [
        f"{field.name}={getattr(reward, field.name)!r}"
        for field in dataclasses.fields(reward)
        if field.repr and not _is_default(field, getattr(reward, field.name))
    ]


def _is_default(field: "dataclasses.Field[Any]", value: Any) -> bool:
    if field.default is not dataclasses.MISSING:
        return bool(value == field.default)
    return field.default_factory is not dataclasses.MISSING and bool(value == field.default_factory())
