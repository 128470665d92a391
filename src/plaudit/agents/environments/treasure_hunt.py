"""Find a treasure behind one of eight doors. The first door is always the wrong one, but a note behind it helps.

The smallest game in which the first attempt alone cannot succeed: nothing in the prompt tells where the treasure is,
and it is never behind the door that is opened first. The embedded model learns it in a minute.
"""

from typing import ClassVar

from plaudit.agents.environment import Environment, EpisodeStart, StepResult

__all__ = ["TreasureHunt"]


class TreasureHunt(Environment):
    """An action opens the door of its first letter. The treasure is worth 1.

    With `hints` the note behind the first door names the right one; without, it says nothing, and whoever plays can
    only guess among seven doors.
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
        found = self.opened > 1 and door == self.treasure
        done = found or self.opened >= self.tries
        note = self.treasure if self.hints else "?"
        feedback = "" if done else f" nothing, go to {note}"
        return StepResult(feedback, done, float(found), score=float(found), logs={"opened": self.opened})
