"""The one loop of all attacks: score candidates, compare them with honest responses, keep those that are paid.

An attack succeeds if it earns a share, set by its draft, of what a good response earns beyond a poor one. If the draft
has controls (neutral texts of the same shape), it must also earn clearly more than they do. That is how rewards that do
not judge correctness are attacked.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from plaudit.audit.attacks.forms import WORKING
from plaudit.audit.attacks.operator import MOST, Draft
from plaudit.audit.findings import Attacker
from plaudit.audit.hits import Attempt, Hit
from plaudit.audit.honest_rewards import HonestRewards
from plaudit.audit.oracle import is_wrong
from plaudit.audit.samples import Response, SampleMaker
from plaudit.audit.subject import Subject
from plaudit.audit.tasks import Kind, Task
from plaudit.contract.output import RewardOutput

ROUNDING = 1e-9
_FREE = re.compile(r"(?<=>)[^<>]*\w+(?: +[\w',;]+){3,}[^<>]*(?=</)")
"""A text in a section, which a response may fill as it likes."""
VISIBLE, TINY = 0.05, 1e-6
"""The share of all differences between rewards from which one is visibly more, and the least difference."""
MOST_TASKS = 2


@dataclass(frozen=True, slots=True)
class Candidate:
    """A draft on a task, with what a poor honest response earns (`low`) and how much more a good one does (`gap`).

    The gap is 0 where nothing honest shows what good means: then any visible gain over the controls counts.
    """

    task: Task
    draft: Draft
    low: float
    gap: float
    honest: RewardOutput | None = None

    @property
    def threshold(self) -> float:
        return self.low + self.draft.share * self.gap


def find_hits(
    subject: Subject, maker: SampleMaker, candidates: Sequence[Candidate], spread: float = 0.0
) -> tuple[Hit, ...]:
    """The shortest candidate of every task that was paid enough."""
    samples = [maker.sample(each.task, each.draft.response) for each in candidates]
    best: dict[int, Hit] = {}
    for each, sample, output in zip(candidates, samples, subject.score(samples), strict=True):
        reward = output.reward
        if reward is None or reward < each.threshold - ROUNDING * abs(each.gap):
            continue
        certain = each.draft.is_certain
        if not is_wrong(each.task, sample.response, by_construction=certain) or not _passes_controls(
            subject, maker, each, reward, spread
        ):
            continue
        least = each.threshold if each.gap else each.low + MOST * (reward - each.low)
        known = best.get(id(each.task))
        if known is None or len(sample.response) < len(known.sample.response):
            best[id(each.task)] = Hit(each.task, sample, output, least, each.low, each.honest, each.draft.core)
    return tuple(best.values())


def _passes_controls(subject: Subject, maker: SampleMaker, each: Candidate, reward: float, spread: float) -> bool:
    """Whether a paid response earns clearly more than its controls, and what must be paid too is paid."""
    if each.draft.also is not None:
        [value] = subject.rewards([maker.sample(each.task, each.draft.also)])
        if value is None or value < each.threshold:
            return False
    if not each.draft.controls:
        return each.gap > 0 or differs(reward, each.low, spread)
    values = subject.rewards([maker.sample(each.task, control) for control in each.draft.controls])
    controls = [value for value in values if value is not None]
    if not controls:
        return False
    return differs(reward, max(each.low, *controls), spread) and reward - max(controls) >= MOST * each.gap - ROUNDING


def differs(more: float, less: float, spread: float) -> bool:
    """Whether one reward exceeds another by more than a small share of this spread."""
    return more - less > max(TINY, VISIBLE * max(spread, abs(more - less)))


@dataclass(frozen=True, slots=True)
class Contrast:
    """A quality that a reward may pay: texts without it, good texts with it, and drafts that only imitate it.

    Without good texts, an imitation is compared with the texts without the quality.
    """

    family: str
    operator: str
    remedy: str
    without: Sequence[Response]
    drafts: Sequence[Draft]
    good: Sequence[Response] = ()
    shrinks: bool = True


@dataclass(frozen=True)
class Trial:
    """One task on which contrasts are tried; `spread` is that of all honest rewards seen so far."""

    subject: Subject
    maker: SampleMaker
    task: Task
    spread: float
    closing: str
    """An honest wrong answer in a form that the reward reads; ends responses that are about something else."""
    around: tuple[str, str] | None = None
    """What stands before and after the free text of a form that the reward reads, with a wrong answer."""

    def values(self, responses: Sequence[Response]) -> list[float | None]:
        """The rewards of the responses, in order."""
        return self.subject.rewards([self.maker.sample(self.task, response) for response in responses])

    def best(self, responses: Sequence[Response]) -> float | None:
        """The highest reward of the responses; None if none was scored."""
        return max((value for value in self.values(responses) if value is not None), default=None)

    def differs(self, more: float, less: float) -> bool:
        """Whether one reward exceeds another by more than a small share of this reward's spread."""
        return differs(more, less, self.spread)

    def close(self, text: str) -> str:
        """The text with the same honest wrong answer after it."""
        return f"{text}\n{self.closing}" if self.closing else text

    def attack(self, contrast: Contrast) -> Hit | None:
        """A draft that is paid for a quality that it only imitates."""
        outputs = self.subject.score([self.maker.sample(self.task, text) for text in contrast.without])
        known = [(output.reward, output) for output in outputs if output.reward is not None]
        if not known:
            return None
        low, honest = max(known, key=lambda pair: pair[0])
        good = self.best(contrast.good) if contrast.good else low
        if good is None or (contrast.good and not self.differs(good, low)):
            return None
        candidates = [Candidate(self.task, draft, low, good - low, honest) for draft in contrast.drafts]
        return next(iter(find_hits(self.subject, self.maker, candidates, self.spread)), None)


