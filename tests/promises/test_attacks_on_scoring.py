"""Rewards that misbehave in unusual ways: each costs at most its own sample, and no run hangs or crashes."""

import asyncio
import functools
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from plaudit import RewardOutput, Trajectory, export, load, reward, score
from plaudit.compose import TaskReward
from plaudit.contract.combination import CompoundReward
from plaudit.contract.function import RewardFunction
from plaudit.engine import Scorer
from plaudit.engine.reward_service import RewardService, outputs_of, pack_samples
from plaudit.engine.shipping import Shipment
from plaudit.errors import InvalidSettings, RewardNotLoaded
from plaudit.processes.pool import Limits, Pool, PoolUnit
from tests.promises.slow_values import NeverRead, SlowToRead

BACKENDS = ("inline", "processes")


def samples(*responses: str) -> list[Trajectory]:
    return [Trajectory(prompt="?", response=response) for response in responses]


def score_inline(reward: Any) -> Any:
    return score(reward, samples("a"))


def score_on_processes(reward: Any) -> Any:
    return score(reward, samples("a"), backend="processes", workers=1)


def export_to_trl(reward: Any) -> Any:
    return export(reward, "trl", workers=1)(prompts=["?"], completions=["a"])


def rewards(function: Any, *responses: str, **settings: Any) -> list[float | None]:
    return [output.reward for output in score(function, samples(*responses), **settings)]


@pytest.mark.parametrize("backend", BACKENDS)
def test_an_output_object_that_is_reused_and_changed_does_not_change_earlier_outputs(backend: str) -> None:
    kept = RewardOutput(1.0, metadata={"seen": []}, latency_s=0.1)

    def reusing(response: str) -> RewardOutput:
        kept.metadata["seen"].append(response)
        return kept

    outputs = score(reusing, samples("a", "b"), backend=backend, workers=1)
    assert [output.metadata["seen"] for output in outputs] == [["a"], ["a", "b"]]


class UncheckedOutput(RewardOutput, frozen=True):
    def __post_init__(self) -> None: ...


def returns_unchecked_nan(response: str) -> RewardOutput:
    return UncheckedOutput(float("nan"))


def adds_nan_component(response: str) -> RewardOutput:
    output = RewardOutput(1.0, components={"part": 1.0})  # type: ignore[dict-item]
    output.components["other"] = float("nan")  # type: ignore[assignment]
    return output


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("function", [returns_unchecked_nan, adds_nan_component])
def test_an_output_is_checked_when_it_is_read(function: Callable[..., Any], backend: str) -> None:
    assert score(function, samples("a"), backend=backend, workers=1)[0].status == "error"


class NameRaises(RewardFunction):
    @property
    def name(self) -> str:  # type: ignore[override]
        raise RuntimeError("no name")

    def compute_reward(self, trajectory: Trajectory) -> float:
        raise ValueError(trajectory.response)


@pytest.mark.parametrize("spec", [NameRaises(), f"{__file__}:NameRaises"], ids=["object", "spec"])
@pytest.mark.parametrize("use", [load, score_inline, score_on_processes, export_to_trl])
def test_a_reward_whose_name_cannot_be_read_is_refused_on_every_path(use: Callable[..., Any], spec: Any) -> None:
    with pytest.raises(RewardNotLoaded, match="reading the name of the reward failed: RuntimeError: no name"):
        use(spec)


class WarmUpRaises(RewardFunction):
    def warm_up(self) -> None:
        raise ValueError("no weights")

    def compute_reward(self, trajectory: Trajectory) -> float:
        return 1.0


class WarmUpExits(WarmUpRaises):
    def warm_up(self) -> None:
        raise SystemExit(3)


@pytest.mark.parametrize("use", [score_inline, score_on_processes])
@pytest.mark.parametrize(("kind", "error"), [(WarmUpRaises, "ValueError: no weights"), (WarmUpExits, "SystemExit: 3")])
def test_a_reward_that_cannot_warm_up_is_refused_on_every_path(use: Callable[..., Any], kind: Any, error: str) -> None:
    with pytest.raises(InvalidSettings, match=f"warm_up of {kind.__name__} raised {error}"):
        use(kind())


@pytest.mark.parametrize("value", [np.str_("0.5"), np.bytes_(b"5"), np.complex128(1 + 2j)])
def test_text_and_complex_numbers_of_numpy_are_errors(value: Any) -> None:
    assert score(lambda response: value, samples("a"))[0].status == "error"
    assert rewards(lambda responses: np.array([value, value]), "a", "b") == [None, None]


