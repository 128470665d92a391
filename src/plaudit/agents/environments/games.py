"""Small environments that answer at once: find a treasure, solve a problem with retries.

`TreasureHunt` is the smallest game in which the first attempt alone cannot succeed: nothing in the prompt tells where
the treasure is, and it is never behind the door that is opened first. The embedded model learns it in a minute.
"""

import re
from typing import ClassVar

from plaudit.agents.environment import Environment, EpisodeStart, Example, StepResult

__all__ = ["MathRetries", "TreasureHunt"]

_ANSWER = re.compile(r"(?:answer is:?|=)\s*(-?\d+\.?\d*)", re.IGNORECASE)


class TreasureHunt(Environment):
    """Find a treasure behind one of eight doors: an action opens the door of its first letter, the treasure earns 1.

    With `hints` the note behind the first door names the right one; without, a player can only guess among seven.
    """

    doors: ClassVar[str] = "abcdefgh"
    hints: ClassVar[bool] = True
    tries: ClassVar[int] = 2
    in_threads: ClassVar[bool] = True

    async def reset(self, start: EpisodeStart) -> None:
        self.seed, self.opened = start.seed, 0
        self.treasure = ""

    async def step(self, action: str) -> StepResult:
        self.opened += 1
        door = action.strip()[:1].lower()
        if not self.treasure:
            others = [each for each in self.doors if each != door]
            self.treasure = others[self.seed % len(others)]
        won = self.opened > 1 and door == self.treasure
        done = won or self.opened >= self.tries
        note = self.treasure if self.hints else "?"
        feedback = "" if done else f" nothing, go to {note}"
        return StepResult(feedback, done, float(won), score=float(won), logs={"opened": self.opened})

    @classmethod
    def examples(cls) -> list[Example]:
        first, others = cls.doors[0], cls.doors[1:]
        return [Example(EpisodeStart("Open: ", seed=seed), [first, door]) for seed, door in enumerate(others)]


class MathRetries(Environment):
    """Up to three attempts at a number, with feedback after each (OpenRLHF's example of an agent).

    1.0 for the right number; at the last attempt −0.3 for a wrong one and −0.5 for none; 0.0 in between. The score is
    1.0 for a right number, else 0.0.
    """

    max_steps: ClassVar[int] = 3
    in_threads: ClassVar[bool] = True

    async def reset(self, start: EpisodeStart) -> None:
        self.step_idx = 0
        self.steps_taken: list[str] = []
        self.label = float(start.ground_truth)

    async def step(self, action: str) -> StepResult:
        self.steps_taken.append(action)
        last = self.step_idx >= self.max_steps - 1
        match = _ANSWER.search(action)
        correct = match is not None and abs(float(match.group(1)) - self.label) < 1e-6
        if correct:
            done, reward, feedback = True, 1.0, "\n\n[CORRECT! Episode complete]\n"
        elif match:
            done, reward = last, -0.3 if last else 0.0
            feedback = "\n\n[INCORRECT] Try again. Think step-by-step:\n\n\nAssistant: "
        else:
            done, reward = last, -0.5 if last else 0.0
            feedback = "\n\n[NO ANSWER FOUND] Please state the final answer:\n\n\nAssistant: "
        self.step_idx += 1
        return StepResult(
            feedback,
            done,
            reward,
            score=float(correct),
            logs={"step": self.step_idx, "correct": correct, "attempts": len(self.steps_taken)},
        )

    @classmethod
    def examples(cls) -> list[Example]:
        return [Example(EpisodeStart(f"What is {a} x {b}? ", str(a * b)), [f"= {a * b}"]) for a, b in ((6, 7), (4, 9))]
