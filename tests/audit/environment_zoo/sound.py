"""Environments without bugs, some of which look odd: hints, shaping, chance from the seed, orders as feedback."""

import random
from typing import ClassVar

import gymnasium
import msgspec

from plaudit.agents import AgentInstance, Environment, EpisodeStart, Example, StepResult
from plaudit.worlds import EndedBy, Task, ToolEvent, Turn, World, call
from tests.audit.environment_zoo.flawed import Shelf, Steps, Word


class SayTheWord(Word):
    """Exactly the word."""


class AsyncWord(Word):
    """The same with async methods."""

    async def reset(self, start):
        Word.reset(self, start)

    async def step(self, action):
        return Word.step(self, action)


class WalkWithCosts(Steps):
    """Every action costs a little, the goal pays."""

    def step(self, action):
        result = super().step(action)
        return StepResult(result.feedback, result.done, result.reward - 0.01)


class WalkWithMilestones(Steps):
    """Each part of the way is paid once."""

    def step(self, action):
        before, result = self.at, super().step(action)
        return StepResult(result.feedback, result.done, 0.25 * (self.at - before))


class StoreOnShelf(Shelf):
    """State decides."""


class ShelfWithCallCosts(Shelf):
    """Calls that cannot be made cost something."""

    call_cost = 0.05


class SeededDice(Environment):
    """All chance comes from the seed; the sum of two dice must be said."""

    def reset(self, start):
        chance = random.Random(start.seed)
        self.dice = [chance.randint(1, 6), chance.randint(1, 6)]
        return f"{start.prompt}{self.dice[0]} and {self.dice[1]}. Sum? "

    def step(self, action):
        right = action.strip() == str(sum(self.dice))
        return StepResult("", True, float(right), score=float(right))

    @classmethod
    def examples(cls):
        def total(seed):
            chance = random.Random(seed)
            return str(chance.randint(1, 6) + chance.randint(1, 6))

        return [Example(EpisodeStart("Dice: ", seed=seed), [total(seed)]) for seed in range(1, 5)]


class FollowTheGuide(Environment):
    """The environment itself says what to say: following it is the goal."""

    words: ClassVar[tuple[str, ...]] = ("amber", "cobalt", "jade")

    def reset(self, start):
        self.left = [self.words[(start.seed + index) % 3] for index in range(3)]
        return f"{start.prompt}Say: {self.left[0]}. "

    def step(self, action):
        right = action.strip() == self.left.pop(0)
        done = not right or not self.left
        return StepResult("" if done else f"\nNow say: {self.left[0]}.\n", done, float(right and done))

    @classmethod
    def examples(cls):
        return [
            Example(EpisodeStart("Go. ", seed=seed), [cls.words[(seed + index) % 3] for index in range(3)])
            for seed in range(3)
        ]


class MultipleChoice(Environment):
    """The first letter of the action is the choice; no solutions are declared."""

    def reset(self, start):
        self.right = "ABCD"[start.seed % 4]

    def step(self, action):
        return StepResult("", True, float(action.strip()[:1] == self.right))


class GymWord(gymnasium.Env):
    """A Gymnasium environment that takes a text."""

    action_space = gymnasium.spaces.Text(100)
    observation_space = gymnasium.spaces.Text(100)

    def reset(self, seed=None, options=None):
        super().reset(seed=seed)
        self.room, self.wanted = int(self.np_random.integers(1000)), options["ground_truth"]
        return f"Room {self.room}. Say the word.", {}

    def step(self, action):
        right = action.strip() == self.wanted
        return "", float(right), True, False, {"room": self.room}


class GymCorridor(gymnasium.Env):
    """A Gymnasium environment with discrete actions: go right three times."""

    action_space = gymnasium.spaces.Discrete(2)
    observation_space = gymnasium.spaces.Text(100)

    def reset(self, seed=None, options=None):
        self.at = 0
        return "0 is left, 1 is right. At 0.", {}

    def step(self, action):
        self.at += 1 if action == 1 else -1
        return f" At {self.at}.", float(self.at == 3), abs(self.at) == 3, False, {}


class DigitAgent(AgentInstance):
    """An OpenRLHF agent: the digit must be guessed within three tries."""

    async def __init__(self, *args, **kwargs):
        self.tries = 0

    async def step(self, states, **kwargs):
        self.tries += 1
        right = states["action_text"].strip() == states["label"]
        return {
            "rewards": float(right),
            "scores": float(right),
            "environment_feedback": "" if right else " no ",
            "done": right or self.tries == 3,
        }


class TrlShelf:
    """A TRL environment that judges its state."""

    def reset(self, **row):
        self.wanted, self.value = row["ground_truth"], None

    def store(self, value: str) -> str:
        """Store a value."""
        self.value = value
        return "stored"

    def get_reward(self) -> float:
        return float(self.value == self.wanted)


class Lamp(msgspec.Struct):
    is_on: bool = False
    brightness: int = 0


def switch(state: Lamp, on: bool) -> str:
    """Switch the lamp."""
    state.is_on = on
    return "switched"


def dim(state: Lamp, brightness: int) -> str:
    """Set the brightness."""
    if not state.is_on:
        raise ValueError("the lamp is off")
    state.brightness = brightness
    return "set"


def never_too_bright(event: ToolEvent) -> bool:
    """The brightness stays below 90."""
    return event.after.brightness < 90


class LampWorld(World):
    """A world of two tools and a rule."""

    tools = (switch, dim)
    rules = (never_too_bright,)
    ended_by = EndedBy.USER

    @classmethod
    def build_state(cls):
        return Lamp()

    @classmethod
    def build_tasks(cls):
        on = call("switch", on=True)
        return [
            Task("on", (Turn("Switch the lamp on.", (on,)),)),
            Task("dim", (Turn("Light, please.", (on,)), Turn("Make it 40.", (call("dim", brightness=40),)))),
            Task(
                "off", (Turn("Dim to 20.", (on, call("dim", brightness=20))), Turn("Off.", (call("switch", on=False),)))
            ),
        ]
