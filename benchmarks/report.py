"""How large and how quick a report is: `plaudit report` on 100,000 rollouts, `plaudit view` on 1,000,000.

    python benchmarks/report.py [--report 100000] [--view 1000000]

Rollouts are made up: groups of eight, two components, responses of about 600 characters of varied words. The report is
timed from the command's start to its end, its page from navigation until the overview is drawn, and until a filter
shows its samples. The server of `plaudit view` is asked once every sample is indexed; its memory is the peak of its
process.
"""

import argparse
import json
import random
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path

from plaudit import RewardOutput, Status, Trajectory
from plaudit.rollouts import Rollout

WORDS = [
    f"{first}{last}" for first in ("so", "we", "then", "num", "add", "is", "half", "x") for last in "abcdefghijklm"
]


def write_rollouts(path: Path, count: int) -> None:
    """Rollouts of a run of 200 steps."""
    draw = random.Random(1)
    with path.open("wb") as file:
        for number in range(count):
            group, step = number // 8, 1 + 200 * number // count
            right, form = float(draw.random() < 0.2 + 0.6 * step / 200), draw.random()
            output = RewardOutput(
                0.8 * right + 0.2 * form,
                score=right,
                reason="as asked" if form > 0.5 else "too long",
                components={"right": RewardOutput(right, score=right), "form": RewardOutput(form)},
                latency_s=draw.expovariate(1000),
            )
            if number % 97 == 0:
                output = RewardOutput.unscored(Status.TIMEOUT, "took longer than 10 s")
            response = " ".join(draw.choices(WORDS, k=draw.randrange(60, 180)))
            columns = {"level": group % 5, "kind": "hard" if group % 3 else "easy"}
            trajectory = Trajectory(
                f"Question {group}: {WORDS[group % 100]}?", response, ground_truth=str(group), group=group,
                training_step=step, columns=columns,
            )  # fmt: skip
            file.write(Rollout(trajectory, output).to_line())


def measure_report(folder: Path, count: int) -> None:
    rollouts, page = folder / "rollouts.jsonl", folder / "report.html"
    write_rollouts(rollouts, count)
    started = time.perf_counter()
    subprocess.run([sys.executable, "-m", "plaudit", "report", rollouts, "-o", page, "-q"], check=True)
    seconds = time.perf_counter() - started
    print(f"report of {count:,} rollouts ({rollouts.stat().st_size / 1e6:.0f} MB):")
    print(f"  written in {seconds:.1f} s, {page.stat().st_size / 1e6:.1f} MB")
    for what, times in _browse(page).items():
        spread = f"from {min(times):.2f} to {max(times):.2f}"
        print(f"  {what}: median {statistics.median(times):.2f} s of {len(times)} ({spread})")


def _browse(page: Path) -> dict[str, list[float]]:
    """How long the page takes in Chromium, five times over."""
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 - only for this part

    sys.path.insert(0, str(Path(__file__).parent.parent))
    from tests.browser import find_chromium  # noqa: PLC0415 - as above

    times: dict[str, list[float]] = {"interactive": [], "samples listed": [], "filter answered": []}
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=find_chromium(), args=["--no-sandbox"])
        for _ in range(5):
            tab = browser.new_page()
            steps = {
                "interactive": lambda tab=tab: (
                    tab.goto(page.as_uri(), wait_until="commit"),
                    tab.wait_for_selector(".card"),
                ),
                "samples listed": lambda tab=tab: (tab.click("text=Samples"), tab.wait_for_selector("tr[data-sample]")),
                "filter answered": lambda tab=tab: (
                    tab.evaluate("location.hash = '#samples?where=status!%3Dok&sort=-length'"),
                    tab.wait_for_selector("th[aria-sort=descending] >> text=length"),
                ),
            }
            for what, step in steps.items():
                times[what].append(_timed(step))
            tab.close()
        browser.close()
    return times


def _timed(step: Callable[[], object]) -> float:
    started = time.perf_counter()
    step()
    return time.perf_counter() - started


def measure_view(folder: Path, count: int) -> None:
    write_rollouts(folder / "rollouts.jsonl", count)
    command = [sys.executable, "-m", "plaudit", "view", str(folder)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as server:
        assert server.stdout is not None
        address = server.stdout.readline().strip()
        started = time.perf_counter()
        while json.loads(_get(address, "runs"))[0]["rows"] < count:
            time.sleep(1)
        print(f"view of {count:,} rollouts: shown in {time.perf_counter() - started:.0f} s")
        for what, path in {"figures": "runs/0", "columns": "runs/0/columns"}.items():
            times = [_timed(lambda path=path: _get(address, path)) for _ in range(5)]  # type: ignore[misc]
            size = len(_get(address, path)) / 1e6
            print(f"  {what}: {size:.1f} MB, median {statistics.median(times):.2f} s, longest {max(times):.2f} s")
        status = Path(f"/proc/{server.pid}/status").read_text()
        peak = next(line.split()[1] for line in status.splitlines() if line.startswith("VmHWM"))
        print(f"  peak memory {int(peak) / 1024:.0f} MB")
        server.terminate()


def _get(address: str, path: str) -> bytes:
    with urllib.request.urlopen(f"{address}{path}") as answer:
        return bytes(answer.read())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--report", type=int, default=100_000)
    parser.add_argument("--view", type=int, default=1_000_000)
    given = parser.parse_args()
    for count, measure in ((given.report, measure_report), (given.view, measure_view)):
        if count:
            with tempfile.TemporaryDirectory() as folder:
                measure(Path(folder), count)


if __name__ == "__main__":
    main()
