"""Credit assignment: rewards of single tokens, of step ends, or of the outcome as a whole.

The reward of a sample is its total: the outcome is the total minus its token or step rewards. So a reward that gives
token rewards is not counted twice, and the sum is preserved.
"""

import hashlib
import math
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias

from plaudit.contract.alignment import token_rewards_of
from plaudit.contract.output import RewardOutput
from plaudit.errors import InvalidAdvantage
from plaudit.normalize import Moments
from plaudit.settings import check_choice
from plaudit.trajectory import Trajectory

LARGEST_REWARD = 1e30
"""Squares of larger rewards would leave the range of floats."""

CreditBy: TypeAlias = Literal["outcome", "tokens", "steps"]


@dataclass(frozen=True, slots=True)
class Credit:
    """The reward of one sample, split: `tokens` has one number per token of the response, `outcome` is of all of it.

    `action_mask` is 1 on tokens that the policy chose and 0 on feedback, as in `Tokens.mask`.
    """

    outcome: float
    tokens: Sequence[float]
    action_mask: Sequence[int]

    def __post_init__(self) -> None:
        if len(self.tokens) != len(self.action_mask):
            raise InvalidAdvantage(f"{len(self.tokens)} token rewards but {len(self.action_mask)} mask values")
        if not all(map(math.isfinite, (self.outcome, *self.tokens))):
            raise InvalidAdvantage("a credit is made of finite numbers; a sample without a reward has no credit, None")

    @classmethod
    def whole(cls, reward: float, length: int = 1) -> "Credit":
        """A credit with the whole reward on the outcome and none on the `length` tokens."""
        return cls(reward, [0.0] * length, [1] * length)

    @property
    def total(self) -> float:
        return self.outcome + math.fsum(self.tokens)

    @property
    def length(self) -> int:
        """The number of tokens that the policy chose."""
        return sum(1 for chosen in self.action_mask if chosen)

    @property
    def has_token_rewards(self) -> bool:
        return any(self.tokens)

    def minus(self, penalties: Sequence[float]) -> "Credit":
        """The credit minus a penalty per token, such as β · KL; tokens that were not chosen have no penalty."""
        if len(penalties) != len(self.tokens):
            raise InvalidAdvantage(f"{len(penalties)} penalties for a response of {len(self.tokens)} tokens")
        paid = [
            reward - penalty if chosen else reward
            for reward, penalty, chosen in zip(self.tokens, penalties, self.action_mask, strict=True)
        ]
        return replace(self, tokens=paid)


@dataclass(frozen=True, slots=True)
class StepCredit:
    """One step of an episode: its tokens, what it earned, and the state in which it was taken."""

    start: int
    end: int
    reward: float
    state: Hashable


