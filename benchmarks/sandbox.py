"""What running one HumanEval program costs: processor milliseconds of all processes, here and elsewhere.

Each round runs every way of running programs once, in turn, on another eighth of the data set (pytest on fewer); the
figures are medians over rounds of user + system time of this process and all its descendants. Four of the 164 programs
compute for 20 to 200 ms wherever they run: they weigh in the mean over all rounds, which is told beside the median.
Ours is the pool that `CodeReward` uses, with tests that it has seen before, as in a group of responses to one prompt;
what the first of a group costs is told apart.
`python benchmarks/sandbox.py [ROUNDS]`

`python benchmarks/sandbox.py busy [RUNS]` runs right programs on a machine that has twice as many busy loops as cores:
none may be taken for one that hangs.
"""

import gzip
import io
import json
import multiprocessing
import os
import resource
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from functools import partial
from pathlib import Path
from typing import Any

from plaudit.sandbox import AssertSuite, Job, JudgePool, RunLimits, Verdict

ROUNDS = 8
DATA = [Path(__file__).resolve().parents[depth] / "shared/data/code/HumanEval.jsonl.gz" for depth in (2, 3)]
TICK = os.sysconf("SC_CLK_TCK")
TIMEOUT_S = 10.0
BALLAST = 1 << 30
LEAST = 160  # programs, for a cost that is told apart
RUNS = 2_000
FAMILIAR = 8  # runs after which every judge of the pool has seen nearly all tests
LIMITS = RunLimits(cpu_s=2.0, wall_s=20.0)  # those of a CodeReward
NO_PLUGINS = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}

Row = dict[str, Any]


def rows() -> list[Row]:
    path = next(path for path in DATA if path.exists())
    return [json.loads(line) for line in gzip.decompress(path.read_bytes()).splitlines()]


def whole_program(row: Row) -> str:
    return f"{row['prompt']}{row['canonical_solution']}\n{row['test']}\ncheck({row['entry_point']})\n"


def jobs(programs: list[Row], note: str = "") -> list[Job]:
    """The programs as jobs; a new `note` makes their tests ones that no judge has seen."""
    return [
        Job(
            row["prompt"] + row["canonical_solution"],
            [AssertSuite([row["test"] + note], row["entry_point"], [], row["prompt"])],
            LIMITS,
        )
        for row in programs
    ]


def judged(pool: JudgePool, programs: list[Row], note: str = "") -> int:
    """How many programs pass."""
    verdicts = pool.judge_all(jobs(programs, note))
    return sum(isinstance(verdict, Verdict) and verdict.passed for verdict in verdicts)


def with_pytest(programs: list[Row]) -> None:
    for row in programs:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "test_it.py"
            path.write_text(whole_program(row).replace("\ncheck(", "\ndef test_it():\n    check("))
            # Without the plug-ins that happen to be installed here, which would only make it dearer.
            _run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(path)], **NO_PLUGINS)


def as_file(programs: list[Row]) -> None:
    for row in programs:
        with tempfile.NamedTemporaryFile("w", suffix=".py") as file:
            file.write(whole_program(row))
            file.flush()
            _run([sys.executable, file.name])


def _run(command: list[str], **environment: str) -> None:
    subprocess.run(command, capture_output=True, timeout=60, check=True, env={**os.environ, **environment})


def managed(programs: list[Row]) -> None:
    """A manager and a forked process for each program, with a folder, a timer and no output of its own."""
    context = multiprocessing.get_context("fork")
    for row in programs:
        with context.Manager() as manager:
            results = manager.list()
            process = context.Process(target=_execute, args=(whole_program(row), results))
            process.start()
            process.join(TIMEOUT_S)
            assert list(results) == ["passed"]


def _execute(source: str, results: Any) -> None:
    signal.signal(signal.SIGALRM, lambda *_: results.append("timed out"))
    nowhere = io.StringIO()
    with tempfile.TemporaryDirectory() as folder, redirect_stdout(nowhere), redirect_stderr(nowhere):
        os.chdir(folder)
        signal.setitimer(signal.ITIMER_REAL, TIMEOUT_S)
        exec(source, {})
        signal.setitimer(signal.ITIMER_REAL, 0)
        results.append("passed")
        os.chdir("/")


def managed_from_large_parent(programs: list[Row]) -> None:
    """The same from a process of 1 GiB, less what such a process costs without any program."""
    _run([sys.executable, "-P", __file__, "--large", json.dumps([row["task_id"] for row in programs])])


def bare(programs: list[Row]) -> None:
    """No wall, no verdict: a small process that forks, compiles and runs."""
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump([whole_program(row) for row in programs], file)
        file.flush()
        _run([sys.executable, "-I", "-S", "-c", BARE, file.name])


BARE = """
import gc, json, os, sys
import collections, copy, datetime, functools, hashlib, heapq, itertools, math, random, re, string, typing
programs = json.load(open(sys.argv[1]))
gc.freeze()
for source in programs:
    pid = os.fork()
    if pid == 0:
        exec(compile(source, "x", "exec"), {})
        os._exit(0)
    assert os.waitpid(pid, 0)[1] == 0
"""


