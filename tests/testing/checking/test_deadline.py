"""With a deadline, a reward that hangs or ends its process costs a finding, not the check."""

import threading
import time

import pytest

from plaudit import Trajectory
from plaudit.errors import InvalidTrajectory, RewardNotLoaded
from plaudit.testing import Rule, Severity, check_reward

REWARDS = """
import asyncio, os, time

def hangs_on_nothing(response):
    if not response:
        time.sleep(1000)
    return 0.5

def hangs_always(response):
    time.sleep(1000)

async def waits_always(response):
    await asyncio.sleep(1000)

def hangs_on_batches(responses):
    time.sleep(1000)

def ends_its_process(response):
    if response == "nan":
        os._exit(0)
    return 0.5

def forgets(response):
    len(response)

calls = []

def counts(response):
    calls.append(response)
    return len(calls) / 100000

def writes(metadata):
    metadata["seen"] = True
    return 0.5

def fine(response):
    return 0.5
"""


@pytest.fixture
def rewards(tmp_path):
    path = tmp_path / "my_rewards.py"
    path.write_text(REWARDS)
    return str(path)


def test_a_response_that_takes_too_long_is_a_finding_and_the_rest_is_still_checked(rewards):
    began = time.monotonic()
    [finding] = check_reward(f"{rewards}:hangs_on_nothing", deadline_s=1.0)
    assert (finding.rule, finding.sample) == (Rule.DEADLINE, "''")
    assert "it took too long for 1 of" in finding.message
    assert "deadline of 1 s" in finding.message
    assert time.monotonic() - began < 60


@pytest.mark.parametrize("name", ["hangs_always", "waits_always", "hangs_on_batches"])
def test_a_reward_that_always_hangs_is_given_up_after_a_few_responses(rewards, name):
    stopped, finding = check_reward(f"{rewards}:{name}", deadline_s=0.05)
    assert (stopped.rule, stopped.severity) == (Rule.SCORED, Severity.INFO)
    assert finding.rule is Rule.DEADLINE


def test_a_response_that_ends_the_process_is_a_finding(rewards):
    [finding] = check_reward(f"{rewards}:ends_its_process", deadline_s=5.0)
    assert (finding.rule, finding.sample) == (Rule.TOTAL, "'nan'")


def test_nothing_is_found_where_nothing_is_wrong(rewards):
    assert check_reward(f"{rewards}:fine", deadline_s=5.0) == []


def test_a_function_of_this_process_is_checked_as_well():
    [finding, *_] = check_reward(lambda response: 1.0 / len(response), deadline_s=5.0)
    assert finding.rule is Rule.TOTAL
    assert "ZeroDivisionError" in finding.message


def test_a_load_error_is_the_same_with_a_deadline(rewards):
    with pytest.raises(RewardNotLoaded, match="did you mean"):
        check_reward(f"{rewards}:fin", deadline_s=5.0)


def test_the_same_is_found_with_and_without_a_deadline(rewards):
    for name in ("forgets", "counts", "writes"):
        here, there = check_reward(f"{rewards}:{name}"), check_reward(f"{rewards}:{name}", deadline_s=5.0)
        assert [finding.rule for finding in here] == [finding.rule for finding in there] != []


def test_samples_that_cannot_be_sent_are_named(rewards):
    sample = Trajectory("", "yes", metadata={"lock": threading.Lock()})
    with pytest.raises(InvalidTrajectory, match="put plain data into it"):
        check_reward(f"{rewards}:fine", [sample], deadline_s=5.0)
