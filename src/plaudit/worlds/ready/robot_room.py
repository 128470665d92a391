"""A room with four lamps and a robot: the smallest world with tools, for a first training run.

Calls are short, so that the embedded model learns to write them: `[on('a')]` switches the lamp a on. Which lamp the
user means is only in the letter that `[see()]` shows: an agent that does not look can only guess.

Its demonstrations show every call and no policy that is worth copying: half of them do not look, and most of those
that look switch on the next lamp. What is left to learn from the reward is to look first, and to use the result.
"""

import random
from collections.abc import Sequence
from typing import ClassVar

import msgspec

from plaudit.worlds.task import Task, Turn, call
from plaudit.worlds.world import EndedBy, World

LAMPS = "abcd"
END = "ok]"
"""The answer that ends an episode; every action ends in a bracket, so that `sampling.stop` can name it."""
TASKS = 200
RIGHT, WRONG = 2, 3
"""The number of demonstrations of a task that look first and switch on the right lamp, or the next one; as many do not
look.
"""


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
                (Turn(f"{index:03}?", (call("see"), call("on", lamp=letter))),),
                data={"letter": letter},
            )
            for index, letter in enumerate(letters)
        ]

    @classmethod
    def introduce(cls, task: Task) -> str:
        """Only what the user says: the model is small."""
        return f"{task.turns[0].user} "

    @classmethod
    def demonstrate(cls, task: Task) -> list[list[str]]:
        letter = task.data["letter"]
        following = LAMPS[(LAMPS.index(letter) + 1) % len(LAMPS)]
        looking = [["[see()]", f"[on('{lamp}')]", END] for lamp in RIGHT * letter + WRONG * following]
        guesses = random.Random(task.id).choices(LAMPS, k=RIGHT + WRONG)
        return [*looking, *([f"[on('{lamp}')]", END] for lamp in guesses)]
