"""Tasks and forms from rollouts: their prompts, truths and columns, and the text around their answers.

A wrong answer to one prompt is the truth of another where both are of a kind. Where a truth is no answer, such as tests
or a query, the reward shows what an honest answer is: of the responses, the truth and the text columns of a prompt, the
one that it pays most stands for right, and the one that it pays least for wrong.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import msgspec

from plaudit.audit.attacks.forms import Form
from plaudit.audit.rows.edits import NO_ANSWER
from plaudit.audit.tasks import Kind, Task
from plaudit.trajectory import Trajectory
from plaudit.verify import verify_math
from plaudit.verify.math.verdict import VerdictStatus

MOST_TASKS = 8
MOST_FORMS = 4
MOST_CANDIDATES = 12
_NUMBER = re.compile(r"[-+]?[\d,]*\.?\d+")
_TESTS = re.compile(r"\bassert\b|\binputs?\b.*\boutputs?\b", re.DOTALL)
_PROGRAM = re.compile(r"```(?:python|py)?\n(.*?)```", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Seeds:
    """The starting material of an audit from rollouts."""

    tasks: tuple[Task, ...] = ()
    forms: tuple[Form, ...] = ()
    paid: tuple[Task, ...] = ()
    """Tasks whose right answer is what the reward paid most."""


Rate: TypeAlias = Callable[[Sequence[Trajectory]], Sequence[float | None]]


def read_seeds(trajectories: Sequence[Trajectory], rate: Rate) -> Seeds:
    """A task per prompt and ground truth, and the forms in which responses present the truth; `rate` is the reward."""
    by_row: dict[str, list[Trajectory]] = {}
    for trajectory in trajectories:
        by_row.setdefault(_row(trajectory), []).append(trajectory)
    firsts = [samples[0] for samples in by_row.values()]
    tasks = [_task(first, by_row[_row(first)], firsts) for first in firsts[: 4 * MOST_TASKS]]
    varied = {(task.kind, repr(dict(task.columns) if task.truth is None else task.truth)): task for task in tasks}
    counts: Counter[Kind] = Counter()
    chosen = []
    for task in varied.values():
        counts[task.kind] += 1
        if counts[task.kind] <= MOST_TASKS:
            chosen.append(task)
    forms = Counter(form for samples in by_row.values() for each in samples if (form := _form(each)) is not None)
    paid = _paid_tasks(list(by_row.values())[:MOST_TASKS], rate)
    known = {(task.prompt_text, repr(task.truth)): task for task in paid}
    chosen = [
        known.get((task.prompt_text, repr(task.truth)), task) if task.kind is Kind.OPEN else task for task in chosen
    ]
    return Seeds(tuple(chosen), tuple(form for form, _ in forms.most_common(MOST_FORMS)), tuple(paid))


def _row(sample: Trajectory) -> str:
    """The text that a reward compares responses with: the prompt, the ground truth and the columns."""
    return repr((sample.prompt, sample.ground_truth, sample.columns, sample.metadata))


def _paid_tasks(prompts: Sequence[Sequence[Trajectory]], rate: Rate) -> list[Task]:
    """A task per prompt for which the reward pays one of the candidates more than another."""
    tasks = []
    for samples in prompts:
        first = samples[0]
        texts = list(dict.fromkeys(text for text in _candidates(samples) if text.strip()))[:MOST_CANDIDATES]
        texts.append(NO_ANSWER)
        rewards = rate([msgspec.structs.replace(first, response=text, tokens=None) for text in texts])
        rated = {text: reward for reward, text in zip(rewards, texts, strict=True) if reward is not None}
        right = max(rated, key=rated.__getitem__, default="")
        # A bare ground truth may only lack a form, so it is never the wrong answer.
        responses = [text for text in rated if text == NO_ANSWER or any(text == each.response for each in samples)]
        wrong = min(responses, key=rated.__getitem__, default=right)
        if rated and rated[right] > rated[wrong]:
            tasks.append(Task.of_row(first, right, wrong))
    return tasks


def _mistakes(samples: Sequence[Trajectory]) -> tuple[str, ...]:
    """The responses to a question for a number that commit to another number, and do not end with the right one."""
    verdicts = [(each, verify_math(each.ground_truth, each.response, prompt=each.prompt_text)) for each in samples]
    return tuple(
        sample.response
        for sample, verdict in verdicts
        if verdict.status is VerdictStatus.OK
        and not verdict.correct
        and verdict.rejected is None
        and _last_number(sample.response) != str(sample.ground_truth)
    )[:MOST_CANDIDATES]


def _last_number(text: str) -> str:
    numbers = _NUMBER.findall(text)
    return numbers[-1] if numbers else ""


def _candidates(samples: Sequence[Trajectory]) -> Iterator[str]:
    """Candidates for an honest answer: the responses, the ground truth, and the columns."""
    first = samples[0]
    yield from (sample.response for sample in samples[:MOST_CANDIDATES])
    for value in (first.ground_truth, *first.columns.values(), *first.metadata.values()):
        if isinstance(value, str):
            yield value
        elif isinstance(value, dict | list):
            with suppress(TypeError, ValueError):
                yield json.dumps(value)


def _program(first: Trajectory, samples: Sequence[Trajectory]) -> Task | None:
    """The task of a row that has tests and a response with a program: the program is the answer."""
    values = repr((first.ground_truth, first.columns, first.metadata))
    programs = [match[1] for each in samples if (match := _PROGRAM.search(each.response))]
    defined = re.search(r"^def (\w+)", programs[0], re.MULTILINE) if programs else None
    is_called = defined is not None and re.search(rf"\b{defined[1]}\(", values) is not None
    if not programs or not (is_called or _TESTS.search(values)):
        return None
    wrong = f"def {defined[1]}(*args):\n    return None" if defined else "pass"
    return Task.of_row(first, programs[0].strip(), wrong, Kind.PROGRAM)


def _task(first: Trajectory, samples: Sequence[Trajectory], firsts: Sequence[Trajectory]) -> Task:
    if (program := _program(first, samples)) is not None:
        return program
    truth = first.ground_truth
    kind = _kind(truth)
    if kind in (Kind.NUMBER, Kind.MEASURE, Kind.WORD, Kind.CHOICE, Kind.SENTENCE):
        right = str(truth).strip()
        others = dict.fromkeys(str(each.ground_truth).strip() for each in firsts if _kind(each.ground_truth) is kind)
        wrong = [other for other in others if not _is_close(other, right)] + _made_up(kind, right)
    else:
        ordered = sorted((each.response for each in samples), key=len)
        elsewhere = [each.response for each in firsts if each.prompt_text != first.prompt_text]
        right, wrong = ordered[-1], elsewhere or [NO_ANSWER]
    mistakes = _mistakes(samples) if kind is Kind.NUMBER else ()
    return replace(Task.of_row(first, right, wrong[0], kind), others=tuple(wrong[1:3]), mistakes=mistakes)


def _kind(truth: Any) -> Kind:
    if isinstance(truth, bool) or truth is None:
        return Kind.OPEN
    if isinstance(truth, int | float):
        return Kind.NUMBER
    if isinstance(truth, dict):
        return Kind.OPEN
    if not isinstance(truth, str):
        return Kind.OPEN
    text = truth.strip()
    if _NUMBER.fullmatch(text):
        return Kind.NUMBER
    number, _, unit = text.partition(" ")
    if _NUMBER.fullmatch(number) and unit.isalpha():
        return Kind.MEASURE
    if re.fullmatch(r"[A-H]", text):
        return Kind.CHOICE
    if re.fullmatch(r"[\w'-]+(?: [\w'-]+)?", text):
        return Kind.WORD
    return Kind.SENTENCE if re.fullmatch(r"[\w',;.!?()\- ]{20,400}", text) else Kind.OPEN


def _is_close(one: str, other: str) -> bool:
    """Whether one answer might count as the other: equal, within it, or within a fifth."""
    if one.lower() in other.lower() or other.lower() in one.lower():
        return True
    if _NUMBER.fullmatch(one) and _NUMBER.fullmatch(other):
        left, right = float(one.replace(",", "")), float(other.replace(",", ""))
        return abs(left - right) <= 0.2 * max(abs(left), abs(right))
    return False


def _made_up(kind: Kind, right: str) -> list[str]:
    candidates = {
        Kind.NUMBER: ("9173", "58", "3.25"),
        Kind.MEASURE: tuple(f"{number} {right.partition(' ')[2]}" for number in ("9173", "58")),
        Kind.CHOICE: ("A", "B", "C", "D"),
        Kind.WORD: ("Madrid", "copper", "never"),
        Kind.SENTENCE: ("A new school opened near the market with room for many young pupils",),
    }[kind]
    return [each for each in candidates if not _is_close(each, right)]


def _form(trajectory: Trajectory) -> Form | None:
    """How a response presents the truth, where it does so at its end: the text before and after it."""
    truth = str(trajectory.ground_truth).strip()
    if _kind(trajectory.ground_truth) is Kind.OPEN or not truth:
        return None
    indices = [match.start() for match in re.finditer(rf"(?<![\w.]){re.escape(truth)}(?!\w)", trajectory.response)]
    if not indices or len(trajectory.response) - indices[-1] > 200:
        return None
    before, after = trajectory.response[: indices[-1]], trajectory.response[indices[-1] + len(truth) :]
    mark = re.search(r"(?:^|\n)([^\n]{0,60})$", before)
    working = "" if mark is None or not mark[1].strip() else mark[1]
    opening = re.match(r"<\w+>", before)
    if opening:  # the sections stay whole
        return Form("as in the rollouts", before, after) if len(before) < 2_000 else None
    return Form("as in the rollouts", working, after[:60]) if working else None
