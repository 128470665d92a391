"""The zoo: every planted bug is found by a family that it belongs to, and nothing is found in robust rewards."""

import pytest

from plaudit import load
from plaudit.audit import Attacker, Budget, audit_reward
from plaudit.contract.scoring import score_samples
from plaudit.engine import Scorer
from plaudit.testing.checking.probes import ordinary_samples
from tests.audit.zoo.roster import BUGGY, BUILT_IN_SPECS, ROBUST, SLOW_BUGGY
from tests.parts import part

FEW = Budget(calls=500)
PROGRAMS = "code"  # which needs samples of its own
SAME_AS_MATH = {"binary", "exact_match"}  # spellings of `math` without settings of their own


@pytest.mark.parametrize("name", part(BUGGY, 3))
def test_a_planted_bug_is_found(name):
    reward, families = BUGGY[name]
    for budget in (FEW, Budget()):  # most are found early, and a search to the end takes long
        report = audit_reward(reward, deadline_s=None, budget=budget)
        found = {finding.family for finding in report.findings} & families
        if found:
            break
    assert found


@pytest.mark.parametrize("name", part(ROBUST, 3))
def test_nothing_is_found_in_a_robust_reward(name):
    assert audit_reward(ROBUST[name], deadline_s=None).findings == ()


@pytest.mark.parametrize("spec", part((spec for spec in BUILT_IN_SPECS if spec not in SAME_AS_MATH), 3))
def test_nothing_is_found_in_a_built_in_reward(spec):
    reward = spec if spec == PROGRAMS else load(spec)  # a spec is tried in a fresh process too, as below for the others
    assert audit_reward(reward, deadline_s=None).findings == ()


def test_a_fresh_process_gives_the_same_sum_of_all_built_in_rewards():
    every, samples = " + ".join(f"({spec})" for spec in BUILT_IN_SPECS if spec != PROGRAMS), ordinary_samples(seed=0)
    here = score_samples(load(every), samples)
    with Scorer(every, workers=1) as scorer:
        there = scorer.score(samples)
    assert all(output.ok for output in here)
    assert [output.reward for output in there] == [output.reward for output in here]


def test_a_reward_that_hangs_on_some_responses_is_stopped_and_reported():
    report = audit_reward(SLOW_BUGGY["hangs_on_powers"], deadline_s=0.2, workers=1)
    assert any(finding.attacker is Attacker.INVARIANT for finding in report.findings)


def test_the_zoo_is_large_enough():
    assert len(BUGGY) + len(SLOW_BUGGY) >= 40
    assert len(ROBUST) + len(BUILT_IN_SPECS) >= 15