class UnprintableError(Exception):
    def __str__(self) -> str:
        raise SystemExit(3)


def raises_unprintable(response: str) -> float:
    if response == "bad":
        raise UnprintableError
    return 1.0


def raises_with_broken_notes(response: str) -> float:
    if response == "bad":
        error = ValueError("x")
        error.__notes__ = 5  # type: ignore[assignment]
        raise error
    return 1.0


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("function", [raises_unprintable, raises_with_broken_notes])
def test_an_exception_that_cannot_be_described_costs_its_own_sample(function: Callable[..., Any], backend: str) -> None:
    assert rewards(function, "a", "bad", "c", backend=backend, workers=1) == [1.0, None, 1.0]


UNKNOWABLE = """
class WithoutClass(Exception):
    @property
    def __class__(self):
        raise ValueError("no class")


class Unnamed(type):
    @property
    def __name__(cls):
        raise ValueError("no name")


class WithoutName(Exception, metaclass=Unnamed):
    pass


def function(response):
    if response == "bad":
        raise KIND
    return 1.0


async def coroutine(response):
    return function(response)


def batch(responses):
    return [function(response) for response in responses]
"""


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("kind", ["WithoutClass", "WithoutName"])
@pytest.mark.parametrize("name", ["function", "coroutine", "batch"])
def test_an_exception_is_known_by_its_type_alone(name: str, kind: str, backend: str, tmp_path: Path) -> None:
    file = tmp_path / "unknowable.py"
    file.write_text(UNKNOWABLE.replace("KIND", kind))
    outputs = score(f"{file}:{name}", samples("a", "bad", "c"), backend=backend, workers=1)
    assert [each.status for each in outputs] == (["error"] * 3 if name == "batch" else ["ok", "error", "ok"])


def test_a_reason_is_short_whatever_notes_an_exception_has() -> None:
    def noted(response: str) -> float:
        error = ValueError("x")
        error.add_note("n" * 10_000)
        raise error

    assert len(score(noted, samples("a"))[0].reason) <= 500


def test_a_sync_wrapper_of_an_async_function_runs_outside_the_event_loop() -> None:
    async def judged(response: str) -> float:
        return 1.0

    @functools.wraps(judged)
    def sync(response: str) -> float:
        return asyncio.run(judged(response))

    assert rewards(sync, "a") == [1.0]


def in_another_process(lines: str) -> str:
    """What a script prints that would hang if the promise were broken."""
    head = (
        "import asyncio, os, time\nfrom plaudit import RewardOutput, Trajectory, reward, score\n"
        "from plaudit.engine import Scorer\n"
        "samples = [Trajectory(prompt='?', response=text) for text in ('a', 'b')]\n"
    )
    run = subprocess.run([sys.executable, "-c", head + lines], capture_output=True, text=True, timeout=60, check=False)
    assert run.returncode == 0, run.stderr
    return run.stdout.strip()


def test_an_async_reward_may_score_async_rewards_from_its_sync_code() -> None:
    printed = in_another_process("""
@reward
async def leaf(response): return 1.0
@reward
async def middle(response): return leaf(samples)[0]
@reward
async def outer(response): return score(middle, samples)[0].reward
print([output.reward for output in score(outer, samples)])
""")
    assert printed == "[1.0, 1.0]"


def test_an_async_reward_that_uses_the_scorer_that_scores_it_fails_with_the_reason() -> None:
    printed = in_another_process("""
@reward
async def greedy(response): return scorer.score(samples)[0].reward
with Scorer(greedy, backend="inline") as scorer:
    print({output.reason for output in scorer.score(samples)})
""")
    assert printed == "{'greedy: a reward cannot use the scorer that is scoring it'}"


async def cancels_itself(response: str) -> float:
    task = asyncio.current_task()
    if response == "bad" and task is not None:
        task.cancel()
    return 1.0


async def cancels_all(response: str) -> float:
    """Cancels every task that it can find, while other calls wait for tasks of their own."""
    for _ in range(3):
        await asyncio.gather(asyncio.sleep(0), asyncio.sleep(0))
    if response == "bad":
        for task in asyncio.all_tasks():
            task.cancel()
    for _ in range(3):
        await asyncio.gather(asyncio.sleep(0), asyncio.sleep(0))
    return 1.0


