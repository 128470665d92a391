"""A thousand scorer lifetimes with faults in them: do processes, descriptors, temporary files or memory pile up?

`python benchmarks/soak.py [LIFETIMES]`
"""

import os
import resource
import sys
import tempfile
import time
from pathlib import Path

from plaudit import Trajectory
from plaudit.engine import Scorer


def faulty(response: str) -> float:
    if response == "exit":
        os._exit(1)
    if response == "hang":
        time.sleep(60)
    return 1.0


def children() -> int:
    return sum(len(file.read_text().split()) for file in Path(f"/proc/{os.getpid()}/task").glob("*/children"))


def state() -> dict[str, int]:
    return {
        "child processes": children(),
        "open descriptors": len(list(Path("/proc/self/fd").iterdir())),
        "temporary files": len(list(Path(tempfile.gettempdir()).glob("plaudit*"))),
        "peak memory, MB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
    }


def lifetime(number: int) -> None:
    faults = ["exit"] if number % 5 == 0 else ["hang"] if number % 50 == 1 else []
    samples = [Trajectory(prompt="p", response=response) for response in ["a", *faults, "b"]]
    with Scorer(faulty, workers=1, deadline_s=0.5 if "hang" in faults else 5.0) as scorer:
        outputs = scorer.score(samples)
    assert [output.ok for output in outputs] == [sample.response in "ab" for sample in samples]


def main() -> None:
    lifetimes = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    for number in range(20):
        lifetime(number)
    before, began = state(), time.perf_counter()
    for number in range(lifetimes):
        lifetime(number)
    after, seconds = state(), time.perf_counter() - began
    print(f"{lifetimes} lifetimes in {seconds:.0f} s")
    for name, value in before.items():
        print(f"{name:18} before {value:6}   after {after[name]:6}")


if __name__ == "__main__":
    main()
