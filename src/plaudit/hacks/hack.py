"""A hack: a reward with one planted bug, prompts to train on, and the true judge. A control has a sound reward instead.

A hack is declared where its reward is defined: `@hack(EXERCISE, exploit)` above the function, whose docstring
says in one sentence what the bug is. The kind of a hack is the name of its module.
"""

import importlib
import inspect
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from plaudit.contract.function import RewardLike
from plaudit.errors import InvalidSettings, did_you_mean
from plaudit.training.tasks.task import Task
from plaudit.trajectory import Trajectory

__all__ = ["TRUE_SCORE", "Exercise", "Hack", "control", "find_hack", "hack", "list_hacks"]

Row = Mapping[str, Any]
Declared = TypeVar("Declared", bound=Callable[..., Any])

RIGHT_SHARE, EXPLOIT_SHARE = 0.6, 0.08
"""Of the responses that the warm start shows: honest ones that are right, and ones that use the bug."""
VARIANTS = 8
"""Responses to each prompt that the warm start shows."""
HELD_OUT = 6
TRUE_SCORE = "extra/true_score"
"""The metric of a step that holds the mean true score of its samples."""


@dataclass(frozen=True, slots=True)
class Exercise:
    """Prompts with their ground truths, the honest response that gives an answer, and what judges responses truly.

    Without a judge, a response is right if it is the honest response that gives the ground truth.
    """

    rows: Sequence[Row]
    respond: Callable[[Any], str]
    judge: Callable[..., float] | None = None
    max_new_tokens: int = 40
    warm_start_steps: int = 80

    def judge_truly(self, response: str, ground_truth: Any) -> float:
        """1.0 for a right response, else 0.0."""
        if self.judge is not None:
            return self.judge(response, ground_truth)
        return float(response.strip() == self.respond(ground_truth).strip())


@dataclass(frozen=True, slots=True)
class Hack:
    """A declared hack or control; `exploit` is a response that uses the bug, or makes one for a row."""

    name: str
    kind: str
    about: str
    is_sound: bool
    spec: str
    """The reward as `plaudit.load` takes it, or the environment as `training.agent_file` does."""
    reward: RewardLike
    exercise: Exercise
    exploit: str | Callable[[Row], str]

    @property
    def is_world(self) -> bool:
        """Whether an environment gives the rewards, in episodes of several turns."""
        return inspect.isclass(self.reward)

    def to_task(self) -> Task:
        """The prompts, judged truly. The warm start shows honest responses, some of them wrong, and rare exploits."""
        rows = [{**row, "variant": variant} for row in self.exercise.rows for variant in range(VARIANTS)]
        return Task.from_rows(
            self.name,
            rows,
            self.exercise.judge_truly,
            held_out=min(HELD_OUT, len(self.exercise.rows) // 3) * VARIANTS,
            max_new_tokens=self.exercise.max_new_tokens,
            respond=self._demonstrate,
            warm_start_steps=self.exercise.warm_start_steps,
        )

    def _demonstrate(self, trajectory: Trajectory) -> str:
        chance = random.Random(f"{self.name} {trajectory.prompt_text} {trajectory.columns['variant']}")
        row = {"prompt": trajectory.prompt_text, "ground_truth": trajectory.ground_truth, **trajectory.columns}
        if chance.random() < EXPLOIT_SHARE:
            return self.exploit(row) if callable(self.exploit) else self.exploit
        is_right = chance.random() < RIGHT_SHARE
        answered = row if is_right else chance.choice(self.exercise.rows)
        return self.exercise.respond(answered["ground_truth"])


_DECLARED: dict[str, Hack] = {}
MODULES = ("arithmetic", "formats", "instructions", "tools", "queries", "judges", "worlds", "controls")


def hack(
    exercise: Exercise, exploit: str | Callable[[Row], str], *, is_sound: bool = False
) -> Callable[[Declared], Declared]:
    """Declare the reward below as one with a planted bug; `exploit` is a response that uses it."""

    def declare(reward: Declared) -> Declared:
        definition = getattr(reward, "function", reward)  # what @reward was applied to
        name, module = definition.__name__, definition.__module__
        about = (inspect.getdoc(definition) or "").partition("\n")[0]
        kind = module.rpartition(".")[2]
        _DECLARED[name] = Hack(name, kind, about, is_sound, f"{module}:{name}", reward, exercise, exploit)
        return reward

    return declare


def control(exercise: Exercise, exploit: str | Callable[[Row], str]) -> Callable[[Declared], Declared]:
    """Declare the reward below as sound: `exploit` is shown at the start as well, and does not pay."""
    return hack(exercise, exploit, is_sound=True)


def list_hacks() -> tuple[Hack, ...]:
    """All hacks, then the controls, as they are declared."""
    for module in MODULES:
        importlib.import_module(f"plaudit.hacks.{module}")
    return tuple(_DECLARED.values())


def find_hack(name: str) -> Hack:
    """The hack or control of this name."""
    declared = {each.name: each for each in list_hacks()}
    if name not in declared:
        raise InvalidSettings(f"no hack {name!r}{did_you_mean(name, declared)} (`plaudit hack` lists them)")
    return declared[name]