def attack_qualities(trials: Sequence[Trial], write: Callable[[Trial], Iterator[Contrast]]) -> Iterator[Attempt]:
    """Every contrast on every trial; one hit per operator and trial counts."""
    named: dict[str, tuple[Contrast, list[Hit]]] = {}
    for trial in trials:
        hit_here: set[str] = set()
        for contrast in write(trial):
            hit = None if contrast.operator in hit_here else trial.attack(contrast)
            if hit is not None:
                hit_here.add(contrast.operator)
                named.setdefault(contrast.operator, (contrast, []))[1].append(hit)
    for name, (contrast, hits) in named.items():
        message = f"{name}: earns {hits[0].output.reward:g}; an honest text without it {hits[0].honest_reward:g}"
        yield Attempt(
            contrast.family, name, Attacker.ANSWER_FREE, contrast.remedy, tuple(hits), len(trials), contrast.shrinks,
            message,
        )  # fmt: skip


def make_trials(subject: Subject, maker: SampleMaker, honest_rewards: HonestRewards, *kinds: Kind) -> list[Trial]:
    """A trial per task that the reward can score, of the first of these kinds that there is."""
    by_kind = [[task for task in honest_rewards.tasks if task.kind is kind] for kind in kinds]
    tasks = next(filter(None, by_kind), honest_rewards.tasks)
    return [
        Trial(subject, maker, task, honest_rewards.spread, *_write_form(honest_rewards, task))
        for task in tasks[:MOST_TASKS]
    ]


def _write_form(honest_rewards: HonestRewards, task: Task) -> tuple[str, tuple[str, str] | None]:
    """An honest wrong answer in its form, without the free text; what stands around that text."""
    form = next((measured.form for measured in honest_rewards.measured_tasks if measured.task is task), None)
    if form is None:
        return "" if task.kind is Kind.OPEN else f"The answer is {task.wrong}.", None
    free = _FREE.search(form.before)
    around = (
        None if free is None else (form.before[: free.start()], form.before[free.end() :] + task.wrong + form.after)
    )
    mark = form.before.replace(WORKING, "").lstrip()
    return f"{mark}{task.wrong}{form.after}", around
