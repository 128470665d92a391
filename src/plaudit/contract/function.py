"""Rewards, and the arithmetic on them.

A reward subclasses `RewardFunction` and defines one method, or is a plain function behind `@reward`. Adding, weighting
and gating rewards makes new rewards, which is why the contract and its combinations share this file. The base class
keeps no state of its own, so a subclass need not call `super().__init__()`.
"""

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias, overload

import msgspec

from plaudit.contract import rules
from plaudit.contract.binding import Binding
from plaudit.contract.boundary import Style, evaluate
from plaudit.contract.calling import only, raised, settled
from plaudit.contract.merging import combined_score, combined_tokens, stretched, unique_names, widest_scope
from plaudit.contract.output import RewardOutput, Status
from plaudit.contract.printing import told_arguments
from plaudit.contract.rules import Bounds, Rule, Weight, WeightedSum
from plaudit.contract.truths import with_truths
from plaudit.errors import InvalidOutput, InvalidReward
from plaudit.normalize import Normalizer, RunningNormalizer, Scope, normalizer
from plaudit.schedules import Schedule
from plaudit.trajectory import Trajectory

__all__ = [
    "Combination", "CompositeReward", "FunctionReward", "NormalizedReward", "RewardFunction", "Rewarding", "as_reward",
    "reward",
]  # fmt: skip

_STYLES = {"compute_rewards": Style.BATCH, "compute_reward": Style.SAMPLE, "__call__": Style.PAIRED}


