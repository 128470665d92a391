"""Environments of the set `yard` without bugs, by the author of the flawed ones."""

import random
from typing import ClassVar

import gymnasium
import msgspec

from plaudit.agents import AgentInstance, Environment, EpisodeStart, Example, StepResult, ToolEnvironment
from plaudit.worlds import EndedBy, Task, ToolEvent, Turn, World, call
from tests.audit.environment_zoo.flawed import tool_call


class ThreeWords(Environment):
    """A sentence of at most twelve words that holds three words."""

    def reset(self, start):
        self.wanted = start.ground_truth

    def step(self, action):
        words = action.lower().strip().rstrip(".").split()
        right = len(words) <= 12 and len(set(words)) == len(words) and all(each in words for each in self.wanted)
        return StepResult("", True, float(right))

    @classmethod
    def examples(cls):
        notes = (["gate", "key", "monday"], ["pump", "oil", "valve"], ["crane", "rope", "hook"])
        return [
            Example(EpisodeStart(f"Use these words in one sentence of at most 12 words: {', '.join(words)}. ", words, seed=at),  # noqa: E501
                    [f"A {words[0]} has one {words[1]} and its {words[2]}."])
            for at, words in enumerate(notes)
        ]  # fmt: skip


class OneTry(Environment):
    """A product; a wrong answer ends the episode and shows nothing."""

    def reset(self, start):
        self.answer = start.ground_truth

    def step(self, action):
        return StepResult("", True, float(action.strip().rstrip(".") == self.answer))

    @classmethod
    def examples(cls):
        return [
            Example(EpisodeStart(f"{a} * {b} = ", str(a * b), seed=at), [str(a * b)])
            for at, (a, b) in enumerate(((7, 8), (12, 4), (9, 13)))
        ]


class ExactCounter(Environment):
    """Containers are counted up and down; the number must be right when the agent stops."""

    def reset(self, start):
        self.goal, self.count, self.turns = start.ground_truth, 0, 0

    def step(self, action):
        self.turns += 1
        text = action.strip().lower().rstrip(".")
        if text == "stop":
            return StepResult("", True, float(self.count == self.goal))
        self.count += {"+": 1, "-": -1}.get(text, 0)
        return StepResult(f"\n{self.count} containers\n", self.turns >= 20, 0.0)

    @classmethod
    def examples(cls):
        return [
            Example(EpisodeStart(f"Load exactly {goal} containers with + and -, then say stop. ", goal, seed=goal),
                    ["+"] * goal + ["stop"])
            for goal in (2, 3, 5)
        ]  # fmt: skip


class SeededDeck(Environment):
    """A deck that is shuffled by the seed of the episode."""

    def reset(self, start):
        cards = ["ace", "king", "queen", "jack", "ten"]
        self.card = random.Random(start.seed).choice(cards)
        self.turns = 0
        return (
            f"{start.prompt}The card is the {self.card}. Name the one that comes after it in: {' '.join(cards)}, ace. "
        )

    def step(self, action):
        order = ["ace", "king", "queen", "jack", "ten", "ace"]
        return StepResult("", True, float(action.strip().lower().rstrip(".") == order[order.index(self.card) + 1]))

    @classmethod
    def examples(cls):
        order = ["ace", "king", "queen", "jack", "ten", "ace"]
        return [
            Example(EpisodeStart("", seed=seed), [order[order.index(random.Random(seed).choice(order[:-1])) + 1]])
            for seed in range(4)
        ]


def move(crate: str, bay: int) -> str:
    """Move a crate to a bay."""
    return ""


def list_crates() -> str:
    """All crates and their bays."""
    return ""


