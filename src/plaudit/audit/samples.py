"""Trajectories for an audit: a task and a response, with every column that the reward's code asks for.

What a column is for is guessed from its name; one that says nothing gets the ground truth.
"""

import re
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeAlias

import msgspec

from plaudit.audit.tasks import Kind, Task
from plaudit.audit.vocabulary import Vocabulary
from plaudit.columns import our_name
from plaudit.contract.binding import FIELDS, PLURALS
from plaudit.trajectory import Step, Tokens, Trajectory

Response: TypeAlias = str | tuple[tuple[str, str], ...]
"""A text, or the turns of an episode: pairs of an observation and an action."""

KEYWORDS = ("because", "therefore", "example")
_OPTION = re.compile(r"^[A-H]\) (.+)$", re.MULTILINE)
_NOT_COLUMNS = frozenset(
    ("trajectory", "completions", "completion_ids", "completion", "messages", "self", "prompt_text", "trainer_state",
     "log_extra", "log_metric", "content", "role", "text", "queries", "solution_str", "responses", "response")
) | frozenset(FIELDS) | frozenset(PLURALS)  # fmt: skip


def _keywords(task: Task) -> list[str]:
    return list(KEYWORDS)


def _options(task: Task) -> list[str]:
    return _OPTION.findall(task.prompt_text) or ["Mars", "Jupiter", "Venus", "Earth"]


def _schema(task: Task) -> dict[str, Any]:
    return {"type": "object", "required": list(task.truth) if isinstance(task.truth, dict) else ["answer"]}


def _tests(task: Task) -> Any:
    return task.columns.get("test_list", task.truth)


_MEANINGS: tuple[tuple[str, Callable[[Task], Any]], ...] = (
    (
        r"^(?:correct|right|gold|true|expected|reference|target)_(?!len|num|count|word|tok|max|min)",
        lambda task: task.truth,
    ),
    (r"keyword|required_(?:words|terms)|must_(?:have|include|contain)|^words$|^terms$", _keywords),
    (r"option|choices", _options),
    (r"schema", _schema),
    (r"test|assert|cases", _tests),
    (r"tolerance|epsilon|^tol$", lambda task: 1e-6),
    (r"max_|_max|limit|budget|target_len", lambda task: 200),
    (r"min_|_min", lambda task: 5),
    (r"weight|scale|temperature", lambda task: 1.0),
    (r"_id$|^id$|index|^step$|^split$|difficulty|level", lambda task: 1),
    (r"unit", lambda task: ""),
    (r"lang", lambda task: "python" if task.kind is Kind.PROGRAM else "en"),
    (r"question|problem|query|instruction", lambda task: task.prompt_text),
    (r"data_source|dataset", lambda task: "openai/gsm8k"),
)


