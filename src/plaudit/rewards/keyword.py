"""Reward words and phrases: required ones, ones with a bonus, ones with a penalty.

Each counts once and only as a whole word. A response of ten words or more that consists mostly of keywords earns
nothing, so reciting the list does not pay.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from plaudit.contract.function import RewardFunction
from plaudit.contract.output import RewardOutput
from plaudit.errors import InvalidSettings
from plaudit.settings import as_text_tuple, check_number, set_field
from plaudit.trajectory import Trajectory
from plaudit.verify.text import normalize_text, words

Amounts: TypeAlias = Sequence[str] | Mapping[str, float] | Sequence[tuple[str, float]]
BONUS, PENALTY = 0.1, 0.15
LEAST_BASE = 0.5
FLOOD_FROM = 10  # words; in shorter responses most words may well be keywords


@dataclass(frozen=True, repr=False)
class KeywordReward(RewardFunction):
    """1.0 when all `required` and all `bonus` words occur and no `penalty` word does; in [0, 1].

    `bonus` (0.1 each) and `penalty` (0.15 each) may map words to amounts of their own. The bonus amounts, at most half,
    are set aside of the 1.0; the required words earn the rest, by the share of them that is said.
    """

    required: Sequence[str] = ()
    bonus: Amounts = ()
    penalty: Amounts = ()
    patterns: tuple[tuple[str, re.Pattern[str]], ...] = field(init=False, repr=False)

    bounds = (0.0, 1.0)
    deterministic = True
    pure = True

    def __post_init__(self) -> None:
        set_field(self, "required", as_text_tuple("required", self.required))
        set_field(self, "bonus", _amounts("bonus", self.bonus, BONUS))
        set_field(self, "penalty", _amounts("penalty", self.penalty, PENALTY))
        every = dict.fromkeys([*self.required, *dict(self.bonus), *dict(self.penalty)])  # type: ignore[arg-type]  # pairs by now
        if not every:
            raise InvalidSettings("KeywordReward needs words: required=[...], bonus=[...] or penalty=[...]")
        set_field(self, "patterns", tuple((word, _pattern(word)) for word in every))

    def compute_reward(self, trajectory: Trajectory) -> RewardOutput:
        text = " ".join(normalize_text(word) for word in words(trajectory.response))
        counts = {word: len(pattern.findall(text)) for word, pattern in self.patterns}
        total = text.count(" ") + 1 if text else 0
        if not text or is_flood(sum(counts[word] * len(word.split()) for word in counts), total):
            return RewardOutput(0.0, reason="mostly keywords" if text else "empty")
        value, reason = self._count_words({word for word, count in counts.items() if count})
        return RewardOutput(value, reason=reason, metadata={"said": [word for word in counts if counts[word]]})

    def _count_words(self, response_words: set[str]) -> tuple[float, str]:
        bonus, penalty = dict(self.bonus), dict(self.penalty)  # type: ignore[arg-type]  # pairs by now
        missing = [word for word in self.required if word not in response_words]
        share = 1.0 - len(missing) / len(self.required) if self.required else 1.0
        value = share * max(LEAST_BASE, 1.0 - sum(bonus.values()))
        value += sum(amount for word, amount in bonus.items() if word in response_words)
        value -= sum(amount for word, amount in penalty.items() if word in response_words)
        notes = [f"says {word!r}" for word in [*bonus, *penalty] if word in response_words]
        notes = [*(f"{word!r} is missing" for word in missing), *notes]
        return min(1.0, max(0.0, value)), "; ".join(notes) or "all required words"


def is_flood(keywords: int, total: int) -> bool:
    """Whether more than half of a response of ten words or more is keywords."""
    return total >= FLOOD_FROM and 2 * keywords > total


def _amounts(name: str, amounts: Amounts, default: float) -> tuple[tuple[str, float], ...]:
    """Words with their amounts, from any of the accepted forms."""
    if isinstance(amounts, Mapping):
        pairs: Iterable[tuple[str, float]] = amounts.items()
    else:
        entries = as_text_tuple(name, amounts) if isinstance(amounts, str) else tuple(amounts)
        pairs = [entry if isinstance(entry, tuple) else (entry, default) for entry in entries]
    listed = tuple(pairs)
    as_text_tuple(name, [word for word, _ in listed])
    for word, amount in listed:
        check_number(f"the {name} of {word!r}", amount, least=0)
    return listed


def _pattern(phrase: str) -> re.Pattern[str]:
    spoken = [re.escape(normalize_text(word)) for word in words(phrase)]
    if not spoken:
        raise InvalidSettings(f"the keyword {phrase!r} has no letter or digit")
    return re.compile(rf"(?<!\w){' '.join(spoken)}(?!\w)")


@dataclass(frozen=True, repr=False)
class WordReward(RewardFunction):
    """`amount` for every word of `response.split()` that is in `good_tokens`; the rewards of the words are kept.

    Pays for every use, so it is for shaping, not for judging; `once=True` pays the first use only. A response of ten
    words or more that consists mostly of good words earns nothing.
    """

    deterministic = True
    pure = True

    good_tokens: Sequence[str]
    amount: float = 0.1
    once: bool = False

    def __post_init__(self) -> None:
        set_field(self, "good_tokens", as_text_tuple("good_tokens", self.good_tokens))
        check_number("amount", self.amount)

    def compute_reward(self, trajectory: Trajectory) -> RewardOutput:
        spoken = trajectory.response.split()
        good = [word in self.good_tokens for word in spoken]
        if is_flood(sum(good), len(spoken)):
            return RewardOutput(0.0, token_rewards=[0.0] * len(spoken), reason="mostly good words")
        if self.once:
            first = {word: index for index, word in reversed(list(enumerate(spoken)))}
            good = [is_good and first[spoken[index]] == index for index, is_good in enumerate(good)]
        values = [self.amount if is_good else 0.0 for is_good in good]
        return RewardOutput(sum(values), token_rewards=values, reason=f"{sum(good)} of {len(spoken)} words are good")
