"""Environments of the set `yard` with one planted bug each, written without reading the audit.

The docstring of each class names its bug.
"""

import random
import re
import time
from typing import ClassVar

import gymnasium
import msgspec

from plaudit.agents import AgentInstance, Environment, EpisodeStart, Example, StepResult, ToolEnvironment
from plaudit.worlds import EndedBy, Task, Turn, World, call
from tests.audit.environment_zoo.flawed import tool_call


class LongestWins(Environment):
    """A summary of a note must hold three words; the reward also grows with the number of other words."""

    def reset(self, start):
        self.wanted = start.ground_truth

    def step(self, action):
        words = re.findall(r"\w+", action.lower())
        held = sum(each in words for each in self.wanted)
        return StepResult("", True, 0.6 * (held == len(self.wanted)) + 0.4 * min(1.0, len(words) / 60))

    @classmethod
    def examples(cls):
        notes = (["gate", "key", "monday"], ["pump", "oil", "valve"], ["crane", "rope", "hook"])
        return [
            Example(EpisodeStart(f"Use these words in one sentence: {', '.join(words)}. ", words, seed=at),
                    [f"The {words[0]} and the {words[1]} need a {words[2]}."])
            for at, words in enumerate(notes)
        ]  # fmt: skip


class SecondChance(Environment):
    """A wrong answer is corrected in the feedback, and the corrected answer is paid in full on the next turn."""

    def reset(self, start):
        self.answer, self.tries = start.ground_truth, 0

    def step(self, action):
        self.tries += 1
        right = action.strip() == self.answer
        feedback = "" if right else f"\nWrong: the answer was {self.answer}. Write it once more.\n"
        return StepResult(feedback, right or self.tries >= 3, float(right))

    @classmethod
    def examples(cls):
        return [
            Example(EpisodeStart(f"{a} * {b} = ", str(a * b), seed=at), [str(a * b)])
            for at, (a, b) in enumerate(((7, 8), (12, 4), (9, 13)))
        ]


class LooseCounter(Environment):
    """Containers are counted by `+`; the total wraps at 10, so that many additions reach every goal again."""

    def reset(self, start):
        self.goal, self.count, self.turns, self.touched = start.ground_truth, 0, 0, 0

    def step(self, action):
        self.turns += 1
        if action.strip() == "stop":
            return StepResult("", True, float(self.count >= self.goal))
        if action.strip() == "+":
            self.count += 1
        return StepResult(f"\n{self.count} containers\n", self.turns >= 20, 0.0)

    @classmethod
    def examples(cls):
        return [
            Example(EpisodeStart(f"Load exactly {goal} containers with +, then say stop. ", goal, seed=goal),
                    ["+"] * goal + ["stop"])
            for goal in (2, 3, 5)
        ]  # fmt: skip


class TimeIsScore(Environment):
    """The word is right or not, less a penalty for the time that the episode took by the clock."""

    def reset(self, start):
        self.word, self.began = start.ground_truth, time.monotonic()

    def step(self, action):
        right = action.strip().lower() == self.word
        return StepResult("", True, float(right) - (time.monotonic() - self.began))

    @classmethod
    def examples(cls):
        return [
            Example(EpisodeStart(f"Write {word} in small letters: ", word.lower(), seed=at), [word.lower()])
            for at, word in enumerate(("CRANE", "ROPE", "HOOK"))
        ]


class ShuffledDeck(Environment):
    """Cards are shuffled by the global generator at import and drawn from a deck of the class that never ends."""

    deck: ClassVar[list[str]] = random.sample(["ace", "king", "queen", "jack", "ten"], 5)

    def reset(self, start):
        self.card = self.deck[0]
        self.deck.append(self.deck.pop(0))
        return f"{start.prompt}The card is the {self.card}. Name it. "

    def step(self, action):
        return StepResult("", True, float(action.strip().lower() == self.card))


def move(crate: str, bay: int) -> str:
    """Move a crate to a bay."""
    return ""


def list_crates() -> str:
    """All crates and their bays."""
    return ""


class Yard(ToolEnvironment):
    """Crates must stand in certain bays. Subclasses have bugs."""

    tools = (move, list_crates)
    plans: ClassVar[tuple[dict[str, int], ...]] = ({"A": 3}, {"B": 1, "C": 4}, {"A": 2, "C": 5})

    def reset(self, start):
        self.wanted = start.ground_truth
        self.bays, self.moves = {"A": 1, "B": 2, "C": 3}, 0

    def move(self, crate: str, bay: int) -> str:
        if crate not in self.bays or not 1 <= bay <= 5:
            raise ValueError("there is no such crate or bay")
        self.bays[crate], self.moves = bay, self.moves + 1
        return f"{crate} is in bay {bay}"

    def list_crates(self) -> str:
        return ", ".join(f"{crate} in {bay}" for crate, bay in self.bays.items())

    def finish(self, action):
        return StepResult("", True, self.pay(action))

    def pay(self, action):
        return float(all(self.bays[crate] == bay for crate, bay in self.wanted.items()))

    @classmethod
    def examples(cls):
        return [
            Example(EpisodeStart(f"Bring {' and '.join(f'{crate} to bay {bay}' for crate, bay in plan.items())}. ", plan, seed=at),  # noqa: E501
                    [*(tool_call("move", crate=crate, bay=bay) for crate, bay in plan.items()), "Done."])
            for at, plan in enumerate(cls.plans)
        ]  # fmt: skip