async def awaits_all(response: str) -> float:
    """Waits for every other task that it can find; if calls found each other, they would wait for ever."""
    if others := asyncio.all_tasks() - {asyncio.current_task()}:
        await asyncio.wait(others)
    return 1.0


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_call_that_cancels_its_own_task_costs_at_most_itself(backend: str) -> None:
    found = rewards(cancels_itself, "a", "bad", "c", backend=backend, workers=1)
    assert (found[0], found[2]) == (1.0, 1.0)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("function", [cancels_all, awaits_all])
def test_a_call_does_not_find_the_tasks_of_other_calls(function: Callable[..., Any], backend: str) -> None:
    summed = reward(function) + reward(function)
    assert rewards(summed, "a", "bad", "c", backend=backend, workers=1) == [2.0, 2.0, 2.0]


class NoneAtOnce(RewardFunction):
    concurrency = 0

    async def compute_reward(self, trajectory: Trajectory) -> float:
        return 1.0


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_concurrency_below_one_is_refused(backend: str) -> None:
    with pytest.raises(InvalidSettings, match="concurrency"):
        score(NoneAtOnce(), samples("a"), backend=backend)
    with pytest.raises(InvalidSettings, match="concurrency"):
        NoneAtOnce()(samples("a"))


def test_the_working_folder_is_put_back_after_async_calls() -> None:
    async def moves(response: str) -> float:
        os.chdir("/")
        return 1.0

    before = os.getcwd()
    assert rewards(moves, "a", "b") == [1.0, 1.0]
    assert os.getcwd() == before


@pytest.mark.parametrize("backend", BACKENDS)
def test_the_token_unit_of_an_output_is_kept(backend: str) -> None:
    def by_token(response: str) -> RewardOutput:
        return RewardOutput(1.0, token_unit="token")

    assert score(by_token, samples("a"), backend=backend, workers=1)[0].token_unit == "token"


def closes_all_descriptors(response: str) -> float:
    if response == "bad":
        os.closerange(0, 256)
        time.sleep(60)
    return 1.0


def test_a_worker_that_closed_its_pipe_and_continues_is_killed() -> None:
    began = time.monotonic()
    found = rewards(closes_all_descriptors, "a", "bad", "c", backend="processes", workers=1, deadline_s=5)
    assert found == [1.0, None, 1.0]
    assert time.monotonic() - began < 30


def leaves_a_fork_and_dies(response: str) -> float:
    if response == "bad":
        if os.fork() == 0:
            time.sleep(60)
        os._exit(3)
    return 1.0


def test_the_death_of_a_worker_is_noticed_while_a_process_that_it_forked_lives() -> None:
    began = time.monotonic()
    outputs = score(leaves_a_fork_and_dies, samples("a", "bad", "c"), backend="processes", workers=1)
    assert [output.reward for output in outputs] == [1.0, None, 1.0]
    assert "exit code 3" in outputs[1].reason
    assert time.monotonic() - began < 30


FORKS = """
def forks(response):
    pid = os.fork()
    if pid == 0 and response == "a":
        return 5.0
    if pid == 0:
        raise SystemExit(7)
    return float(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
async def forks_async(response):
    return forks(response)
def forks_batch(responses):
    return [forks(response) for response in responses]
"""


@pytest.mark.parametrize("name", ["forks", "forks_async", "forks_batch", "reward(forks) + 0"])
@pytest.mark.parametrize("settings", ["", "backend='processes', workers=1, deadline_s=5"])
def test_a_process_that_a_call_forked_ends_with_the_call(name: str, settings: str) -> None:
    lines = f"print([output.reward for output in score({name}, samples, {settings})])"
    expected = [7.0] if name == "forks_batch" else [0.0, 7.0]
    printed = in_another_process(f"{FORKS}samples = samples[-{len(expected)}:]\n{lines}")
    assert printed == str(expected)


def test_the_clock_of_a_call_starts_when_its_sample_has_been_read() -> None:
    @reward
    def sized(response: str, size: int) -> float:
        return float(size)

    large = Trajectory(prompt="?", response="a", columns={"size": SlowToRead()})
    with Scorer(sized, workers=1, deadline_s=0.3) as scorer:
        assert [output.reward for output in scorer.score([large, large])] == [10 << 20, 10 << 20]


def test_a_sample_that_takes_too_long_to_read_costs_no_other_sample() -> None:
    many = [Trajectory(prompt="?", response="a" * n, columns={"size": NeverRead() if n == 1 else 2}) for n in range(4)]
    with Scorer(reward(lambda response, size: float(len(response))), workers=1, deadline_s=0.3) as scorer:
        outputs = scorer.score(many)
    assert [(output.status.value, output.reward) for output in outputs] == [
        ("ok", 0.0), ("timeout", None), ("ok", 2.0), ("ok", 3.0),
    ]  # fmt: skip


