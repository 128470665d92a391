import asyncio

import pytest
import torch

from plaudit import RewardFunction, RewardOutput, Status, Trajectory, reward, score
from plaudit.errors import InvalidTrajectory

SAMPLES = [Trajectory(prompt="p", response=str(i), id=f"s{i}", group=i // 2) for i in range(6)]


def statuses(rewarding):
    return [output.status.value for output in score(rewarding, SAMPLES)]


def failing(error):
    @reward
    def fails_on_three(response):
        if response == "3":
            raise error
        return 1.0

    return fails_on_three


class Speechless(Exception):
    def __str__(self):
        raise RuntimeError("no words")


@pytest.mark.parametrize("error", [ValueError("bad"), SystemExit(0), RecursionError(), MemoryError(), Speechless()])
def test_a_sample_that_raises_is_an_error_and_the_others_are_scored(error):
    expected = "memory" if isinstance(error, MemoryError) else "error"
    assert statuses(failing(error)) == ["ok"] * 3 + [expected] + ["ok"] * 2


@pytest.mark.parametrize("stop", [KeyboardInterrupt, asyncio.CancelledError])
def test_somebody_who_stops_us_is_obeyed(stop):
    with pytest.raises(stop):
        score(failing(stop()), SAMPLES)


def test_a_batch_that_raises_is_scored_one_by_one():
    calls = []

    class Batch(RewardFunction):
        def compute_rewards(self, trajectories):
            calls.append(len(trajectories))
            if any(t.response == "3" for t in trajectories):
                raise ValueError("three")
            return [1.0] * len(trajectories)

    assert statuses(Batch()) == ["ok"] * 3 + ["error"] + ["ok"] * 2
    assert calls == [6, 1, 1, 1, 1, 1, 1]


def test_an_async_batch_that_raises_is_scored_one_by_one():
    class Batch(RewardFunction):
        async def compute_rewards(self, trajectories):
            if any(t.response == "3" for t in trajectories):
                raise ValueError("three")
            return [1.0] * len(trajectories)

    assert statuses(Batch()) == ["ok"] * 3 + ["error"] + ["ok"] * 2


def test_a_group_reward_gets_whole_groups_and_fails_by_group():
    seen = []

    class Group(RewardFunction):
        scope = "group"

        def compute_rewards(self, trajectories):
            seen.append([t.response for t in trajectories])
            if trajectories[0].group == 1:
                raise ValueError("second group")
            return [1.0] * len(trajectories)

    shuffled = [SAMPLES[i] for i in (0, 2, 4, 1, 3, 5)]
    outputs = score(Group(), shuffled)
    assert seen == [["0", "1"], ["2", "3"], ["4", "5"]]
    assert [output.status.value for output in outputs] == ["ok", "error", "ok", "ok", "error", "ok"]


@pytest.mark.parametrize(
    ("returned", "message"),
    [
        ([1.0], "it returned 1 values for 6 samples"),
        (1.0, "TypeError"),
        (None, "TypeError"),
    ],
    ids=["too few", "a number", "None"],
)
def test_a_batch_of_wrong_arity_is_an_error_for_every_sample(returned, message):
    class Wrong(RewardFunction):
        def compute_rewards(self, trajectories):
            return returned

    outputs = score(Wrong(), SAMPLES)
    assert [output.status for output in outputs] == [Status.ERROR] * 6
    assert message in outputs[2].reason
    assert outputs[2].reason.startswith("Wrong")


def test_one_bad_value_in_a_batch_is_an_error_for_that_sample_alone():
    class Mixed(RewardFunction):
        def compute_rewards(self, trajectories):
            return [1.0, float("nan"), None, "high", RewardOutput(0.5), torch.tensor(0.25)]

    outputs = score(Mixed(), SAMPLES)
    assert [output.status.value for output in outputs] == ["ok", "error", "skipped", "error", "ok", "ok"]
    assert outputs[1].reason == "Mixed: reward is nan; a reward is a finite number"
    assert outputs[2].reason == "the reward returned None"
    assert outputs[5].reward == 0.25


def test_batches_may_come_back_as_tensors():
    class Tensor(RewardFunction):
        def __call__(self, trajectories, ground_truths):
            return torch.arange(len(trajectories)) / 10

    assert [output.reward for output in score(Tensor(), SAMPLES)] == pytest.approx([0, 0.1, 0.2, 0.3, 0.4, 0.5])


def test_reasons_stay_short():
    outputs = score(failing(ValueError("x" * 10_000)), SAMPLES)
    assert len(outputs[3].reason) < 600
    assert outputs[3].reason.endswith(".py:27)") or "test_boundary.py:" in outputs[3].reason


def test_async_rewards_run_no_more_than_their_concurrency_at_once():
    under_way = 0
    most = 0

    class Endpoint(RewardFunction):
        concurrency = 3

        async def compute_reward(self, trajectory):
            nonlocal under_way, most
            under_way += 1
            most = max(most, under_way)
            await asyncio.sleep(0.005)
            under_way -= 1
            return 1.0

    score(Endpoint(), SAMPLES * 4)
    assert most == 3


def test_no_samples_give_no_outputs():
    assert score(failing(ValueError()), []) == []
    assert score(RewardFunctionBatch(), []) == []


class RewardFunctionBatch(RewardFunction):
    def compute_rewards(self, trajectories):
        raise AssertionError("called with nothing")


def test_samples_that_are_no_trajectories_are_refused_with_their_place():
    with pytest.raises(InvalidTrajectory, match="sample 1 is a tuple, not a Trajectory or a dict"):
        score(failing(ValueError()), [SAMPLES[0], ("p", "r")])
    with pytest.raises(InvalidTrajectory, match="sample 1: no 'response' column; did you mean 'respones'"):
        score(failing(ValueError()), [SAMPLES[0], {"prompt": "p", "respones": "r"}])
