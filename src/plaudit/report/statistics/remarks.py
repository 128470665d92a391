"""What the figures of a run say in words, and what to do about it: one remark for each part of a report.

The bounds are rules of thumb that do not depend on the scale of rewards. A remark is a place to look, not a verdict.
"""

import enum
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

from plaudit.contract.output import Status
from plaudit.markup import html_table
from plaudit.report.coverage import format_mean
from plaudit.report.statistics.advice import ADVICE
from plaudit.report.statistics.drift import Drift
from plaudit.report.statistics.figures import Figures
from plaudit.report.terminal.formatting import format_duration

__all__ = ["Level", "Remark", "format_share", "headline", "remarks"]

SOME, MANY, MOST, NEARLY_ALL = 0.05, 0.2, 0.5, 0.9
CLEAR_BIAS = 0.3
DRIFTED = 0.25  # of the stability index: the usual bound of a large change


class Level(enum.StrEnum):
    """How much a remark asks for attention."""

    GOOD = "good"
    NOTE = "note"
    WARNING = "warning"


@dataclass(frozen=True, slots=True)
class Remark:
    """What a part of the report shows, in one sentence, and what to do about it; `advice` is empty for nothing."""

    topic: str
    level: Level
    text: str
    advice: str

    def _repr_html_(self) -> str:
        """A table for notebooks."""
        advice = [["what to do", self.advice]] if self.advice else []
        return html_table(["", self.topic], [[self.level.value, self.text], *advice])

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return asdict(self)


def remarks(figures: Figures) -> tuple[Remark, ...]:
    """A remark for every part of the report that has something to show."""
    said = {topic: describe(figures) for topic, describe in _TOPICS.items()}
    return tuple(
        Remark(topic, one.level, one.text, ADVICE.get(f"{topic}.{one.state}", ""))
        for topic, one in said.items()
        if one is not None
    )


def headline(said: Sequence[Remark]) -> tuple[Remark, ...]:
    """The remarks to act on, the gravest first."""
    return tuple(one for level in (Level.WARNING, Level.NOTE) for one in said if one.level is level)


class _Said(NamedTuple):
    """A remark whose advice is found under its topic and `state`."""

    level: Level
    state: str
    text: str


def _rewards(figures: Figures) -> _Said:
    reward = figures.summary.reward
    if reward is None:
        return _Said(Level.WARNING, "none", "No sample was scored.")
    saturated = figures.saturation[0]  # of the reward
    mean = format_mean(reward.covered_mean, "{:.3g}".format)
    facts = f"Mean {mean}, median {reward.p50:.3g}, between {reward.min:.3g} and {reward.max:.3g}."
    if saturated.distinct == 1:
        return _Said(Level.WARNING, "constant", f"Every reward is {reward.mean:.3g}.")
    for share, end in ((saturated.at_high, "highest"), (saturated.at_low, "lowest")):
        if share > NEARLY_ALL:
            text = f"{facts} {format_share(share)} of the samples have the {end} reward."
            return _Said(Level.WARNING, "saturated", text)
    return _Said(Level.GOOD, "good", facts)


def _statuses(figures: Figures) -> _Said:
    summary = figures.summary
    unscored = summary.count - summary.ok
    if not unscored:
        return _Said(Level.GOOD, "good", f"All {summary.count:,} samples were scored.")
    counts = ", ".join(f"{count:,} {status}" for status, count in summary.statuses.items() if status != Status.OK.value)
    share = unscored / summary.count
    level = Level.WARNING if share > SOME else Level.NOTE
    return _Said(level, "some", f"{format_share(share)} of the samples were not scored ({counts}).")


