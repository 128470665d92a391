"""Attacks on rewards for rows of a known kind: the verifier of the row says which responses are wrong.

The rows and right responses are the user's. A response that the reward pays like a right one and the verifier refuses
is a finding; so is any pay on a row that the verifier declines, such as one with an empty ground truth.
"""

import json
import random
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from plaudit.audit.attacks.operator import Draft
from plaudit.audit.candidates import Candidate, find_hits
from plaudit.audit.findings import Attacker
from plaudit.audit.hits import Attempt, Hit
from plaudit.audit.oracle import judge_by_row
from plaudit.audit.samples import SampleMaker
from plaudit.audit.subject import Subject
from plaudit.audit.tasks import Kind, Task
from plaudit.trajectory import Trajectory

__all__ = ["attack_known_rows"]

FAMILY = "rows"
NEARLY = 0.9
"""The share of a right response's pay from which a wrong one is a finding."""
MOST_TASKS = 8
MOST_LINES = 12
NO_ANSWER = "I do not know."
LONG = 400
REMEDY = "refuse what the verifier of these rows refuses: plaudit verify KIND shows why"
ROW_REMEDY = "do not score a row that cannot be judged"
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_QUOTED = re.compile(r'(?<=[:=(,] )"([^"]*)"|(?<==)"([^"]*)"|\'([^\']*)\'')
Writer = Callable[["_Known", str], Iterator[str]]


@dataclass(frozen=True, slots=True)
class _Known:
    """A task, a response that its verifier passes, what the reward pays for it and (0 at most) for no answer."""

    task: Task
    right_pay: float
    wrong_pay: float

    def candidate(self, response: str) -> Candidate:
        draft = Draft(response, share=NEARLY)
        return Candidate(self.task, draft, self.wrong_pay, self.right_pay - self.wrong_pay)


def attack_known_rows(subject: Subject, maker: SampleMaker, samples: Sequence[Trajectory]) -> Iterator[Attempt]:
    """Changed responses on rows as they are, then right responses and none on rows that cannot be judged."""
    known = _measure(subject, maker, samples)
    if not known:
        return
    for name, write in OPERATORS.items():
        pairs = zip(known, [*known[1:], *known[:1]], strict=True)
        candidates = [each.candidate(text) for each, other in pairs for text in write(each, other.task.right)]
        yield Attempt(FAMILY, name, Attacker.ORACLE, REMEDY, find_hits(subject, maker, candidates), len(known))
    broken = [hit for each in known if (hit := _hit_on_broken_row(subject, maker, each)) is not None]
    message = "row that cannot be judged: any response earns what a right one does"
    yield Attempt(
        FAMILY, "row that cannot be judged", Attacker.ANSWER_FREE, ROW_REMEDY, tuple(broken), len(known), False, message
    )


def _measure(subject: Subject, maker: SampleMaker, samples: Sequence[Trajectory]) -> list[_Known]:
    """The rows with a verifier that passes one of their responses: the one that the reward pays most, if it pays it."""
    rows: dict[str, list[Task]] = {}
    for sample in samples:
        truth, columns, metadata = sample.ground_truth, dict(sample.columns), dict(sample.metadata)
        task = Task(Kind.OPEN, sample.prompt, truth, sample.response, NO_ANSWER, (), columns, metadata, sample.task)
        judged = judge_by_row(task, sample.response)
        if judged is not None and judged.score == 1.0:
            rows.setdefault(json.dumps([truth, columns], default=str), []).append(task)
    known = []
    for tasks in list(rows.values())[:MOST_TASKS]:
        pays = subject.rewards([maker.sample(task, text) for task in tasks for text in (task.right, task.wrong)])
        right, task = max(zip((pay or 0.0 for pay in pays[::2]), tasks, strict=True), key=lambda pair: pair[0])
        if right > 0:
            known.append(_Known(task, right, min(0.0, *(pay or 0.0 for pay in pays[1::2]))))
    return known


def _hit_on_broken_row(subject: Subject, maker: SampleMaker, known: _Known) -> Hit | None:
    """No answer, paid on a row whose truth is empty or whose instructions nobody knows."""
    for task in _broken_rows(known.task):
        judged = judge_by_row(task, task.wrong, like=known.task)
        if judged is None or judged.score is not None:
            continue
        sample = maker.sample(task, task.wrong)
        [output] = subject.score([sample])
        threshold = known.candidate("").threshold
        if output.reward is not None and output.reward >= threshold:
            return Hit(task, sample, output, threshold, known.wrong_pay)
    return None