def cpu_s() -> float:
    """Processor seconds of this process and its descendants, the dead ones included."""
    parents, ticks = {}, {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        pid = int(stat.parent.name)
        parents[pid], ticks[pid] = int(fields[1]), sum(map(int, fields[11:15]))
    family = {os.getpid()}
    while grown := {pid for pid, parent in parents.items() if parent in family} - family:
        family |= grown
    return sum(ticks[pid] for pid in family) / TICK


def cost_ms(run: Callable[[list[Row]], object], programs: list[Row]) -> float:
    before = cpu_s()
    run(programs)
    return (cpu_s() - before) / len(programs) * 1e3


def throughput(programs: list[Row]) -> float:
    """Programs per second with two workers, each of which has seen the tests."""
    with JudgePool(workers=2) as pool:
        for turn in range(FAMILIAR):
            judged(pool, programs[turn:] + programs[:turn])
        began = time.perf_counter()
        judged(pool, programs)
        return len(programs) / (time.perf_counter() - began)


# How to run programs elsewhere, every how many-th is run so in a round, and how many times cheaper ours must be.
PEERS: dict[str, tuple[Callable[[list[Row]], object], int, float]] = {
    "pytest in a temp file": (with_pytest, 20, 60),
    "python file.py": (as_file, 8, 4),
    "manager + process": (managed, 8, 4.5),
    "the same, 1 GiB parent": (managed_from_large_parent, 8, 20),
    "bare fork + compile + run": (bare, 8, 1 / 3),
}


def main(rounds: int) -> None:
    programs = rows()
    costs: dict[str, list[float]] = {name: [] for name in PEERS}
    ours: dict[str, list[float]] = {name: [] for name in PEERS}
    first: list[float] = []
    with JudgePool() as pool:
        passed = min(judged(pool, programs[turn:] + programs[:turn]) for turn in range(FAMILIAR))
        print(f"{passed} of {len(programs)} canonical solutions pass")
        for turn in range(rounds):
            for name, (run, stride, _) in PEERS.items():
                some = programs[turn % stride :: stride]  # the same programs for both, since some take long anywhere
                costs[name].append(cost_ms(run, some) - _unrelated_ms(run, len(some)))
                again = -(-LEAST // len(some))  # the kernel tells in steps of 10 ms per process
                ours[name].append(cost_ms(partial(_repeated, pool, again), some) / again)
            some = programs[turn % 4 :: 4]
            first.append(cost_ms(partial(judged, pool, note=f"\n# {turn}\n"), some))
    for name, (_, _, target) in PEERS.items():
        ratio = statistics.median(theirs / own for theirs, own in zip(costs[name], ours[name], strict=True))
        theirs, own = statistics.median(costs[name]), statistics.median(ours[name])
        met = "met" if ratio >= target else "NOT met"
        told = f"{name:26} {theirs:8.2f} ms of processor, ours {own:5.2f}: {ratio:6.2f} ×"
        print(f"{told} (target ≥ {target:.2g}: {met}; by the mean {sum(costs[name]) / sum(ours[name]):.2f} ×)")
    print(f"the first of a group, whose tests are new to the judge: {statistics.median(first):.2f} ms")
    print(f"programs per second with 2 workers: {throughput(programs):.0f}")


def _repeated(pool: JudgePool, times: int, programs: list[Row]) -> None:
    for _ in range(times):
        judged(pool, programs)


def _unrelated_ms(run: Callable[[list[Row]], object], count: int) -> float:
    """What starting the process that runs programs costs, which is no part of running programs from it."""
    return cost_ms(lambda _: run([]), [{}]) / count if run in (managed_from_large_parent, bare) else 0.0


def busy(runs: int) -> None:
    """Print how many of so many right programs do not pass beside busy loops."""
    loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(2 * (os.cpu_count() or 1))]
    programs = rows()
    wanted = [programs[turn % len(programs)] for turn in range(runs)]
    began = time.monotonic()
    try:
        with JudgePool() as pool:
            passed = sum(judged(pool, wanted[start : start + len(programs)]) for start in range(0, runs, len(programs)))
    finally:
        for loop in loops:
            loop.kill()
    seconds = time.monotonic() - began
    print(f"{runs - passed} of {runs} right programs did not pass beside {len(loops)} busy loops, in {seconds:.0f} s")


def large(names: list[str]) -> None:
    ballast = bytearray(BALLAST)
    ballast[:: resource.getpagesize()] = b"x" * len(ballast[:: resource.getpagesize()])
    managed([row for row in rows() if row["task_id"] in names])


if __name__ == "__main__":
    if sys.argv[1:2] == ["--large"]:
        large(json.loads(sys.argv[2]))
    elif sys.argv[1:2] == ["busy"]:
        busy(int(sys.argv[2]) if len(sys.argv) > 2 else RUNS)
    else:
        main(int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS)
