"""Prompts with ground truths of every usual type, each with a right answer and wrong ones of the same kind.

The truths are small and far apart: a wrong answer is off by more than any sensible tolerance, unless an attack asks for
a near one.
"""

import enum
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from plaudit.trajectory import Trajectory


class Kind(enum.StrEnum):
    """The type of a ground truth."""

    NUMBER = "number"
    MEASURE = "measure"
    """A number with its unit."""
    WORD = "word"
    CHOICE = "choice"
    SENTENCE = "sentence"
    JSON = "json"
    PROGRAM = "program"
    OPEN = "open"
    """Nothing to compare with."""


@dataclass(frozen=True, slots=True)
class Task:
    """A prompt, its ground truth, a right answer, and wrong ones."""

    kind: Kind
    prompt: Any
    truth: Any
    right: str
    wrong: str
    others: tuple[str, ...] = ()
    columns: Mapping[str, Any] = field(default_factory=dict)
    metadata: Mapping[str, Any] = field(default_factory=dict)
    task: str | None = None
    mistakes: tuple[str, ...] = ()
    """Wrong responses among the user's rollouts."""

    @classmethod
    def of_row(cls, row: Trajectory, right: str, wrong: str, kind: Kind = Kind.OPEN) -> "Task":
        """The task of a row of the user's."""
        columns, metadata = dict(row.columns), dict(row.metadata)
        return cls(kind, row.prompt, row.ground_truth, right, wrong, (), columns, metadata, row.task)

    @property
    def prompt_text(self) -> str:
        if isinstance(self.prompt, str):
            return self.prompt
        return "\n\n".join(str(message.get("content", "")) for message in self.prompt)


def _numbers() -> list[Task]:
    rows = [
        ("What is 3 + 4?", "7", "91", ("58", "26")),
        ("What is 6 * 7?", "42", "95", ("13", "77")),
        ("A box holds 24 pens. How many pens are in 5 boxes?", "120", "733", ("58", "986")),
    ]
    return [Task(Kind.NUMBER, prompt, truth, truth, wrong, others) for prompt, truth, wrong, others in rows]


def _measures() -> list[Task]:
    rows = [
        ("How far is it from the farm to the lake?", "12 km", "95 km", ("40 km", "77 km")),
        ("How heavy is the sack?", "30 kg", "8 kg", ("71 kg", "99 kg")),
        ("How long does the film take?", "45 minutes", "13 minutes", ("88 minutes", "70 minutes")),
    ]
    return [Task(Kind.MEASURE, prompt, truth, truth, wrong, others) for prompt, truth, wrong, others in rows]


def _words() -> list[Task]:
    rows = [
        ("What is the capital of France?", "Paris", "Madrid", ("Oslo", "Vienna")),
        ("Which metal is liquid at room temperature?", "mercury", "iron", ("copper", "silver")),
        ("Who wrote Faust?", "Goethe", "Tolstoy", ("Dickens", "Balzac")),
    ]
    return [Task(Kind.WORD, prompt, truth, truth, wrong, others) for prompt, truth, wrong, others in rows]


def _choices() -> list[Task]:
    rows = [
        ("Which planet is the largest?\nA) Mars\nB) Jupiter\nC) Venus\nD) Earth", "B", "D", ("A", "C")),
        ("Which gas do plants take in?\nA) helium\nB) neon\nC) carbon dioxide\nD) argon", "C", "A", ("B", "D")),
    ]
    return [Task(Kind.CHOICE, prompt, truth, truth, wrong, others) for prompt, truth, wrong, others in rows]


def _sentences() -> list[Task]:
    rows = [
        (
            "Say in one sentence what the report is about.",
            "The river flooded three villages after heavy rain broke the old dam upstream",
            "A new school opened near the market with room for many young pupils",
        ),
        (
            "Summarise the note in one sentence.",
            "Engineers replaced every cable on the bridge before winter storms could reach them",
            "Farmers sold more apples than pears because prices rose during early autumn",
        ),
    ]
    return [Task(Kind.SENTENCE, prompt, truth, truth, wrong) for prompt, truth, wrong in rows]


def _objects() -> list[Task]:
    rows: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
        ("Give name and age of Ada, who is 36, as JSON.", {"name": "Ada", "age": 36}, {"name": "Bob", "age": 91}),
        ("Give city and code of Bern, 3000, as JSON.", {"city": "Bern", "code": 3000}, {"city": "Rome", "code": 17}),
    ]
    return [
        Task(Kind.JSON, prompt, truth, json.dumps(truth), json.dumps(wrong), ("{}", "[]"))
        for prompt, truth, wrong in rows
    ]


def _programs() -> list[Task]:
    rows: list[tuple[str, str, str, str, str, Sequence[tuple[tuple[int, ...], int]]]] = [
        ("add", "a, b", "return a + b", "return 0", "Write a Python function add(a, b) that returns the sum.",
         [((1, 2), 3), ((5, 9), 14), ((-4, 1), -3)]),
        ("double", "a", "return a * 2", "return -1", "Write a Python function double(a) that returns twice a.",
         [((4,), 8), ((15,), 30), ((-3,), -6)]),
    ]  # fmt: skip
    tasks = []
    for name, names, right, wrong, prompt, calls in rows:
        asserts = [f"assert {name}({', '.join(map(str, arguments))}) == {expected}" for arguments, expected in calls]
        columns = {
            "entry_point": name, "function_name": name, "func_name": name, "test_list": asserts, "language": "python",
            "inputs": [list(arguments) for arguments, _ in calls], "outputs": [expected for _, expected in calls],
        }  # fmt: skip
        program = f"def {name}({names}):\n    {{}}"
        tasks.append(Task(Kind.PROGRAM, prompt, asserts, program.format(right), program.format(wrong), columns=columns))
    return tasks


