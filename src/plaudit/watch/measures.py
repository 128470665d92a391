"""The figures that a watch looks at: shares and correlations within groups, so that no scale of a reward matters."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from plaudit.report.statistics.components import component_shares
from plaudit.report.statistics.duplicates import near_duplicates
from plaudit.report.statistics.kept_texts import KeptTexts
from plaudit.report.statistics.length_bias import length_bias
from plaudit.report.statistics.phrases import paying_phrases
from plaudit.report.statistics.saturation import measure_saturation
from plaudit.report.statistics.signal import group_signal
from plaudit.report.statistics.table import SampleTable
from plaudit.rollouts import ScoredRollout

__all__ = ["Measures", "measure", "quarter"]


@dataclass(frozen=True, slots=True)
class Measures:
    """What some steps of a run show; None where there is nothing to measure.

    `unscored_early` and `unscored_late` are the unscored shares of the first and of the last quarter of the samples.
    `length` is the mean length of responses in characters, `length_pay` the lower bound of the correlation of reward
    and length within groups, `dominant` the component with the largest share of the variance within groups.
    """

    samples: int
    unscored: float | None
    unscored_early: float | None
    unscored_late: float | None
    unscored_reason: str
    dead: float | None
    phantom: float | None
    at_top: float | None
    at_bottom: float | None
    length: float | None
    length_pay: float | None
    dominant: str | None
    dominance: float | None
    components: int
    copies: float | None
    phrases: tuple[tuple[str, float], ...]

    def to_metrics(self) -> dict[str, float]:
        """The numbers by the names that metrics.jsonl and other logs give them."""
        numbers = {
            "unscored": self.unscored,
            "dead_groups": self.dead,
            "phantom_groups": self.phantom,
            "at_top": self.at_top,
            "at_bottom": self.at_bottom,
            "length_pay": self.length_pay,
            "dominance": self.dominance,
            "copies": self.copies,
        }
        return {f"watch/{name}": value for name, value in numbers.items() if value is not None}


def measure(rollouts: Iterable[ScoredRollout]) -> Measures:
    """The figures of some scored rollouts."""
    table, texts = SampleTable(), KeptTexts()
    lengths = 0
    flags: list[bool] = []
    reasons: Counter[str] = Counter()
    for rollout in rollouts:
        flags.append(not rollout.output.ok)
        if flags[-1]:
            reasons[f"{rollout.output.status.value}: {rollout.output.reason}"] += 1
        texts.add(table.add(rollout.trajectory, rollout.output), rollout)
        lengths += len(rollout.trajectory.response)
    signal = group_signal(table)
    saturation = next((each for each in measure_saturation(table) if not each.component and each.high > each.low), None)
    pay = length_bias(table).overall
    shares = [each for each in component_shares(table).components if each.share is not None]
    first = max(shares, key=lambda each: each.share or 0.0, default=None)
    copies = near_duplicates(table, texts)
    return Measures(
        samples=len(table),
        unscored=_share(flags),
        unscored_early=_share(flags[: quarter(len(flags))]),
        unscored_late=_share(flags[-quarter(len(flags)) :]),
        unscored_reason=max(reasons, key=reasons.__getitem__, default=""),
        dead=signal.dead_share,
        phantom=signal.phantom_share,
        at_top=None if saturation is None else saturation.at_high,
        at_bottom=None if saturation is None else saturation.at_low,
        length=lengths / len(table) if len(table) else None,
        length_pay=None if pay is None else pay.low,
        dominant=None if first is None else first.name,
        dominance=None if first is None else first.share,
        components=len(shares),
        copies=None if copies is None else copies.across_groups,
        phrases=tuple((phrase.text, phrase.high) for phrase in paying_phrases(table, texts).paying),
    )


def quarter(samples: int) -> int:
    """The size of a quarter of the samples: one at least."""
    return max(1, samples // 4)


def _share(flags: Sequence[bool]) -> float | None:
    return sum(flags) / len(flags) if flags else None
