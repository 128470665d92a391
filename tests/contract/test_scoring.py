import asyncio
import os
import signal
import sys
import time

import pytest
import torch

from plaudit import RewardFunction, RewardOutput, Status, Trajectory, reward, score
from plaudit.contract.results import RETURNED_NONE
from plaudit.contract.scoring import Progress, score_samples
from plaudit.engine import Scorer
from plaudit.errors import InvalidTrajectory
from plaudit.rewards import MathReward

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


@pytest.mark.parametrize(
    "error",
    [
        ValueError("bad"), SystemExit(0), RecursionError(), MemoryError(), Speechless(), asyncio.CancelledError(),
        GeneratorExit(), BaseException("odd"),
    ],
    ids=lambda error: type(error).__name__,
)  # fmt: skip
def test_a_sample_that_raises_is_an_error_and_the_others_are_scored(error):
    expected = "memory" if isinstance(error, MemoryError) else "error"
    assert statuses(failing(error)) == ["ok"] * 3 + [expected] + ["ok"] * 2


def test_keyboard_interrupt_stops_scoring_in_the_callers_process():
    with pytest.raises(KeyboardInterrupt):
        score(failing(KeyboardInterrupt()), SAMPLES)


@pytest.mark.parametrize("is_async", [False, True])
def test_a_batch_that_raises_fails_as_a_whole_and_is_called_once(is_async):
    calls = []

    class Batch(RewardFunction):
        def compute_rewards(self, trajectories):
            calls.append(len(trajectories))
            raise ValueError("three")

    class AsyncBatch(RewardFunction):
        async def compute_rewards(self, trajectories):
            calls.append(len(trajectories))
            raise ValueError("three")

    assert statuses(AsyncBatch() if is_async else Batch()) == ["error"] * 6
    assert calls == [6]


def test_a_batch_is_cut_only_if_the_reward_declares_max_batch():
    sizes = []

    @reward(max_batch=4)
    def cut(responses):
        sizes.append(len(responses))
        return [1.0] * len(responses)

    @reward
    def whole(responses):
        sizes.append(len(responses))
        return [1.0] * len(responses)

    score(cut, SAMPLES)
    assert sizes == [4, 2]
    score(whole, SAMPLES * 100)
    assert sizes == [4, 2, 600]


def test_every_part_gets_its_own_copy_of_the_sample():
    sample = Trajectory(prompt=[{"role": "user", "content": "p"}], response="r", metadata={"n": 1}, columns={"xs": [1]})

    def spoils(prompt, metadata, xs):
        prompt[0]["content"] = metadata["n"] = xs[0] = "spoilt"
        return 1.0

    def reads(prompt, metadata, xs):
        return float((prompt[0]["content"], metadata["n"], xs[0]) == ("p", 1, 1))

    before = sample.to_json()
    output = score(reward(spoils) + reward(reads), [sample, sample])[1]
    assert output.reward == 2.0
    assert sample.to_json() == before


def test_process_state_changed_by_a_call_is_restored(tmp_path):
    before = (os.getcwd(), sys.getrecursionlimit(), signal.getsignal(signal.SIGALRM))
    alarm_s = signal.getitimer(signal.ITIMER_REAL)[0]  # of the test run, or none

    @reward
    def meddles(response):
        os.chdir(tmp_path)
        sys.setrecursionlimit(150)
        signal.signal(signal.SIGALRM, lambda *_: None)
        signal.setitimer(signal.ITIMER_REAL, 600)
        return float(os.getcwd() == str(tmp_path))

    assert statuses(meddles) == ["ok"] * 6
    assert (os.getcwd(), sys.getrecursionlimit(), signal.getsignal(signal.SIGALRM)) == before
    assert signal.getitimer(signal.ITIMER_REAL)[0] == pytest.approx(alarm_s, abs=5)


def test_a_part_sees_no_setting_that_another_part_changed(tmp_path):
    folder, seen = os.getcwd(), []

    @reward
    def moves(response):
        os.chdir(tmp_path)
        return 1.0

    @reward
    def looks(response):
        seen.append(os.getcwd())
        return 1.0

    score(moves + looks, SAMPLES)
    assert set(seen) == {folder}


