"""The rewards of honest responses, right and wrong, with which attacks are compared.

Trials determine which ground truths, columns and forms a reward accepts: a form counts if a right answer earns more
than a wrong one, and less with the ground truth of another task, so that length or style does not count as
correctness. The forms with the largest difference are attacked.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from plaudit.audit.attacks.forms import Form, forms_for
from plaudit.audit.samples import SampleMaker, with_truth
from plaudit.audit.subject import Subject
from plaudit.audit.tasks import FURTHER, TEMPLATES, TRUTH_FORMS, Kind, Task, label_tasks
from plaudit.contract.output import RewardOutput, Status

BEST_FORMS = 2
LEAST_OF_BEST = 0.5
"""The share of the best form's margin (right minus wrong) that another form needs to be attacked."""
LEAST_OF_ANY = 0.1
"""The share of the best kind's margin (right minus wrong) that another kind of truth needs to be attacked."""
LEAST_SHARE = 0.02
TINY = 1e-9
MOST_COLLECTIONS = 4
MOST_FOILS = 3
SHORT = frozenset({Kind.NUMBER, Kind.WORD, Kind.CHOICE, Kind.JSON})


@dataclass(frozen=True, slots=True)
class MeasuredTask:
    """One task in one form, and what a right and a wrong answer to it earn."""

    task: Task
    form: Form
    right: float
    wrong: float
    wrong_output: RewardOutput

    @property
    def gap(self) -> float:
        return self.right - self.wrong


@dataclass(frozen=True, slots=True)
class HonestRewards:
    """Everything known about honest responses: where right beats wrong, and the spread of all honest rewards."""

    measured_tasks: tuple[MeasuredTask, ...]
    inverted: tuple[MeasuredTask, ...]
    every: tuple[MeasuredTask, ...]
    """The first task in every form for which right beats wrong, not only in the best ones."""
    level: tuple[MeasuredTask, ...]
    """The same task in the forms in which right and wrong earn the same."""
    tasks: tuple[Task, ...]
    low: float
    high: float
    scored: int
    failed: tuple[RewardOutput, ...]
    reads_words: bool = False
    """Whether signs added to a word change nothing: then the reward compares texts and not their meaning."""

    @property
    def spread(self) -> float:
        return self.high - self.low

    def kinds(self) -> frozenset[Kind]:
        """The kinds of truth for which the reward distinguishes right from wrong."""
        return frozenset(measured.task.kind for measured in self.measured_tasks)


def measure_honest_rewards(
    subject: Subject, maker: SampleMaker, custom_tasks: Sequence[Task], own_forms: Sequence[Form] = ()
) -> HonestRewards:
    """Try honest right and wrong answers in every form; if there are `custom_tasks`, only on those.

    Answers with units are tried only if the reward's code contains units.
    """
    tasks = (
        {kind: tuple(task for task in custom_tasks if task.kind is kind) for kind in Kind}
        if custom_tasks
        else {**TEMPLATES}
    )
    if not custom_tasks and not maker.vocabulary.names_units:
        tasks[Kind.MEASURE] = ()
    measured = [_try_kind(subject, maker, list(tasks[kind]), own_forms) for kind in Kind if tasks[kind]]
    if not custom_tasks and not any(honest_rewards.measured_tasks for honest_rewards in measured):
        measured += [_try_truths(subject, maker, kind) for kind in Kind if kind in TRUTH_FORMS]
    if not custom_tasks and not any(honest_rewards.measured_tasks for honest_rewards in measured):
        measured += _try_further(subject, maker)
    honest_rewards = _without_short_truths(subject, maker, _without_weak_kinds(_merge(measured)))
    return replace(honest_rewards, reads_words=_reads_words(subject, maker, honest_rewards))


def _try_further(subject: Subject, maker: SampleMaker) -> list[HonestRewards]:
    """Try labels from the reward's code, then less usual truths, until the reward distinguishes right and wrong."""
    measured: list[HonestRewards] = []
    labels = [label_tasks(words) for words in maker.vocabulary.collections[:MOST_COLLECTIONS]]
    for tasks in (*labels, *FURTHER):
        measured.append(_try_kind(subject, maker, list(tasks), ()))
        if measured[-1].measured_tasks:
            break
    return measured


