"""Remarks on the figures of a run with advice: one remark for each part of a report.

`FAULTS` is the one table of limits, for reports and for `watch`. The limits are rules of thumb that do not depend on
the scale of rewards. Being right is no fault: dead groups, the highest reward and near-duplicates count where they are
not explained by right answers. A remark is a place to look at, not a verdict.
"""

import enum
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

from plaudit.contract.output import Status
from plaudit.markup import html_table
from plaudit.report.coverage import format_mean
from plaudit.report.figures import Drift, Figures
from plaudit.report.formatting import format_duration, format_share

SOME, MANY, MOST = 0.05, 0.2, 0.5
EXPLAINED = 0.8  # of the variance of the reward: below it, the shares of components are rough


class Level(enum.StrEnum):
    """The importance of a remark."""

    GOOD = "good"
    NOTE = "note"
    WARNING = "warning"


@dataclass(frozen=True, slots=True)
class Remark:
    """The result of a part of the report, in one sentence, and advice; `advice` is empty if nothing need be done."""

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


@dataclass(frozen=True, slots=True)
class Fault:
    """A figure and the limit from which on it is a fault; its advice is in `ADVICE` under `topic.state`."""

    topic: str
    state: str
    limit: float
    measure: Callable[[Figures], float | None]

    def exceeded(self, figures: Figures) -> bool:
        """Whether the figure reaches the limit; False if there is nothing to measure."""
        value = self.measure(figures)
        return value is not None and value >= self.limit

    @property
    def advice(self) -> str:
        return ADVICE[f"{self.topic}.{self.state}"]


def remarks(figures: Figures) -> tuple[Remark, ...]:
    """A remark for every part of the report that has something to show."""
    described = {topic: describe(figures) for topic, describe in _TOPICS.items()}
    return tuple(
        Remark(topic, one.level, one.text, ADVICE.get(f"{topic}.{one.state}", ""))
        for topic, one in described.items()
        if one is not None
    )


def headline(listed: Sequence[Remark]) -> tuple[Remark, ...]:
    """The remarks to act on, the gravest first."""
    return tuple(one for level in (Level.WARNING, Level.NOTE) for one in listed if one.level is level)


class _Sentence(NamedTuple):
    """A remark whose advice is found under its topic and `state`."""

    level: Level
    state: str
    text: str


def _rewards(figures: Figures) -> _Sentence:
    reward = figures.summary.reward
    if reward is None:
        return _Sentence(Level.WARNING, "none", "No sample was scored.")
    mean = format_mean(reward.covered_mean, "{:.3g}".format)
    facts = f"Mean {mean}, median {reward.p50:.3g}, between {reward.min:.3g} and {reward.max:.3g}."
    if reward.min == reward.max:
        return _Sentence(Level.WARNING, "constant", f"Every reward is {reward.mean:.3g}.")
    at_top = reward.at_max if figures.summary.score is None else _at_top(figures)
    for share, end in ((at_top, "highest"), (reward.at_min, "lowest")):
        if share is not None and share >= FAULTS["saturation"].limit:
            text = f"{facts} {format_share(share)} of the samples have the {end} reward."
            return _Sentence(Level.WARNING, "saturated", text)
    return _Sentence(Level.GOOD, "good", facts)


def _statuses(figures: Figures) -> _Sentence:
    summary = figures.summary
    unscored = summary.count - summary.ok
    if not unscored:
        return _Sentence(Level.GOOD, "good", f"All {summary.count:,} samples were scored.")
    counts = ", ".join(f"{count:,} {status}" for status, count in summary.statuses.items() if status != Status.OK.value)
    share = unscored / summary.count
    level = Level.WARNING if share > SOME else Level.NOTE
    return _Sentence(level, "some", f"{format_share(share)} of the samples were not scored ({counts}).")