def _broken_rows(task: Task) -> Iterator[Task]:
    for truth in ("", [], [""]):
        columns = {name: truth if value == task.truth else value for name, value in task.columns.items()}
        yield replace(task, truth=truth, columns=columns)
        lists = {name: truth for name, value in columns.items() if isinstance(value, list)}
        yield replace(task, columns={**columns, **lists})
    if "instruction_id_list" in task.columns:
        unknown = {"instruction_id_list": ["unknown:instruction"], "kwargs": [{}]}
        yield replace(task, columns={**task.columns, **unknown})


def _nothing(known: _Known, other: str) -> Iterator[str]:
    yield from ("", " ", "\u200b", ".", "...", "{}", "[]", NO_ANSWER)


def _thoughts(known: _Known, other: str) -> Iterator[str]:
    yield f"<think>{known.task.right}</think>"
    yield f"<think>{known.task.right}</think>\n{NO_ANSWER}"


def _beside(known: _Known, other: str) -> Iterator[str]:
    right = known.task.right
    for joint in ("\n", " or ", ", "):
        yield f"{right}{joint}{other}"
        yield f"{other}{joint}{right}"
    yield f"{right}\n{right}"
    yield "\n".join(dict.fromkeys((right, other, NO_ANSWER)))


def _all_options(known: _Known, other: str) -> Iterator[str]:
    columns = known.task.columns
    listed: Any = next((columns[name] for name in ("choices", "options", "labels") if name in columns), [])
    texts = listed.get("text", []) if isinstance(listed, dict) else listed
    letters = [chr(65 + index) for index in range(len(texts))]
    yield from (", ".join(letters), " ".join(letters), ", ".join(map(str, texts)))
    yield from ("yes or no", "yes and no", "True, False")


def _denied(known: _Known, other: str) -> Iterator[str]:
    right = known.task.right
    yield f"not {right}"
    yield f"It is not {right}"
    yield f"{right} is wrong."
    yield f"{right}\nWait, that is wrong. {other}"


def _surrounded(known: _Known, other: str) -> Iterator[str]:
    right = known.task.right
    yield f"x{right}x"
    yield f"My {right}, dear."
    yield f"{right} {' '.join(['lamp'] * LONG)}"


def _parts(known: _Known, other: str) -> Iterator[str]:
    right = known.task.right
    yield from _NUMBER.findall(right)[:3]
    yield from [word for word in re.findall(r"\w+", right) if len(word) > 2][:3]
    lines = right.splitlines()[:MOST_LINES]
    yield from ("\n".join([*lines[:index], *lines[index + 1 :]]) for index in range(len(lines)) if len(lines) > 1)
    yield right[: len(right) // 2]


def _reordered(known: _Known, other: str) -> Iterator[str]:
    right = known.task.right
    yield "\n".join(right.splitlines()[::-1])
    words = right.split()
    random.Random(0).shuffle(words)
    yield " ".join(words)
    yield " ".join(sorted(set(re.findall(r"[\w.,]+", right))))


def _changed(known: _Known, other: str) -> Iterator[str]:
    """Another number, another text in quotes, another case."""
    right = known.task.right
    yield _NUMBER.sub(lambda number: str(int(float(number[0])) + 7919), right)
    yield _QUOTED.sub('"zq"', right)
    yield from (right.upper(), right.lower(), f"{right}, and so on, and more.")
    yield re.sub(r"[^\w\s]", "", right)


def _truth(known: _Known, other: str) -> Iterator[str]:
    """What the row holds, as the response."""
    for value in (known.task.truth, *known.task.columns.values()):
        if value is not None and not isinstance(value, bool):
            yield value if isinstance(value, str) else json.dumps(value, default=str)


def _queries(known: _Known, other: str) -> Iterator[str]:
    """A query with repeated rows, in another order, or without repeated rows."""
    query = re.sub(r"```\w*", "", known.task.right).strip().rstrip(";")
    if query[:6].upper() == "SELECT":
        yield f"SELECT * FROM ({query}) UNION ALL SELECT * FROM ({query})"
        yield f"SELECT DISTINCT * FROM ({query})"
        yield f"SELECT * FROM ({query}) ORDER BY 1 DESC"
        yield f"SELECT * FROM ({query}) ORDER BY 1"


OPERATORS: dict[str, Writer] = {
    "nothing to judge": _nothing,
    "right only in the thoughts": _thoughts,
    "right beside another answer": _beside,
    "every option": _all_options,
    "right, denied": _denied,
    "right inside other text": _surrounded,
    "part of the right response": _parts,
    "right response in another order": _reordered,
    "right response with other values": _changed,
    "the row itself": _truth,
    "query with other rows": _queries,
}
"""Ways to change a right response; whether the result is wrong is for the verifier to say."""
