"""Harbor tasks: recall and false alarms of the audit on our zoo, cost of a trial, and what remains after kills.

    python benchmarks/harbor.py [zoo] [further] [styles] [languages] [fifth] [sixth] [seventh] [eighth] [cost] [soak]

The first eight audit the tasks of a table each (`harbor_zoo.py`, `harbor_zoo_more.py`, and `_third` to `_eighth`);
`zoo:2/6` audits every sixth of them, from the second.
`cost` runs a task whose commands take no time, alone and eight at a time.
`soak` starts 300 runs and kills the process at a random moment of each; then it counts processes, mounts and folders.
"""

import contextlib
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.harbor_zoo import FLAWED, SOUND, ZooTask, write_zoo
from benchmarks.harbor_zoo_eighth import EIGHTH_FLAWED, EIGHTH_SOUND
from benchmarks.harbor_zoo_fifth import FIFTH_FLAWED, FIFTH_SOUND
from benchmarks.harbor_zoo_fourth import FOURTH_FLAWED, FOURTH_SOUND
from benchmarks.harbor_zoo_more import MORE_FLAWED, MORE_SOUND
from benchmarks.harbor_zoo_seventh import SEVENTH_FLAWED, SEVENTH_SOUND
from benchmarks.harbor_zoo_sixth import SIXTH_FLAWED, SIXTH_SOUND
from benchmarks.harbor_zoo_third import THIRD_FLAWED, THIRD_SOUND
from plaudit.harbor import Runtime, audit_task, read_task, run_task
from plaudit.harbor.reporting import TaskReport, each_task
from plaudit.harbor.task import Task

RUNTIME = Runtime(network="none")
TABLES = {
    "zoo": [*FLAWED, *SOUND],
    "further": [*MORE_FLAWED, *MORE_SOUND],
    "styles": [*THIRD_FLAWED, *THIRD_SOUND],
    "languages": [*FOURTH_FLAWED, *FOURTH_SOUND],
    "fifth": [*FIFTH_FLAWED, *FIFTH_SOUND],
    "sixth": [*SIXTH_FLAWED, *SIXTH_SOUND],
    "seventh": [*SEVENTH_FLAWED, *SEVENTH_SOUND],
    "eighth": [*EIGHTH_FLAWED, *EIGHTH_SOUND],
}
SOAK_RUNS, MOST_SECONDS = 300, 900


def measure_zoo(folder: Path, tasks: list[ZooTask]) -> None:
    """Recall by kind, and alarms on sound tasks."""
    write_zoo(folder, tasks)
    reports = each_task(_audit, [read_task(folder / each.name) for each in tasks], 2)
    wanted: Counter[str] = Counter()
    recalled: Counter[str] = Counter()
    alarms: list[str] = []
    for task, report in zip(tasks, reports, strict=True):
        kinds = {each.kind for each in report.failures}
        if task.kind:
            wanted[task.kind] += 1
            is_found = bool(kinds & set(task.kind.split(" or ")))
            recalled[task.kind] += is_found
            if not is_found:
                print(f"missed: {task.name}: {sorted(kinds) or report.notes}")
        elif not report.passed:
            alarms.append(f"{task.name}: {sorted(kinds) or report.notes}")
    for kind, count in wanted.items():
        print(f"| {kind} | {recalled[kind]} of {count} |")
    print(f"flawed tasks with a finding of their kind: {recalled.total()} of {wanted.total()}")
    print(f"sound tasks with an alarm: {len(alarms)} of {sum(not each.kind for each in tasks)} {alarms or ''}")
    print(f"trials: {sum(each.trials for each in reports)}, {sum(each.seconds for each in reports):.0f} s")


def _audit(task: Task) -> TaskReport:
    report = audit_task(task, RUNTIME)
    print(task.name, f"{report.seconds:.0f} s,", *sorted({each.kind for each in report.failures}), sep=" ", flush=True)
    return report


