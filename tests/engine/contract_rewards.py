"""Rewards for the tests of scorers, backends and datasets, in a module of their own that every backend can reach."""

import asyncio
import ctypes
import os
import re
import signal
import time
from pathlib import Path

from plaudit import RewardFunction, RewardOutput, Status, Trajectory, reward


@reward
def length(response):
    return len(response) / 10


@reward
async def length_async(response):
    await asyncio.sleep(0)
    return len(response) / 10


@reward
def length_or_hang(response):
    while response == "hang":
        pass
    return len(response) / 10


class Detailed(RewardFunction):
    """Everything an output can carry."""

    def __init__(self, value: float = 0.5) -> None:
        self.value = value

    def compute_reward(self, trajectory: Trajectory) -> RewardOutput:
        if trajectory.response == "unparsed":
            return RewardOutput.unscored(Status.UNPARSED, "cannot read it")
        words = trajectory.response.split()
        return RewardOutput(
            self.value,
            [0.1] * len(words),
            {"pair": (1, 2), "none": None},
            score=1.0,
            reason="because",
            components={"inner": RewardOutput(0.25)},
        )


class Batch(RewardFunction):
    def compute_rewards(self, trajectories):
        responses = [trajectory.response for trajectory in trajectories]
        if "raise" in responses:
            raise ValueError("a batch cannot hold this")
        if "exit" in responses:
            os._exit(3)
        return [len(response) / 10 for response in responses]


class Rank(RewardFunction):
    """The place of a response among those of its group; needs whole groups."""

    scope = "group"

    def compute_rewards(self, trajectories):
        order = sorted(trajectory.response for trajectory in trajectories)
        return [order.index(trajectory.response) / len(order) for trajectory in trajectories]


class Mean(RewardFunction):
    scope = "batch"

    def compute_rewards(self, trajectories):
        return [sum(len(t.response) for t in trajectories) / len(trajectories)] * len(trajectories)


@reward
def faulty(response):
    """Misbehaves on demand."""
    match response:
        case "raise":
            raise ValueError("no good")
        case "nan":
            return float("nan")
        case "none":
            return None
        case "text":
            return "high"
        case "spin in C":
            re.match(r"(a+)+$", "a" * 50 + "b")
        case "sleep":
            time.sleep(60)
        case "memory":
            return float(len(bytearray(8 << 30)))
        case "segfault":
            ctypes.string_at(0)
        case "exit":
            os._exit(3)
        case "fork":
            os.fork()
        case "system exit":
            raise SystemExit(1)
    return 1.0


class IgnoresTerm(RewardFunction):
    def compute_reward(self, trajectory):
        import signal

        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        if trajectory.response == "sleep":
            time.sleep(60)
        return 1.0


def actor_pid() -> int:
    """The process that started the template of this worker."""
    status = Path(f"/proc/{os.getppid()}/stat").read_text()
    return int(status.rpartition(")")[2].split()[1])


class Located(RewardFunction):
    """Slow enough to be killed at, and says where it runs."""

    def compute_reward(self, trajectory: Trajectory) -> RewardOutput:
        time.sleep(0.004)
        return RewardOutput(len(trajectory.response) / 10, metadata={"worker": os.getpid(), "actor": actor_pid()})


@reward
def kills_its_actor(response):
    if response == "kill":
        os.kill(actor_pid(), signal.SIGKILL)
        time.sleep(60)
    return 1.0