def _curves(figures: Figures) -> _Said | None:
    if not figures.curve:
        return None
    changed = [one for one in figures.drift if one.psi >= DRIFTED and one.ks >= MANY / 2]
    if not changed:
        return _Said(Level.GOOD, "good", "The last quarter of the steps is much like the first.")
    names = ", ".join(f"{_drift_name(one)} {one.early:.3g} → {one.late:.3g}" for one in changed[:4])
    shifts = {one.name: one.shift or 0.0 for one in figures.drift if not one.component}
    if shifts.get("reward", 0.0) > MANY and shifts.get("score", 1.0) < SOME:
        return _Said(Level.WARNING, "apart", f"The reward rises and the score does not: {names}.")
    state = "changed" if "reward" in {one.name for one in changed if not one.component} else "moved"
    return _Said(Level.NOTE, state, f"From the first to the last quarter of the steps: {names}.")


def _drift_name(one: Drift) -> str:
    return f"“{one.name}”" if one.component else one.name


def _groups(figures: Figures) -> _Said | None:
    groups = figures.groups
    if not groups.compared:
        return None
    dead, phantom = groups.dead / groups.compared, groups.phantom_share or 0.0
    text = f"{format_share(dead)} of {groups.compared:,} groups are dead (all rewards equal)."
    if figures.summary.score is None:
        return _Said(_dead_level(dead), "dead" if dead > MANY else "good", text)
    signal = f"and {format_share(phantom)} of the signal comes from phantom groups (scores equal, rewards not)."
    text = f"{text[:-1]}, {signal}"
    if phantom > MANY:
        return _Said(Level.WARNING, "phantom", text)
    if dead > MOST:
        kinds = f"{groups.dead_right:,} all right, {groups.dead_wrong:,} all wrong"
        return _Said(Level.WARNING, "dead", f"{format_share(dead)} of {groups.compared:,} groups are dead: {kinds}.")
    return _Said(_dead_level(dead), "dead" if dead > MANY else "good", text)


def _dead_level(dead: float) -> Level:
    return Level.WARNING if dead > MOST else Level.NOTE if dead > MANY else Level.GOOD


def _components(figures: Figures) -> _Said | None:
    if not figures.groups.compared:
        return None
    shares = {one.name: one.share for one in figures.components.components if one.share is not None}
    explained = figures.components.explained
    if not shares or explained is None or len(figures.components.components) < 2:
        return None
    first, last = next(iter(shares)), list(shares)[-1]
    if len(shares) == 1:
        return _Said(Level.NOTE, "one", f"Only “{first}” varies within groups.")
    text = f"“{first}” makes up {format_share(shares[first])} of the variance of the reward within groups."
    if explained < 0.8:
        told = f"{text} A weighted sum explains {format_share(explained)} of it."
        return _Said(Level.NOTE, "rough", told)
    if shares[first] > NEARLY_ALL and not figures.components.components[0].judges:
        return _Said(Level.WARNING, "dominant", text)
    if shares[last] < -0.01:
        return _Said(Level.NOTE, "opposed", f"{text} “{last}” works against the total.")
    return _Said(Level.GOOD, "good", text)


def _pass_rates(figures: Figures) -> _Said | None:
    rates = figures.pass_rates
    if rates is None:
        return None
    first, last = rates.pass_at[0], rates.pass_at[-1]
    if not figures.groups.compared:
        return _Said(Level.GOOD, "good", f"pass@1 is {format_share(first.value)}.")
    never, always = rates.never / rates.groups, rates.always / rates.groups
    more = f", pass@{last.k} {format_share(last.value)}" if last.k > 1 else ""
    text = (
        f"pass@1 is {format_share(first.value)}{more}; {format_share(never)} of the prompts are never solved, "
        f"{format_share(always)} always."
    )
    if never > MOST:
        return _Said(Level.NOTE, "hard", text)
    if always > MOST:
        return _Said(Level.NOTE, "easy", text)
    if last.k > 1 and last.value - first.value < SOME:
        return _Said(Level.NOTE, "alike", text)
    return _Said(Level.GOOD, "good", text)


