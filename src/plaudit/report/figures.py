"""The figures of a report: what is measured, by which name, and in which unit.

Plain data without numpy, for the page, the terminal, `watch` and JSON. `collecting` computes them.
"""

from dataclasses import asdict, dataclass
from typing import Any

from plaudit.contract.output import Status
from plaudit.markup import html_table
from plaudit.report.coverage import CoveredMean, Failure

MAX_FAILURES = 5


@dataclass(frozen=True, slots=True)
class Bin:
    """The number of values in [low, high); the last bin includes its end, and a bin of one value has low == high."""

    low: float
    high: float
    count: int


@dataclass(frozen=True, slots=True)
class Distribution:
    """Statistics of the values of one column; `std` is that of the population, not of a sample.

    `at_min` and `at_max` are the shares of values at the two ends. `skewness` is None if all values are equal.
    `unscored` samples have no value: they count in `mean_all` alone, as 0.
    """

    count: int
    unscored: int
    mean: float
    mean_all: float
    std: float
    min: float
    p25: float
    p50: float
    p75: float
    max: float
    at_min: float
    at_max: float
    skewness: float | None
    bins: tuple[Bin, ...]

    @property
    def covered_mean(self) -> CoveredMean:
        """The mean with its coverage."""
        return CoveredMean.of_scored(self.mean, self.count, self.unscored)


@dataclass(frozen=True, slots=True)
class Latency:
    """Seconds per sample."""

    p50: float
    p95: float
    p99: float


@dataclass(frozen=True, slots=True)
class SlowSample:
    """A sample that took long."""

    index: int
    id: str | int | None
    seconds: float


@dataclass(frozen=True, slots=True)
class GroupSummary:
    """Groups by what a policy can learn from them; groups with fewer than two scored samples are in `single`.

    A group is *dead* if all its rewards are equal: every advantage is 0. It is a *phantom* if its rewards differ though
    its scores are all equal: it teaches whatever else the reward pays (length, form), not correctness. The share of
    the signal that comes from phantoms is Σ A² there / Σ A², with the plain advantage A = R − mean(R) of the group, and
    with the normalised one A = (R − mean(R)) / std(R), which makes small differences as large as big ones.

    `effective_signal` is the mean of p(1 − p) over groups with scores, p being the share of right responses: 0.25 at
    best, 0 if every group is all right or all wrong. `length_correlation` is that of reward and response length in
    characters within groups; None if one of them does not vary.
    """

    live: int
    phantom: int
    dead_right: int
    dead_wrong: int
    dead_other: int
    single: int
    phantom_share: float | None
    phantom_share_normalized: float | None
    effective_signal: float | None
    length_correlation: float | None

    @property
    def count(self) -> int:
        return self.compared + self.single

    @property
    def compared(self) -> int:
        return self.live + self.phantom + self.dead

    @property
    def dead(self) -> int:
        return self.dead_right + self.dead_wrong + self.dead_other

    @property
    def unsolved_dead_share(self) -> float | None:
        """The share of dead groups that are not all right: a policy that has solved its prompts has the others too."""
        return (self.dead_wrong + self.dead_other) / self.compared if self.compared else None

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {**asdict(self), "count": self.count, "compared": self.compared, "dead": self.dead}


@dataclass(frozen=True, slots=True)
class Summary:
    """A scoring run in numbers. Components at any depth are named `outer/inner`; the first 200 names count."""

    count: int
    statuses: dict[str, int]
    reward: Distribution | None
    score: Distribution | None
    components: dict[str, Distribution]
    latency: Latency | None
    component_latency: dict[str, Latency]
    slowest: tuple[SlowSample, ...]
    failures: tuple[Failure, ...]
    groups: GroupSummary

    @property
    def ok(self) -> int:
        """The number of scored samples."""
        return self.statuses.get(Status.OK.value, 0)

    def _repr_html_(self) -> str:
        """Tables for notebooks: the spread of every value, and why samples were not scored."""
        known = {"reward": self.reward, "score": self.score, **self.components}
        names = ("count", "unscored", "mean", "mean_all", "std", "min", "p25", "p50", "p75", "max")
        rows = [[name, *(getattr(one, each) for each in names)] for name, one in known.items() if one is not None]
        statuses = ", ".join(f"{count:,} {status}" for status, count in self.statuses.items())
        table = html_table(["", *names], rows, title=f"{self.count:,} samples: {statuses}")
        failures = [[one.count, one.status, one.reason, one.example] for one in self.failures[:MAX_FAILURES]]
        return table + (html_table(["n", "status", "why not scored", "first"], failures) if failures else "")

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {**asdict(self), "groups": self.groups.to_dict()}


@dataclass(frozen=True, slots=True)
class ComponentShare:
    """One component: its weight and its share of the variance of the reward within groups; None if unknown.

    It `judges` if it gives scores.
    """

    name: str
    judges: bool
    weight: float | None
    share: float | None