def _curves(figures: Figures) -> _Sentence | None:
    if not figures.curve:
        return None
    changed = [one for one in figures.drift if one.ks >= MANY]
    if not changed:
        return _Sentence(Level.GOOD, "good", "The last quarter of the steps is much like the first.")
    names = ", ".join(f"{_drift_name(one)} {one.early:.3g} → {one.late:.3g}" for one in changed[:4])
    shifts = {one.name: one.shift or 0.0 for one in figures.drift if not one.component}
    if shifts.get("reward", 0.0) > MANY and shifts.get("score", 1.0) < SOME:
        return _Sentence(Level.WARNING, "apart", f"The reward rises and the score does not: {names}.")
    state = "changed" if "reward" in {one.name for one in changed if not one.component} else "moved"
    return _Sentence(Level.NOTE, state, f"From the first to the last quarter of the steps: {names}.")


def _drift_name(one: Drift) -> str:
    return f"“{one.name}”" if one.component else one.name


def _groups(figures: Figures) -> _Sentence | None:
    groups = figures.groups
    if not groups.compared:
        return None
    dead, phantom = groups.dead / groups.compared, groups.phantom_share or 0.0
    is_dead = FAULTS["dead groups"].exceeded(figures)
    level = Level.WARNING if is_dead else Level.NOTE if dead > MANY else Level.GOOD
    state = "good" if level is Level.GOOD else "dead"
    text = f"{format_share(dead)} of {groups.compared:,} groups are dead (all rewards equal)."
    if figures.summary.score is None:
        return _Sentence(level, state, text)
    signal = f"and {format_share(phantom)} of the signal comes from phantom groups (scores equal, rewards not)."
    text = f"{text[:-1]}, {signal}"
    if FAULTS["phantom groups"].exceeded(figures):
        return _Sentence(Level.WARNING, "phantom", text)
    if is_dead:
        kinds = f"{groups.dead_right:,} all right, {groups.dead_wrong:,} all wrong"
        return _Sentence(
            Level.WARNING, "dead", f"{format_share(dead)} of {groups.compared:,} groups are dead: {kinds}."
        )
    return _Sentence(level, state, text)


def _components(figures: Figures) -> _Sentence | None:
    if not figures.groups.compared:
        return None
    shares = {one.name: one.share for one in figures.components.components if one.share is not None}
    explained = figures.components.explained
    if not shares or explained is None or len(figures.components.components) < 2:
        return None
    first, last = next(iter(shares)), list(shares)[-1]
    if len(shares) == 1:
        return _Sentence(Level.NOTE, "one", f"Only “{first}” varies within groups.")
    text = f"“{first}” makes up {format_share(shares[first])} of the variance of the reward within groups."
    if explained < EXPLAINED:
        return _Sentence(Level.NOTE, "rough", f"{text} A weighted sum explains {format_share(explained)} of it.")
    if FAULTS["dominance"].exceeded(figures):
        return _Sentence(Level.WARNING, "dominant", text)
    if shares[last] < -0.01:
        return _Sentence(Level.NOTE, "opposed", f"{text} “{last}” works against the total.")
    return _Sentence(Level.GOOD, "good", text)


def _pass_rates(figures: Figures) -> _Sentence | None:
    rates = figures.pass_rates
    if rates is None:
        return None
    first, last = rates.pass_at[0], rates.pass_at[-1]
    if not figures.groups.compared:
        return _Sentence(Level.GOOD, "good", f"pass@1 is {format_share(first.value)}.")
    never, always = rates.never / rates.groups, rates.always / rates.groups
    more = f", pass@{last.k} {format_share(last.value)}" if last.k > 1 else ""
    text = (
        f"pass@1 is {format_share(first.value)}{more}; {format_share(never)} of the prompts are never solved, "
        f"{format_share(always)} always."
    )
    if never > MOST:
        return _Sentence(Level.NOTE, "hard", text)
    if always > MOST:
        return _Sentence(Level.NOTE, "easy", text)
    if last.k > 1 and last.value - first.value < SOME:
        return _Sentence(Level.NOTE, "alike", text)
    return _Sentence(Level.GOOD, "good", text)


