"""Ten thousand programs, of which 5 % spin and 1 % flood: does anything pile up, and are limits kept?

`python benchmarks/sandbox_soak.py [PROGRAMS]`
"""

import os
import statistics
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from plaudit.sandbox import CallStatus, RunLimits, Sandbox

PROGRAMS, CHUNK = 10_000, 200
LIMITS = RunLimits(cpu_s=0.1, wall_s=10.0)
SOURCES = {
    "spin": "def f(x):\n    while True: pass\n",
    "flood": "def f(x):\n    while True: print('x' * 10_000)\n",
    "plain": "def f(x):\n    return sorted([x, 1, 2])\n",
}
EXPECTED = {"spin": CallStatus.CPU_LIMIT, "flood": CallStatus.OUTPUT_LIMIT, "plain": CallStatus.RETURNED}


def kind_of(number: int) -> str:
    return "spin" if number % 20 == 7 else "flood" if number % 100 == 3 else "plain"


def run(sandbox: Sandbox, number: int) -> tuple[str, bool, float, float]:
    """(kind, ended as it must, processor seconds over the limit, the same on the wall)"""
    kind = kind_of(number)
    with sandbox.open() as program:
        program.load(SOURCES[kind])
        began = time.monotonic()
        outcome = program.call("f", [number])
        wall_s = time.monotonic() - began
    return kind, outcome.status is EXPECTED[kind], outcome.cpu_s - LIMITS.cpu_s, wall_s - LIMITS.cpu_s


def descendants() -> dict[int, int]:
    """Processes below this one, with their resident kilobytes."""
    parents, sizes = {}, {}
    for status in Path("/proc").glob("[0-9]*/status"):
        try:
            fields = dict(line.split(":", 1) for line in status.read_text().splitlines())
        except OSError:
            continue
        pid = int(status.parent.name)
        parents[pid], sizes[pid] = int(fields["PPid"]), int(fields.get("VmRSS", "0 kB").split()[0])
    family = {os.getpid()}
    while grown := {pid for pid, parent in parents.items() if parent in family} - family:
        family |= grown
    return {pid: sizes[pid] for pid in family}


def state() -> dict[str, int]:
    sizes = descendants()
    own = sizes.pop(os.getpid())
    return {
        "judge kB": own,
        "servers kB": sum(sizes.values()),
        "processes": len(sizes),
        "descriptors": len(os.listdir("/proc/self/fd")),
    }


def main(count: int) -> None:
    with Sandbox(limits=LIMITS) as first, Sandbox(limits=LIMITS) as second, ThreadPoolExecutor(2) as pool:
        boxes = [first, second]

        def run_some(numbers: range) -> list[tuple[str, bool, float, float]]:
            halves = [(box, numbers[place::2]) for place, box in enumerate(boxes)]
            done = pool.map(lambda half: [run(half[0], number) for number in half[1]], halves)
            return [result for results in done for result in results]

        run_some(range(200))
        time.sleep(0.2)
        before = state()
        began = time.monotonic()
        results = [
            result
            for start in range(0, count, CHUNK)  # in parts, so that what waits is not taken for a leak
            for result in run_some(range(start, min(start + CHUNK, count)))
            if result[0] != "plain" or not result[1]
        ]
        seconds = time.monotonic() - began
        time.sleep(0.2)
        after = state()
    misjudged = sum(1 for _, right, *_ in results if not right)
    overruns = sorted(over for kind, _, over, _ in results if kind == "spin")
    on_the_wall = sorted(over for kind, _, _, over in results if kind == "spin")
    p99 = overruns[int(len(overruns) * 0.99)]
    print(f"{count} programs in {seconds:.0f} s; {misjudged} ended otherwise than they must")
    for name in before:
        print(f"{name:12} {before[name]:8} before, {after[name]:8} after")
    print(
        f"over the limit of {LIMITS.cpu_s:g} s of processor: median {statistics.median(overruns) * 1e3:.1f} ms, "
        f"p99 {p99 * 1e3:.1f} ms (target < 150: {'met' if p99 < 0.15 else 'NOT met'}); "
        f"on the wall p99 {on_the_wall[int(len(on_the_wall) * 0.99)] * 1e3:.0f} ms"
    )
    left = len(descendants()) - 1
    print(f"processes left after closing: {left}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else PROGRAMS)