class RewardFunction:
    """Subclass this and define `compute_reward`, `compute_rewards`, or `__call__(trajectories, ground_truths)`.

    Each may be `async`. The class attributes below are promises to those who call the reward; set the ones that differ.
    """

    name: str = "RewardFunction"
    """What the reward is called in components, logs and messages; the class name unless set."""
    scope: Scope = "sample"
    """"group": always given whole groups; "batch": always given everything at once."""
    bounds: Bounds | None = None
    """The range every reward lies in, where there is one."""
    deterministic: bool = True
    """False when the same sample may score differently next time; such rewards are never cached."""
    concurrency: int = 32
    """How many samples an async reward may have under way at once."""
    style: Style = Style.SAMPLE

    @property
    def is_async(self) -> bool:
        """Whether the method that computes rewards is a coroutine function."""
        methods = {Style.SAMPLE: self.compute_reward, Style.BATCH: self.compute_rewards, Style.PAIRED: self.__call__}
        return inspect.iscoroutinefunction(methods[self.style])

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        if "name" not in cls.__dict__:
            cls.name = cls.__name__
        defined = [style for method, style in _STYLES.items() if method in cls.__dict__]
        if defined:
            cls.style = defined[0]

    def __new__(cls, *args: Any, **keywords: Any) -> "RewardFunction":
        own = (base for base in cls.__mro__ if base is not RewardFunction)
        if not any(method in base.__dict__ for base in own for method in _STYLES):
            raise TypeError(
                f"{cls.__name__} defines no reward: give it compute_reward(self, trajectory), "
                "compute_rewards(self, trajectories) or __call__(self, trajectories, ground_truths)"
            )
        return super().__new__(cls)

    def compute_reward(self, trajectory: Trajectory) -> Any:
        """The reward of one sample."""
        return only(self._many([trajectory]))

    def compute_rewards(self, trajectories: Sequence[Trajectory]) -> Any:
        """The rewards of many samples, in order."""
        if self.style is Style.SAMPLE:
            return [settled(self.compute_reward(trajectory)) for trajectory in trajectories]
        return self._many(trajectories)

    def _many(self, trajectories: Sequence[Trajectory]) -> Any:
        if self.style is Style.PAIRED:
            return settled(self(trajectories, [trajectory.ground_truth for trajectory in trajectories]))
        return settled(self.compute_rewards(trajectories))

    @overload
    def __call__(self, trajectories: Trajectory, ground_truths: Any = None) -> RewardOutput: ...
    @overload
    def __call__(
        self, trajectories: Sequence[Trajectory], ground_truths: Sequence[Any] | None = None
    ) -> list[float | None]: ...
    def __call__(self, trajectories: Any, ground_truths: Any = None) -> Any:
        """Score: one trajectory gives a RewardOutput, a list gives a list of numbers (None where not scored).

        A failure raises `ScoringFailed`; to get failures as data, use `plaudit.score`.
        """
        if isinstance(trajectories, Trajectory):
            truths = None if ground_truths is None else [ground_truths]
            return raised(evaluate(self, with_truths([trajectories], truths), first=0))[0]
        return [output.reward for output in raised(evaluate(self, with_truths(trajectories, ground_truths), first=0))]

    def __add__(self, other: "Addend") -> "CompositeReward":
        if isinstance(other, int | float):
            terms, offset = _terms(self)
            return CompositeReward(terms, offset=offset + other)
        if not isinstance(other, RewardFunction):
            return NotImplemented
        (left, left_offset), (right, right_offset) = _terms(self), _terms(other)
        return CompositeReward([*left, *right], offset=left_offset + right_offset)

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
            return Combination([self, other], rules.Product())
        return self._times(other) if isinstance(other, int | float | Schedule) else NotImplemented

    def __rmul__(self, other: Weight) -> "CompositeReward":
        return self._times(other)

    def __truediv__(self, other: float) -> "CompositeReward":
        return self._times(1.0 / other)

    def _times(self, factor: Weight) -> "CompositeReward":
        terms, offset = _terms(self)
        weights = [weight for _, weight in terms]
        if isinstance(factor, Schedule) or any(isinstance(weight, Schedule) for weight in weights):
            return CompositeReward([(self, factor)])
        return CompositeReward([(part, factor * weight) for part, weight in terms], offset=factor * offset)  # type: ignore[operator]  # no schedules here

    def clip(self, low: float | None = 0.0, high: float | None = 1.0) -> "Combination":
        """This reward, kept within [low, high]; None leaves an end open."""
        return Combination([self], rules.Clip(low, high))

    def floor(self, low: float) -> "Combination":
        """This reward, but never below `low`."""
        return self.clip(low, None)

    def scale(self, source: Bounds | None = None, *, to: Bounds = (0.0, 1.0)) -> "Combination":
        """The range `source` (the reward's own bounds if not given) stretched to the range `to`."""
        source = source or self.bounds
        if source is None:
            raise InvalidReward(f"{self.name} declares no bounds; say which range to scale from: .scale((low, high))")
        return Combination([self], rules.Affine(source, to))

    def smooth(self, amount: float = 0.1) -> "Combination":
        """Pulled towards the middle of its bounds, so that no reward sits exactly at an end: [0, 1] → [0.05, 0.95]."""
        if self.bounds is None or not 0.0 <= amount < 1.0:
            raise InvalidReward(
                f"smoothing needs declared bounds and 0 <= amount < 1; {self.name} has bounds {self.bounds}, "
                f"amount is {amount}"
            )
        low, high = self.bounds
        margin = 0.5 * amount * (high - low)
        return self.scale(self.bounds, to=(low + margin, high - margin))

    def sigmoid(self, reference: float = 0.0) -> "Combination":
        """σ(reward − reference): any reward becomes one in (0, 1)."""
        return Combination([self], rules.Sigmoid(reference))

    def gate(self, on: "Rewarding", at: float, otherwise: float = 0.0) -> "Combination":
        """This reward where `on` reaches `at`, else `otherwise`: nothing is earned without the gate."""
        return Combination([self, as_reward(on)], rules.Gate(at, otherwise))

    def normalized(self, how: str | Normalizer) -> "NormalizedReward":
        """This reward on a common scale: "group", "zscore", "minmax", "rank", "quantile" or "running"."""
        return NormalizedReward(self, normalizer(how))

    def named(self, name: str) -> "Combination":
        """This reward under another name."""
        renamed = Combination([self], WeightedSum((1.0,)))
        renamed.name = name
        return renamed

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(told_arguments(self))})"


