"""Several streams on one scorer: from one thread and from many, closed, forked, stopped and with sources that raise."""

import asyncio
import os
import threading
import time
from collections.abc import Iterator

import pytest

from plaudit import Status, Trajectory, reward
from plaudit.engine import Scorer
from plaudit.errors import InvalidTrajectory, ScoringFailed
from plaudit.rollouts import ScoredRollout
from tests.engine.contract_rewards import Rank, length

BACKENDS = ("inline", "processes")
every_backend = pytest.mark.parametrize("backend", BACKENDS)
TIMEOUT_S = 60


def samples(*responses: str, **fields) -> list[Trajectory]:
    return [Trajectory(prompt="p", response=response, **fields) for response in responses]


def within(seconds: float, work) -> None:
    """Run `work` in a thread; fail when it takes longer."""
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join(seconds)
    assert not thread.is_alive(), f"still not done after {seconds} s"


@reward
def slow(response):
    time.sleep(0.02)
    return len(response) / 10


@every_backend
def test_two_streams_may_be_open_in_one_thread(backend):
    first, second = [], []

    def interleave():
        with Scorer(slow, backend=backend, workers=2) as scorer:  # both have work under way when the other is read
            one, other = (scorer.score_stream(iter(samples(*["ab"] * 20))) for _ in range(2))
            for pair in zip(one, other, strict=True):
                first.append(pair[0].output.reward)
                second.append(pair[1].output.reward)

    within(TIMEOUT_S, interleave)
    assert first == second == [0.2] * 20


@every_backend
def test_a_source_may_use_the_scorer_that_reads_it(backend):
    outputs = []

    def nested():
        with Scorer(length, backend=backend, workers=1) as scorer:

            def long_ones() -> Iterator[Trajectory]:
                for sample in samples("a", "abcdef", "abc", "abcdefgh"):
                    if scorer.score([sample])[0].reward > 0.4:
                        yield sample

            outputs.extend(scorer.score(long_ones()))

    within(TIMEOUT_S, nested)
    assert [output.reward for output in outputs] == [0.6, 0.8]


