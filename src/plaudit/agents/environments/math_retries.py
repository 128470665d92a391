"""Math with retries: up to three attempts at a number, with feedback after each (OpenRLHF's example of an agent)."""

import re
from typing import ClassVar

from plaudit.agents.environment import Environment, EpisodeStart, StepResult

__all__ = ["MathRetries"]

_ANSWER = re.compile(r"(?:answer is:?|=)\s*(-?\d+\.?\d*)", re.IGNORECASE)


class MathRetries(Environment):
    """1.0 for the right number; at the last attempt −0.3 for a wrong one and −0.5 for none; 0.0 in between.

    The score is 1.0 for a right number, else 0.0.
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
