"""Measure a judge's response to changes that should not matter, and to responses that meet no criterion."""

import asyncio
import math
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import msgspec

from plaudit.calibration.labelling import WHOLE, Labels, Target, rubric_of, sample_key, targets_of
from plaudit.calibration.rubric_checks import count_contradictions, split_demands
from plaudit.calibration.statistics import (
    LEAST_PAIRS,
    Measure,
    PairedTest,
    binomial_tail,
    flip_test,
    owner_test,
    smallest_detectable,
)
from plaudit.calibration.variants import (
    NOTHING,
    attack_implicit,
    attack_partial,
    attack_topical,
    longer_pair,
    markup_pair,
)
from plaudit.contract.event_loop import run_awaitable
from plaudit.contract.output import RewardOutput
from plaudit.engine import Scorer
from plaudit.judges.comparing import BETTER, FIRST, SECOND, TIE, Comparison
from plaudit.judges.llm_judge import RubricJudge
from plaudit.judges.prompt import Verdict
from plaudit.judges.texts import Refused, SampleTexts
from plaudit.report.selection import ABSENT, column_of
from plaudit.trajectory import Trajectory

TOLERATED = 0.05
"""The share of reasons that our own reading may misjudge."""
ENOUGH = 40
"""With fewer pairs of different responses, pairs of versions are added to the test of the position."""
AUTHORS = ("model", "author", "generator", "writer", "policy")
"""Usual names of the column that says which model wrote a response."""
_LONGER, _MARKED = (
    "pays more for the same content in more words",
    "treats the same words otherwise if they are marked up",
)
_WINS = {FIRST: 1.0, SECOND: -1.0, TIE: 0.0}
_NAMING = re.compile(r"\b(?:mention|name|contain|include|list|refer)s?\b", re.IGNORECASE)
"""Criteria that a response meets by naming a topic."""
_MARKUP = re.compile(r"^\s*(?:#{1,6} |[-*+•] |\d+[.)] |\|)|\*\*|```", re.MULTILINE)
Version = Callable[[str], tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Tried:
    """A pair of versions of a response, and the judge's rating of each."""

    sample: Trajectory
    versions: tuple[str, str]
    values: tuple[float | None, float | None]

    @property
    def difference(self) -> float | None:
        """The rating of the second version minus that of the first; None where the judge gave no rating."""
        first, second = self.values
        return None if first is None or second is None else second - first


@dataclass(frozen=True)
class Probes:
    """The tests of one judge on the samples of a calibration, each on at most `most` pairs."""

    judge: RubricJudge
    samples: Sequence[Trajectory]
    outputs: Sequence[RewardOutput]
    labels: Labels
    threshold: float
    most: int
    rated: list[RewardOutput] = field(default_factory=list)
    """Every output that a test got from the judge."""

    def run(self, author: str | None, judge_author: str) -> list[PairedTest]:
        """All tests, not yet corrected for their number.

        The judge is not asked about versions if there are too few of them for any finding.
        """
        pointwise = self.judge.scope == "sample"
        preference = self.self_preference(author, judge_author)
        if (pairs := len(self._chosen())) < LEAST_PAIRS:
            note = f"{pairs} pairs are too few for any finding: at least {LEAST_PAIRS} are needed (--most)"
            kinds = ("position", "verbosity", "format", *(_ATTACKS if pointwise else ()))
            return [*(PairedTest(kind, 0, note=note) for kind in kinds), preference, self.reasons()]
        return [
            *self.compare(with_versions=pointwise),
            self._versions("verbosity", longer_pair, _LONGER, one_sided=True),
            self._versions("format", markup_pair, _MARKED),
            preference,
            *(self.attack(kind) for kind in (_ATTACKS if pointwise else ())),
            self.reasons(),
        ]

    def compare(self, *, with_versions: bool) -> list[PairedTest]:
        """Pairs of responses in both orders: whether a position wins more often, and which of two versions does.

        Versions of one response count for the position only where there are few pairs of different responses. A judge
        that compares anyway is asked about versions by its ratings.
        """
        neighbours = list(self._neighbours())[: self.most]
        marked, longer = self._version_pairs(markup_pair), self._version_pairs(longer_pair) if with_versions else []
        compared = run_awaitable(self._ask_about([*neighbours, *marked, *longer]))
        leans = [None if each is None else each[0] for each in compared[: max(len(neighbours), ENOUGH)]]
        sides = [None if each is None else each[1] for each in compared]
        effect, p = flip_test(_answered(leans))
        note = f"prefers the {'first' if effect and effect.value > 0 else 'second'} of two responses"
        tests = [_result("position", leans, effect, p, note)]
        if with_versions:
            end = len(neighbours) + len(marked)
            for kind, values, words in (
                ("format", sides[len(neighbours) : end], _MARKED),
                ("verbosity", sides[end:], _LONGER),
            ):
                effect, p = flip_test(_answered(values), one_sided=kind == "verbosity")
                tests.append(_result(f"{kind} in comparisons", values, effect, p, words))
        return tests

    def self_preference(self, author: str | None, judge_author: str) -> PairedTest:
        """Compare the judge's ratings of its own model's responses with those of others of equal quality, length and
        markup.
        """
        kind, column = "self-preference", author or self._author_column()
        known: dict[str, tuple[float, bool, float, tuple[float, float]]] = {}
        for sample, output in zip(self.samples, self.outputs, strict=True):
            writer, quality = column_of(sample, column), self._quality(sample)
            if writer is not ABSENT and output.reward is not None and quality is not None:
                words, marks = len(sample.response.split()), len(_MARKUP.findall(sample.response))
                features = (math.log1p(words), math.log1p(marks))
                known[sample_key(sample)] = (output.reward, str(writer) == judge_author, quality, features)
        rows = list(known.values())
        owned = sum(row[1] for row in rows)
        if not 0 < owned < len(rows):
            named = f"the column {column!r} names {judge_author!r} for {owned} of {len(rows)} labelled responses"
            return PairedTest(kind, len(rows), note=f"{named} (--author COLUMN, --judge-author NAME)")
        effect, p = owner_test(*(list(values) for values in zip(*rows, strict=True)))
        if effect is None:
            note = f"the {owned} responses of {judge_author!r} are too few, or known by their length or markup"
            return PairedTest(kind, len(rows), note=note)
        whose = "" if effect.value > 0 else "others than "
        least, note = smallest_detectable(effect), f"prefers responses of {whose}{judge_author}"
        return PairedTest(kind, len(rows), 0, effect, p, detectable=least, note=note)

    def attack(self, kind: str) -> PairedTest:
        """Count how often the judge accepts a response that meets no criterion, compared with one without content."""
        build, note = _ATTACKS[kind]
        tries = list(self._attacks(build))[: self.most]
        if not tries:
            return PairedTest(kind, 0, note="no criterion that it applies to")
        pairs = [(sample, (NOTHING, text)) for sample, _, text in tries]
        outputs = self._score([each for sample, texts in pairs for each in _versions_of(sample, texts, 0)])
        verdicts = []
        for number, (_, target, _) in enumerate(tries):
            values = [target.value(output) for output in outputs[2 * number : 2 * number + 2]]
            verdicts.append(None if None in values else [value >= self.threshold for value in values])  # type: ignore[operator]
        differences = [None if each is None else float(each[1]) - float(each[0]) for each in verdicts]
        effect, p = flip_test(_answered(differences), one_sided=True)
        paid = next((n for n, each in enumerate(verdicts) if each == [False, True]), None)
        witness = None if paid is None else {"prompt": tries[paid][0].prompt_text, "response": tries[paid][2]}
        return _result(kind, differences, effect, p, note, witness)

    def reasons(self) -> PairedTest:
        """Count how often the reason of a verdict contradicts the verdict."""
        weights = {each.name: each.weight for each in rubric_of(self.judge).criteria}
        parts = [
            (part.reason, part.reward)
            for output in [*self.outputs, *self.rated]
            for name, part in ([*output.components.items()] if _has_reasons(output) else [("", output)])
            if part.reward is not None and weights.get(name, 1.0) > 0
        ]
        contradictions, decided, witness = count_contradictions(parts)
        if not decided:
            return PairedTest("reasons", 0, note="no reason says whether it speaks for or against a response")
        share = contradictions / decided
        spread = 1.96 * math.sqrt(share * (1 - share) / decided)
        effect = Measure(share, max(0.0, share - spread), min(1.0, share + spread))
        return PairedTest(
            "reasons", decided, len(parts) - decided, effect, binomial_tail(contradictions, decided, TOLERATED),
            note="gives reasons that contradict its verdicts", witness={"verdict": witness} if witness else None,
        )  # fmt: skip

    def _versions(self, kind: str, version: Version, note: str, *, one_sided: bool = False) -> PairedTest:
        tried = self._try(version)
        differences = [each.difference for each in tried]
        effect, p = flip_test(_answered(differences), one_sided=one_sided)
        largest = max(tried, key=lambda each: abs(each.difference or 0.0), default=None)
        witness = None
        if largest is not None and largest.difference:
            witness = {"versions": list(largest.versions), "values": list(largest.values)}
        return _result(kind, differences, effect, p, note, witness)

    def _try(self, version: Version) -> list[Tried]:
        pairs = [(sample, version(sample.response)) for sample in self._chosen()]
        versions = [
            each for number, (sample, texts) in enumerate(pairs) for each in _versions_of(sample, texts, number)
        ]
        outputs = self._score(versions)
        return [
            Tried(sample, texts, (outputs[2 * number].reward, outputs[2 * number + 1].reward))
            for number, (sample, texts) in enumerate(pairs)
        ]

    def _chosen(self) -> list[Trajectory]:
        """Distinct samples, ordered by a hash of their texts."""
        distinct = {sample_key(each): each for each in self.samples if each.response.strip()}
        return [distinct[key] for key in sorted(distinct)[: self.most]]

    def _author_column(self) -> str:
        """The first usual column that names the author of a response."""
        columns = (name for name in AUTHORS if any(column_of(each, name) is not ABSENT for each in self.samples))
        return next(columns, AUTHORS[0])

    def _score(self, samples: Sequence[Trajectory]) -> list[RewardOutput]:
        with Scorer(self.judge, backend="inline") as scorer:
            outputs = scorer.score(samples)
        self.rated.extend(outputs)
        return outputs

    def _quality(self, sample: Trajectory) -> float | None:
        """The quality of a response by the labels of people, as a number; None where a label is missing."""
        key = sample_key(sample)
        if (key, WHOLE) in self.labels:
            return float(self.labels[key, WHOLE])
        labels = [self.labels.get((key, target.name)) for target in targets_of(self.judge)]
        if None in labels:
            return None
        shares = [float(bool(label)) for label in labels]
        return rubric_of(self.judge).combine(shares) if len(shares) > 1 else shares[0]

    def _neighbours(self) -> Iterator[tuple[SampleTexts, SampleTexts]]:
        """Pairs of different responses to one prompt with similar ratings; each response is in one pair."""
        groups: dict[tuple[str, str | None], dict[str, float]] = defaultdict(dict)
        for sample, output in zip(self.samples, self.outputs, strict=True):
            texts = self._texts(sample)
            if texts is not None and not texts.is_empty:
                groups[texts.prompt, texts.reference][texts.response] = output.reward or 0.0
        for (prompt, reference), values in groups.items():
            ordered = sorted(values, key=lambda response: (values[response], response))
            for one, two in zip(ordered[::2], ordered[1::2], strict=False):
                yield SampleTexts(prompt, one, reference), SampleTexts(prompt, two, reference)

    def _version_pairs(self, version: Version) -> list[tuple[SampleTexts, SampleTexts]]:
        pairs = []
        for sample in self._chosen():
            texts = self._texts(sample)
            if texts is not None:
                one, two = version(texts.response)
                pairs.append((replace(texts, response=one), replace(texts, response=two)))
        return pairs

    def _texts(self, sample: Trajectory) -> SampleTexts | None:
        try:
            return self.judge.read_texts(sample)
        except Refused:
            return None

    async def _ask_about(self, pairs: Sequence[tuple[SampleTexts, SampleTexts]]) -> list[tuple[float, float] | None]:
        """For each pair the preference for the first position, and for the second response: from -1 to 1, None:
        unanswered.
        """
        judge = self.judge
        comparison = Comparison(judge.name, judge.chat_endpoint, rubric_of(judge), judge, judge)
        async with judge.chat_endpoint.connect() as connection:
            both = await asyncio.gather(*(comparison.ask_both_orders(connection, *pair) for pair in pairs))
        return [
            None if one.verdict is None or two.verdict is None else _leans(one.verdict, two.verdict)
            for one, two in both
        ]

    def _attacks(self, build: Callable[..., str]) -> Iterator[tuple[Trajectory, Target, str]]:
        prompts = {sample.prompt_text: sample for sample in self.samples}
        for sample in prompts.values():
            for criterion in rubric_of(self.judge).criteria:
                if criterion.weight < 0:
                    continue
                demands = split_demands(criterion)
                hidden = "" if sample.ground_truth is None else str(sample.ground_truth)
                if build is attack_partial:
                    if len(demands) > 1:
                        yield sample, Target(criterion.name), attack_partial(demands)
                elif build is not attack_topical or not _NAMING.search(criterion.description):
                    yield sample, Target(criterion.name), build(sample.prompt_text, criterion.description, hidden)


_ATTACKS: Mapping[str, tuple[Callable[..., str], str]] = {
    "partial satisfaction": (attack_partial, "accepts a response that claims one part of a compound criterion"),
    "implicit as explicit": (attack_implicit, "accepts a response that leaves everything unsaid"),
    "topical match": (attack_topical, "accepts a response that only names the topic"),
}


def _versions_of(sample: Trajectory, texts: tuple[str, str], number: int) -> list[Trajectory]:
    return [msgspec.structs.replace(sample, response=text, group=number, id=None) for text in texts]


def _has_reasons(output: RewardOutput) -> bool:
    return any(part.reason for part in output.components.values())


def _leans(one: Verdict, two: Verdict) -> tuple[float, float]:
    first, second = (_WINS[verdict.values[BETTER.name]] for verdict in (one, two))
    return (first + second) / 2, (second - first) / 2


def _answered(values: Sequence[float | None]) -> list[float]:
    return [value for value in values if value is not None]


def _result(
    kind: str, values: Sequence[float | None], effect: Measure | None, p: float, note: str,
    witness: dict[str, Any] | None = None,
) -> PairedTest:  # fmt: skip
    answered = _answered(values)
    without = len(values) - len(answered)
    if effect is None:
        note = f"only {len(answered)} pairs with an answer ({without} without)"
    least = None if effect is None else smallest_detectable(effect, answered)
    return PairedTest(kind, len(answered), without, effect, p, detectable=least, note=note, witness=witness)
