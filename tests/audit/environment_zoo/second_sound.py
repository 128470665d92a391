"""Further environments without bugs, written before the audit was run on them: partial rewards, refusals, servers."""

import random
import sqlite3
import sys
from pathlib import Path
from typing import ClassVar

import gymnasium
import msgspec

from plaudit.agents import AgentInstance, Environment, EpisodeStart, Example, StepResult, ToolEnvironment
from plaudit.worlds import EndedBy, Task, ToolEvent, Turn, World, call
from plaudit.worlds.mcp_tools import build_mcp_environment
from tests.audit.environment_zoo.flawed import tool_call


class HigherLower(Environment):
    """A number from 1 to 1000 is guessed with hints; fewer guesses earn more."""

    def reset(self, start):
        self.number, self.guesses = random.Random(start.seed).randint(1, 1000), 0

    def step(self, action):
        self.guesses += 1
        try:
            guess = int(action.strip())
        except ValueError:
            return StepResult("\na number from 1 to 1000, please\n", self.guesses >= 15, 0.0)
        if guess == self.number:
            return StepResult("\nright\n", True, 1.0 - 0.03 * self.guesses)
        hint = "higher" if guess < self.number else "lower"
        return StepResult(f"\n{hint}\n", self.guesses >= 15, 0.0)

    @classmethod
    def examples(cls):
        def halve(number):
            low, high, said = 1, 1000, []
            while not said or said[-1] != str(number):
                middle = (low + high) // 2
                said.append(str(middle))
                low, high = (middle + 1, high) if middle < number else (low, middle - 1)
            return said

        return [
            Example(EpisodeStart("Guess: ", seed=seed), halve(random.Random(seed).randint(1, 1000)))
            for seed in range(4)
        ]


class Haggle(Environment):
    """A seller raises the offer for a buyer's patience; `accept` ends it, and the price decides the reward."""

    def reset(self, start):
        self.offers = [20 + start.seed, 45 + start.seed, 70 + start.seed, 95 + start.seed]
        return f"{start.prompt}The buyer offers {self.offers[0]}. Say `more` or `accept`. "

    def step(self, action):
        text = action.strip().lower()
        if text == "accept":
            return StepResult("", True, self.offers[0] / 100)
        if text != "more":
            return StepResult("\nThe buyer waits.\n", False, 0.0)
        del self.offers[0]
        if not self.offers:
            return StepResult("\nThe buyer leaves.\n", True, 0.0)
        return StepResult(f"\nThe buyer offers {self.offers[0]}.\n", False, 0.0)

    @classmethod
    def examples(cls):
        return [
            Example(EpisodeStart("Sell the lamp. ", seed=seed), ["more", "more", "more", "accept"]) for seed in range(3)
        ]


class GymMaze(gymnasium.Env):
    """A Gymnasium environment: a maze with step costs, a pit that ends the episode, and a limit of steps."""

    action_space = gymnasium.spaces.Discrete(4)
    observation_space = gymnasium.spaces.Text(200)
    rows: ClassVar[tuple[str, ...]] = ("S.#", ".P.", "..G")

    def reset(self, seed=None, options=None):
        super().reset(seed=seed)
        self.row, self.column, self.steps = 0, 0, 0
        return "0 up, 1 down, 2 left, 3 right. You are at 0,0.", {}

    def step(self, action):
        self.steps += 1
        down, right = ((-1, 0), (1, 0), (0, -1), (0, 1))[action]
        row, column = self.row + down, self.column + right
        if 0 <= row < 3 and 0 <= column < 3 and self.rows[row][column] != "#":
            self.row, self.column = row, column
        here = self.rows[self.row][self.column]
        reward = -0.02 + (here == "G") - (here == "P")
        return f" You are at {self.row},{self.column}.", reward, here in "GP", self.steps >= 12, {}


def read_stock(item: str) -> str:
    """How many of an item are in stock."""
    return ""


def book(item: str, count: int) -> str:
    """Take items out of the stock."""
    return ""


class Storeroom(ToolEnvironment):
    """A database decides; bookings may come in one call or in several. Some orders must be refused."""

    tools = (read_stock, book)

    def reset(self, start):
        self.wanted = dict(start.ground_truth)
        self.base = sqlite3.connect(":memory:", check_same_thread=False)
        self.base.execute("CREATE TABLE stock (item TEXT PRIMARY KEY, count INTEGER CHECK (count >= 0))")
        self.base.executemany("INSERT INTO stock VALUES (?, ?)", [("nail", 50), ("board", 8)])
        return f"{start.prompt}If there is not enough, change nothing and say that it cannot be done. "

    def read_stock(self, item: str) -> str:
        row = self.base.execute("SELECT count FROM stock WHERE item = ?", (item,)).fetchone()
        return str(row[0]) if row else "no such item"

    def book(self, item: str, count: int) -> str:
        if not isinstance(count, int) or count < 1:
            raise ValueError("count must be at least 1")
        with self.base:
            changed = self.base.execute("UPDATE stock SET count = count - ? WHERE item = ?", (count, item)).rowcount
        return "booked" if changed else "no such item"

    def finish(self, action):
        left = dict(self.base.execute("SELECT item, count FROM stock"))
        must_refuse = any(count > {"nail": 50, "board": 8}[item] for item, count in self.wanted.items())
        if must_refuse:
            right = left == {"nail": 50, "board": 8} and "cannot be done" in action.lower()
        else:
            right = left == {item: count - self.wanted.get(item, 0) for item, count in (("nail", 50), ("board", 8))}
        return StepResult("", True, float(right), score=float(right))

    def close(self):
        self.base.close()

    @classmethod
    def examples(cls):
        return [
            Example(EpisodeStart("Take 12 nails. ", {"nail": 12}),
                    [tool_call("book", item="nail", count=5), tool_call("book", item="nail", count=7), "Taken."]),
            Example(EpisodeStart("Take 3 nails and 2 boards. ", {"nail": 3, "board": 2}),
                    [tool_call("book", item="nail", count=3) + tool_call("book", item="board", count=2), "Both."]),
            Example(EpisodeStart("Take 9 boards. ", {"board": 9}),
                    [tool_call("read_stock", item="board"), "There are 8: it cannot be done."]),
        ]  # fmt: skip


