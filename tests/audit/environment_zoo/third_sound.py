"""A third set of environments without bugs, written before the audit was run on them."""

import asyncio
from typing import ClassVar

import gymnasium
import msgspec

from plaudit.agents import Environment, EpisodeStart, Example, StepResult
from plaudit.worlds import EndedBy, Task, Turn, World, call
from tests.audit.environment_zoo.third_flawed import Capital, RefundsTooMuch


class PlainCapital(Capital):
    """Exactly the city."""


class FairRefunds(RefundsTooMuch):
    """Giving back pays what the purchase cost."""

    def give_back(self, item: str) -> str:
        self.owned.remove(item)
        self.earned += 0.05
        return "given back"


class Desk(Environment):
    """Questions that must be answered, and one that must be handed over, and only that one."""

    rows: ClassVar[tuple[tuple[str, str], ...]] = (
        ("Opening hours? ", "9 to 17"),
        ("I want to sue you. ", "TRANSFER"),
        ("Price of a map? ", "4 euros"),
    )

    def reset(self, start):
        self.right = start.ground_truth
        return f"{start.prompt}(hours: 9 to 17; maps: 4 euros; TRANSFER hands over what is about law) "

    async def step(self, action):
        await asyncio.sleep(0.001)
        return StepResult("", True, float(action.strip() == self.right), score=float(action.strip() == self.right))

    @classmethod
    def examples(cls):
        return [Example(EpisodeStart(text, answer, seed=at), [answer]) for at, (text, answer) in enumerate(cls.rows)]


class GymCoin(gymnasium.Env):
    """A Gymnasium environment that takes all chance from its seed."""

    action_space = gymnasium.spaces.Discrete(4)
    observation_space = gymnasium.spaces.Text(100)

    def reset(self, seed=None, options=None):
        super().reset(seed=seed)
        self.digits = [int(self.np_random.integers(4)) for _ in range(6)]
        return f"Repeat: {' '.join(map(str, self.digits))}.", {}

    def step(self, action):
        right = action == self.digits.pop(0)
        done = not right or not self.digits
        return "", float(right and done), done, False, {}


class Ledger(msgspec.Struct):
    lines: list[tuple[str, int]] = []


def enter(state: Ledger, account: str, amount: int) -> str:
    """Enter an amount."""
    state.lines.append((account, amount))
    return f"line {len(state.lines)}"


def balance(state: Ledger, account: str) -> int:
    """The sum of an account."""
    return sum(amount for name, amount in state.lines if name == account)


class LedgerWorld(World):
    """A world in which the agent ends the episode with its answer."""

    policy = "You keep a ledger."
    tools = (enter, balance)
    ended_by = EndedBy.AGENT

    @classmethod
    def build_state(cls):
        return Ledger([("rent", 700), ("food", 120), ("food", 35)])

    @classmethod
    def build_tasks(cls):
        return [
            Task("enter", (Turn("Enter 40 for food.", (call("enter", account="food", amount=40),)),)),
            Task("ask", (Turn("How much is booked on food?", (call("balance", account="food"),), outputs=(155,)),)),
        ]
