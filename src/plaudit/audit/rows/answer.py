"""An answer that a reward pays, and what of it the row determines."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from plaudit.audit.tasks import Kind, Task

MOST_TEXT = 4000
FEW_WORDS = 5
"""A text of fewer words is an answer whose every word counts; one of more is compared as a whole."""
TOKEN = re.compile(r"(?<![\d.])\d+\.\d+(?!\.?\d)|\d+|[^\W\d_]+")
NUMBER = re.compile(r"(?<![\d.])\d+\.\d+(?!\.?\d)|\d+")
_MARKED = re.compile(r"(?:####|\\boxed\{|<answer>)\s*([^\n]*?)\s*(?:\}|</answer>)?\s*\Z")
ORDERED, UNORDERED = ("->", ">"), ("\n", ";", ",", "|")


@dataclass(frozen=True)
class Answer:
    """An answer that is paid, the values that its row determines, and the answers to other rows."""

    text: str
    task: Task
    truth: Any
    """The ground truth; if there is none, the columns that the reward reads."""
    others: tuple[str, ...] = ()
    """The answers to other rows, which differ."""
    words: tuple[str, ...] = ()
    """The words of the reward's code."""

    @cached_property
    def leaves(self) -> tuple[str, ...]:
        """The texts and numbers of the truth; of a solution, its marked answer."""
        marked = _MARKED.search(self.truth) if isinstance(self.truth, str) else None
        return tuple(_leaves(marked[1] if marked else self.truth))

    @cached_property
    def tokens(self) -> tuple[str, ...]:
        """The words and numbers of the truth, if the text holds all of them: then they must all be right."""
        tokens = [token.casefold() for leaf in self.leaves for token in TOKEN.findall(leaf)]
        is_aliases = any(one != other and one in other for one in self.leaves for other in self.leaves)
        within = {token.casefold() for token in TOKEN.findall(self.text)}
        return () if is_aliases or not within.issuperset(tokens) else tuple(tokens)

    @cached_property
    def is_whole(self) -> bool:
        """Whether the text holds nothing but the values of the truth, and keys."""
        values = sorted(token.casefold() for token in TOKEN.findall(self.text))
        return bool(self.tokens) and (values == sorted(self.tokens) or self.data is not None)

    @cached_property
    def data(self) -> Any:
        """The object or list of the text as JSON, if the truth is equal; else None."""
        truth = _read_object(self.truth) if isinstance(self.truth, str) else self.truth
        values = _read_object(self.text)
        return values if values is not None and values == truth else None

    @cached_property
    def is_object(self) -> bool:
        """Whether the text is an object or list in JSON, of whatever content."""
        return _read_object(self.text) is not None

    @property
    def other(self) -> str:
        """The answer to another row; empty if there is none."""
        return self.others[0] if self.others else ""

    @property
    def is_query(self) -> bool:
        """Whether the text is a query in SQL."""
        return re.match(r"(?:```\w*)?\s*SELECT\b", self.text, re.IGNORECASE) is not None

    @property
    def bare_words(self) -> str:
        """The words of the text without any sign; a reward that pays for them compares words."""
        return re.sub(r"[^\w\s]", " ", self.text)

    @property
    def is_prose(self) -> bool:
        """Whether the truth is a text of sentences."""
        return self.task.kind is Kind.SENTENCE or (
            bool(self.tokens)
            and len(self.leaves[0].split()) > FEW_WORDS
            and re.fullmatch(r"[^\W\d][\w',;.!?()\- \n]+", self.leaves[0]) is not None
        )

    @property
    def is_structure(self) -> bool:
        """Whether the text is a record, markup or a table."""
        values = self.data.values() if isinstance(self.data, dict) else self.data or ()
        nests = isinstance(self.data, dict) or any(isinstance(value, dict | list) for value in values)
        return nests or re.match(r"\s*[<{]|[^\n]+,[^\n]+\n", self.text) is not None

    @cached_property
    def items(self) -> tuple[str, list[str]]:
        """The separator and the items of a list; no item of a text that is none."""
        if self.is_whole and self.data is None and not self.is_prose:
            for separator in (*ORDERED, *UNORDERED):
                items = [item.strip() for item in self.text.split(separator)]
                if len(items) > 1 and all(items):
                    return (separator if separator == "\n" else f" {separator} ".replace(" ,", ",")), items
            if re.fullmatch(r"\d{1,3}(?:\.\d{1,3}){2,}", self.text):
                return ".", self.text.split(".")
        return "", []

    @property
    def is_answer(self) -> bool:
        """Whether the text commits to the truth, and does not only hold items of a list somewhere."""
        return bool(self.tokens) and (self.is_whole or isinstance(self.truth, str | dict))


def find_object(text: str, truth: Any) -> tuple[str, str, str]:
    """What stands before the object of the truth in a text, the object, and what stands after it; else all of it.

    A list of plain values is no object here: [2] is often a citation.
    """
    for match in re.finditer(r"\{|\[\s*[{\[]", text[:MOST_TEXT]):
        try:
            value, end = json.JSONDecoder().raw_decode(text, match.start())
        except (ValueError, RecursionError):
            continue
        if value == truth:
            return text[: match.start()], text[match.start() : end], text[end:]
    return "", text, ""


def _leaves(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        data = _read_object(value)
        yield from [value] if data is None else _leaves(data)
    elif isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _leaves(inner)
    elif value is not None:
        yield str(value)


def _read_object(text: str) -> Any:
    """The object or list that a text is in JSON; None for any other text."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict | list) and value else None