def test_a_sample_that_takes_too_long_to_read_costs_no_other_sample_of_an_async_unit() -> None:
    async def sized(response: str, size: int) -> float:
        return float(len(response))

    many = [Trajectory(prompt="?", response="a" * n, columns={"size": NeverRead() if n == 1 else 2}) for n in range(4)]
    for function in (reward(sized), 0.5 * reward(sized) + 0.5 * reward(sized)):
        with Scorer(function, workers=1, deadline_s=0.3) as scorer:
            outputs = scorer.score(many)
        assert [(output.status.value, output.reward) for output in outputs] == [
            ("ok", 0.0), ("timeout", None), ("ok", 2.0), ("ok", 3.0),
        ]  # fmt: skip


def test_a_batch_with_a_sample_that_takes_too_long_to_read_ends() -> None:
    many = [Trajectory(prompt="?", response="a" * n, columns={"size": NeverRead() if n == 1 else 2}) for n in range(4)]
    with Scorer(reward(lambda responses: [1.0 for _ in responses]), workers=1, deadline_s=0.3) as scorer:
        assert {output.status.value for output in scorer.score(many)} == {"timeout"}


def test_a_stream_that_a_call_closes_is_open_for_the_next_call() -> None:
    def printing(response: str) -> float:
        sys.stdout.write(f"{response}\n")
        sys.stdout.close()
        sys.stderr.close()
        return 1.0

    with Scorer(reward(printing), workers=1) as scorer:
        assert [output.reward for output in scorer.score(samples("a", "b", "c"))] == [1.0] * 3


def test_the_clock_of_a_call_starts_when_its_sample_has_been_sent() -> None:
    pool = Pool(RewardService(Shipment.of(lambda response: 1.0)), 1, Limits(deadline_s=5.0))
    try:
        finish(pool, "small")
        worker = pool.workers[0]
        os.kill(worker.pid, signal.SIGSTOP)
        pool.submit(PoolUnit(pack_samples(samples("x" * 10_000_000)), 1))
        pool.give()
        assert pool.next_expiry() == float("inf")
        os.kill(worker.pid, signal.SIGCONT)
        assert [output.reward for output in finish(pool)] == [1.0]
    finally:
        pool.close()


def finish(pool: Pool, *responses: str) -> list[RewardOutput]:
    if responses:
        pool.submit(PoolUnit(pack_samples(samples(*responses)), len(responses)))
    pool.give()
    until = time.monotonic() + 60
    while not pool.finished and time.monotonic() < until:
        for worker in list(pool.workers):
            worker.flush()
            pool.read(worker)
        time.sleep(0.001)
    return outputs_of(pool.finished.popleft())


class RefusesSomePrompts(CompoundReward):
    """A reward that makes other samples for its part, as one with a chat template does."""

    def __init__(self, part: Any) -> None:
        self.set_parts([part])

    def samples_for(self, trajectory: Trajectory) -> list[tuple[RewardFunction, Trajectory | None]]:
        if trajectory.response == "bad":
            raise ValueError("roles must alternate")
        return [(self.parts[0], trajectory)]

    def merge_one(self, trajectory: Trajectory, outputs: Sequence[Any]) -> RewardOutput:
        result: RewardOutput = outputs[0]
        return result


def always_one(response: str) -> float:
    return 1.0


async def always_one_async(response: str) -> float:
    return 1.0


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("part", [always_one, always_one_async])
def test_a_sample_that_cannot_be_made_for_a_part_costs_itself(part: Callable[..., Any], backend: str) -> None:
    outputs = score(RefusesSomePrompts(part), samples("a", "bad", "c"), backend=backend, workers=1)
    assert [output.reward for output in outputs] == [1.0, None, 1.0]
    assert "roles must alternate" in outputs[1].reason


def test_a_reward_that_several_tasks_share_is_called_once_per_sample() -> None:
    calls = []

    @reward
    def counted(response: str) -> float:
        calls.append(response)
        return 1.0

    table = TaskReward({"x": counted, "y": counted}, default=counted)
    score(table, [Trajectory(prompt="?", response="a", task="x"), Trajectory(prompt="?", response="b", task="z")])
    assert calls == ["a", "b"]
