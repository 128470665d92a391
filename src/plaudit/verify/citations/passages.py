"""The passages that a row gives: in its columns, or in its prompt."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from plaudit.errors import InvalidTrajectory
from plaudit.trajectory import Trajectory
from plaudit.verify.patterns import compile_late
from plaudit.verify.rows import columns_of, find_column, read_literal

__all__ = ["Passage", "Passages", "find_passages", "need_passages", "read_ids"]

COLUMNS = ("docs", "documents", "passages", "sources", "ctxs", "contexts")
MOST_PASSAGES = 1_000
_TEXTS = ("text", "passage", "content", "contents", "passage_text", "snippet")
_IDS = ("id", "doc_id", "docid", "_id", "citationId", "pid")
_KIND = r"(?:document|doc|passage|source|part|snippet|context)"
_MARKER = compile_late(
    rf"^[ \t]*(?:\[(?:{_KIND}\s+)?(?P<bracket>[\w.:-]{{1,40}})\]:?|{_KIND}\s+\[?(?P<named>[\w.-]{{1,40}})\]?"
    r"\s*(?=[(:]))[ \t]*(?:\(title:\s*(?P<title>[^()\n]*(?:\([^()\n]*\)[^()\n]*)*)\))?[ \t]*:?",
    re.IGNORECASE | re.MULTILINE,
)
_TAG = compile_late(
    rf"<(?P<kind>{_KIND})\s+[^<>]*\bid=[\"']?(?P<id>[\w.:-]{{1,40}})[\"']?[^<>]*>(?P<text>.*?)</(?P=kind)>",
    re.IGNORECASE | re.DOTALL,
)
_AFTER = compile_late(r"^[ \t]*(?:question|query|q|answer|instructions?|task)\s*:", re.IGNORECASE | re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Passage:
    """One passage; the id is the name by which it is cited."""

    id: str
    title: str
    text: str


@dataclass(frozen=True)
class Passages:
    """The passages of a row in order."""

    items: tuple[Passage, ...]

    @cached_property
    def by_id(self) -> dict[str, Passage]:
        """Passages by id; by their number from 1 on as well, unless an id is such a number."""
        named = {passage.id: passage for passage in self.items}
        numbers = {str(number): passage for number, passage in enumerate(self.items, 1)}
        return named if named.keys() & numbers.keys() else {**numbers, **named}


def need_passages(sample: Trajectory) -> Passages:
    """The passages of a row; raises InvalidTrajectory where it has none."""
    passages = find_passages(sample)
    if passages is None:
        listed = ", ".join(columns_of(sample))
        raise InvalidTrajectory(
            f"the row has no passages: neither {' nor '.join(COLUMNS[:3])}, nor in the prompt ({listed})"
        )
    return passages


def find_passages(sample: Trajectory) -> Passages | None:
    """The passages of a row, or None; raises InvalidTrajectory for some that cannot be read."""
    written = read_literal(find_column(sample, *COLUMNS))
    items = _of_prompt(sample.prompt_text) if written is None else _of_column(written)
    if not items:
        return None
    if len({item.id for item in items}) != len(items):
        raise InvalidTrajectory("two passages have the same id")
    if len(items) > MOST_PASSAGES:
        raise InvalidTrajectory(f"a row has at most {MOST_PASSAGES:,} passages, got {len(items):,}")
    return Passages(tuple(items))


def _of_column(written: Any) -> list[Passage]:
    if not isinstance(written, list | tuple) or not written:
        raise InvalidTrajectory(f"passages are a list of objects with id, title and text, got {written!r:.60}")
    return [_read(each, number) for number, each in enumerate(written, 1)]


def _read(value: Any, number: int) -> Passage:
    if isinstance(value, str):
        value = {"text": value}
    text = next((value[name] for name in _TEXTS if name in value), None) if isinstance(value, Mapping) else None
    if not isinstance(text, str) or not text.strip():
        raise InvalidTrajectory(f"a passage is an object with a text, got {value!r:.60}")
    name = next((value[key] for key in _IDS if value.get(key) is not None), number)
    if isinstance(name, bool) or not isinstance(name, str | int) or not str(name).strip():
        raise InvalidTrajectory(f"the id of a passage is a text or a number, got {name!r:.60}")
    return Passage(str(name).strip(), str(value.get("title") or ""), text)


def _of_prompt(prompt: str) -> list[Passage]:
    """Passages that begin a line with `[1]` or `Document [1](Title: …):`, or that are in tags with an id."""
    if tagged := list(_TAG.finditer(prompt)):
        return [Passage(tag["id"], "", tag["text"].strip()) for tag in tagged]
    markers = list(_MARKER.finditer(prompt))
    ends = [*(marker.start() for marker in markers[1:]), len(prompt)]
    items = []
    for marker, end in zip(markers, ends, strict=False):  # without markers there is one end
        text = _AFTER.split(prompt[marker.end() : end], maxsplit=1)[0].strip()
        if text:
            items.append(Passage(marker["bracket"] or marker["named"], (marker["title"] or "").strip(), text))
    return items


def read_ids(name: str, value: Any) -> tuple[str, ...]:
    """A column with ids of passages: a list of texts or numbers, or one."""
    listed = read_literal(value)
    listed = [listed] if isinstance(listed, str | int) and not isinstance(listed, bool) else listed
    if listed is None:
        return ()
    valid = isinstance(listed, Sequence) and all(isinstance(each, str | int) and str(each).strip() for each in listed)
    if not valid:
        raise InvalidTrajectory(f"{name} is a list of ids, got {value!r:.60}")
    return tuple(dict.fromkeys(str(each).strip() for each in listed))
