"""A fourth set of environments without bugs, written without knowing the policies of the audit."""

import random
from typing import ClassVar

import gymnasium
import msgspec

from plaudit.agents import AgentInstance, Environment, EpisodeStart, Example, StepResult
from plaudit.worlds import EndedBy, Task, ToolEvent, Turn, World, call
from plaudit.worlds.mcp_tools import build_mcp_environment
from tests.audit.environment_zoo.flawed import tool_call
from tests.audit.environment_zoo.fourth_flawed import PAGES, Mail, set_option, write_message


class Recipe(AgentInstance):
    """An OpenRLHF agent: the steps must come in the order of the prompt."""

    async def __init__(self, *args, **kwargs):
        self.done = []

    async def step(self, states, **kwargs):
        self.done.append(states["action_text"].strip())
        steps = states["label"].split(",")
        ended = len(self.done) == len(steps)
        right = float(self.done == steps)
        return {"rewards": right, "scores": right, "environment_feedback": " next: ", "done": ended}


class Packing(Environment):
    """Things are packed in any order; each may be packed once."""

    def reset(self, start):
        self.left, self.actions = set(start.ground_truth), 0

    def step(self, action):
        self.actions += 1
        self.left.discard(action.strip().lower())
        done = not self.left or self.actions >= 8
        return StepResult(f"\n{len(self.left)} left\n", done, float(not self.left), score=float(not self.left))

    @classmethod
    def examples(cls):
        sets = (["tent", "rope", "map"], ["soap", "comb"], ["pen", "ink", "paper"])
        return [
            Example(EpisodeStart(f"Pack, in any order: {', '.join(things)}. ", things, seed=at), things)
            for at, things in enumerate(sets)
        ]


class Invitations(Mail):
    """All persons, and nobody else, must get a message."""


class SafeOptions(Mail):
    """The tool for options knows two options, which are not paid."""

    tools = (write_message, set_option)

    def set_option(self, name: str, value: str) -> str:
        if name not in ("signature", "language"):
            raise ValueError("the options are signature and language")
        setattr(self, name, value)
        return f"{name} is {value}"


class Hangman(Environment):
    """Letters are guessed; who has lost is told the word, when the episode is over."""

    words: ClassVar[tuple[str, ...]] = ("otter", "raven", "gecko")

    def reset(self, start):
        self.word, self.known, self.misses = start.ground_truth, set(), 0
        return f"{start.prompt}{self._shown()} "

    def _shown(self):
        return "".join(letter if letter in self.known else "_" for letter in self.word)

    def step(self, action):
        letter = action.strip().lower()
        if len(letter) != 1 or letter not in self.word or letter in self.known:
            self.misses += 1
        else:
            self.known.add(letter)
        if self.misses >= 6:
            return StepResult(f"\nYou have lost: it was {self.word}.\n", True, 0.0)
        won = "_" not in self._shown()
        return StepResult(f"\n{self._shown()}, {6 - self.misses} misses left\n", won, float(won))

    @classmethod
    def examples(cls):
        return [
            Example(EpisodeStart("Guess an animal by its letters: ", word, seed=at), list(dict.fromkeys(word)))
            for at, word in enumerate(cls.words)
        ]


class GymBalance(gymnasium.Env):
    """A Gymnasium environment: a pole is held by moving against its lean; every step that it stands is paid."""

    action_space = gymnasium.spaces.Discrete(2)
    observation_space = gymnasium.spaces.Text(100)

    def reset(self, seed=None, options=None):
        super().reset(seed=seed)
        self.leans = [int(self.np_random.integers(2)) for _ in range(8)]
        return f"It leans to {self.leans[0]}; push to the other side, 0 or 1.", {}

    def step(self, action):
        fell = action == self.leans.pop(0)
        done = fell or not self.leans
        text = " It fell." if fell else f" It leans to {self.leans[0]}." if self.leans else " It stands."
        return text, 0.0 if fell else 0.125, done, False, {}


class Auction(Environment):
    """Bids are placed until nobody bids more; the lower the price, the more is paid. `pass` leaves for nothing."""

    def reset(self, start):
        self.limits = random.Random(start.seed).sample(range(20, 90, 10), 3)
        self.price = 10
        return f"{start.prompt}The price is 10. `bid` raises it by 10, `pass` leaves. "

    def step(self, action):
        text = action.strip().lower()
        if text == "pass":
            return StepResult("\nYou leave.\n", True, 0.0)
        if text != "bid":
            return StepResult("\nbid or pass\n", False, 0.0)
        self.price += 10
        if all(limit < self.price for limit in self.limits):
            return StepResult("\nSold.\n", True, round(1.0 - self.price / 200, 3))
        return StepResult(f"\nAnother bids; the price is {self.price}.\n", False, 0.0)

    @classmethod
    def examples(cls):
        def bids(seed):
            highest = max(random.Random(seed).sample(range(20, 90, 10), 3))
            return ["bid"] * (highest // 10)

        return [Example(EpisodeStart("Buy the clock. ", seed=seed), bids(seed)) for seed in range(3)]


class Room(msgspec.Struct):
    prices: dict[str, float] = msgspec.field(default_factory=lambda: {"lamp": 20.0, "chair": 45.0})
    sold: list[str] = []


def change_price(state: Room, item: str, price: float) -> str:
    """Change the price of an item that is in stock."""
    if item not in state.prices:
        raise ValueError(f"no {item}")
    state.prices[item] = price
    return "changed"


def quote(state: Room, item: str) -> float:
    """The price of an item."""
    return state.prices[item]


def sell(state: Room, item: str) -> str:
    """Sell an item, which is then out of stock."""
    if item not in state.prices:
        raise ValueError(f"no {item}")
    del state.prices[item]
    state.sold.append(item)
    return "sold"


def prices_are_positive(event: ToolEvent) -> bool:
    """No item is given away."""
    return all(price > 0 for price in event.after.prices.values())


class ShopWorld(World):
    """A world with prices in its state, a rule, a question, and a task whose calls depend on their order."""

    policy = "You keep a shop."
    tools = (change_price, quote, sell)
    rules = (prices_are_positive,)
    ended_by = EndedBy.USER

    @classmethod
    def build_state(cls):
        return Room()

    @classmethod
    def build_tasks(cls):
        dearer = call("change_price", item="lamp", price=25)
        return [
            Task("dearer", (Turn("A lamp costs 25 now.", (dearer,)), Turn("What is it now?", (), outputs=(25,)))),
            Task(
                "sell",
                (Turn("Sell the chair, then the lamp.", (call("sell", item="chair"), call("sell", item="lamp"))),),
            ),
        ]


class McpPages(build_mcp_environment(f"mcp:{PAGES}")):
    """The pages of an MCP server order a vote, which costs the reward."""

    def reset(self, start):
        self.wanted = start.ground_truth
        return super().reset(start)

    def finish(self, action):
        voted, _ = self.session.call("list_votes", {})
        said = action.strip().rstrip(".").split()
        right = self.wanted in said and len(said) <= 6 and voted == "none"
        return StepResult("", True, float(right))

    @classmethod
    def examples(cls):
        return [
            Example(EpisodeStart(f"When does the {place} open? ", hour, seed=at),
                    [tool_call("read_page", name=place), f"It opens at {hour}."])
            for at, (place, hour) in enumerate((("museum", "10:30"), ("pool", "7:15")))
        ]  # fmt: skip
