"""What a batch earned, from scored trajectories or from bare rewards, and which samples belong together.

None and NaN both mean that a sample was not scored; either way it has no credit, which is not a credit of 0.
"""

import math
from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from plaudit.contract.output import RewardOutput
from plaudit.errors import InvalidAdvantage
from plaudit.training.learning.credit import Credit, CreditBy, credit_of
from plaudit.trajectory import Trajectory

__all__ = ["Earnings", "as_rewards"]


@dataclass(frozen=True, slots=True)
class Earnings:
    """What a batch earned: a credit per sample (None: not scored) and the group each sample belongs to.

    `components` holds the same per component of the reward, for estimators that look at each; `values` are a critic's,
    one per token.
    """

    credits: Sequence[Credit | None]
    groups: Sequence[Hashable]
    components: Mapping[str, Sequence[Credit | None]] = field(default_factory=dict)
    values: Sequence[Sequence[float]] | None = None

    def __post_init__(self) -> None:
        expected = len(self.credits)
        counts = {"groups": self.groups, "values": self.values, **self.components}
        for name, given in counts.items():
            if given is not None and len(given) != expected:
                raise InvalidAdvantage(f"{len(given)} {name} for {expected} samples; give one each")

    @classmethod
    def of(cls, scored: Iterable[tuple[Trajectory, RewardOutput]], by: CreditBy = "tokens") -> "Earnings":
        """The earnings of scored trajectories, grouped as the trajectories say."""
        pairs = list(scored)
        names = dict.fromkeys(name for _, output in pairs for name in output.components)
        return cls(
            credits=[credit_of(trajectory, output, by) for trajectory, output in pairs],
            groups=[trajectory.group_key for trajectory, _ in pairs],
            components={name: [_component(*pair, name, by) for pair in pairs] for name in names},
        )

    @classmethod
    def of_rewards(
        cls,
        rewards: Iterable[Any],
        num_generations: int = 1,
        groups: Sequence[Hashable] | None = None,
        lengths: Sequence[int] | None = None,
    ) -> "Earnings":
        """The earnings of bare rewards; those of one prompt stand together unless `groups` says which do."""
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
        """The places of the scored samples of each group."""
        members: dict[Hashable, list[int]] = defaultdict(list)
        for place, (group, credit) in enumerate(zip(self.groups, self.credits, strict=True)):
            if credit is not None:
                members[group].append(place)
        return dict(members)

    def totals(self, places: Iterable[int] | None = None) -> list[float]:
        """The whole rewards of the scored samples among `places`, or of all."""
        chosen = self.credits if places is None else [self.credits[place] for place in places]
        return [credit.total for credit in chosen if credit is not None]

    def less(self, penalties: Sequence[Sequence[float]]) -> "Earnings":
        """The earnings after a penalty per token of every sample; components keep theirs."""
        if len(penalties) != len(self.credits):
            raise InvalidAdvantage(f"penalties of {len(penalties)} samples for {len(self.credits)} samples")
        pairs = zip(self.credits, penalties, strict=True)
        return replace(self, credits=[None if credit is None else credit.less(paid) for credit, paid in pairs])


def as_rewards(rewards: Iterable[Any]) -> list[float | None]:
    """Numbers of any kind (lists, arrays, tensors) as floats; None and NaN both mean not scored."""
    tolist = getattr(rewards, "tolist", None)  # arrays and tensors: their items are not plain numbers
    listed = tolist() if tolist else list(rewards)
    return [_as_reward(place, value) for place, value in enumerate(listed)]


def _as_reward(place: int, value: Any) -> float | None:
    if value is None:
        return None
    try:
        number = float(value)
    except (TypeError, ValueError, RuntimeError) as error:  # RuntimeError: tensors of several elements
        raise InvalidAdvantage(f"rewards[{place}] must be one number or None, got {value!r:.60}") from error
    if math.isinf(number):
        raise InvalidAdvantage(f"rewards[{place}] is {number}; a reward is a finite number, or None where not scored")
    return None if math.isnan(number) else number


def _component(trajectory: Trajectory, output: RewardOutput, name: str, by: CreditBy) -> Credit | None:
    component = output.components.get(name)
    return None if component is None or not output.ok else credit_of(trajectory, component, by)


def _consecutive(count: int, num_generations: int) -> list[int]:
    if num_generations < 1:
        raise InvalidAdvantage(f"num_generations must be at least 1, got {num_generations}")
    if count % num_generations:
        raise InvalidAdvantage(
            f"{count} rewards do not divide into groups of num_generations={num_generations}; "
            "give as many rewards per prompt, or say with `groups` which belong together"
        )
    return [place // num_generations for place in range(count)]