class FunctionReward(RewardFunction):
    """A plain function as a reward; its parameters are filled by name. `function` is the function itself."""

    def __init__(
        self,
        function: Callable[..., Any],
        *,
        name: str | None = None,
        scope: Scope = "sample",
        bounds: Bounds | None = None,
        deterministic: bool = True,
    ) -> None:
        if not callable(function):
            raise InvalidReward(f"a reward function must be callable, got {type(function).__name__}")
        self.function = function
        self.binding = Binding.of(function)
        self.name = name or str(getattr(function, "__name__", type(function).__name__))
        self.style = Style.BATCH if self.binding.batched else Style.SAMPLE
        self.scope, self.bounds, self.deterministic = scope, bounds, deterministic
        if scope != "sample" and not self.binding.batched:
            raise InvalidReward(
                f"{self.name} is a {scope} reward but asks for one sample at a time; "
                "ask for lists: trajectories, prompts, responses or ground_truths"
            )
        self.__doc__ = getattr(function, "__doc__", None)

    @property
    def is_async(self) -> bool:
        return self.binding.is_async

    def compute_reward(self, trajectory: Trajectory) -> Any:
        if self.binding.batched:
            return only(settled(self.binding.call_batch([trajectory])))
        return self.binding.call(trajectory)

    def compute_rewards(self, trajectories: Sequence[Trajectory]) -> Any:
        if self.binding.batched:
            return self.binding.call_batch(trajectories)
        return [settled(self.binding.call(trajectory)) for trajectory in trajectories]

    def __call__(self, trajectories: Any, ground_truths: Any = None) -> Any:
        """Score as every reward does; a batched function gets the ground truths exactly as given."""
        if self.binding.batched and ground_truths is not None and not isinstance(trajectories, Trajectory):
            return super().__call__(with_truths(trajectories, ground_truths, unwrap=False))
        return super().__call__(trajectories, ground_truths)

    def __repr__(self) -> str:
        return self.name


Rewarding: TypeAlias = RewardFunction | Callable[..., Any]
Addend: TypeAlias = RewardFunction | float


@overload
def reward(function: Callable[..., Any], /) -> FunctionReward: ...
@overload
def reward(
    *, name: str | None = None, scope: Scope = "sample", bounds: Bounds | None = None, deterministic: bool = True
) -> Callable[[Callable[..., Any]], FunctionReward]: ...
def reward(function: Callable[..., Any] | None = None, /, **promises: Any) -> Any:
    """Make a reward of a function; its parameters are filled by name.

    >>> @reward
    ... def brief(response): return 1.0 if len(response.split()) < 50 else 0.0
    >>> brief([Trajectory(prompt="Hi", response="Hello")])
    [1.0]
    """
    if function is None:
        return functools.partial(FunctionReward, **promises)
    return FunctionReward(function)


def as_reward(rewarding: Rewarding) -> RewardFunction:
    """A reward as it is, a plain function as a `FunctionReward`."""
    if isinstance(rewarding, RewardFunction):
        return rewarding
    if isinstance(rewarding, type):
        raise InvalidReward(f"{rewarding.__name__} is a class; make a reward of it first: {rewarding.__name__}(...)")
    return FunctionReward(rewarding)