@dataclass(frozen=True, slots=True)
class BatchCredit:
    """The credit of a batch: one per sample (None: not scored) and the group each sample belongs to.

    `components` holds the same per component of the reward, for estimators that look at each; `values` are a critic's,
    and `penalties` those of a KL, each one per token.
    """

    credits: Sequence[Credit | None]
    groups: Sequence[Hashable]
    components: Mapping[str, Sequence[Credit | None]] = field(default_factory=dict)
    values: Sequence[Sequence[float]] | None = None
    penalties: Sequence[Sequence[float]] | None = None
    steps: Sequence[Sequence[StepCredit]] | None = None
    """The steps of each sample, for estimators that compare them."""

    def __post_init__(self) -> None:
        expected = len(self.credits)
        each = {"groups": self.groups, "values": self.values, "penalties": self.penalties, "steps": self.steps}
        for name, values in {**each, **self.components}.items():
            if values is not None and len(values) != expected:
                raise InvalidAdvantage(f"{len(values)} {name} for {expected} samples; give one each")

    @classmethod
    def of(cls, scored: Iterable[tuple[Trajectory, RewardOutput]], by: CreditBy = "tokens") -> "BatchCredit":
        """The credit of scored trajectories, grouped by the trajectories' groups."""
        pairs = list(scored)
        names = dict.fromkeys(name for _, output in pairs for name in output.components)
        return cls(
            credits=[assign_credit(trajectory, output, by) for trajectory, output in pairs],
            groups=[trajectory.group_key for trajectory, _ in pairs],
            components={name: [_component(*pair, name, by) for pair in pairs] for name in names},
            steps=[find_steps(*pair) for pair in pairs],
        )

    @classmethod
    def of_rewards(
        cls,
        rewards: Iterable[Any],
        num_generations: int = 1,
        groups: Sequence[Hashable] | None = None,
        lengths: Sequence[int] | None = None,
    ) -> "BatchCredit":
        """The credit of bare rewards; those of one prompt are consecutive unless `groups` assigns them."""
        numbers = as_rewards(rewards)
        sizes = [1] * len(numbers) if lengths is None else lengths
        if len(sizes) != len(numbers):
            raise InvalidAdvantage(f"{len(sizes)} lengths for {len(numbers)} rewards; give one each")
        credits = [
            None if number is None else Credit.whole(number, max(1, size))
            for number, size in zip(numbers, sizes, strict=True)
        ]
        return cls(credits, _consecutive(len(numbers), num_generations) if groups is None else groups)

    @property
    def members(self) -> dict[Hashable, list[int]]:
        """The indices of the scored samples of each group."""
        members: dict[Hashable, list[int]] = defaultdict(list)
        for index, (group, credit) in enumerate(zip(self.groups, self.credits, strict=True)):
            if credit is not None:
                members[group].append(index)
        return dict(members)

    def totals(self, indices: Iterable[int] | None = None) -> list[float]:
        """The whole rewards of the scored samples among `indices`, or of all."""
        chosen = self.credits if indices is None else [self.credits[index] for index in indices]
        return [credit.total for credit in chosen if credit is not None]

    def select_scored(self, indices: Iterable[int]) -> list[Credit]:
        """The credits of the scored samples among `indices`."""
        return [credit for index in indices if (credit := self.credits[index]) is not None]

    def minus(self, penalties: Sequence[Sequence[float]]) -> "BatchCredit":
        """The same with a penalty per token of every sample, such as β · KL, which counts like a negative reward there;
        tokens that were not chosen have no penalty."""
        return replace(self, penalties=penalties)

    @property
    def penalized_credits(self) -> list[Credit | None]:
        """The credits with the penalties subtracted from the token rewards."""
        if self.penalties is None:
            return list(self.credits)
        pairs = zip(self.credits, self.penalties, strict=True)
        return [None if credit is None else credit.minus(paid) for credit, paid in pairs]

    def subtract_penalties(self, estimates: list[list[float] | None], gamma: float) -> list[list[float] | None]:
        """The estimates less the sum of the penalties from each token on."""
        if self.penalties is None:
            return estimates
        paid: list[list[float] | None] = []
        for estimate, credit, penalties in zip(estimates, self.credits, self.penalties, strict=True):
            if estimate is None or credit is None:
                paid.append(None)
                continue
            to_pay = returns(Credit(0.0, [0.0] * len(credit.tokens), credit.action_mask).minus(penalties), gamma=gamma)
            paid.append([value + due for value, due in zip(estimate, to_pay, strict=True)])
        return paid


def assign_credit(trajectory: Trajectory, output: RewardOutput, by: CreditBy = "tokens") -> Credit | None:
    """The credit of a sample by its reward; None when it was not scored.

    `by="tokens"` takes the output's token rewards where there are any, `"steps"` the trajectory's step rewards, each
    at the last token of its step, and `"outcome"` neither.
    """
    check_choice("credit", by, CREDITS)
    if output.reward is None:
        return None
    if trajectory.tokens is None:
        raise InvalidAdvantage("the trajectory carries no tokens, so nothing can be credited; sample it with a Sampler")
    if abs(output.reward) > LARGEST_REWARD:
        raise InvalidAdvantage(
            f"a reward of {output.reward:.3g} is too large to learn from (at most {LARGEST_REWARD:g}); "
            "let the reward function divide, clip or normalize it"
        )
    chosen = trajectory.tokens.mask or [1] * len(trajectory.tokens)
    tokens = CREDITS[by](trajectory, output, chosen) or [0.0] * len(chosen)
    return Credit(output.reward - math.fsum(tokens), tokens, chosen)


