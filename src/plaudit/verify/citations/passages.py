"""The passages that a row gives, in its columns or in its prompt, and whether they support a sentence.

Words cannot prove support, so the conditions of `find_unsupported` are necessary ones: a sentence that breaks one is
not supported.
"""

import functools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from plaudit.errors import InvalidTrajectory
from plaudit.trajectory import Trajectory
from plaudit.verify.number_words import digits_for_words
from plaudit.verify.patterns import compile_late
from plaudit.verify.rows import columns_of, find_column, read_literal
from plaudit.verify.text import bare_words

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


LEAST_SHARE = 1 / 3
"""The share of the content words of a sentence that its passages have together."""
LEAST_OF_BEST = 0.5
"""The share of telling words that a cited passage has, relative to the passage that has most."""
_STOP_WORDS = {
    "a", "an", "the", "of", "in", "on", "at", "to", "for", "by", "with", "from", "as", "and", "or", "but", "nor",
    "so", "if", "then", "than", "that", "this", "these", "those", "there", "here", "it", "its", "he", "she", "they",
    "them", "his", "her", "their", "him", "we", "you", "i", "is", "are", "was", "were", "be", "been", "being",
    "has", "have", "had", "do", "does", "did", "will", "would", "can", "could", "may", "might", "must", "shall",
    "should", "which", "who", "whom", "whose", "what", "when", "where", "why", "how", "also", "into", "over",
    "under", "about", "after", "before", "between", "during", "through", "while", "because", "however", "both",
    "each", "other", "some", "any", "all", "more", "most", "such", "only", "own", "same", "very", "up", "down",
    "out", "off", "again", "further", "once", "according", "based", "passage", "document", "source", "text",
    "many", "several", "few", "much", "every", "another", "either", "one", "people", "thus", "hence", "therefore",
    "today", "now", "overall", "still", "even", "just", "since", "although", "though", "among", "within", "despite",
}  # fmt: skip
_NUMBER = compile_late(r"\d[\d,]*(?:\.\d+)?")
_NAME = compile_late(r"(?<=[\w,;)] )[A-Z][\w'’-]+")
NEGATION = compile_late(r"\b(?:not|never|cannot|neither|nor|without)\b|n['’]t\b", re.IGNORECASE)
_FIRST_WORD = compile_late(r"\W*+([\w'’-]++)(?!,)")
_SHORT_NAME = 3


def find_unsupported(
    sentence: str, parts: Sequence[tuple[str, Sequence[Passage]]], passages: Passages, question: str
) -> str | None:
    """The reason why the passages cited after the parts of a sentence do not support it; None if they meet all
    conditions.

    1. Every number and every name of the sentence is in one of them, or in the question. The first word counts as a
       name if all other content words are there.
    2. They have at least a third of its content words that the question does not have.
    3. Each has at least half as many telling words of its part as the passage that has most. Telling are words that
       some passages have and others not.
    4. A sentence that denies needs a passage that denies.
    """
    texts = [_whole(passage) for _, cited in parts for passage in cited]
    known_numbers = _numbers(question).union(*map(_numbers, texts))
    if missing := sorted(_numbers(sentence) - known_numbers):
        return f"{missing[0]} is not in the passage"
    known_names = _name_stems(question).union(*map(_name_stems, texts))
    if unknown := [name for name in _NAME.findall(sentence) if not _is_known(name, known_names)]:
        return f"{unknown[0]} is not in the passage"
    known_words: frozenset[str] = frozenset().union(*map(_stems, texts))
    new_words = _stems(sentence) - _stems(question) - known_words
    first = _FIRST_WORD.match(sentence)
    if first is not None and new_words and new_words == _stems(first[1]):
        return f"{first[1]} is not in the passage"
    words = _stems(sentence) - _stems(question) or _stems(sentence)
    if words and len(words & known_words) < LEAST_SHARE * len(words):
        return "too few of its words are in the passage"
    if NEGATION.search(sentence) and not any(NEGATION.search(text) for text in texts):
        return "it denies what the passage does not deny"
    return next(
        (fault for text, cited in parts if (fault := _find_better(_stems(text) or words, cited, passages))), None
    )


def _find_better(words: frozenset[str], cited: Sequence[Passage], passages: Passages) -> str | None:
    stems = {passage.id: _stems(_whole(passage)) for passage in passages.items}
    in_all = frozenset.intersection(*stems.values())
    telling = {name: len((words - in_all) & known) for name, known in stems.items()}
    best = max(telling, key=telling.__getitem__)
    for passage in cited:
        if telling[passage.id] < LEAST_OF_BEST * telling[best]:
            return f"passage {passage.id} is not about it, passage {best} is"
    return None


def _whole(passage: Passage) -> str:
    return f"{passage.title} {passage.text}"


@functools.lru_cache(maxsize=2048)
def _stems(text: str) -> frozenset[str]:
    """Content words, cut so that usual endings do not matter."""
    words = (word for word in bare_words(text.replace("-", " ")) if word not in _STOP_WORDS)
    return frozenset(_stem(word) for word in words)


def _stem(word: str) -> str:
    plain = word.replace("’", "'").removesuffix("'s").replace(",", "")
    return (plain[:-1] if len(plain) > 3 and plain.endswith("s") and not plain.endswith("ss") else plain)[:6]


@functools.lru_cache(maxsize=2048)
def _numbers(text: str) -> frozenset[str]:
    written = _NUMBER.findall(digits_for_words(text) + " " + text)
    return frozenset(number.replace(",", "").strip(".") for number in written)


@functools.lru_cache(maxsize=2048)
def _name_stems(text: str) -> frozenset[str]:
    return frozenset(word[:4] for word in bare_words(text.replace("-", " ")))


def _is_known(name: str, known: frozenset[str]) -> bool:
    parts = [part for part in bare_words(name.replace("-", " ")) if part not in _STOP_WORDS]
    short = len(name) <= _SHORT_NAME and name.isupper()  # US for United States
    return short or all(part[:4] in known for part in parts)