def _without_weak_kinds(honest_rewards: HonestRewards) -> HonestRewards:
    """Without the kinds of truth for which correctness hardly matters: their gap is similarity by chance."""
    best: dict[Kind, float] = {}
    for measured in honest_rewards.measured_tasks:
        best[measured.task.kind] = max(best.get(measured.task.kind, 0.0), measured.gap)
    least = LEAST_OF_ANY * max(best.values(), default=0.0)
    return replace(
        honest_rewards,
        measured_tasks=tuple(each for each in honest_rewards.measured_tasks if best[each.task.kind] >= least),
    )


def _reads_words(subject: Subject, maker: SampleMaker, honest_rewards: HonestRewards) -> bool:
    for measured in honest_rewards.measured_tasks:
        if measured.task.kind is Kind.WORD:
            [value] = subject.rewards([maker.sample(measured.task, measured.form.present(f"-{{{measured.task.right}"))])
            return value is not None and value >= measured.right - TINY
    return False


def _without_short_truths(subject: Subject, maker: SampleMaker, honest_rewards: HonestRewards) -> HonestRewards:
    """Of a reward that grades likeness to a reference, only long references show what it does.

    It is one where half of a sentence earns some of what the whole earns.
    """
    for measured in honest_rewards.measured_tasks:
        if measured.task.kind is Kind.SENTENCE:
            words = measured.task.right.split()
            half = measured.form.present(" ".join(words[: len(words) // 2]))
            [value] = subject.rewards([maker.sample(measured.task, half)])
            if value is not None and 0.15 < (value - measured.wrong) / measured.gap < 0.85:
                return replace(
                    honest_rewards,
                    measured_tasks=tuple(each for each in honest_rewards.measured_tasks if each.task.kind not in SHORT),
                )
    return honest_rewards


def _try_truths(subject: Subject, maker: SampleMaker, kind: Kind) -> HonestRewards:
    """The first way of writing the truth for which right beats wrong."""
    honest_rewards = _merge([])
    for form in TRUTH_FORMS[kind][1:]:
        try:
            tasks = [with_truth(task, form) for task in TEMPLATES[kind]]
        except (ValueError, TypeError):
            continue
        honest_rewards = _merge([honest_rewards, _try_kind(subject, maker, tasks, ())])
        if honest_rewards.measured_tasks:
            break
    return honest_rewards


def _try_kind(subject: Subject, maker: SampleMaker, tasks: list[Task], own_forms: Sequence[Form]) -> HonestRewards:
    first, kind = tasks[0], tasks[0].kind
    forms = (*own_forms, *forms_for(kind, maker.vocabulary))
    tried = [_try(subject, maker, first, forms, tasks)]
    if not tried[0].measured_tasks and (own_forms or kind is Kind.PROGRAM):
        for task in tasks[1:]:  # a truth may be a special one, and tests come as asserts or as streams
            tried.append(_try(subject, maker, task, forms, tasks))
            if tried[-1].measured_tasks:
                first = task
                break
    honest_rewards = tried[-1]
    chosen = sorted(honest_rewards.measured_tasks, key=lambda measured: -measured.gap)[:BEST_FORMS]
    chosen = [measured for measured in chosen if measured.gap >= LEAST_OF_BEST * chosen[0].gap]
    if chosen:
        forms = tuple(measured.form for measured in chosen)
        further = [_try(subject, maker, task, forms, tasks) for task in tasks if task is not first]
        merged = _merge([replace(honest_rewards, measured_tasks=tuple(chosen)), *further])
        return replace(merged, measured_tasks=_beside_best_wrong(subject, maker, merged.measured_tasks))
    if honest_rewards.inverted and len(tasks) > 1:
        tried.append(_try(subject, maker, tasks[1], [each.form for each in honest_rewards.inverted], tasks))
    return replace(_merge(tried), tasks=tuple(tasks) if any(each.scored for each in tried) else ())


def _beside_best_wrong(
    subject: Subject, maker: SampleMaker, measured_tasks: Sequence[MeasuredTask]
) -> tuple[MeasuredTask, ...]:
    """The tasks with the best paid of several honest wrong answers: near ones, far ones, ones that restate the task.

    A reward may pay for being close or on the subject; only what goes beyond that is an exploit.
    """
    raised = []
    for measured in measured_tasks:
        responses = [measured.form.present(answer) for answer in _wrong_answers(measured.task)]
        responses.append(f"{measured.task.prompt_text} {measured.form.present(measured.task.wrong)}")
        outputs = subject.score([maker.sample(measured.task, response) for response in responses])
        limit = measured.right - TINY - LEAST_SHARE * LEAST_SHARE * measured.gap
        paid = [each for each in outputs if each.reward is not None and measured.wrong < each.reward < limit]
        best = max(paid, key=lambda output: output.reward or 0.0, default=measured.wrong_output)
        raised.append(
            replace(measured, wrong=measured.wrong if best.reward is None else best.reward, wrong_output=best)
        )
    return tuple(raised)


def _wrong_answers(task: Task) -> list[str]:
    near = []
    if task.kind is Kind.NUMBER and task.right.isdigit():
        near = [str(int(task.right) + 1), str(int(task.right) - 1), "0", "1", "10", "100"]
    return [answer for answer in (*near, *task.others) if answer != task.right]


def _try(
    subject: Subject, maker: SampleMaker, task: Task, forms: Sequence[Form], among: Sequence[Task]
) -> HonestRewards:
    right = [maker.sample(task, form.present(task.right)) for form in forms]
    wrong = [maker.sample(task, form.present(task.wrong)) for form in forms]
    subject.accompany([right[0], wrong[0], wrong[-1]])
    outputs = subject.score([*right, *wrong])
    values = [output.reward for output in outputs if output.reward is not None]
    least = TINY + LEAST_SHARE * (max(values, default=0.0) - min(values, default=0.0))
    scored = [
        MeasuredTask(task, form, good.reward, bad.reward, bad)
        for form, good, bad in zip(forms, outputs[: len(forms)], outputs[len(forms) :], strict=True)
        if good.reward is not None and bad.reward is not None
    ]
    candidates = [each for each in scored if abs(each.gap) > least]
    foils = _under_another_truth(subject, maker, candidates, among)
    measured_tasks = [
        each for each, foil in zip(candidates, foils, strict=True) if each.gap > 0 and each.right - foil > least
    ]
    inverted = [
        each for each, foil in zip(candidates, foils, strict=True) if each.gap < 0 and foil - each.right > least
    ]
    return HonestRewards(
        tuple(measured_tasks),
        tuple(inverted),
        tuple(measured_tasks),
        tuple(each for each in scored if abs(each.gap) <= least) if measured_tasks else (),
        (task,),
        min(values, default=0.0),
        max(values, default=0.0),
        len(values),
        tuple(output for output in outputs if output.status is not Status.OK)[:3],
    )


def _under_another_truth(
    subject: Subject, maker: SampleMaker, candidates: Sequence[MeasuredTask], among: Sequence[Task]
) -> list[float]:
    """The rewards of the right answers when the row holds the truth and columns of another task.

    Without another task nothing shows that the truth decides, and the right answers keep what they earned.
    """
    if not candidates:
        return []
    task = candidates[0].task
    others = [each for each in among if type(each.truth) is type(task.truth) and _data(each) != _data(task)]
    if not others:
        return [each.right for each in candidates]
    farthest = [each.right for each in candidates]
    for other in others[:MOST_FOILS]:
        foil = replace(task, truth=other.truth, columns=other.columns, metadata=other.metadata)
        values = subject.rewards([maker.sample(foil, each.form.present(task.right)) for each in candidates])
        farthest = [
            (min if each.gap > 0 else max)(known, each.wrong if value is None else value)
            for each, known, value in zip(candidates, farthest, values, strict=True)
        ]
    return farthest


def _data(task: Task) -> object:
    """The values that a reward may compare a response with: the ground truth; if there is none, the columns."""
    return (dict(task.columns), dict(task.metadata)) if task.truth is None else task.truth


def _merge(parts: Sequence[HonestRewards]) -> HonestRewards:
    scored = [honest_rewards for honest_rewards in parts if honest_rewards.scored]
    first = next((honest_rewards for honest_rewards in parts if honest_rewards.every), None)
    return HonestRewards(
        tuple(measured for honest_rewards in parts for measured in honest_rewards.measured_tasks),
        tuple(measured for honest_rewards in parts for measured in honest_rewards.inverted),
        first.every if first else (),
        first.level if first else (),
        tuple(task for honest_rewards in scored for task in honest_rewards.tasks),
        min((honest_rewards.low for honest_rewards in scored), default=0.0),
        max((honest_rewards.high for honest_rewards in scored), default=0.0),
        sum(honest_rewards.scored for honest_rewards in parts),
        tuple(output for honest_rewards in parts for output in honest_rewards.failed)[:3],
    )