@pytest.mark.parametrize("is_pure", [True, False])
def test_only_a_pure_batch_reward_gets_the_samples_themselves(is_pure):
    seen = []

    class Batch(RewardFunction):
        pure = is_pure

        def compute_rewards(self, trajectories):
            seen.extend(trajectories)
            return [1.0] * len(trajectories)

    samples = [Trajectory("", "a"), Trajectory("", "b")]
    assert [output.reward for output in score(Batch(), samples)] == [1.0, 1.0]
    assert [one is other for one, other in zip(seen, samples, strict=True)] == [is_pure] * 2


def test_a_subclass_of_a_pure_reward_is_not_pure():
    class Changing(MathReward):
        def compute_reward(self, trajectory):
            trajectory.metadata["changed"] = True
            return super().compute_reward(trajectory)

    sample = Trajectory("1 + 1?", "The answer is 2.", ground_truth="2")
    assert MathReward.pure
    assert not Changing.pure
    assert score(Changing(), [sample])[0].reward == 1.0
    assert sample.metadata == {}


def test_an_alarm_of_the_caller_rings_once():
    rings = []
    before = signal.signal(signal.SIGALRM, lambda *_: rings.append("ring"))
    left, interval = signal.setitimer(signal.ITIMER_REAL, 0.01)
    try:
        score(reward(lambda response: time.sleep(0.01) or 1.0), SAMPLES)
        time.sleep(0.1)
    finally:
        signal.signal(signal.SIGALRM, before)
        signal.setitimer(signal.ITIMER_REAL, left, interval)
    assert rings == ["ring"]


def test_async_parts_of_a_sum_are_under_way_together():
    under_way, most = set(), 0

    def part(name):
        async def waits(response):
            nonlocal most
            under_way.add(name)
            most = max(most, len(under_way))
            await asyncio.sleep(0.01)
            under_way.discard(name)
            return 1.0

        return reward(waits)

    assert [output.reward for output in score(part("a") + part("b"), SAMPLES[:1])] == [2.0]
    assert most == 2


def test_an_async_client_survives_several_batches():
    class Client(RewardFunction):
        def __init__(self):
            self.lock = None

        async def compute_reward(self, trajectory):
            self.lock = self.lock or asyncio.Lock()
            async with self.lock:
                await asyncio.sleep(0)
            return 1.0

    client = Client()
    for _ in range(3):
        assert statuses(client) == ["ok"] * 6
    assert client(SAMPLES) == [1.0] * 6


def test_a_sync_part_beside_an_async_one_may_start_its_own_event_loop():
    async def waits(response):
        await asyncio.sleep(0)
        return 1.0

    def runs_its_own(response):
        return asyncio.run(waits(response))

    assert [output.reward for output in score(reward(waits) + reward(runs_its_own), SAMPLES[:2])] == [2.0, 2.0]


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
        (1.0, "it returned a float for 6 samples"),
        (None, "it returned None for 6 samples"),
        ({str(i): 1.0 for i in range(6)}, "it returned a dict for 6 samples"),
        (b"abcdef", "it returned a bytes for 6 samples"),
        (set(range(6)), "it returned a set for 6 samples"),
        (iter([1.0] * 6), "it returned a list_iterator for 6 samples"),
    ],
    ids=["too few", "a number", "None", "dict", "bytes", "set", "iterator"],
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
    assert outputs[2].reason == RETURNED_NONE
    assert outputs[5].reward == 0.25


def test_batches_may_come_back_as_tensors():
    class Tensor(RewardFunction):
        def __call__(self, trajectories, ground_truths):
            return torch.arange(len(trajectories)) / 10

    assert [output.reward for output in score(Tensor(), SAMPLES)] == pytest.approx([0, 0.1, 0.2, 0.3, 0.4, 0.5])


def test_reasons_stay_short():
    outputs = score(failing(ValueError("x" * 10_000)), SAMPLES)
    assert len(outputs[3].reason) < 600
    assert outputs[3].reason.endswith(".py:27)") or "test_scoring.py:" in outputs[3].reason