def _length(figures: Figures) -> _Said | None:
    if not figures.groups.compared:
        return None
    bias = figures.length_bias
    known = {"all": bias.overall, "right": bias.right, "wrong": bias.wrong}
    found = {name: one for name, one in known.items() if one is not None}
    clear = {name: one for name, one in found.items() if (one.low > 0 or one.high < 0) and abs(one.value) >= CLEAR_BIAS}
    if not found:
        return None
    if not clear:
        return _Said(Level.GOOD, "good", "Within groups, length hardly goes with the reward.")
    name = max(clear, key=lambda name: abs(clear[name].value))
    one = clear[name]
    text = (
        f"Among {name} responses to a prompt, longer ones earn {'more' if one.value > 0 else 'less'} "
        f"(r = {one.value:+.2f}, {one.low:+.2f} to {one.high:+.2f})."
    )
    if name == "wrong" and one.value > 0:
        return _Said(Level.WARNING, "wrong", text)
    return _Said(Level.WARNING if abs(one.value) > MOST else Level.NOTE, "biased", text)


def _phrases(figures: Figures) -> _Said | None:
    phrases = figures.phrases
    if not phrases.responses:
        return None
    if not phrases.paying:
        return _Said(Level.GOOD, "good", "No phrase clearly goes with high rewards within groups.")
    text = f"{', '.join(f'“{one.text}”' for one in phrases.paying[:3])} go with high rewards"
    for one in phrases.paying:
        if one.early is not None and one.late is not None and one.late > max(SOME, 2 * one.early):
            spread = f"“{one.text}” spread from {format_share(one.early)} to {format_share(one.late)} of the responses"
            return _Said(Level.WARNING, "some", f"{text}; {spread}.")
    return _Said(Level.NOTE, "some", f"{text}.")


def _patterns(figures: Figures) -> _Said | None:
    patterns = figures.patterns
    if not patterns.responses:
        return None
    text = f"{format_share(patterns.failing / patterns.responses)} of the scored responses fail"
    if not patterns.failures:
        return _Said(Level.GOOD, "good", f"{text}, without a pattern that stands out.")
    first = max(patterns.failures, key=lambda one: one.share_of_failures)
    form = " (9 stands for digits, a for letters)" if first.what.startswith("of the form") else ""
    return _Said(Level.NOTE, "some", f"{text}; {format_share(first.share_of_failures)} of those: {first.what}{form}.")


def _duplicates(figures: Figures) -> _Said | None:
    found = figures.duplicates
    if found is None:
        return None
    text = f"{format_share(found.across_groups)} of the responses have a near-duplicate under another prompt"
    if figures.groups.compared:
        text += f", {format_share(found.within_group)} in their group"
    text += "."
    if found.across_groups > MOST and found.distinct < MANY:
        return _Said(Level.WARNING, "across", text)
    if found.within_group > MOST:
        return _Said(Level.NOTE, "within", text)
    return _Said(Level.GOOD, "good", text)


def _latency(figures: Figures) -> _Said | None:
    latency = figures.summary.latency
    if latency is None:
        return None
    usual, slow = format_duration(latency.p50), format_duration(latency.p99)
    text = f"Half of the samples take at most {usual}, one in a hundred over {slow}."
    uneven = latency.p99 > 0.1 and latency.p99 > 50 * latency.p50
    return _Said(Level.NOTE, "uneven", text) if uneven else _Said(Level.GOOD, "good", text)


_TOPICS: dict[str, Callable[[Figures], _Said | None]] = {
    "rewards": _rewards,
    "statuses": _statuses,
    "curves": _curves,
    "groups": _groups,
    "components": _components,
    "pass_rates": _pass_rates,
    "length": _length,
    "phrases": _phrases,
    "patterns": _patterns,
    "duplicates": _duplicates,
    "latency": _latency,
}


def format_share(share: float) -> str:
    """A share in percent, with a digit more where it is small.

    >>> format_share(0.4), format_share(0.021)
    ('40 %', '2.1 %')
    """
    digits = 0 if abs(share) >= 0.1 or not share else 1
    return f"{100 * share + 1e-9:.{digits}f} %"  # halves go up, as on the page
