"""What scoring costs beyond the reward itself: 100,000 short trajectories with and without plaudit.

Both run in the same process, interleaved, several rounds; the figures are medians over rounds.
"""

import statistics
import time
from collections.abc import Callable

from plaudit import CompositeReward, Trajectory, reward, score

COUNT = 100_000
ROUNDS = 5
TARGET_US = 10.0


def is_short(response: str) -> float:
    return 1.0 if len(response) < 10 else 0.0


def has_digit(response: str) -> float:
    return 1.0 if any(character.isdigit() for character in response) else 0.0


def main() -> None:
    trajectories = [Trajectory(prompt=f"{n}+1?", response=str(n + 1), ground_truth=str(n + 1)) for n in range(COUNT)]
    single = reward(is_short)
    composite = CompositeReward([(reward(is_short), 0.5), (reward(has_digit), 0.5)])
    runs: dict[str, Callable[[], object]] = {
        "bare call": lambda: [is_short(trajectory.response) for trajectory in trajectories],
        "plaudit.score": lambda: score(single, trajectories),
        "bare composite": lambda: [
            0.5 * is_short(trajectory.response) + 0.5 * has_digit(trajectory.response) for trajectory in trajectories
        ],
        "plaudit composite of two": lambda: score(composite, trajectories),
    }
    seconds: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(ROUNDS):
        for name, run in runs.items():
            began = time.perf_counter()
            run()
            seconds[name].append(time.perf_counter() - began)
    each_us = {name: statistics.median(taken) / COUNT * 1e6 for name, taken in seconds.items()}
    for name, value in each_us.items():
        print(f"{name:26} {value:8.2f} µs per trajectory (median of {ROUNDS} rounds of {COUNT:,})")
    overhead = each_us["plaudit.score"] - each_us["bare call"]
    verdict = "met" if overhead < TARGET_US else "NOT met"
    print(f"overhead of plaudit.score  {overhead:8.2f} µs per trajectory; target < {TARGET_US:g} µs: {verdict}")


if __name__ == "__main__":
    main()