@dataclass(frozen=True, slots=True)
class ComponentShares:
    """The components, largest share first; `explained` is the sum of the shares, `samples` those with every component.

    `explained` is None if rewards do not vary within groups.
    """

    components: tuple[ComponentShare, ...]
    explained: float | None
    samples: int


@dataclass(frozen=True, slots=True)
class PassAtK:
    """The mean of pass@k over the groups with at least `k` judged samples."""

    k: int
    value: float
    groups: int


@dataclass(frozen=True, slots=True)
class PassRates:
    """Pass rates of the groups as a histogram: never solved, ten bins between, always solved; pass@k for k = 1, 2, 4, …

    Only samples with a score count; a response is right from a score of one half on.
    """

    groups: int
    never: int
    always: int
    bins: tuple[Bin, ...]
    pass_at: tuple[PassAtK, ...]


@dataclass(frozen=True, slots=True)
class Correlation:
    """A correlation with its 95 % interval, from `groups` groups of `samples` samples."""

    value: float
    low: float
    high: float
    samples: int
    groups: int


@dataclass(frozen=True, slots=True)
class LengthBin:
    """Responses of about one length relative to the mean of their group (0.1: a tenth longer), and what they earn:
    the mean deviation from the group's reward, in standard deviations within groups."""

    low: float
    high: float
    reward: float
    count: int


@dataclass(frozen=True, slots=True)
class LengthBias:
    """Correlation of length (in characters) and reward within groups; None if one of them does not vary."""

    overall: Correlation | None
    right: Correlation | None
    wrong: Correlation | None
    bins: tuple[LengthBin, ...]


@dataclass(frozen=True, slots=True)
class StepPoint:
    """The samples of one training step, or of some in a row if there are many; means are None if none is known.

    `reward_all` and `score_all` are means over all samples, unscored ones as 0; `scored` is the share of scored ones.
    `dead` and `phantom` are shares of the groups with two scored samples or more.
    """

    first: int
    last: int
    count: int
    scored: float
    reward: float | None
    reward_all: float | None
    reward_std: float | None
    score: float | None
    score_all: float | None
    length: float
    dead: float | None
    phantom: float | None
    components: dict[str, float | None]


@dataclass(frozen=True, slots=True)
class Drift:
    """The distance between early and late values of the reward, the score, the length or a component."""

    name: str
    component: bool
    early: float
    late: float
    shift: float | None
    ks: float


@dataclass(frozen=True, slots=True)
class Phrase:
    """A phrase: its shares among responses that earn more and less than their group, and how clear the difference is.

    `early` and `late` are its shares in the first and the last quarter of the training steps; `row` is a response
    that contains it, one of high reward if there is one.
    """

    text: str
    high: float
    low: float
    z: float
    odds: float
    count: int
    groups: int
    early: float | None
    late: float | None
    row: int


@dataclass(frozen=True, slots=True)
class Phrases:
    """The phrases that pay and those that cost, clearest first, of `responses` responses that were compared."""

    paying: tuple[Phrase, ...]
    costing: tuple[Phrase, ...]
    responses: int


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of response: how many there were, what they earned, and how much more than all others."""

    name: str
    count: int
    share: float
    mean: float
    difference: float


@dataclass(frozen=True, slots=True)
class Example:
    """A response to look at."""

    prompt: str
    response: str
    ground_truth: str
    reward: float
    reason: str


@dataclass(frozen=True, slots=True)
class FailurePattern:
    """A reason or a kind that is common among failures: its share among failures, and among the others."""

    what: str
    count: int
    share_of_failures: float
    share_of_others: float
    example: Example


@dataclass(frozen=True, slots=True)
class Patterns:
    """The patterns of failing responses, and the kinds of response that earn clearly more (`high`) or less (`low`) than
    others.
    """

    responses: int
    failing: int
    failures: tuple[FailurePattern, ...]
    high: tuple[Kind, ...]
    low: tuple[Kind, ...]


@dataclass(frozen=True, slots=True)
class Duplicates:
    """Shares of the `responses` that were compared, and the text that occurs most often."""

    responses: int
    within_group: float
    across_groups: float
    paid_across: float | None
    """Of the right responses, those that are right for another ground truth as well; None if no response is right or
    there are no truths."""
    distinct: float
    most_common: str
    most_common_count: int
    row: int


@dataclass(frozen=True, slots=True)
class Figures:
    """The figures of one run; those that do not apply are None or empty."""

    summary: Summary
    components: ComponentShares
    pass_rates: PassRates | None
    length_bias: LengthBias
    curve: tuple[StepPoint, ...]
    drift: tuple[Drift, ...]
    phrases: Phrases
    patterns: Patterns
    duplicates: Duplicates | None

    @property
    def groups(self) -> GroupSummary:
        return self.summary.groups

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {**asdict(self), "summary": self.summary.to_dict(), "groups": self.groups.to_dict()}
