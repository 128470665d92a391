"""Results of cases say in words what was expected and what came."""

import re

import pytest

from plaudit import RewardFunction, RewardOutput, Status
from plaudit.errors import CasesError
from plaudit.testing import assert_cases, load_cases, run_cases


def graded(response):
    """The number in the response; words that some tests need are special."""
    if response == "raise":
        raise LookupError("no such word")
    if response == "unparsed":
        return RewardOutput.unscored(Status.UNPARSED, "not a number")
    return RewardOutput(float(response), score=min(1.0, abs(float(response))), reason="read as it stands")


def table(tmp_path, *rows):
    file = tmp_path / "a.cases.yaml"
    file.write_text("\n".join(f"- {row}" for row in rows))
    return load_cases(file)


CASES = {
    "equal": ("{response: '0.7', expected: 0.7}", True, "got 0.7, as expected"),
    "not equal": ("{response: '0.5', expected: 0.7}", False, "expected 0.7, got 0.5 (reason: read as it stands)"),
    "tolerated": ("{response: '0.65', expected: 0.7, tolerance: 0.1}", True, "got 0.65, as expected"),
    "not tolerated": ("{response: '0.5', expected: 0.7, tolerance: 0.1}", False, "expected 0.7 ± 0.1, got 0.5"),
    "in the range": ("{response: '0.5', expected: [0.4, 0.6]}", True, "as expected"),
    "outside the range": ("{response: '0.7', expected: [0.4, 0.6]}", False, "expected 0.4..0.6, got 0.7"),
    "compared": ("{response: '0.7', expected: '> 0.5'}", True, "as expected"),
    "compared in vain": ("{response: '0.5', expected: '> 0.5'}", False, "expected > 0.5, got 0.5"),
    "ordered": ("{response: '0.3', expected: '> base'}", True, "as expected"),
    "ordered in vain": ("{response: '0.1', expected: '> base'}", False, "> 'base' (that case got 0.2), got 0.1"),
    "unscored": ("{response: unparsed, expected: 0}", False, "expected 0, got status unparsed (reason: not a number)"),
    "failed": ("{response: raise, expected: 0}", False, "got status error (reason: graded raised LookupError: no such"),
    "status": ("{response: unparsed, expected_status: unparsed}", True, "got status unparsed, as expected"),
    "other status": ("{response: raise, expected_status: unparsed}", False, "status unparsed, got status error"),
    "scored after all": ("{response: '1', expected_status: unparsed}", False, "expected status unparsed, got 1"),
    "ok is enough": ("{response: '1', expected_status: ok}", True, "got 1, as expected"),
    "score": ("{response: '-0.5', expected: -0.5, expected_score: 0.5}", True, "as expected"),
    "other score": ("{response: '-0.5', expected_score: 1}", False, "expected score 1, got 0.5"),
}  # fmt: skip


@pytest.mark.parametrize(("row", "passed", "words"), CASES.values(), ids=CASES)
def test_a_result_has_a_verdict_and_a_reason(row, passed, words, tmp_path):
    results = run_cases(graded, table(tmp_path, "{name: base, response: '0.2', expected: 0.2}", row))
    assert results[1].passed is passed
    assert words in results[1].explanation


def test_an_order_against_a_case_that_was_not_scored_fails(tmp_path):
    rows = ("{name: bad, response: raise, expected_status: error}", "{response: '1', expected: '> bad'}")
    assert "that case was not scored" in run_cases(graded, table(tmp_path, *rows))[1].explanation


def test_an_expected_score_of_a_reward_without_scores_fails(tmp_path):
    [result] = run_cases(lambda response: 1.0, table(tmp_path, "{response: x, expected: 1, expected_score: 1}"))
    assert result.explanation == "expected score 1, but the reward gives no score"


def test_cases_of_one_group_are_scored_together(tmp_path):
    class Longest(RewardFunction):
        scope = "group"

        def compute_rewards(self, trajectories):
            longest = max(len(trajectory.response) for trajectory in trajectories)
            return [float(len(trajectory.response) == longest) for trajectory in trajectories]

    rows = (
        "{response: ab, group: 1, expected: 0}",
        "{response: abc, group: 1, expected: 1}",
        "{response: a, group: 2, expected: 1}",
    )
    assert all(result.passed for result in run_cases(Longest(), table(tmp_path, *rows)))


def test_assert_cases_lists_every_failed_case(tmp_path):
    path = table(tmp_path, "{response: '1', expected: 1}", "{name: low, response: '0', expected: 1}").path
    with pytest.raises(AssertionError, match=r"1 of 2 cases in .*\n  low: expected 1, got 0"):
        assert_cases(graded, path)


def test_assert_cases_is_silent_when_all_pass(tmp_path):
    assert_cases(graded, table(tmp_path, "{response: '1', expected: 1}").path)


@pytest.mark.parametrize("spec", ["near_rewards.py:full", "0.5 * 'near_rewards.py:full' + 0.5"])
def test_the_tables_own_reward_is_found_beside_the_table(spec, tmp_path, monkeypatch):
    monkeypatch.chdir("/")
    (tmp_path / "near_rewards.py").write_text("def full(response):\n    return 1.0\n")
    file = tmp_path / "a.cases.yaml"
    file.write_text(f"reward: {spec}\ncases:\n  - {{response: x, expected: 1}}\n")
    assert [result.passed for result in run_cases(None, load_cases(file))] == [True]


def test_no_reward_at_all_is_an_error_with_the_remedy(tmp_path):
    cases = table(tmp_path, "{response: x, expected: 1}")
    with pytest.raises(CasesError, match=re.escape("names no reward; add 'reward: rewards.py:name'")):
        run_cases(None, cases)