def returns(credit: Credit, *, gamma: float = 1.0) -> list[float]:
    """The return of the sample from each token on, later rewards discounted by `gamma` per token.

    >>> returns(Credit(1.0, [0.0, 0.5, 0.0], [1, 1, 1]))
    [1.5, 1.5, 1.0]
    """
    to_go, ahead = [0.0] * len(credit.tokens), credit.outcome
    for index in range(len(to_go) - 1, -1, -1):
        ahead = credit.tokens[index] + ahead
        to_go[index] = ahead
        ahead *= gamma if credit.action_mask[index] else 1.0  # tokens that the policy did not choose are no time steps
    return to_go


def gae(credit: Credit, values: Sequence[float], *, gamma: float = 1.0, lam: float = 0.95) -> list[float]:
    """Generalised advantage estimation, δ_t = r_t + γ V_{t+1} − V_t and A_t = δ_t + γ λ A_{t+1} (arXiv:1506.02438).

    The outcome is earned at the last chosen token. Tokens that were not chosen are no steps of the process: they are
    passed over, a reward on one counts for the chosen token before it, and their advantage is 0.
    """
    if len(values) != len(credit.tokens):
        raise InvalidAdvantage(f"{len(values)} values for a response of {len(credit.tokens)} tokens; give one each")
    advantages = [0.0] * len(values)
    earned, next_value, next_advantage = credit.outcome, 0.0, 0.0
    for index in range(len(values) - 1, -1, -1):
        earned += credit.tokens[index]
        if credit.action_mask[index]:
            delta = earned + gamma * next_value - values[index]
            advantages[index] = next_advantage = delta + gamma * lam * next_advantage
            earned, next_value = 0.0, values[index]
    return advantages


def _step_rewards(trajectory: Trajectory, output: RewardOutput, chosen: Sequence[int]) -> list[float]:
    """The rewards of the steps, each on the last of the tokens chosen in it."""
    ends = [step.metadata["tokens"][1] - 1 for step in trajectory.steps if "tokens" in step.metadata]  # in episodes
    if not ends:
        ends = [at for at, mask in enumerate(chosen) if mask and not (at + 1 < len(chosen) and chosen[at + 1])]
    if len(ends) != len(trajectory.steps):
        raise InvalidAdvantage(
            f"{len(trajectory.steps)} steps but {len(ends)} runs of chosen tokens; "
            "the mask must be 0 between steps, as episodes leave it"
        )
    tokens = [0.0] * len(chosen)
    for end, earned in zip(ends, _rewards_of_steps(trajectory), strict=True):
        tokens[end] = earned
    return tokens


def _rewards_of_steps(trajectory: Trajectory) -> list[float]:
    return [step.reward or 0.0 for step in trajectory.steps]


def find_steps(trajectory: Trajectory, output: RewardOutput) -> list[StepCredit]:
    """The steps of an episode; the last step also gets the part of the reward that no step has. A response is one step.

    The state of a step is the one that its environment set, else a hash of the conversation before it.
    """
    if trajectory.tokens is None or output.reward is None:
        return []
    spans = [step.metadata["tokens"] for step in trajectory.steps if "tokens" in step.metadata]
    if not spans or len(spans) < len(trajectory.steps):
        return [StepCredit(0, len(trajectory.tokens), output.reward, ())]
    earned = _rewards_of_steps(trajectory)
    earned[-1] += output.reward - math.fsum(earned)
    credits, history = [], hashlib.blake2b(digest_size=16)
    for step, span, reward in zip(trajectory.steps, spans, earned, strict=True):
        history.update(f"{len(step.observation)}:{step.observation}".encode(errors="surrogatepass"))
        credits.append(StepCredit(span[0], span[1], reward, step.metadata.get("state", history.digest())))
        history.update(f"{len(step.response)}:{step.response}".encode(errors="surrogatepass"))
    return credits


