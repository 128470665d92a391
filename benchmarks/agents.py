"""Episodes: how long they take beside the ideal and beside lockstep rounds, and what a hanging environment costs.

    python benchmarks/agents.py [--quick] [speed] [learn]

`ideal` is what the slowest episode needs by itself: its own latencies, and its own draws where these have a price. The
sampler has none but for one line: what is measured is the runner, and the processor time that the sampler takes itself
is told apart. Rounds are what plaudit did before: an action is drawn once every episode waits for one, and methods that
are not async run in the event loop. The best of five runs counts; processor time is the mean, and without that of
worker processes. Every step has a deadline of 30 s.
"""

import argparse
import asyncio
import json
import os
import random
import resource
import tempfile
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from plaudit.agents import (
    Action,
    ActionRequest,
    ContinuousSampler,
    Environment,
    EnvironmentHost,
    Episode,
    EpisodeLimits,
    EpisodeStart,
    LocalHost,
    Player,
    SamplingParams,
    StepResult,
)
from plaudit.contract.output import Status
from plaudit.loading import load_agent
from plaudit.training import load_config, train


@dataclass
class Draws:
    """A sampler of one letter: what it waits for in a call and for every row, and the processor time it took itself."""

    call_s: float = 0.0
    row_s: float = 0.0
    spent_s: float = 0.0

    def __call__(self, requests: list[ActionRequest]) -> list[Action]:
        began = time.thread_time()
        if self.call_s:
            time.sleep(self.call_s + self.row_s * len(requests))
        actions = [Action([97], "a", [-1.0], "stop") for _ in requests]
        self.spent_s += time.thread_time() - began
        return actions

    def ideal(self, plans: Iterable[list[float]]) -> float:
        """The slowest episode, if it had the sampler for itself."""
        return max(sum(plan) + (self.call_s + self.row_s) * len(plan) for plan in plans)


FREE, PRICED = Draws(), Draws(0.002, 0.00005)


class Characters:
    """A tokenizer of one token per character."""

    def __call__(self, text: str, add_special_tokens: bool = True) -> dict[str, list[int]]:
        return {"input_ids": [ord(character) for character in text]}


class Latency(Environment):
    """Waits in every step for as long as the episode's plan says."""

    async def reset(self, start: Any) -> None:
        self.plan = list(start.ground_truth)

    async def step(self, action: str) -> StepResult:
        await asyncio.sleep(self.plan.pop(0))
        return StepResult("?", done=not self.plan, reward=1.0)


class BlockingLatency(Environment):
    """The same without async: it sleeps, as a call of a library does."""

    def reset(self, start: Any) -> None:
        self.plan = list(start.ground_truth)

    def step(self, action: str) -> StepResult:
        time.sleep(self.plan.pop(0))
        return StepResult("?", done=not self.plan, reward=1.0)


def play(
    environment: type | EnvironmentHost, plans: list[list[float]], draws: Draws = FREE, deadline_s: float | None = 30.0
) -> tuple[float, list[Episode]]:
    """Seconds until all have ended, and the episodes."""
    sampler = ContinuousSampler(draws)
    limits = EpisodeLimits(max_steps=100, deadline_s=deadline_s)
    host = environment if isinstance(environment, EnvironmentHost) else LocalHost(environment)
    player = Player(host, sampler, Characters(), limits)

    async def run() -> list[Episode]:
        return await sampler.play([partial(player.play, EpisodeStart("go", plan), SamplingParams()) for plan in plans])

    began = time.perf_counter()
    episodes = asyncio.run(run())
    return time.perf_counter() - began, episodes


def wait_only(plans: list[list[float]]) -> float:
    """Seconds that bare tasks take which wait for the same latencies and do nothing else."""

    async def wait(plan: list[float]) -> None:
        for latency in plan:
            await asyncio.sleep(latency)

    async def run() -> None:
        await asyncio.gather(*[asyncio.create_task(wait(plan)) for plan in plans])

    began = time.perf_counter()
    asyncio.run(run())
    return time.perf_counter() - began


def time_of_rounds(plans: list[list[float]], draws: Draws, *, blocking: bool) -> float:
    """What rounds take at least: everyone is drawn together, then the slowest is waited for, or all of them in turn."""
    left, waited = [list(plan) for plan in plans], 0.0
    while left:
        waited += draws.call_s + draws.row_s * len(left)
        waits = [plan.pop(0) for plan in left]
        waited += sum(waits) if blocking else max(waits)
        left = [plan for plan in left if plan]
    return waited


def compare(
    name: str, environment: type | EnvironmentHost, plans: list[list[float]], repeats: int, draws: Draws = FREE
) -> None:
    blocking = environment is not Latency
    steps = repeats * sum(map(len, plans))
    if isinstance(environment, EnvironmentHost):
        play(environment, plans, draws)  # starts the processes
    draws.spent_s, cpu = 0.0, time.process_time()
    times = [play(environment, plans, draws)[0] for _ in range(repeats)]
    spent = time.process_time() - cpu
    ours, best, rounds = min(times), draws.ideal(plans), time_of_rounds(plans, draws, blocking=blocking)
    print(
        f"{name:<40} {ours:6.2f} s  ideal {best:5.2f} ({ours / best:4.2f}x)  rounds {rounds:6.2f}  "
        f"{spent / steps * 1e6:3.0f} us a step, {draws.spent_s / steps * 1e6:.0f} of them the sampler's",
        flush=True,
    )


