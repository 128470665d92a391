"""The scoring engine against inline scoring, a process pool, its own cache and Ray: medians of paired rounds.

Run it on an idle machine: `python benchmarks/engine.py` (all parts) or with the names of parts, e.g. `a b`.
"""

import multiprocessing
import resource
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from plaudit import Trajectory
from plaudit.engine import Scorer

ROUNDS = 9


def reward_2ms(response: str) -> float:
    total = 0
    for n in range(25_000):  # work, not waiting: the clock must not decide how much is done
        total += n * n % 7
    return total % 2


def reward_100us(response: str) -> float:
    total = 0
    for n in range(1_250):
        total += n * n % 7
    return total % 2


def reward_1ms(response: str) -> float:
    total = 0
    for n in range(12_500):
        total += n * n % 7
    return total % 2


def trivial(response: str) -> float:
    return 1.0


def samples(count: int) -> list[Trajectory]:
    return [Trajectory(prompt=f"What is {n} + 1?", response=str(n + 1), ground_truth=str(n + 1)) for n in range(count)]


def pool_task(trajectory: Trajectory) -> float:
    return reward_100us(trajectory.response)


def slow_pool_task(trajectory: Trajectory) -> float:
    return reward_2ms(trajectory.response)


def ratio(theirs: Callable[[], object], ours: Callable[[], object], rounds: int = ROUNDS) -> float:
    """How many times faster ours is: the median over rounds of two runs side by side, since the machine drifts."""
    return statistics.median(_timed(theirs) / _timed(ours) for _ in range(rounds))


def verdict(ratio: float, target: float) -> str:
    return f"{ratio:.2f} (target ≥ {target:g}: {'met' if ratio >= target else 'NOT met'})"


def part_a() -> None:
    """Two workers against inline, a reward of about 2 ms; a bare pool tells how much two cores are worth here."""
    batch = samples(1_000)
    inline, processes = Scorer(reward_2ms, backend="inline"), Scorer(reward_2ms, workers=2, deadline_s=1.0)
    with inline, processes, multiprocessing.get_context("spawn").Pool(2) as pool:
        processes.score(batch[:50])
        pool.map(slow_pool_task, batch[:50], 5)
        each = _timed(lambda: inline.score(batch)) / len(batch) * 1e3
        gain = ratio(lambda: inline.score(batch), lambda: processes.score(batch))
        bare = ratio(lambda: inline.score(batch), lambda: pool.map(slow_pool_task, batch, 5))
    print(f"(a) {each:.2f} ms reward: 2 workers over inline = {verdict(gain, 1.8)}; a bare pool of two: {bare:.2f}")


def part_b() -> None:
    """With deadlines against multiprocessing.Pool without any, a reward of about 100 µs."""
    batch = samples(20_000)
    context = multiprocessing.get_context("spawn")
    with context.Pool(2) as pool, Scorer(reward_100us, workers=2, deadline_s=1.0) as scorer:
        scorer.score(batch[:500])
        list(pool.imap_unordered(pool_task, batch[:500], chunksize=64))

        def pooled(chunk: int) -> list[float]:
            return list(pool.imap_unordered(pool_task, batch, chunksize=chunk))

        taken = {chunk: _timed(partial(pooled, chunk)) for chunk in (64, 256, 512, 1024)}
        best = min(taken, key=taken.__getitem__)
        share = ratio(partial(pooled, best), lambda: scorer.score(batch))
    print(f"(b) throughput with deadlines over a pool without (chunks of {best}) = {verdict(share, 0.85)}")


def part_c() -> None:
    """A million trivial trajectories streamed: how much memory does it take?"""
    count = 1_000_000

    def stream() -> Iterator[Trajectory]:
        for n in range(count):
            yield Trajectory(prompt=f"What is {n} + 1?", response=str(n + 1))

    with Scorer(trivial, workers=2, deadline_s=1.0) as scorer:
        scorer.score(samples(1000))
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        began = time.perf_counter()
        scored = sum(1 for _ in scorer.score_stream(stream()))
        seconds = time.perf_counter() - began
        grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    met = "met" if grown < 300 and scored == count else "NOT met"
    print(
        f"(c) {scored:,} streamed at {scored / seconds:,.0f}/s, peak memory grew {grown:.0f} MB (target < 300: {met})"
    )


def part_d() -> None:
    """Rescoring from the cache against scoring, a reward of about 1 ms."""
    batch = samples(2_000)
    with tempfile.TemporaryDirectory() as folder:
        cached = Scorer(reward_1ms, backend="inline", cache=Path(folder) / "cache.sqlite")
        plain = Scorer(reward_1ms, backend="inline")
        with cached, plain:
            cached.score(batch)
            gain = ratio(lambda: plain.score(batch), lambda: cached.score(batch), rounds=5)
    print(f"(d) cached rescoring over scoring = {verdict(gain, 20)}")


def part_e() -> None:
    """Ray on this machine against the processes backend."""
    batch = samples(20_000)
    processes = Scorer(reward_100us, workers=2, deadline_s=1.0)
    ray = Scorer(reward_100us, backend="ray", workers=2, deadline_s=1.0)
    with processes, ray:
        processes.score(batch[:500])
        ray.score(batch[:500])
        share = ratio(lambda: processes.score(batch), lambda: ray.score(batch))
    print(f"(e) Ray over processes = {verdict(share, 0.6)}")


def part_f() -> None:
    """From a parent of 2 GiB against a small one; workers are started by exec, so its size must not matter."""
    batch = samples(5_000)

    def lifetime() -> None:
        with Scorer(reward_100us, workers=2, deadline_s=1.0) as scorer:
            scorer.score(batch)

    def from_large_parent() -> float:
        ballast = bytearray(2 << 30)
        ballast[:: resource.getpagesize()] = b"x" * len(ballast[:: resource.getpagesize()])
        return _timed(lifetime)

    share = statistics.median(_timed(lifetime) / from_large_parent() for _ in range(5))
    print(f"(f) small parent over 2 GiB parent, start-up included = {verdict(share, 0.9)}")


def part_g() -> None:
    """How long after the deadline the result of a hanging sample is there."""
    overruns = []
    with Scorer(hanging, workers=2, deadline_s=0.5) as scorer:
        scorer.score(samples(10))
        for _ in range(20):
            overruns.append(_timed(lambda: scorer.score(samples(1))) - 0.5)
    worst = max(overruns)
    met = "met" if worst < 0.3 else "NOT met"
    print(
        f"(g) a hanging sample is given up {statistics.median(overruns) * 1e3:.0f} ms after its deadline in the "
        f"median, {worst * 1e3:.0f} ms at worst (target < 300: {met})"
    )


def hanging(response: str) -> float:
    if response == "1":
        time.sleep(60)
    return 1.0


def _timed(run: Callable[[], object]) -> float:
    began = time.perf_counter()
    run()
    return time.perf_counter() - began


PARTS = {"a": part_a, "b": part_b, "c": part_c, "d": part_d, "e": part_e, "f": part_f, "g": part_g}

if __name__ == "__main__":
    for name in sys.argv[1:] or PARTS:
        PARTS[name]()