_Locate: TypeAlias = Callable[[Trajectory, RewardOutput, Sequence[int]], list[float] | None]
CREDITS: dict[str, _Locate] = {
    "outcome": lambda trajectory, output, chosen: None,
    "tokens": lambda trajectory, output, chosen: token_rewards_of(output, trajectory),
    "steps": _step_rewards,
}


def as_rewards(rewards: Iterable[Any]) -> list[float | None]:
    """Numbers of any kind (lists, arrays, tensors) as floats; None and NaN both mean not scored."""
    tolist = getattr(rewards, "tolist", None)  # arrays and tensors: their items are not plain numbers
    listed = tolist() if tolist else list(rewards)
    return [_as_reward(index, value) for index, value in enumerate(listed)]


def _as_reward(index: int, value: Any) -> float | None:
    if value is None:
        return None
    try:
        number = float(value)
    except (TypeError, ValueError, RuntimeError) as error:  # RuntimeError: tensors of several elements
        raise InvalidAdvantage(f"rewards[{index}] must be one number or None, got {value!r:.60}") from error
    if abs(number) > LARGEST_REWARD:
        raise InvalidAdvantage(
            f"rewards[{index}] is {number:g}; a reward is a number of at most {LARGEST_REWARD:g}, or None if not scored"
        )
    return None if math.isnan(number) else number


def _component(trajectory: Trajectory, output: RewardOutput, name: str, by: CreditBy) -> Credit | None:
    component = output.components.get(name)
    return None if component is None or not output.ok else assign_credit(trajectory, component, by)


def _consecutive(count: int, num_generations: int) -> list[int]:
    if num_generations < 1:
        raise InvalidAdvantage(f"num_generations must be at least 1, got {num_generations}")
    if count % num_generations:
        raise InvalidAdvantage(
            f"{count} rewards do not divide into groups of num_generations={num_generations}; "
            "give as many rewards per prompt, or assign them to groups with `groups`"
        )
    return [index // num_generations for index in range(count)]


NEGLIGIBLE = 1e-9
"""The share of the mean below which a spread is rounding: such rewards are only centred."""


@dataclass
class TaskScale:
    """Running moments of the rewards by task; a batch is added before it is scaled."""

    moments: dict[str, Moments] = field(default_factory=dict)

    def normalize(self, batch_credit: BatchCredit, tasks: Sequence[str | None]) -> BatchCredit:
        """The credit with each sample's reward as (reward − mean) / spread of its task; token rewards keep their part.

        Components keep their own scales, since estimators that look at them normalise each.
        """
        names = [task or "" for task in tasks]
        for credit, task in zip(batch_credit.credits, names, strict=True):
            if credit is not None:
                self.moments.setdefault(task, Moments()).add(credit.total)
        credits = [
            None if credit is None else self._scale(credit, task)
            for credit, task in zip(batch_credit.credits, names, strict=True)
        ]
        return replace(batch_credit, credits=credits)

    def state(self) -> dict[str, list[float]]:
        """The state for a checkpoint."""
        return {task: [seen.count, seen.mean, seen.squares] for task, seen in self.moments.items()}

    def restore(self, state: dict[str, Any]) -> None:
        """Continue from what `state` gave."""
        self.moments = {task: Moments(int(count), mean, squares) for task, (count, mean, squares) in state.items()}

    def metrics(self) -> dict[str, float]:
        """`task/<task>/spread`: what the task's rewards are divided by."""
        return {f"task/{task}/spread": seen.std for task, seen in self.moments.items()}

    def _slope(self, task: str) -> float:
        seen = self.moments[task]
        return 1.0 / seen.std if seen.std > NEGLIGIBLE * max(1e-9, abs(seen.mean)) else 1.0

    def _scale(self, credit: Credit, task: str) -> Credit:
        slope = self._slope(task)
        outcome = (credit.outcome - self.moments[task].mean) * slope
        return replace(credit, outcome=outcome, tokens=[value * slope for value in credit.tokens])