def measure_cost(folder: Path) -> None:
    """Wall time of building, running and judging beyond the task's own commands."""
    [path] = write_zoo(folder, [next(each for each in SOUND if each.name == "sound-pair")])
    task = read_task(path)
    for at_once in (1, 8):
        with ThreadPoolExecutor(at_once) as pool:
            start = time.monotonic()
            costs = list(pool.map(lambda _: _cost(task), range(at_once * 3)))
            seconds = time.monotonic() - start
        median = sorted(costs)[len(costs) // 2]
        load = os.getloadavg()[0]
        print(f"{at_once} at once: {median:.2f} s beyond the commands (median of {len(costs)}, load {load:.1f})")
        print(f"{at_once} at once: a task every {seconds / len(costs):.2f} s")


def _cost(task: Task) -> float:
    start = time.monotonic()
    trial = run_task(task, "oracle", RUNTIME)
    assert trial.reward == 1.0, trial
    return time.monotonic() - start - trial.seconds["agent"] - trial.seconds["verifier"]


def soak(folder: Path) -> None:
    """Kill runs at random moments; afterwards the machine is as before."""
    [path] = write_zoo(folder, [SOUND[0]])
    scratch = folder / "tmp"
    scratch.mkdir()
    before, generator, start, runs = _state(scratch), random.Random(0), time.monotonic(), 0
    with ThreadPoolExecutor(2) as pool:
        for _ in pool.map(
            lambda seed: _killed_run(path, scratch, seed), [generator.random() for _ in range(SOAK_RUNS)]
        ):
            runs += 1
            if time.monotonic() - start > MOST_SECONDS:
                pool.shutdown(cancel_futures=True)
                break
    deadline = time.monotonic() + 20
    while _state(scratch) != before and time.monotonic() < deadline:
        time.sleep(0.2)
    after = _state(scratch)
    left = [sorted(b - a) for a, b in zip(before, after, strict=True)]
    print(f"soak: {runs} killed runs in {time.monotonic() - start:.0f} s; left: {left}")


def _killed_run(path: Path, scratch: Path, chance: float) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "plaudit", "harbor", "run", str(path), "--network", "none"],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
        env={**os.environ, "TMPDIR": str(scratch)},
    )  # fmt: skip
    time.sleep(0.4 + 2.2 * chance)
    children = _descendants(process.pid)
    target = process.pid if chance < 0.6 or not children else random.Random(chance).choice(children)
    with contextlib.suppress(ProcessLookupError):
        os.kill(target, signal.SIGKILL)
    process.wait()


def _descendants(pid: int) -> list[int]:
    """The processes below one, at any depth."""
    try:
        direct = [int(each) for each in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []
    return [each for child in direct for each in (child, *_descendants(child))]


def _state(scratch: Path) -> tuple[set[str], set[str], set[str]]:
    """Processes of workspaces whose owner has ended, mounts, and folders for temporary files."""
    processes = {file.parent.name for file in Path("/proc").glob("[0-9]*/cmdline") if _is_orphan(int(file.parent.name))}
    mounts = set(Path("/proc/self/mounts").read_text().splitlines())
    folders = {str(each) for each in scratch.iterdir()}
    return processes, mounts, folders


def _is_orphan(pid: int) -> bool:
    """Whether a process belongs to a workspace, and the first process above that does not is no Python."""
    is_workspace = False
    try:
        while b"plaudit.harbor.machine" in (words := Path(f"/proc/{pid}/cmdline").read_bytes()):
            is_workspace = True
            pid = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    except OSError:  # it has ended
        return False
    return is_workspace and b"python" not in words


def main() -> None:
    parts = {"cost": measure_cost, "soak": soak}
    for word in sys.argv[1:] or [*TABLES, *parts]:
        name, _, share = word.partition(":")
        first, _, step = (share or "1/1").partition("/")
        folder = Path(tempfile.mkdtemp(prefix="harbor-benchmark-"))
        try:
            if name in TABLES:
                measure_zoo(folder, TABLES[name][int(first) - 1 :: int(step)])
            else:
                parts[name](folder)
        finally:
            shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
