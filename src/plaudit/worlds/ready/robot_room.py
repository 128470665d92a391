"""A room with three lamps and a robot: the smallest world with tools, for a first training run.

Calls are short, so that the embedded model learns to write them: `[on('a')]` switches the lamp a on. Which lamp the
user means is only in the letter that `[see()]` shows: an agent that does not look can only guess.
"""

import random
from collections.abc import Sequence
from typing import ClassVar

import msgspec

from plaudit.worlds.task import Task, Turn, call
from plaudit.worlds.world import EndedBy, World

__all__ = ["RobotRoom", "Room"]

LAMPS = "abcd"
TASKS = 32


class Room(msgspec.Struct):
    """Lamps that are on, and the letter on the wall."""

    letter: str = ""
    lamps: dict[str, bool] = {}


def see(state: Room) -> str:
    """The letter on the wall."""
    return state.letter


def on(state: Room, lamp: str) -> str:
    """Switch a lamp on."""
    if lamp not in state.lamps:
        raise ValueError("no such lamp")
    state.lamps[lamp] = True
    return "ok"


class RobotRoom(World):
    """Switch on the lamp whose letter is on the wall, and no other."""

    policy: ClassVar[str] = "Switch on the lamp that the wall names."
    tools = (see, on)
    ended_by = EndedBy.AGENT
    in_threads: ClassVar[bool] = True

    @classmethod
    def build_state_of(cls, task: Task) -> Room:
        return Room(task.data["letter"], dict.fromkeys(LAMPS, False))

    @classmethod
    def build_tasks(cls) -> Sequence[Task]:
        chance = random.Random(0)
        letters = [chance.choice(LAMPS) for _ in range(TASKS)]
        return [
            Task(
                f"room-{index}",
                (Turn(f"{index:02}?", (call("see"), call("on", lamp=letter))),),
                data={"letter": letter},
            )
            for index, letter in enumerate(letters)
        ]

    @classmethod
    def introduce(cls, task: Task) -> str:
        """Only what the user says: the model is small."""
        return f"{task.turns[0].user} "
