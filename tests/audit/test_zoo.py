"""The zoo: every planted bug is found by a family that it belongs to, and nothing is found in robust rewards."""

import pytest

from plaudit.audit import Attacker, Budget, audit_reward
from tests.audit.zoo.roster import BUGGY, BUILT_IN_SPECS, ROBUST, SLOW_BUGGY

FEW = Budget(calls=500)
SAME_AS_MATH = {"binary", "exact_match"}  # spellings of `math` without settings of their own


@pytest.mark.parametrize("name", BUGGY)
def test_a_planted_bug_is_found(name):
    reward, families = BUGGY[name]
    for budget in (FEW, Budget()):  # most are found early, and a search to the end takes long
        report = audit_reward(reward, deadline_s=None, budget=budget)
        found = {finding.family for finding in report.findings} & families
        if found:
            break
    assert found


@pytest.mark.parametrize("name", ROBUST)
def test_nothing_is_found_in_a_robust_reward(name):
    assert audit_reward(ROBUST[name], deadline_s=None).findings == ()


@pytest.mark.parametrize("spec", [spec for spec in BUILT_IN_SPECS if spec not in SAME_AS_MATH])
def test_nothing_is_found_in_a_built_in_reward(spec):
    assert audit_reward(spec, deadline_s=None).findings == ()


def test_a_reward_that_hangs_on_some_responses_is_stopped_and_reported():
    report = audit_reward(SLOW_BUGGY["hangs_on_powers"], deadline_s=0.5, workers=1)
    assert any(finding.attacker is Attacker.INVARIANT for finding in report.findings)


def test_the_zoo_is_large_enough():
    assert len(BUGGY) + len(SLOW_BUGGY) >= 40
    assert len(ROBUST) + len(BUILT_IN_SPECS) >= 15
