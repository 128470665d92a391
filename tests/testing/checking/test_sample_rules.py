"""What careless rewards do on single samples, and what careful ones do not."""

import re

import pytest

from plaudit import Trajectory, load, reward
from plaudit.testing import Rule, Severity, check_reward
from plaudit.testing.checking.probes import mutated_samples


def rules(rewarding, trajectories=None):
    return {finding.rule for finding in check_reward(rewarding, trajectories)}


def contains(response, ground_truth=""):
    return float(str(ground_truth) in response)


def contains_word(response, ground_truth=""):
    return float(str(ground_truth) in re.findall(r"\w+", response))


@pytest.mark.parametrize("careless", [contains, contains_word])
def test_a_reward_that_looks_for_the_truth_anywhere_is_found(careless):
    findings = [finding for finding in check_reward(careless) if finding.rule is Rule.CONTAINMENT]
    assert [finding.severity for finding in findings] == [Severity.WARNING]


@pytest.mark.parametrize("truth", ["Paris", "yes", "-7", "3.5"])
def test_containment_is_found_on_the_users_samples(truth):
    samples = [Trajectory(prompt="?", response=f"The answer is {word}.", ground_truth=truth) for word in (truth, "no")]
    assert Rule.CONTAINMENT in rules(contains, samples)


@pytest.mark.parametrize("careful", ["math", "check_answer", "0.7 * check_answer + 0.3 * format", "length", "format"])
def test_rewards_that_compare_answers_or_do_not_look_at_them_are_not_blamed(careful):
    assert Rule.CONTAINMENT not in rules(load(careful))


def test_numbers_that_float_cannot_read_are_tried_in_the_usual_formats():
    def last_number(response, ground_truth=None):
        found = re.search(r"answer is ([\d.,/]+)", response)
        return float(found is not None and float(found[1].rstrip(".")) > 0)

    [finding] = [finding for finding in check_reward(last_number) if finding.rule is Rule.TOTAL]
    assert "ValueError" in finding.message


def test_truths_as_data_sets_have_them_are_tried():
    def numeric(response, ground_truth):
        return 0.0 if ground_truth is None else float(float(ground_truth) == 4.0)

    [finding] = [finding for finding in check_reward(numeric) if finding.rule is Rule.GROUND_TRUTH]
    assert finding.severity is Severity.WARNING
    assert "'1,234'" in finding.message


@reward
def forgetful(response):
    if "answer" in response:
        return 1.0
    return None


def test_a_branch_without_a_return_is_found_where_it_concerns_many_samples():
    [finding] = check_reward(forgetful)
    assert (finding.rule, finding.severity) == (Rule.SCORED, Severity.WARNING)
    assert "None for 6 of 18 samples" in finding.message


def test_none_for_a_few_samples_is_no_finding():
    assert check_reward(lambda response: None if response == "I do not know." else 1.0) == []


def test_json_lists_in_responses_are_changed_member_by_member():
    response = '{"a": [1, 2]}'
    samples = mutated_samples([Trajectory("?", response, "x")])
    changed = {sample.response for sample in samples}
    assert '{"a": [2]}' in changed
    assert '{"a": [null, 2]}' in changed