@dataclass(frozen=True)
class SampleMaker:
    """Makes trajectories that a reward can read."""

    vocabulary: Vocabulary
    guesses: bool = True
    """False: every column that the code reads holds the ground truth, whatever its name is."""

    @property
    def guesses_any(self) -> bool:
        """Whether the name of a column decided what is in it."""
        return self.guesses and any(_meaning(name) is not None for names in self._asked for name in names)

    @cached_property
    def reads_tokens(self) -> bool:
        """Whether the reward's code or settings speak of tokens."""
        known = self.vocabulary
        return any("token" in text for text in (*known.texts, *known.attributes, *known.parameters)) or bool(
            {"completion_ids"} & {*known.parameters, *known.keys}
        )

    @cached_property
    def _asked(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The columns and metadata that the code reads by name."""
        columns = [name for name in self.vocabulary.parameters if name not in _NOT_COLUMNS and our_name(name) is None]
        return tuple(columns), tuple(name for name in self.vocabulary.keys if name not in _NOT_COLUMNS)

    def name_truths(self, samples: Sequence[Trajectory]) -> list[Trajectory]:
        """The samples; where they have no ground truth, and the reward reads one column whose values are in their
        responses, that column is the ground truth too.
        """
        read = [name for name in self._asked[0] if any(name in each.columns for each in samples)]
        if len(read) != 1 or any(each.ground_truth is not None for each in samples):
            return list(samples)
        values = [each.columns.get(read[0]) for each in samples]
        answers = [isinstance(value, str | int | float) and not isinstance(value, bool) for value in values]
        if not all(answers) or not all(
            str(value) in each.response for each, value in zip(samples, values, strict=True)
        ):
            return list(samples)
        return [msgspec.structs.replace(each, ground_truth=value) for each, value in zip(samples, values, strict=True)]

    def sample(self, task: Task, response: Response) -> Trajectory:
        """A response to a task, as the reward would meet it."""
        columns, metadata = self._columns(task)
        text = response if isinstance(response, str) else "\n".join(action for _, action in response)
        return Trajectory(
            prompt=task.prompt,
            response=text,
            ground_truth=task.truth,
            metadata=metadata,
            task=task.task or ("openai/gsm8k" if "data_source" in self.vocabulary.parameters else None),
            tokens=response_tokens(text) if self.reads_tokens else None,
            training_step=0,
            columns=columns,
            steps=self._steps(response),
        )

    def _columns(self, task: Task) -> tuple[dict[str, Any], dict[str, Any]]:
        columns = {**task.columns}
        metadata = {**task.metadata}
        for name in self._asked[0]:
            columns.setdefault(name, self._value(name, task))
        for name in self._asked[1]:
            metadata.setdefault(name, self._value(name, task))
        return columns, metadata

    def _value(self, name: str, task: Task) -> Any:
        meaning = _meaning(name) if self.guesses else None
        return task.truth if meaning is None else meaning(task)

    def _steps(self, response: Response) -> list[Step]:
        if not isinstance(response, str):
            return [Step(observation, action) for observation, action in response]
        if "steps" not in self.vocabulary.attributes and "steps" not in self.vocabulary.parameters:
            return []
        return [Step(observation="You see a closed door.", response=response)]


def _meaning(name: str) -> Callable[[Task], Any] | None:
    if our_name(name) == "ground_truth":
        return None
    return next((make for pattern, make in _MEANINGS if re.search(pattern, name.lower())), None)


def response_tokens(response: str) -> Tokens:
    """One token per word, each with the blanks before it; equal words have equal ids."""
    matches = list(re.finditer(r"\s*\S+|\s+\Z", response))
    ids = [zlib.crc32(match[0].strip().encode(errors="surrogatepass")) % 50_000 for match in matches]
    return Tokens(ids=ids, offsets=[match.span() for match in matches])


def with_truth(task: Task, form: Callable[[Any], Any]) -> Task:
    """The same task with its truth written another way, in its columns too."""
    truth = form(task.truth)
    columns: Mapping[str, Any] = {name: truth if value == task.truth else value for name, value in task.columns.items()}
    return Task(task.kind, task.prompt, truth, task.right, task.wrong, task.others, columns, task.metadata, task.task)


def swap_answer(task: Task, truth: Any) -> Task:
    """The task with another ground truth, written as the task writes its own."""
    columns = {name: _swap(value, task.right, truth) for name, value in task.columns.items()}
    metadata = {name: _swap(value, task.right, truth) for name, value in task.metadata.items()}
    prompt = f"Give the answer {truth}." if isinstance(task.prompt, str) else task.prompt
    swapped = _swap(task.truth, task.right, truth)
    return replace(task, prompt=prompt, truth=swapped, right=str(truth), columns=columns, metadata=metadata)


def _swap(value: Any, old: str, new: Any) -> Any:
    """Replace one answer by another everywhere in a value."""
    if isinstance(value, dict):
        return {key: _swap(inner, old, new) for key, inner in value.items()}
    if isinstance(value, list):
        return [_swap(inner, old, new) for inner in value]
    if isinstance(value, int | float) and not isinstance(value, bool):
        return type(value)(float(new)) if f"{value:g}" == old else value
    if isinstance(value, str) and old in value:
        return new if value == old else value.replace(old, str(new))
    return value


def replace_response(sample: Trajectory, response: str) -> Trajectory:
    """The same sample with another response."""
    tokens = None if sample.tokens is None else response_tokens(response)
    return msgspec.structs.replace(sample, response=response, tokens=tokens)
