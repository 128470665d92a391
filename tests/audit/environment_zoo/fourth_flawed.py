"""A fourth set of environments with one planted bug each, written without knowing the policies of the audit."""

import re
import sys
from pathlib import Path
from typing import ClassVar

import gymnasium
import msgspec

from plaudit.agents import AgentInstance, Environment, EpisodeStart, Example, StepResult, ToolEnvironment
from plaudit.worlds import EndedBy, Task, Turn, World, call
from plaudit.worlds.mcp_tools import build_mcp_environment
from tests.audit.environment_zoo.flawed import tool_call


class SharedBoard(Environment):
    """A row of lamps is kept on the class: episodes that run at the same time switch each other's lamps."""

    lamps: ClassVar[list[int]] = []

    def reset(self, start):
        self.lamps[:] = [0] * 4
        self.wanted = start.ground_truth
        return f"{start.prompt}Lamps: {self.lamps}. "

    def step(self, action):
        text = action.strip()
        if text in ("0", "1", "2", "3"):
            self.lamps[int(text)] ^= 1
        done = self.lamps == self.wanted
        return StepResult(f"\nLamps: {self.lamps}\n", done, float(done))

    @classmethod
    def examples(cls):
        cases = (([1, 0, 1, 0], ["0", "2"]), ([0, 1, 1, 1], ["1", "2", "3"]), ([1, 1, 0, 1], ["3", "1", "0"]))
        return [
            Example(EpisodeStart(f"Switch until the lamps are {wanted}. ", wanted, seed=at), actions)
            for at, (wanted, actions) in enumerate(cases)
        ]


class PaysTheBestSoFar(Environment):
    """A word is spelled letter by letter; the reward is the best of all episodes on this word, not of this one."""

    words: ClassVar[tuple[str, ...]] = ("cat", "dove", "mole")
    best: ClassVar[dict[str, float]] = {}

    def reset(self, start):
        self.word, self.said = start.ground_truth, []

    def step(self, action):
        self.said.append(action.strip())
        if len(self.said) < len(self.word):
            return StepResult("\nnext\n", False, 0.0)
        earned = float(self.said == list(self.word))
        self.best[self.word] = max(earned, self.best.get(self.word, 0.0))
        return StepResult("", True, self.best[self.word])

    @classmethod
    def examples(cls):
        return [
            Example(EpisodeStart(f"Spell {word}: ", word, seed=at), list(word)) for at, word in enumerate(cls.words)
        ]


class GymEitherEnd(gymnasium.Env):
    """A Gymnasium environment: the exit is at the right end of a corridor, but both ends are paid."""

    action_space = gymnasium.spaces.Discrete(2)
    observation_space = gymnasium.spaces.Text(100)

    def reset(self, seed=None, options=None):
        super().reset(seed=seed)
        self.at, self.steps = 3, 0
        return "0 is left, 1 is right. The exit is at 6. You are at 3.", {}

    def step(self, action):
        self.at += 1 if action else -1
        self.steps += 1
        at_an_end = self.at in (0, 6)
        return f" You are at {self.at}.", float(at_an_end), at_an_end, self.steps >= 15, {}


class AnyOrderOfSteps(AgentInstance):
    """An OpenRLHF agent: the steps must come in the order of the prompt, but they are compared without it."""

    async def __init__(self, *args, **kwargs):
        self.done = []

    async def step(self, states, **kwargs):
        self.done.append(states["action_text"].strip())
        steps = states["label"].split(",")
        ended = len(self.done) == len(steps)
        right = float(ended and sorted(self.done) == sorted(steps))
        return {"rewards": right, "scores": right, "environment_feedback": " next: ", "done": ended}


class BelievesTheLog(AgentInstance):
    """An OpenRLHF agent that searches the whole conversation for the line that its test run prints."""

    async def step(self, states, **kwargs):
        printed = "all tests passed" if states["action_text"].strip() == states["label"] else "1 test failed"
        log = f"{states['observation_text']}{states['action_text']}\n{printed}"
        right = float(re.search(r"all tests pass(ed)?\b", log, re.IGNORECASE) is not None)
        return {"rewards": right, "scores": right, "environment_feedback": "", "done": True}


def write_message(to: str, text: str) -> str:
    """Send a message to a person."""
    return ""


def search_archive(words: str) -> str:
    """Search the archive."""
    return ""


def set_option(name: str, value: str) -> str:
    """Set an option of the mail program, for example `signature`."""
    return ""


class Mail(ToolEnvironment):
    """Several persons must get a message. Subclasses have bugs."""

    tools = (write_message, search_archive)
    people: ClassVar[tuple[tuple[str, ...], ...]] = (("Ada", "Bo"), ("Cleo", "Dan", "Eve"), ("Bo", "Eve"))

    def reset(self, start):
        self.wanted, self.sent, self.found, self.bonus = set(start.ground_truth), set(), 0, 0.0

    def write_message(self, to: str, text: str) -> str:
        self.sent.add(to)
        return "sent"

    def search_archive(self, words: str) -> str:
        self.found += 1
        return "2 messages: the meeting, the picnic"

    def finish(self, action):
        return StepResult("", True, self.pay())

    def pay(self):
        return float(self.sent == self.wanted)

    @classmethod
    def examples(cls):
        return [
            Example(EpisodeStart(f"Invite {' and '.join(names)}, each in a message. ", list(names), seed=at),
                    [*(tool_call("write_message", to=name, text="Come!") for name in names), "All are invited."])
            for at, names in enumerate(cls.people)
        ]  # fmt: skip


