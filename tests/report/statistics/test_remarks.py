"""What a report says in words about runs with a known fault."""

import pytest

from plaudit.report.advice import ADVICE, Level, headline, remarks
from plaudit.report.collecting import collect_figures
from tests.report.statistics.runs import random_run, rollout
from tests.report.statistics.test_texts import run_with


def said_of(run):
    return {one.topic: one for one in remarks(collect_figures(run))}


def padded(wrong_gains: bool):
    """Groups of right and wrong responses; the longer wrong ones earn more where `wrong_gains` says so."""
    return [
        rollout(
            right + (wrong_gains and not right) * size / 100,
            score=right,
            group=group,
            response=f"{group} " + "w" * size,
        )
        for group in range(12)
        for right, size in ((1.0, 40), (1.0, 41), (0.0, 10), (0.0, 40), (0.0, 80))
    ]


FAULTS = {
    "every reward is the same": ([rollout(1.0, group=0)] * 4, "rewards", "constant"),
    "nothing scored": ([rollout(None)] * 4, "rewards", "none"),
    "not all scored": ([*random_run(), *[rollout(None)] * 40], "statuses", "some"),
    "length pays for wrong responses": (padded(wrong_gains=True), "length", "wrong"),
    "a phrase spreads": (run_with(flattery=True), "phrases", "some"),
    "all prompts solved": ([rollout(1.0, score=1.0, group=n // 4) for n in range(40)], "groups", "dead"),
    "scores equal, rewards not": (
        [rollout(n % 4 / 4, score=1.0, group=n // 4) for n in range(40)], "groups", "phantom",
    ),
    "one component rules": (
        [rollout(n % 4 + n % 3 / 10, group=n // 12, a=n % 4, b=n % 3 / 10) for n in range(120)],
        "components", "dominant",
    ),
    "reward up, score not": (
        [rollout(step / 20 + n / 100, score=n % 2, group=step, step=step) for step in range(20) for n in range(10)],
        "curves", "apart",
    ),
    "one answer for all": (
        [rollout(n % 2, group=n // 4, response="The answer is 7.") for n in range(40)], "duplicates", "across",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("run", "topic", "state"), FAULTS.values(), ids=FAULTS)
def test_a_known_fault_is_reported_with_its_remedy(run, topic, state):
    remark = said_of(run)[topic]
    assert remark.advice == ADVICE[f"{topic}.{state}"]
    assert remark.level is not Level.GOOD
    assert remark in headline(remarks(collect_figures(run)))


def test_length_that_pays_nobody_is_no_fault():
    assert said_of(padded(wrong_gains=False))["length"].level is not Level.WARNING


def test_a_healthy_run_has_no_warning():
    said = said_of(random_run()).values()
    assert [one.topic for one in said if one.level is Level.WARNING] == ["length"]  # its right responses are longer