class Counted(RewardFunction):
    """Counts how many of its calls are under way."""

    concurrency = 3

    def __init__(self):
        self.under_way = self.most = 0

    async def compute_reward(self, trajectory):
        self.under_way += 1
        self.most = max(self.most, self.under_way)
        await asyncio.sleep(0.005)
        self.under_way -= 1
        return 1.0


def test_async_rewards_run_no_more_than_their_concurrency_at_once():
    counted = Counted()
    score(counted, SAMPLES * 4)
    assert counted.most == 3


def test_concurrency_counts_for_a_reward_wherever_it_stands():
    counted = Counted()
    score(counted * counted, SAMPLES * 4)
    assert counted.most == 3


def test_a_reward_may_have_an_attribute_called_style():
    class Formal(RewardFunction):
        def __init__(self):
            self.style = "formal"

        def compute_reward(self, trajectory):
            return float(self.style == "formal")

    assert score(Formal(), SAMPLES[:1])[0].reward == 1.0


def test_no_samples_give_no_outputs():
    assert score(failing(ValueError()), []) == []
    assert score(RewardFunctionBatch(), []) == []


class RewardFunctionBatch(RewardFunction):
    def compute_rewards(self, trajectories):
        raise AssertionError("called with nothing")


def test_samples_that_are_no_trajectories_are_refused_with_their_place():
    with pytest.raises(InvalidTrajectory, match="sample 1 must be a Trajectory or a dict, got tuple"):
        score(failing(ValueError()), [SAMPLES[0], ("p", "r")])
    with pytest.raises(InvalidTrajectory, match="sample 1: no 'response' column; did you mean 'respones'"):
        score(failing(ValueError()), [SAMPLES[0], {"prompt": "p", "respones": "r"}])


@reward
def writes_or_raises(trajectory):
    trajectory.metadata["seen"] = True
    return 1 / int(trajectory.response)


@reward
async def writes_or_raises_later(trajectory):
    return writes_or_raises.function(trajectory)


@reward
def writes_in_batches(trajectories):
    trajectories[0].metadata["seen"] = True
    return [0.5] * len(trajectories)


@pytest.mark.parametrize("single", [writes_or_raises, writes_or_raises_later, 0.5 * writes_or_raises])
def test_an_observer_sees_what_each_call_of_a_function_did(single):
    calls = []
    outputs = score_samples(single, SAMPLES[:2], Progress(calls.append))
    first, second = calls
    assert (first.samples, type(first.error)) == ([SAMPLES[0]], ZeroDivisionError)
    assert (second.samples, second.values, second.error) == ([SAMPLES[1]], [1.0], None)
    assert [call.copies[0].metadata for call in calls] == [{"seen": True}] * 2
    assert [output.status for output in outputs] == [call.outputs[0].status for call in calls]
    assert SAMPLES[0].metadata == {}


def test_an_observer_sees_the_list_that_a_batch_function_was_given():
    calls = []
    score_samples(writes_in_batches, SAMPLES, Progress(calls.append))
    [call] = calls
    assert (list(call.samples), call.values, call.error) == (SAMPLES, [0.5] * 6, None)
    assert [sample.metadata for sample in call.copies] == [{"seen": True}] + [{}] * 5


def test_metadata_of_a_pure_reward_is_plain_data_on_workers_too(tmp_path):
    (tmp_path / "counted.py").write_text(
        "from plaudit import RewardOutput\n"
        "from plaudit.contract.function import RewardFunction\n"
        "class Counted(RewardFunction):\n"
        "    pure = True\n"
        "    def compute_reward(self, trajectory):\n"
        "        return RewardOutput(1.0, metadata={1: (2, 3)} if trajectory.response == 'b' else {})\n"
    )
    samples = [Trajectory(prompt="p", response=response) for response in "abc"]
    with Scorer(f"{tmp_path}/counted.py:Counted", backend="processes", workers=1) as scorer:
        assert [output.metadata for output in scorer.score(samples)] == [{}, {"1": [2, 3]}, {}]