def _length(figures: Figures) -> _Sentence | None:
    if not figures.groups.compared:
        return None
    bias = figures.length_bias
    correlations = {"all": bias.overall, "right": bias.right, "wrong": bias.wrong}
    known = {name: one for name, one in correlations.items() if one is not None}
    limit = FAULTS["length"].limit
    clear = {name: one for name, one in known.items() if (one.low > 0 or one.high < 0) and abs(one.value) >= limit}
    if not known:
        return None
    if not clear:
        return _Sentence(Level.GOOD, "good", "Within groups, length hardly goes with the reward.")
    name = max(clear, key=lambda name: abs(clear[name].value))
    one = clear[name]
    text = (
        f"Among {name} responses to a prompt, longer ones earn {'more' if one.value > 0 else 'less'} "
        f"(r = {one.value:+.2f}, {one.low:+.2f} to {one.high:+.2f})."
    )
    if name == "wrong" and one.value > 0:
        return _Sentence(Level.WARNING, "wrong", text)
    return _Sentence(Level.WARNING if abs(one.value) > MOST else Level.NOTE, "biased", text)


def _phrases(figures: Figures) -> _Sentence | None:
    phrases = figures.phrases
    if not phrases.responses:
        return None
    if not phrases.paying:
        return _Sentence(Level.GOOD, "good", "No phrase clearly goes with high rewards within groups.")
    text = f"{', '.join(f'“{one.text}”' for one in phrases.paying[:3])} go with high rewards"
    for one in phrases.paying:
        if one.early is not None and one.late is not None and one.late > max(SOME, 2 * one.early):
            growth = f"“{one.text}” spread from {format_share(one.early)} to {format_share(one.late)} of the responses"
            return _Sentence(Level.WARNING, "some", f"{text}; {growth}.")
    return _Sentence(Level.NOTE, "some", f"{text}.")


def _patterns(figures: Figures) -> _Sentence | None:
    patterns = figures.patterns
    if not patterns.responses:
        return None
    text = f"{format_share(patterns.failing / patterns.responses)} of the scored responses fail"
    if not patterns.failures:
        return _Sentence(Level.GOOD, "good", f"{text}, without a pattern that stands out.")
    first = max(patterns.failures, key=lambda one: one.share_of_failures)
    form = " (9 stands for digits, a for letters)" if first.what.startswith("of the form") else ""
    return _Sentence(
        Level.NOTE, "some", f"{text}; {format_share(first.share_of_failures)} of those: {first.what}{form}."
    )


def _duplicates(figures: Figures) -> _Sentence | None:
    duplicates = figures.duplicates
    if duplicates is None:
        return None
    text = f"{format_share(duplicates.across_groups)} of the responses have a near-duplicate under another prompt"
    if figures.groups.compared:
        text += f", {format_share(duplicates.within_group)} in their group"
    text += "."
    if FAULTS["copies"].exceeded(figures):
        if duplicates.paid_across is not None:
            share = format_share(duplicates.paid_across)
            text = f"{share} of the right responses are right for another ground truth too: {text}"
        return _Sentence(Level.WARNING, "across", text)
    if duplicates.within_group > MOST:
        return _Sentence(Level.NOTE, "within", text)
    return _Sentence(Level.GOOD, "good", text)


def _latency(figures: Figures) -> _Sentence | None:
    latency = figures.summary.latency
    if latency is None:
        return None
    usual, slow = format_duration(latency.p50), format_duration(latency.p99)
    text = f"Half of the samples take at most {usual}, one in a hundred over {slow}."
    uneven = latency.p99 > 0.1 and latency.p99 > 50 * latency.p50
    return _Sentence(Level.NOTE, "uneven", text) if uneven else _Sentence(Level.GOOD, "good", text)