def measure_speed(quick: bool) -> None:
    chance = random.Random(0)
    repeats = 1 if quick else 5
    plans = [[chance.uniform(0, 0.05) for _ in range(20)] for _ in range(512)]
    cpu, alone = time.process_time(), min(wait_only(plans) for _ in range(repeats))
    spent = (time.process_time() - cpu) / repeats / sum(map(len, plans))
    print(
        f"bare tasks that wait as long: {alone:.2f} s, ideal {FREE.ideal(plans):.2f}, {spent * 1e6:.0f} us a step; "
        f"load {os.getloadavg()[0]:.0f}",
        flush=True,
    )
    compare("512 episodes x 20, 0-50 ms, async", Latency, plans, repeats)
    compare("the same, 2 ms a draw + 50 us a row", Latency, plans, repeats, PRICED)
    compare("512 episodes x 20, 0-50 ms, threads", BlockingLatency, plans, repeats)
    processes = load_agent(f"{__file__}:BlockingLatency").build_host(workers=len(plans))
    compare("512 episodes x 20, 0-50 ms, processes", processes, plans, repeats)
    processes.close()
    rare = [[1.0 if chance.random() < 0.01 else 0.001 for _ in range(4)] for _ in range(256)]
    compare("256 episodes x 4, 1 % of steps take 1 s", Latency, rare, repeats)
    steady = [[0.005] * 4 for _ in range(256)]
    compare("256 episodes x 4, steps block for 5 ms", BlockingLatency, steady, repeats)
    measure_hanging(plans)
    measure_memory(plans, 2 if quick else 6)


def measure_hanging(plans: list[list[float]]) -> None:
    """One of 512 hangs: when have the others ended?"""
    ended: list[float] = []

    class Notes(Latency):
        async def step(self, action: str) -> StepResult:
            result = await super().step(action)
            if result.done:
                ended.append(time.perf_counter())
            return result

    began = time.perf_counter()
    _, episodes = play(Notes, [[3600.0], *plans[1:]], deadline_s=4.0)
    lost = [episode.status for episode in episodes if episode.status is not Status.OK]
    print(
        f"one of 512 hangs: the other {len(ended)} have ended after {max(ended) - began:.2f} s, "
        f"{len(lost)} is lost ({lost[0].value})",
        flush=True,
    )


def measure_memory(plans: list[list[float]], rounds: int) -> None:
    """The process after each batch, and the threads that are left."""
    sizes = []
    for _ in range(rounds):
        play(BlockingLatency, [plan[:4] for plan in plans])
        sizes.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
    print(f"memory after each of {rounds} batches: {', '.join(f'{size:.0f}' for size in sizes)} MB at most", flush=True)
    print(f"threads left: {threading.active_count()}", flush=True)


def measure_learning(quick: bool) -> None:
    """The treasure hunt, whose first action alone cannot succeed, with the note behind the first door and without."""
    for hints in (True, False):
        began, cpu = time.perf_counter(), time.process_time()
        with tempfile.TemporaryDirectory() as folder:
            outcome = train(load_config(None, write_settings(Path(folder), hints, steps=20 if quick else 80)))
        before, after = outcome.before["eval/score"], outcome.after["eval/score"]
        seconds, spent = time.perf_counter() - began, time.process_time() - cpu
        print(
            f"treasure hunt, {'feedback shown ' if hints else 'feedback hidden'}: held-out success {before:.2f} -> "
            f"{after:.2f} in {seconds:.0f} s ({spent:.0f} s of one core)",
            flush=True,
        )


def write_settings(folder: Path, hints: bool, *, steps: int) -> list[str]:
    """The prompts, a few demonstrations that teach what a door is, and the settings of a run."""
    rows = [{"prompt": f"door {place}: ", "answer": "?"} for place in range(200)]
    shown = [{"prompt": f"door {place}: ", "response": "abcdefgh"[place % 8]} for place in range(64)]
    for name, lines in (("rows", rows), ("shown", shown)):
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return [
        f"training.agent_file=treasure_hunt(hints={hints})", "training.agent_max_steps=2", f"steps={steps}",
        f"data.path={folder}/rows.jsonl", f"data.demonstrations={folder}/shown.jsonl", "model.warm_start_steps=20",
        "sampling.max_new_tokens=1", "sampling.prompts_per_step=16", "sampling.samples_per_prompt=8",
        "optimizer.lr=4e-3", "eval.every=0", "checkpoint.every=0", "logging.report=false",
        f"output_dir={folder}/run",
    ]  # fmt: skip


PARTS: dict[str, Callable[[bool], None]] = {"speed": measure_speed, "learn": measure_learning}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", default=list(PARTS), help=", ".join(PARTS))
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    for part in options.parts:
        PARTS[part](options.quick)


if __name__ == "__main__":
    main()
