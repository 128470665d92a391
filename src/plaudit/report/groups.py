"""What the samples of one prompt have in common, kept as sums so that millions of groups fit in memory.

A group is dead when all its rewards are equal: its advantages are zero and it teaches nothing. Groups with fewer than
two scored samples can be neither dead nor alive and are counted apart.
"""

import hashlib
import math
from array import array
from dataclasses import dataclass

from plaudit.trajectory import Trajectory

__all__ = ["DIGEST_BITS", "GroupNumbers", "GroupSums", "GroupSummary", "group_digest"]

DEAD_SPREAD = 1e-9
DIGEST_BITS = 64
_FREE = -1


@dataclass(frozen=True, slots=True)
class GroupSummary:
    """How many groups there are, and how many of them teach nothing; dead ones split by their scores.

    `length_correlation` is that of reward and response length in characters within groups, so that hard prompts with
    long answers do not feign one. None where rewards or lengths do not vary.
    """

    count: int
    compared: int
    dead_right: int
    dead_wrong: int
    dead_other: int
    length_correlation: float | None

    @property
    def dead(self) -> int:
        return self.dead_right + self.dead_wrong + self.dead_other


def group_digest(trajectory: Trajectory) -> int:
    """A number of 64 bits that samples of one prompt and one training step have in common."""
    group: str | int | None = trajectory.group
    named = trajectory.prompt_text if group is None else repr(group)
    name = f"{group is None}{trajectory.training_step}:{named}".encode(errors="surrogatepass")
    return int.from_bytes(hashlib.blake2b(name, digest_size=DIGEST_BITS // 8).digest())


class GroupNumbers:
    """Numbers groups in the order they come: a hash table of bare numbers, a tenth as large as a dict of names."""

    def __init__(self) -> None:
        self._digests = array("Q")  # by number
        self._places = array("i", [_FREE]) * 64

    def __len__(self) -> int:
        return len(self._digests)

    def number_of(self, trajectory: Trajectory) -> int:
        """The number of the sample's group; a new one where none of its samples came before."""
        digest = group_digest(trajectory)
        place = self._find(digest)
        if self._places[place] == _FREE:
            if 2 * len(self) >= len(self._places):
                self._grow()
                place = self._find(digest)
            self._places[place] = len(self)
            self._digests.append(digest)
        return self._places[place]

    def _find(self, digest: int) -> int:
        """The place of a digest, or the free one where it belongs."""
        places, digests = self._places, self._digests
        last = len(places) - 1
        place = digest & last
        while (number := places[place]) != _FREE and digests[number] != digest:
            place = place + 1 & last
        return place

    def _grow(self) -> None:
        self._places = array("i", [_FREE]) * (4 * len(self._places))
        for number, digest in enumerate(self._digests):
            self._places[self._find(digest)] = number


class GroupSums:
    """Collects scored samples by group."""

    def __init__(self, numbers: GroupNumbers | None = None) -> None:
        self._numbers = GroupNumbers() if numbers is None else numbers
        self._sizes = array("q")
        self._rewards, self._lengths = array("d"), array("d")  # running means
        self._lows, self._highs = array("d"), array("d")
        self._low_scores, self._high_scores = array("d"), array("d")
        self._spread_rewards = self._spread_lengths = self._spread_both = 0.0

    def index_of(self, trajectory: Trajectory) -> int:
        """The number of the sample's group."""
        place = self._numbers.number_of(trajectory)
        while place >= len(self._sizes):
            self._sizes.append(0)
            for column, start in (
                (self._rewards, 0.0), (self._lengths, 0.0), (self._lows, math.inf), (self._highs, -math.inf),
                (self._low_scores, math.inf), (self._high_scores, -math.inf),
            ):  # fmt: skip
                column.append(start)
        return place

    def add(self, trajectory: Trajectory, reward: float, score: float | None) -> None:
        """Take one scored sample (Welford's sums, pooled over groups)."""
        place, length = self.index_of(trajectory), float(len(trajectory.response))
        self._sizes[place] += 1
        reward_off, length_off = reward - self._rewards[place], length - self._lengths[place]
        self._rewards[place] += reward_off / self._sizes[place]
        self._lengths[place] += length_off / self._sizes[place]
        self._spread_rewards += reward_off * (reward - self._rewards[place])
        self._spread_lengths += length_off * (length - self._lengths[place])
        self._spread_both += reward_off * (length - self._lengths[place])
        self._lows[place] = min(self._lows[place], reward)
        self._highs[place] = max(self._highs[place], reward)
        known = math.nan if score is None else score  # without a score, its group is neither right nor wrong
        self._low_scores[place] = _low(self._low_scores[place], known)
        self._high_scores[place] = _high(self._high_scores[place], known)

    def summary(self) -> GroupSummary:
        compared = [place for place, size in enumerate(self._sizes) if size > 1]
        dead = [place for place in compared if self._highs[place] - self._lows[place] <= DEAD_SPREAD]
        right = sum(self._low_scores[place] >= 1.0 - DEAD_SPREAD for place in dead)
        wrong = sum(self._high_scores[place] <= DEAD_SPREAD for place in dead)
        return GroupSummary(
            count=len(self._sizes),
            compared=len(compared),
            dead_right=right,
            dead_wrong=wrong,
            dead_other=len(dead) - right - wrong,
            length_correlation=self._correlation(),
        )

    def _correlation(self) -> float | None:
        if not 0.0 < self._spread_rewards < math.inf or not self._spread_lengths:
            return None  # constant, or beyond what floats can square
        scale = math.sqrt(self._spread_rewards) * math.sqrt(self._spread_lengths)
        return max(-1.0, min(1.0, self._spread_both / scale))


def _low(one: float, other: float) -> float:
    return math.nan if math.isnan(one) or math.isnan(other) else min(one, other)


def _high(one: float, other: float) -> float:
    return math.nan if math.isnan(one) or math.isnan(other) else max(one, other)