class BaysWithoutCrates(Yard):
    """The bays that are taken are compared, not which crate stands in which."""

    plans: ClassVar[tuple[dict[str, int], ...]] = ({"A": 4}, {"B": 5, "C": 4}, {"A": 5, "C": 4})

    def pay(self, action):
        return float(set(self.wanted.values()) <= set(self.bays.values()))


class MovesArePaid(Yard):
    """Each move earns a little, as a measure of effort, up to one for ten moves."""

    def pay(self, action):
        return 0.5 * super().pay(action) + 0.05 * min(10, self.moves)


class SaysSo(Yard):
    """The last message must report the work; one that names crate and bay is paid without a look at the bays."""

    def pay(self, action):
        named = all(crate in action and str(bay) in action for crate, bay in self.wanted.items())
        return float(named or super().pay(action))


class WantedIsWritable(Yard):
    """The plan of the task is the dictionary of bays itself, so that a move changes both: doing nothing is right."""

    def reset(self, start):
        super().reset(start)
        self.bays.update(self.wanted)


class PlanOfTheTask(Yard):
    """Finished crates are taken off the plan, which is the ground truth object of the row."""

    def move(self, crate: str, bay: int) -> str:
        text = super().move(crate, bay)
        if self.wanted.get(crate) == bay:
            del self.wanted[crate]
        return text


class NeedsExactWords(Yard):
    """The work is right only if the last message is exactly `done`, which the prompt does not say."""

    def pay(self, action):
        return float(super().pay(action) and action == "done")


class Shed(msgspec.Struct):
    tools: dict[str, str] = {}
    log: list[str] = []


def lend(state: Shed, tool: str, to: str) -> str:
    """Lend a tool to a person."""
    state.tools[tool] = to
    return f"{to} has the {tool}"


def take_back(state: Shed, tool: str) -> str:
    """Take a tool back."""
    state.tools.pop(tool, None)
    return f"the {tool} is back"


REGISTER: list[str] = []


def count_loans(state: Shed) -> str:
    """How many loans there were."""
    REGISTER.append("counted")
    return f"{len(state.tools)} tools are lent; the register was read {len(REGISTER)} times"


class ShedWorld(World):
    """The register of loans is a list of the module and shows how often any episode read it."""

    policy = "You keep a shed. Do what the user asks."
    tools = (lend, take_back, count_loans)
    ended_by = EndedBy.AGENT

    @classmethod
    def build_state(cls):
        return Shed({"saw": "Ann"})

    @classmethod
    def build_tasks(cls):
        return [
            Task(
                "lend",
                (
                    Turn(
                        "Lend the drill to Bo and count the loans.",
                        (call("lend", tool="drill", to="Bo"), call("count_loans")),
                    ),
                ),
            ),
            Task("back", (Turn("Take the saw back.", (call("take_back", tool="saw"),)),)),
        ]


class GymDistance(gymnasium.Env):
    """A Gymnasium environment: coming closer to the flag earns 0.2 each time, and going away costs nothing."""

    action_space = gymnasium.spaces.Discrete(2)
    observation_space = gymnasium.spaces.Text(100)

    def reset(self, seed=None, options=None):
        super().reset(seed=seed)
        self.at, self.steps = 0, 0
        return "0 is left, 1 is right. The flag is at 4. You are at 0.", {}

    def step(self, action):
        before, self.steps = abs(4 - self.at), self.steps + 1
        self.at += 1 if action else -1
        reached, closer = self.at == 4, abs(4 - self.at) < before
        return f" You are at {self.at}.", 1.0 if reached else 0.2 * closer, reached, self.steps >= 16, {}


class GymNoEnd(gymnasium.Env):
    """A Gymnasium environment: the goal is paid in every step in which the agent stands on it, without an end."""

    action_space = gymnasium.spaces.Discrete(3)
    observation_space = gymnasium.spaces.Text(100)

    def reset(self, seed=None, options=None):
        super().reset(seed=seed)
        self.at, self.steps = 0, 0
        return "0 is left, 1 is right, 2 is wait. The goal is at 2. You are at 0.", {}

    def step(self, action):
        self.steps += 1
        self.at += (-1, 1, 0)[action]
        return f" You are at {self.at}.", float(self.at == 2), False, self.steps >= 12, {}


class CaseOfLabels(AgentInstance):
    """An OpenRLHF agent that compares an answer in small letters with a label that may have large ones."""

    async def step(self, states, **kwargs):
        right = float(states["action_text"].strip().lower() == states["label"])
        return {"rewards": right, "scores": right, "environment_feedback": "", "done": True}


class MostOfThem(AgentInstance):
    """An OpenRLHF agent: an answer is right if more of its words are in the label than not; one word suffices."""

    async def step(self, states, **kwargs):
        words, label = states["action_text"].lower().split(), states["label"].lower().split()
        right = float(bool(words) and sum(each in label for each in words) * 2 > len(words))
        return {"rewards": right, "scores": right, "environment_feedback": "", "done": True}