@every_backend
def test_threads_share_a_scorer_and_each_gets_its_own_outputs(backend):
    outcome: dict[int, list[float | None]] = {}

    def run(scorer: Scorer, count: int) -> None:
        outcome[count] = [output.reward for output in scorer.score(samples(*["x" * count] * 200))]

    with Scorer(length, backend=backend, workers=2) as scorer:
        threads = [threading.Thread(target=run, args=(scorer, count), daemon=True) for count in range(1, 6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(TIMEOUT_S)
    assert outcome == {count: [count / 10] * 200 for count in range(1, 6)}


def test_a_stream_that_is_left_does_not_disturb_the_others():
    with Scorer(slow, workers=2) as scorer:
        left = scorer.score_stream(iter(samples(*["abc"] * 500)))
        stays = scorer.score_stream(iter(samples(*["abcd"] * 40)))
        next(left)
        taken = [next(stays) for _ in range(5)]
        left.close()
        taken += stays
        assert [scored.output.reward for scored in taken] == [0.4] * 40


@every_backend
def test_closing_while_another_thread_scores_is_an_error_there_not_a_loss(backend):
    outcome: list[object] = []
    begun = threading.Event()

    def run(scorer: Scorer) -> None:
        try:
            for scored in scorer.score_stream(iter(samples(*["abc"] * 3000))):
                begun.set()
                outcome.append(scored)
        except ScoringFailed as error:
            outcome.append(error)

    scorer = Scorer(slow, backend=backend, workers=2)
    thread = threading.Thread(target=run, args=(scorer,), daemon=True)
    thread.start()
    assert begun.wait(TIMEOUT_S)
    scorer.close()
    thread.join(TIMEOUT_S)
    assert not thread.is_alive()
    assert isinstance(outcome[-1], ScoringFailed)
    assert "closed while a stream was open" in str(outcome[-1])


@every_backend
def test_a_closed_scorer_raises_an_error(backend):
    scorer = Scorer(length, backend=backend, workers=1)
    scorer.close()
    with pytest.raises(ScoringFailed, match="this scorer is closed"):
        scorer.score(samples("a"))


def in_child(work) -> int:
    """The exit code of a forked process that runs `work`; 99 when it does not end in time."""
    pid = os.fork()
    if pid == 0:
        code = 98
        try:
            code = work()
        finally:
            os._exit(code)
    deadline = time.monotonic() + TIMEOUT_S
    while time.monotonic() < deadline:
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.01)
    os.kill(pid, 9)
    os.waitpid(pid, 0)
    return 99


@every_backend
def test_a_scorer_works_in_both_processes_after_a_fork(backend):
    with Scorer(length, backend=backend, workers=2) as scorer:
        assert scorer.score(samples("ab"))[0].reward == 0.2

        def child() -> int:
            rewards = [output.reward for output in scorer.score(samples(*["abc"] * 100))]
            scorer.close()
            return 0 if rewards == [0.3] * 100 else 1

        assert in_child(child) == 0
        assert [output.reward for output in scorer.score(samples(*["abcd"] * 100))] == [0.4] * 100


def test_a_stream_cannot_be_continued_by_a_forked_process():
    with Scorer(length, workers=1) as scorer:
        stream = scorer.score_stream(iter(samples(*["ab"] * 100)))
        next(stream)

        def child() -> int:
            try:
                list(stream)
            except ScoringFailed as error:
                return 0 if "after a fork" in str(error) else 2
            return 1

        assert in_child(child) == 0
        assert len(list(stream)) == 99


def test_scoring_that_is_cancelled_stops(tmp_path):
    log = tmp_path / "scored"

    @reward
    def logged(response):
        time.sleep(0.02)
        with log.open("a") as file:
            file.write("x")
        return 1.0

    async def cancel_when_begun(scorer: Scorer) -> None:
        task = asyncio.create_task(scorer.ascore(samples(*["a"] * 3000)))
        while not log.exists():
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    with Scorer(logged, workers=1) as scorer:
        asyncio.run(cancel_when_begun(scorer))  # leaving the event loop waits for the thread
        before = log.stat().st_size
        time.sleep(0.5)
        assert log.stat().st_size == before < 3000
        assert scorer.score(samples("a"))[0].ok


class BrokenSource(Exception):
    pass


def broken(good: list[Trajectory]) -> Iterator[Trajectory]:
    yield from good
    raise BrokenSource("line 124 is not JSON")


@every_backend
@pytest.mark.parametrize("cached", [False, True], ids=["no cache", "cache"])
def test_samples_read_before_the_source_raised_are_delivered_first(backend, cached, tmp_path):
    taken: list[ScoredRollout] = []
    with (
        Scorer(length, backend=backend, workers=2, cache=tmp_path / "scores" if cached else None) as scorer,
        pytest.raises(BrokenSource, match="line 124"),
    ):
        taken.extend(scorer.score_stream(broken(samples(*["ab"] * 123))))
    assert [scored.output.reward for scored in taken] == [0.2] * 123


def test_samples_before_one_that_is_no_trajectory_are_delivered_first():
    taken: list[ScoredRollout] = []
    with (
        Scorer(length, backend="inline") as scorer,
        pytest.raises(InvalidTrajectory, match="sample 123: no 'response' column"),
    ):
        taken.extend(scorer.score_stream([*samples(*["ab"] * 123), {"prompt": "p"}]))
    assert [scored.output.reward for scored in taken] == [0.2] * 123


def test_a_group_that_the_source_broke_off_is_not_scored():
    good = [Trajectory(prompt="p", response="x", group=group) for group in (1, 1, 2)]
    taken: list[ScoredRollout] = []
    with Scorer(Rank(), backend="inline") as scorer, pytest.raises(BrokenSource):
        taken.extend(scorer.score_stream(broken(good)))
    assert [scored.output.status for scored in taken] == [Status.OK, Status.OK, Status.SKIPPED]
    assert "group 2 is incomplete: the source failed" in taken[2].output.reason


def test_a_reward_that_uses_the_scorer_scoring_it_fails_instead_of_hanging():
    holder: list[Scorer] = []

    @reward
    def nested(response):
        return holder[0].score(samples(response))[0].reward

    outputs = []

    def run():
        with Scorer(nested, backend="inline") as scorer:
            holder.append(scorer)
            outputs.extend(scorer.score(samples("a")))

    within(TIMEOUT_S, run)
    assert "a reward cannot use the scorer that is scoring it" in outputs[0].reason


def test_a_reward_may_use_its_scorer_from_a_thread_that_it_starts():
    holder: list[Scorer] = []

    @reward
    def nested(response):
        if response == "inner":
            return 0.5
        inner: list[float | None] = []
        thread = threading.Thread(target=lambda: inner.append(holder[0].score(samples("inner"))[0].reward))
        thread.start()
        thread.join()
        return inner[0]

    outputs = []

    def run():
        with Scorer(nested, backend="inline") as scorer:
            holder.append(scorer)
            outputs.extend(scorer.score(samples("a", "b")))

    within(TIMEOUT_S, run)
    assert [output.reward for output in outputs] == [0.5, 0.5]