_TOPICS: dict[str, Callable[[Figures], _Sentence | None]] = {
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


def _at_top(figures: Figures) -> float | None:
    """The share of samples with the highest reward, without as many as have the full score; None without scores,
    since then only the highest reward marks a right response."""
    reward, score = figures.summary.reward, figures.summary.score
    if reward is None or score is None or reward.min == reward.max:
        return None
    solved = score.at_max if score.max == 1.0 else 0.0
    return max(0.0, reward.at_max - solved)


def _dominance(figures: Figures) -> float | None:
    """The largest share of a component that does not judge correctness, if there are several that vary."""
    shares = figures.components
    varying = [one for one in shares.components if one.share is not None]
    if len(varying) < 2 or (shares.explained or 0.0) < EXPLAINED or varying[0].judges:
        return None
    return varying[0].share


def _length_pay(figures: Figures) -> float | None:
    """The correlation of length and reward within groups, if it is surely above 0."""
    overall = figures.length_bias.overall
    return overall.value if overall is not None and overall.low > 0 else None


def _copies(figures: Figures) -> float | None:
    """The share of right responses that are right for another ground truth too. If no response is right or there are
    no truths: that of near-duplicates under other prompts, if they are most and there are few different responses."""
    duplicates = figures.duplicates
    if duplicates is None or duplicates.paid_across is not None:
        return None if duplicates is None else duplicates.paid_across
    return None if duplicates.distinct >= MANY or duplicates.across_groups < MOST else duplicates.across_groups


FAULTS = {
    "dead groups": Fault("groups", "dead", 0.5, lambda figures: figures.groups.unsolved_dead_share),
    "phantom groups": Fault("groups", "phantom", 0.2, lambda figures: figures.groups.phantom_share),
    "saturation": Fault("rewards", "saturated", 0.9, _at_top),
    "length": Fault("length", "biased", 0.3, _length_pay),
    "dominance": Fault("components", "dominant", 0.9, _dominance),
    "copies": Fault("duplicates", "across", 0.3, _copies),
}
"""Figures with a limit, by the name under which `watch` reports them."""

ADVICE = {
    "rewards.none": "Read the reasons under “Not scored”, and fix the reward or the data.",
    "rewards.constant": "Nothing can be learnt from it: check that the reward reads the column you mean.",
    "rewards.saturated": "Raise the difficulty, or add partial credit: once most rewards are equal, the reward no "
    "longer separates responses.",
    "statuses.some": "Open the first sample of each kind. Unscored samples are excluded from training: fix the most "
    "common causes.",
    "statuses.rising": "Make the reward score these responses: unscored samples are excluded from training and from "
    "the mean reward.",
    "components.one": "The other components teach nothing now: drop them, or look why they are constant.",
    "components.rough": "The shares of gates, products and changing weights are rough: read them beside the means.",
    "components.dominant": "The policy learns little else. If that is not meant, put the components on one scale "
    "before they are weighted (normalisers), or lower its weight.",
    "components.opposed": "A negative share means that earning it costs more elsewhere: decide which of the two you "
    "want.",
    "groups.phantom": "These groups teach form, not correctness: gate the other components on the score, or filter "
    "groups by their scores (filter.by=mean).",
    "groups.dead": "Change the mix of prompts, or filter groups (filter.by=spread), so that others are sampled in "
    "their place.",
    "pass_rates.alike": "More samples per prompt help little, so the responses to a prompt are much alike: raise the "
    "temperature, or take easier prompts.",
    "pass_rates.hard": "Add easier prompts, demonstrations or partial credit: a prompt that is never solved teaches "
    "nothing.",
    "pass_rates.easy": "Add harder prompts: most of these are solved already.",
    "length.wrong": "A wrong answer must not gain by its length: gate or clip what pays for it.",
    "length.biased": "If that is not meant, add a length term (plaudit.shaping), or take the length out of the "
    "component that pays for it.",
    "curves.apart": "Something else than correctness is being learnt: read late samples of high reward, and run "
    "plaudit audit on the reward.",
    "curves.changed": "Make sure that a held-out evaluation changes in the same way.",
    "curves.moved": "Read early and late samples: what changes while the reward stays is not what is trained for.",
    "phrases.some": "Read responses with and without it: a phrase that means nothing for the task is paid by accident.",
    "patterns.some": "Start with the most common pattern: it is either what the policy cannot do yet, or what the "
    "reward misreads.",
    "duplicates.across": "Different prompts get the same answer: check that the reward reads the prompt and the ground "
    "truth.",
    "duplicates.within": "Little variety is left within groups: raise the temperature, or stop here.",
    "latency.uneven": "A few slow samples hold up whole batches: set a deadline, and look at the slowest ones.",
}
"""The advice by topic and state; a state that is not listed has none."""