class WholeYard(ToolEnvironment):
    """All crates must stand where the plan says, and the others where they were."""

    tools = (move, list_crates)
    first: ClassVar[dict[str, int]] = {"A": 1, "B": 2, "C": 3}
    plans: ClassVar[tuple[dict[str, int], ...]] = ({"A": 3}, {"B": 1, "C": 4}, {"A": 2, "C": 5})

    def reset(self, start):
        self.wanted, self.bays = {**self.first, **start.ground_truth}, dict(self.first)

    def move(self, crate: str, bay: int) -> str:
        if crate not in self.bays or not 1 <= bay <= 5:
            raise ValueError("there is no such crate or bay")
        self.bays[crate] = bay
        return f"{crate} is in bay {bay}"

    def list_crates(self) -> str:
        return ", ".join(f"{crate} in {bay}" for crate, bay in self.bays.items())

    def finish(self, action):
        return StepResult("", True, float(self.bays == self.wanted))

    @classmethod
    def examples(cls):
        return [
            Example(EpisodeStart(f"Bring {' and '.join(f'{crate} to bay {bay}' for crate, bay in plan.items())}. ", plan, seed=at),  # noqa: E501
                    [*(tool_call("move", crate=crate, bay=bay) for crate, bay in plan.items()), "Done."])
            for at, plan in enumerate(cls.plans)
        ]  # fmt: skip


class Shed(msgspec.Struct):
    tools: dict[str, str] = {}
    reads: int = 0


def lend(state: Shed, tool: str, to: str) -> str:
    """Lend a tool to a person."""
    if tool in state.tools:
        raise ValueError(f"{state.tools[tool]} has the {tool}")
    state.tools[tool] = to
    return f"{to} has the {tool}"


def take_back(state: Shed, tool: str) -> str:
    """Take a tool back."""
    if tool not in state.tools:
        raise ValueError(f"the {tool} is here")
    del state.tools[tool]
    return f"the {tool} is back"


def list_loans(state: Shed) -> str:
    """Who has which tool."""
    return ", ".join(f"{to}: {tool}" for tool, to in sorted(state.tools.items())) or "nothing is lent"


def lends_no_ladder(event: ToolEvent) -> bool:
    """The ladder stays."""
    return "ladder" not in event.after.tools


class LendingWorld(World):
    """A shed whose ladder must stay."""

    policy = "You keep a shed. Do what the user asks, but never lend the ladder."
    tools = (lend, take_back, list_loans)
    rules = (lends_no_ladder,)
    ended_by = EndedBy.AGENT

    @classmethod
    def build_state(cls):
        return Shed({"saw": "Ann"})

    @classmethod
    def build_tasks(cls):
        return [
            Task("lend", (Turn("Lend the drill to Bo.", (call("lend", tool="drill", to="Bo"),)),)),
            Task(
                "back",
                (
                    Turn(
                        "Take the saw back, then lend it to Cy.",
                        (call("take_back", tool="saw"), call("lend", tool="saw", to="Cy")),
                    ),
                ),
            ),
        ]


class GymFlag(gymnasium.Env):
    """A Gymnasium environment: the distance to the flag is a potential, so that going back and forth earns nothing."""

    action_space = gymnasium.spaces.Discrete(2)
    observation_space = gymnasium.spaces.Text(100)

    def reset(self, seed=None, options=None):
        super().reset(seed=seed)
        self.at, self.steps = 0, 0
        return "0 is left, 1 is right. The flag is at 4. You are at 0.", {}

    def step(self, action):
        before, self.steps = abs(4 - self.at), self.steps + 1
        self.at += 1 if action else -1
        reached = self.at == 4
        return (
            f" You are at {self.at}.",
            0.1 * (before - abs(4 - self.at)) + 0.6 * reached,
            reached,
            self.steps >= 16,
            {},
        )


class SameWords(AgentInstance):
    """An OpenRLHF agent that compares the answer with the label without regard to case and blanks."""

    async def step(self, states, **kwargs):
        said, label = (" ".join(states[key].casefold().split()).rstrip(".") for key in ("action_text", "label"))
        return {
            "rewards": float(said == label),
            "scores": float(said == label),
            "environment_feedback": "",
            "done": True,
        }
