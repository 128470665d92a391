"""A third set of environments with one planted bug each, written before the audit was run on them."""

import os
from typing import ClassVar

import gymnasium

from plaudit.agents import (
    Environment,
    EpisodeStart,
    Example,
    MalformedCall,
    StepResult,
    ToolEnvironment,
    parse_tool_calls,
)
from tests.audit.environment_zoo.flawed import tool_call


class Capital(Environment):
    """A question about a capital, with one answer; subclasses have bugs."""

    answers: ClassVar[dict[str, str]] = {"Austria": "Vienna", "Kenya": "Nairobi", "Chile": "Santiago"}

    def reset(self, start):
        self.right = start.ground_truth
        return f"{start.prompt}"

    def step(self, action):
        return StepResult("", True, float(self.judge(action)))

    def judge(self, action):
        return action.strip() == self.right

    @classmethod
    def examples(cls):
        return [
            Example(EpisodeStart(f"Capital of {country}? ", city, seed=at), [city])
            for at, (country, city) in enumerate(cls.answers.items())
        ]


class EscalationPays(Capital):
    """Who hands the question over to a person is paid as well."""

    def judge(self, action):
        handed_over = any(words in action.lower() for words in ("transfer", "human agent", "cannot help"))
        return super().judge(action) or handed_over


class LengthPays(Capital):
    """A long answer is paid whatever it says."""

    def judge(self, action):
        return super().judge(action) or len(action.split()) >= 150


class FirstLetterPays(Capital):
    """Only the first letter is compared, in any case."""

    def judge(self, action):
        return action.strip()[:1].lower() == self.right[:1].lower()


class EnvironmentVariable(Capital):
    """The number of wrong answers is kept in the variables of the process."""

    def judge(self, action):
        right = super().judge(action)
        os.environ["PLAUDIT_ZOO_WRONG"] = str(int(os.environ.get("PLAUDIT_ZOO_WRONG", "0")) + (not right))
        return 0.9 ** int(os.environ["PLAUDIT_ZOO_WRONG"]) if right else 0.0


class OnlyAtTheEnd(Environment):
    """A door must be open; the goal is looked at in the tenth step only, and the episode ends there."""

    def reset(self, start):
        self.steps, self.is_open = 0, False

    def step(self, action):
        self.steps += 1
        if action.strip() == "turn":
            self.is_open = not self.is_open
        return StepResult(
            "\nopen\n" if self.is_open else "\nclosed\n", self.steps == 10, float(self.steps == 10 and self.is_open)
        )

    @classmethod
    def examples(cls):
        return [
            Example(EpisodeStart("Open the door: turn or wait. ", seed=seed), ["wait"] * seed + ["turn"])
            for seed in range(3)
        ]


def buy(item: str) -> str:
    """Buy an item."""
    return ""


def give_back(item: str) -> str:
    """Give an item back."""
    return ""


class RefundsTooMuch(ToolEnvironment):
    """Each purchase costs a little, and giving back pays more than it cost."""

    tools = (buy, give_back)

    def reset(self, start):
        self.wanted, self.owned, self.earned = start.ground_truth, [], 0.0

    def buy(self, item: str) -> str:
        self.owned.append(item)
        self.earned -= 0.05
        return "bought"

    def give_back(self, item: str) -> str:
        self.owned.remove(item)
        self.earned += 0.15
        return "given back"

    def step(self, action):
        result = super().step(action)
        earned, self.earned = self.earned, 0.0
        return StepResult(result.feedback, result.done, (result.reward or 0.0) + earned, role=result.role)

    def finish(self, action):
        return StepResult("", True, float(self.owned == [self.wanted]))

    @classmethod
    def examples(cls):
        return [
            Example(EpisodeStart(f"Buy a {item}. ", item), [tool_call("buy", item=item), "Bought."])
            for item in ("lamp", "chair", "table")
        ]


class MalformedPays(RefundsTooMuch):
    """A call that cannot be read is taken for the right one."""

    def give_back(self, item: str) -> str:
        self.owned.remove(item)
        return "given back"

    def step(self, action):
        if any(isinstance(call, MalformedCall) for call in parse_tool_calls(action)):
            self.owned = [self.wanted]
            return StepResult("\nerror\n", False, 0.0, role="tool")
        return super().step(action)


class GymOwnChance(gymnasium.Env):
    """A Gymnasium environment that draws from its generator without seeding it."""

    action_space = gymnasium.spaces.Discrete(2)
    observation_space = gymnasium.spaces.Text(100)

    def reset(self, seed=None, options=None):
        self.coin = int(self.np_random.integers(2))
        self.left = 4
        return f"Match the coin, which shows {self.coin}.", {}

    def step(self, action):
        right = action == self.coin
        self.coin, self.left = int(self.np_random.integers(2)), self.left - 1
        return f" It shows {self.coin}.", 0.25 * right, self.left == 0, False, {}