class Combination(RewardFunction):
    """Several rewards made one by a rule; every part's output is kept as a component under its own name.

    A sample that some part could not score is not scored: the missing number is never taken for 0.
    """

    def __init__(self, parts: Sequence[Rewarding], rule: Rule) -> None:
        if not parts:
            raise InvalidReward("a combination needs at least one reward")
        self.parts = [as_reward(part) for part in parts]
        self.rule = rule
        self.component_names = unique_names([part.name for part in self.parts])
        self.scope = widest_scope(part.scope for part in self.parts)
        self.deterministic = all(part.deterministic for part in self.parts)
        part_bounds = [part.bounds for part in self.parts if part.bounds is not None]
        self.bounds = rule.bounds(part_bounds) if len(part_bounds) == len(self.parts) else None

    def compute_rewards(self, trajectories: Sequence[Trajectory]) -> list[RewardOutput]:
        columns = [evaluate(part, trajectories) for part in self.parts]
        return [
            self._combined(trajectory, outputs)
            for trajectory, outputs in zip(trajectories, zip(*columns, strict=True), strict=True)
        ]

    def _combined(self, trajectory: Trajectory, outputs: Sequence[RewardOutput]) -> RewardOutput:
        components = dict(zip(self.component_names, outputs, strict=True))
        failed = [(name, output) for name, output in components.items() if not output.ok]
        if failed:
            name, output = failed[0]
            reason = output.reason if output.reason.startswith(name) else f"{name}: {output.reason}"
            return RewardOutput.unscored(output.status, reason, components=components)
        try:
            values = [output.reward for output in outputs if output.reward is not None]
            combined = self.rule.combine(values, trajectory.training_step)
            token_rewards, unit = combined_tokens(trajectory, outputs, combined.slopes)
        except InvalidOutput as error:
            return RewardOutput.unscored(Status.ERROR, f"{self.name}: {error}", components=components)
        return RewardOutput(
            combined.value,
            token_rewards=token_rewards,
            token_unit=unit,
            score=combined_score(outputs, self.rule.shares(len(outputs))),
            reason="; ".join(f"{name}: {output.reason}" for name, output in components.items() if output.reason),
            components=components,
            latency_s=sum(output.latency_s or 0.0 for output in outputs),
        )

    def __repr__(self) -> str:
        return self.rule.express([_bracketed(part, self.rule.needs) for part in self.parts])


class CompositeReward(Combination):
    """A weighted sum: `CompositeReward([(MathReward(), 0.7), (FormatReward(), 0.3)])`.

    Weights are numbers or schedules over training steps. `0.7 * MathReward() + 0.3 * FormatReward()` is the same.
    """

    rule: WeightedSum

    def __init__(self, parts: Sequence[tuple[Rewarding, Weight]], *, offset: float = 0.0) -> None:
        for part in parts:
            if not isinstance(part, tuple) or len(part) != 2:
                raise InvalidReward(f"a composite takes (reward, weight) pairs, got {part!r:.60}")
        weights = tuple(weight for _, weight in parts)
        super().__init__([part for part, _ in parts], WeightedSum(weights, offset))


class NormalizedReward(RewardFunction):
    """A reward put on a common scale over its group, its batch or its history."""

    def __init__(self, part: RewardFunction, normalizer: Normalizer) -> None:
        self.part = part
        self.normalizer = normalizer
        self.name = part.name
        self.scope = "batch" if part.scope == "batch" else normalizer.scope
        self.deterministic = part.deterministic and not isinstance(normalizer, RunningNormalizer)

    def compute_rewards(self, trajectories: Sequence[Trajectory]) -> list[RewardOutput]:
        outputs = evaluate(self.part, trajectories)
        scaled = self.normalizer.normalize(
            [output.reward for output in outputs],
            [trajectory.group_key for trajectory in trajectories],
            [trajectory.task for trajectory in trajectories],
        )
        return [
            RewardOutput.unscored(output.status, output.reason, components={"raw": output})
            if new is None
            else msgspec.structs.replace(
                output,
                reward=new.value,
                token_rewards=stretched(output.token_rewards, new.slope),
                components={"raw": output},
            )
            for output, new in zip(outputs, scaled, strict=True)
        ]

    def __repr__(self) -> str:
        return f"{_bracketed(self.part, rules.ATOM)}.normalized({self.normalizer})"


def _terms(reward: RewardFunction) -> tuple[list[tuple[Rewarding, Weight]], float]:
    """A reward as the terms of a sum; sums that carry a name of their own stay whole."""
    if isinstance(reward, CompositeReward) and reward.name == CompositeReward.name:
        return list(zip(reward.parts, reward.rule.weights, strict=True)), reward.rule.offset
    return [(reward, 1.0)], 0.0


def _bracketed(part: RewardFunction, needs: int) -> str:
    loose = isinstance(part, Combination) and part.rule.precedence < needs
    return f"({part!r})" if loose else repr(part)
