"""Calibrate a judge: agreement with people, biases, attacks, and what follows for means of its verdicts."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from plaudit.calibration.labelling import WHOLE, Labels, Target, rubric_of, sample_key, targets_of
from plaudit.calibration.probes import Probes
from plaudit.calibration.rubric_checks import split_demands
from plaudit.calibration.statistics import (
    ALPHA,
    Agreement,
    CorrectedMean,
    PairedTest,
    correct_for_number,
    correct_mean,
    measure_agreement,
)
from plaudit.calibration.transcript import Transcript, record_endpoint
from plaudit.contract.output import RewardOutput
from plaudit.engine import Scorer
from plaudit.errors import InvalidSettings
from plaudit.judges.llm_judge import RubricJudge
from plaudit.trajectory import Trajectory

MAX_UNANSWERED = 0.2
"""Above this share of samples without a verdict, what was measured is about the rest only: a finding."""


@dataclass(frozen=True, slots=True)
class Calibration:
    """The results of the measurements. `findings` are messages by kind."""

    samples: int
    unanswered: dict[str, int]
    """The number of samples without a verdict, by status."""
    threshold: float
    agreements: tuple[Agreement, ...]
    means: tuple[CorrectedMean, ...]
    tests: tuple[PairedTest, ...]
    compound: dict[str, list[str]]
    """Criteria that make several demands, with these; a warning, not a finding."""
    transcript: str | None = None

    @property
    def findings(self) -> dict[str, str]:
        """The problems of the judge, by kind."""
        findings = {
            test.kind: f"{test.note}: {test.effect} of {test.pairs}, p = {test.corrected_p:.2g} after correction"
            for test in self.tests
            if test.is_finding
        }
        if weak := [each.criterion for each in self.agreements if not each.informative]:
            findings["agreement"] = f"not shown to be better than chance on {', '.join(weak)}"
        if sum(self.unanswered.values()) > MAX_UNANSWERED * self.samples:
            findings["unanswered"] = f"no verdict on {sum(self.unanswered.values())} of {self.samples} samples"
        return findings

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {
            "samples": self.samples, "unanswered": self.unanswered, "threshold": self.threshold, "alpha": ALPHA,
            "agreement": [{**asdict(each), "labels": each.count} for each in self.agreements],
            "means": [each.to_dict() for each in self.means],
            "tests": [{**asdict(each), "is_finding": each.is_finding} for each in self.tests],
            "compound": self.compound, "findings": self.findings, "transcript": self.transcript,
        }  # fmt: skip


def calibrate(
    judge: RubricJudge,
    samples: Sequence[Trajectory],
    labels: Labels,
    *,
    threshold: float = 0.5,
    most: int = 100,
    author: str | None = None,
    judge_author: str | None = None,
    transcript: Transcript | None = None,
) -> Calibration:
    """Ask the judge about all samples and about versions of at most `most` of them, and compare with the labels.

    `author` is the column that names the model that wrote a response (`model` by default), `judge_author` the name of
    the judge's model there. A `transcript` records all answers, or replays them.
    """
    if transcript is not None:
        judge = replace(judge, endpoint=record_endpoint(judge.chat_endpoint, transcript))
    measured = _measured_targets(judge, samples, labels)
    with Scorer(judge, backend="inline") as scorer:
        outputs = scorer.score(samples)
    if transcript is not None:
        transcript.check_complete()
    if samples and not any(output.ok for output in outputs):
        raise InvalidSettings(f"the judge gave no verdict on any of {len(samples)} samples: {outputs[0].reason}")
    verdicts = {target: [_verdict(target, output, threshold) for output in outputs] for target in measured}
    agreements = [
        measure_agreement(target.name, _pairs(target, samples, verdicts[target], labels)) for target in measured
    ]
    tests = Probes(judge, samples, outputs, labels, threshold, most).run(
        author, judge_author or judge.chat_endpoint.model
    )
    if transcript is not None:
        transcript.check_complete()
    tested = [test for test in tests if test.effect is not None]
    corrected = dict(zip(map(id, tested), correct_for_number([test.p for test in tested]), strict=True))
    demands = {each.name: split_demands(each) for each in rubric_of(judge).criteria}
    return Calibration(
        len(samples),
        dict(Counter(output.status.value for output in outputs if not output.ok)),
        threshold,
        tuple(agreements),
        tuple(correct_mean(each, verdicts[target]) for target, each in zip(measured, agreements, strict=True)),
        tuple(replace(test, corrected_p=corrected.get(id(test), 1.0)) for test in tests),
        {name: parts for name, parts in demands.items() if len(parts) > 1},
        None if transcript is None else transcript.digest(),
    )


def _measured_targets(judge: RubricJudge, samples: Sequence[Trajectory], labels: Labels) -> tuple[Target, ...]:
    """The targets of the labels; raises an error if a label is for another target."""
    keys = {sample_key(sample) for sample in samples}
    if strange := [key for key, _ in labels if key not in keys]:
        raise InvalidSettings(
            f"{len(strange)} labels are of samples that are not in the rollouts, such as {strange[0]}"
        )
    targets, names = targets_of(judge), {name for _, name in labels}
    if names == {WHOLE}:
        return (Target(WHOLE),)
    if unknown := sorted(names - {target.name for target in targets}):
        known = ", ".join(target.name for target in targets)
        raise InvalidSettings(f"there are labels for {unknown[0]!r}, which is no criterion of the rubric ({known})")
    return targets


def _verdict(target: Target, output: RewardOutput, threshold: float) -> bool | None:
    value = target.value(output)
    return None if value is None else value >= threshold


def _pairs(
    target: Target, samples: Sequence[Trajectory], verdicts: Sequence[bool | None], labels: Labels
) -> list[tuple[bool | None, bool]]:
    """Verdicts beside labels; equal samples count once."""
    pairs = {
        key: (verdict, labels[key, target.name])
        for sample, verdict in zip(samples, verdicts, strict=True)
        if ((key := sample_key(sample)), target.name) in labels
    }
    return list(pairs.values())