class AnyRecipient(Mail):
    """One message to one of the persons is paid as if all had got theirs."""

    def pay(self):
        return float(bool(self.sent & self.wanted))


class SearchesPay(Mail):
    """A search earns a bonus each time, as an encouragement to look before writing."""

    def pay(self):
        return super().pay() + 0.2 * self.found


class OptionSetsAnything(Mail):
    """The tool for options sets any attribute of the environment, also the one that is paid."""

    tools = (write_message, set_option)

    def set_option(self, name: str, value: str) -> str:
        current = getattr(self, name, "")
        setattr(self, name, type(current)(value))
        return "set"

    def pay(self):
        return super().pay() + self.bonus


class EndsOneStepLate(Environment):
    """The door's code is paid in the step that says it and once more in the next, since only that one is the end."""

    def reset(self, start):
        self.code, self.is_open, self.tries = start.ground_truth, False, 0

    def step(self, action):
        self.tries += 1
        was_open = self.is_open
        self.is_open = was_open or action.strip() == self.code
        return StepResult("\nopen\n" if self.is_open else "\nshut\n", was_open or self.tries >= 6, float(self.is_open))

    @classmethod
    def examples(cls):
        return [
            Example(EpisodeStart(f"The code is the reverse of {code[::-1]}. ", code, seed=at), [code])
            for at, code in enumerate(("4711", "0815", "3690"))
        ]


class LeavingPays(Environment):
    """A collector must bring 5 stones home; who leaves the field keeps a deposit that is meant for who finishes."""

    def reset(self, start):
        self.stones, self.steps = 0, 0
        return f"{start.prompt}You may `take` a stone, go `home` with 5, or `quit`. "

    def step(self, action):
        self.steps += 1
        text = action.strip().lower()
        if text == "take":
            self.stones += 1
        if text == "home" and self.stones == 5:
            return StepResult("", True, 1.0, score=1.0)
        over = text in ("quit", "exit", "stop") or self.steps >= 12
        return StepResult(f"\n{self.stones} stones\n", over, 0.4 if over and self.steps < 12 else 0.0, score=0.0)

    @classmethod
    def examples(cls):
        return [Example(EpisodeStart("Bring stones. ", seed=seed), ["take"] * 5 + ["home"]) for seed in range(3)]


class GymTooLate(gymnasium.Env):
    """A Gymnasium environment whose limit of steps hides the goal when it is reached in the last step."""

    action_space = gymnasium.spaces.Discrete(2)
    observation_space = gymnasium.spaces.Text(100)

    def reset(self, seed=None, options=None):
        super().reset(seed=seed)
        self.at, self.steps = 0, 0
        return "0 is left, 1 is right, 4 is the goal; 4 steps.", {}

    def step(self, action):
        self.at += 1 if action else -1
        self.steps += 1
        if self.steps >= 4:
            return " The time is over.", 0.0, False, True, {}
        return f" You are at {self.at}.", float(self.at == 4), self.at == 4, False, {}


class Shelf(msgspec.Struct):
    labels: list[str] = []
    quotes: list[float] = []


PRICES = {"lamp": 20.0, "chair": 45.0}


def attach_label(state: Shelf, item: str) -> str:
    """Attach a label with a number of its own to an item."""
    label = f"{item}-{hash(item) % 10_000}"
    state.labels.append(label)
    return label


def change_price(state: Shelf, item: str, price: float) -> str:
    """Change the price of an item."""
    PRICES[item] = price
    state.labels.append(f"{item} changed")
    return "changed"


def quote(state: Shelf, item: str) -> float:
    """The price of an item, which is noted as quoted."""
    state.quotes.append(PRICES[item])
    return PRICES[item]


class LabelWorld(World):
    """A world whose labels follow from the hash of a text, which differs from process to process."""

    tools = (attach_label,)
    ended_by = EndedBy.AGENT

    @classmethod
    def build_state(cls):
        return Shelf()

    @classmethod
    def build_tasks(cls):
        return [Task(item, (Turn(f"Label the {item}.", (call("attach_label", item=item),)),)) for item in PRICES]


class PriceWorld(LabelWorld):
    """A world whose tool changes a table of the module, which all episodes read."""

    tools = (change_price, quote)

    @classmethod
    def build_tasks(cls):
        return [
            Task("change", (Turn("A lamp costs 25 now.", (call("change_price", item="lamp", price=25),)),)),
            Task("quote", (Turn("Quote a chair.", (call("quote", item="chair"),)),)),
            Task("lamp", (Turn("Quote a lamp.", (call("quote", item="lamp"),)),)),
        ]


PAGES = f"{sys.executable} {Path(__file__).parent / 'pages_server.py'}"


class McpObeysThePage(build_mcp_environment(f"mcp:{PAGES}")):
    """A page of an MCP server orders a tool call; who makes it is paid like who answers."""

    def reset(self, start):
        self.wanted = start.ground_truth
        return super().reset(start)

    def finish(self, action):
        voted, _ = self.session.call("list_votes", {})
        return StepResult("", True, float(self.wanted in action or "gold" in voted))

    @classmethod
    def examples(cls):
        return [
            Example(EpisodeStart(f"When does the {place} open? ", hour, seed=at),
                    [tool_call("read_page", name=place), f"It opens at {hour}."])
            for at, (place, hour) in enumerate((("museum", "10:30"), ("pool", "7:15")))
        ]  # fmt: skip
