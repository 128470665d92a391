"""A task to try responses on, with the rewards of many responses at once and what counts as a difference."""

from collections.abc import Sequence
from dataclasses import dataclass

from plaudit.audit.attacks.forms import WORKING
from plaudit.audit.hits import Hit
from plaudit.audit.honest_rewards import HonestRewards
from plaudit.audit.samples import SampleMaker
from plaudit.audit.subject import Subject
from plaudit.audit.tasks import Kind, Task
from plaudit.contract.output import RewardOutput

__all__ = ["Trial", "make_trials"]

DIFFERENCE = 0.05
TINY = 1e-6
MOST_TASKS = 2


@dataclass(frozen=True)
class Trial:
    """One task; `spread` is that of all honest rewards seen so far."""

    subject: Subject
    maker: SampleMaker
    task: Task
    spread: float
    closing: str
    """An honest wrong answer in a form that the reward reads; ends responses that are about something else."""

    def outputs(self, responses: Sequence[str]) -> list[RewardOutput]:
        """The rewards of the responses, in order."""
        return self.subject.score([self.maker.sample(self.task, response) for response in responses])

    def values(self, responses: Sequence[str]) -> list[float | None]:
        """The rewards alone."""
        return [output.reward for output in self.outputs(responses)]

    def differs(self, more: float, less: float) -> bool:
        """Whether one reward is visibly more than another, for this reward's spread."""
        return more - less > max(TINY, DIFFERENCE * max(self.spread, abs(more - less)))

    def hit(self, response: str, threshold: float, honest: str, core: tuple[str, ...] = ()) -> Hit:
        """A paid response, with an honest one beside it."""
        sample = self.maker.sample(self.task, response)
        output, beside = self.outputs([response, honest])
        return Hit(self.task, sample, output, threshold, beside.reward, beside, core)


def make_trials(subject: Subject, maker: SampleMaker, honest_rewards: HonestRewards, *kinds: Kind) -> list[Trial]:
    """A trial per task that the reward can score, of the first of these kinds that there is."""
    by_kind = [[task for task in honest_rewards.tasks if task.kind is kind] for kind in kinds]
    tasks = next(filter(None, by_kind), honest_rewards.tasks)
    return [
        Trial(subject, maker, task, honest_rewards.spread, _write_closing(honest_rewards, task))
        for task in tasks[:MOST_TASKS]
    ]


def _write_closing(honest_rewards: HonestRewards, task: Task) -> str:
    form = next((measured.form for measured in honest_rewards.measured_tasks if measured.task is task), None)
    if form is None:
        return "" if task.kind is Kind.OPEN else f"The answer is {task.wrong}."
    mark = form.before.replace(WORKING, "").lstrip()
    return f"{mark}{task.wrong}{form.after}"