class Seat(msgspec.Struct):
    holder: str = ""
    meal: str = "none"


class Flight(msgspec.Struct):
    seats: dict[str, Seat] = msgspec.field(default_factory=lambda: {name: Seat() for name in ("1A", "1B", "2A")})


def list_seats(state: Flight) -> str:
    """Who holds which seat."""
    return "; ".join(f"{name}: {seat.holder or 'free'}" for name, seat in state.seats.items())


def take_seat(state: Flight, seat: str, holder: str) -> str:
    """Give a free seat to a person."""
    if state.seats[seat].holder:
        raise ValueError("the seat is taken")
    state.seats[seat].holder = holder
    return "reserved"


def set_meal(state: Flight, seat: str, meal: str) -> str:
    """Choose the meal of a seat."""
    state.seats[seat].meal = meal
    return "noted"


def meals_for_holders_only(event: ToolEvent) -> bool:
    """Only seats that somebody holds have a meal."""
    return all(seat.holder or seat.meal == "none" for seat in event.after.seats.values())


class FlightWorld(World):
    """A world with several turns, a rule, a question, and two orders in which calls may come."""

    policy = "You work for an airline."
    tools = (list_seats, take_seat, set_meal)
    rules = (meals_for_holders_only,)
    ended_by = EndedBy.USER

    @classmethod
    def build_state(cls):
        return Flight()

    @classmethod
    def build_tasks(cls):
        seat, meal = call("take_seat", seat="2A", holder="Ada"), call("set_meal", seat="2A", meal="vegan")
        other = call("take_seat", seat="1A", holder="Bo")
        return [
            Task("seat", (Turn("Seat 2A for Ada, please.", (seat,)),)),
            Task("both", (Turn("Seat 2A for Ada with a vegan meal, and 1A for Bo.", (seat, meal, other)),)),
            Task(
                "later", (Turn("Seat 1A for Bo.", (other,)), Turn("And how many seats are free now?", (), outputs=(2,)))
            ),
        ]


class DelayedAgent(AgentInstance):
    """An OpenRLHF agent: three words in sequence; only the last action is paid, and the share that is right counts."""

    words: ClassVar[dict[str, list[str]]] = {"sea": ["salt", "wave", "tide"], "sky": ["cloud", "wind", "star"]}

    async def __init__(self, *args, **kwargs):
        self.said = []

    async def step(self, states, **kwargs):
        self.said.append(states["action_text"].strip())
        wanted = self.words[states["label"]]
        done = len(self.said) == len(wanted)
        right = sum(a == b for a, b in zip(self.said, wanted, strict=False)) / len(wanted) if done else 0.0
        return {"rewards": right, "scores": right, "environment_feedback": " next ", "done": done}


class Editor(Environment):
    """A text is edited by commands; the state of the text decides, however it came to be."""

    def reset(self, start):
        self.lines, self.wanted = list(start.metadata["lines"]), list(start.ground_truth)
        return f"{start.prompt}\n{self._shown()}\n"

    def _shown(self):
        return "\n".join(f"{number} {line}" for number, line in enumerate(self.lines, 1))

    def step(self, action):
        word, _, rest = action.strip().partition(" ")
        number, _, text = rest.partition(" ")
        if word == "save":
            return StepResult("", True, float(self.lines == self.wanted), score=float(self.lines == self.wanted))
        if (
            word not in ("set", "delete", "insert")
            or not number.isdecimal()
            or not 1 <= int(number) <= len(self.lines) + 1
        ):
            return StepResult("\nset N TEXT, delete N, insert N TEXT or save\n", False, 0.0)
        place = int(number) - 1
        if word == "insert":
            self.lines.insert(place, text)
        elif place < len(self.lines):
            self.lines[place : place + 1] = [text] if word == "set" else []
        return StepResult(f"\n{self._shown()}\n", False, 0.0)

    @classmethod
    def examples(cls):
        start = ["alpha", "beta", "gamma"]
        cases = [
            ("Make the second line `delta`.", ["alpha", "delta", "gamma"], ["set 2 delta", "save"]),
            ("Remove the first line.", ["beta", "gamma"], ["delete 1", "save"]),
            ("Put `zeta` at the top.", ["zeta", "alpha", "beta", "gamma"], ["insert 1 zeta", "save"]),
        ]
        return [
            Example(EpisodeStart(text, wanted, seed=at, metadata={"lines": start}), actions)
            for at, (text, wanted, actions) in enumerate(cases)
        ]


MEMORY = f"{sys.executable} {Path(__file__).parent / 'memory_server.py'}"


class McpNotes(build_mcp_environment(f"mcp:{MEMORY}")):
    """The tools of an MCP server that forgets everything when its episode ends."""

    def reset(self, start):
        self.wanted = start.ground_truth
        return super().reset(start)

    def finish(self, action):
        text, _ = self.session.call("recall", {})
        return StepResult("", True, float(text == self.wanted))

    @classmethod
    def examples(cls):
        return [
            Example(EpisodeStart(f"Remember {word}. ", word), [tool_call("remember", note=word), "Kept."])
            for word in ("milk", "bread")
        ]