def _stream_programs() -> list[Task]:
    tasks = []
    for sign, noun, expected in (("+", "sum", ("3", "14", "-3")), ("*", "product", ("2", "45", "-4"))):
        prompt = f"Read two integers from standard input and print their {noun}."
        truth = {"inputs": ["1 2\n", "5 9\n", "-4 1\n"], "outputs": [f"{each}\n" for each in expected]}
        right, wrong = (f"a, b = map(int, input().split())\nprint({what})" for what in (f"a {sign} b", "770 + a"))
        tasks.append(Task(Kind.PROGRAM, prompt, truth, right, wrong))
    return tasks


def _open() -> list[Task]:
    return [
        Task(Kind.OPEN, prompt, None, right, wrong)
        for prompt, right, wrong in (
            (
                "Explain why leaves are green.",
                "Leaves look green because chlorophyll takes in red and blue light and sends green light back.",
                "Bread rises in a warm kitchen after some hours under a cloth.",
            ),
            (
                "Summarise in one sentence: The council met on Monday evening to talk about the old bridge. Cars have "
                "not been able to cross it since the flood in spring, and shops on the far side of the river lost many "
                "customers. After three hours the members agreed to build a new bridge next to it before winter comes.",
                "The council will build a new bridge before winter, because the flood closed the old bridge to cars.",
                "Glass is made by melting sand in a very hot furnace.",
            ),
        )
    ]


TEMPLATES: dict[Kind, tuple[Task, ...]] = {
    Kind.NUMBER: tuple(_numbers()),
    Kind.MEASURE: tuple(_measures()),
    Kind.WORD: tuple(_words()),
    Kind.CHOICE: tuple(_choices()),
    Kind.SENTENCE: tuple(_sentences()),
    Kind.JSON: tuple(_objects()),
    Kind.PROGRAM: (*_programs(), *_stream_programs()),
    Kind.OPEN: tuple(_open()),
}

_OTHER_KEYS = tuple(replace(task, wrong='{"fruit": "plum", "count": 3}') for task in TEMPLATES[Kind.JSON])
_OTHER_WORDS = tuple(
    tuple(Task(Kind.WORD, prompt, truth, truth, wrong, others) for prompt, truth, wrong, others in rows)
    for rows in (
        (
            ("When was the treaty signed?", "2019-04-23", "1987-11-30", ("2003-08-16", "1965-02-07")),
            ("When does the term end?", "1998-12-05", "2024-07-19", ("2011-09-28", "1976-10-31")),
        ),
        (
            ("Does the note speak of rain?", "yes", "no", ()),
            ("Does the note speak of snow?", "no", "yes", ()),
        ),
        (
            ("Name the colours of the flag, with commas.", "red, green, blue", "pink, white, grey", ()),
            ("Name the fruits on the table, with commas.", "plum, fig, lemon", "cherry, mango, peach", ()),
        ),
        (
            ("At what time does the train leave?", "14:35", "09:10", ("21:40", "06:25")),
            ("At what time does the shop open?", "08:20", "17:45", ("11:05", "23:50")),
        ),
        (
            ("What does the lamp cost?", "$18.50", "$73.20", ("$41.90", "$96.00")),
            ("What does the chair cost?", "$64.25", "$27.80", ("$12.10", "$83.70")),
        ),
    )
)
FURTHER: tuple[tuple[Task, ...], ...] = (_OTHER_KEYS, *_OTHER_WORDS)
"""Tasks of less usual types, two of each; used if the reward distinguishes right from wrong on no template."""


def label_tasks(labels: Sequence[str]) -> tuple[Task, ...]:
    """Tasks whose truths are among the words that a reward's code knows, as labels of classes are."""
    turned = [(*labels[index:], *labels[:index]) for index in range(len(labels))]
    return tuple(
        Task(Kind.WORD, f"Which label fits note {index}?", label, label, wrong, tuple(others[:2]))
        for index, (label, wrong, *others) in enumerate(turned[:3], 1)
    )


TRUTH_FORMS: dict[Kind, tuple[Any, ...]] = {
    Kind.NUMBER: (
        str, int, float, lambda t: f"\\boxed{{{t}}}", lambda t: f"#### {t}", lambda t: f"${t}$", lambda t: [t],
        lambda t: {"target": [t]}, lambda t: {"answer": t}, lambda t: f"<answer>{t}</answer>",
    ),
    Kind.WORD: (
        str, lambda t: [t], lambda t: {"target": [t]}, lambda t: {"answer": t}, lambda t: f"<answer>{t}</answer>",
    ),
    Kind.CHOICE: (str, lambda t: "ABCDEFGH".index(t), lambda t: {"answer": t}),
    Kind.SENTENCE: (str, lambda t: [t], lambda t: {"answer": t}),
    Kind.JSON: (lambda t: t, json.dumps),
    Kind.PROGRAM: (
        lambda t: t,
        lambda t: "\n".join(t) if isinstance(t, list) else json.dumps(t),
        lambda t: t if isinstance(t, list) else [
            {"input": text, "output": expected} for text, expected in zip(t["inputs"], t["outputs"], strict=True)
        ],
        lambda t: {"tests": t},
        json.dumps,
    ),
}  # fmt: skip
"""The forms in which data sets write a truth of each kind, most usual first."""
