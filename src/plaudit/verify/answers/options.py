"""The options of a question, and which of them are right, from the columns of a row."""

import itertools
import string
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from plaudit.errors import InvalidTrajectory
from plaudit.trajectory import Trajectory
from plaudit.verify.math.choices import find_options
from plaudit.verify.patterns import compile_late
from plaudit.verify.rows import cache_by_content, find_column, is_at_least, need_truth, read_literal
from plaudit.verify.text import canonical

MOST_OPTIONS = 26
MOST_SPANS = 200
LONGEST_TEXT = 600
_NUMBERED = compile_late(r"^[ \t]*[(\[]?(\d{1,2})[.):\]][ \t]+(\S.*)$", 8)
_ARTICLE = compile_late(r"(?:a|an|the) (?=\w)")
_FIRST_OF_ARTICLES = ("a", "t")
_BEFORE_TEXT = (" ", "\t", '"', "'", "“", "‘", "(")
_LIST = compile_late(r"[,;&/\s]+(?:and\s+)?")
FAMILIES: tuple[tuple[str, ...], ...] = (("yes", "no", "maybe"), ("true", "false", "unknown"))
YES_OR_NO = (("yes", "true"), ("no", "false"))


@dataclass(frozen=True, slots=True)
class Option:
    """One option: the labels and the texts, in lower case, that name it."""

    labels: tuple[str, ...]
    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Options:
    """The options of a question, and how to find them."""

    listed: tuple[Option, ...]
    by_label: Mapping[str, int]
    by_text: tuple[tuple[str, int], ...]
    """Texts with the index of their option, the longest first."""
    by_first: Mapping[str, tuple[tuple[str, int], ...]]
    """The same by the first character of the text."""

    def __len__(self) -> int:
        return len(self.listed)

    def find_label(self, name: str) -> int | None:
        """The option that has this label."""
        return self.by_label.get(name.lower())

    def find_position(self, number: str) -> int | None:
        """The option with this number as its label, else the one at this place."""
        labelled = self.find_label(number)
        if labelled is not None or not 1 <= int(number) <= len(self):
            return labelled
        return int(number) - 1

    def text_at(self, segment: str, position: int = 0) -> tuple[int, int] | None:
        """The option whose text begins at a position, the longest; and where it ends."""
        while segment[position : position + 1] in _BEFORE_TEXT:
            position += 1
        first = segment[position : position + 1].lower()
        if first not in self.by_first and first not in _FIRST_OF_ARTICLES:
            return None
        piece = segment[position : position + LONGEST_TEXT]
        lowered, start = piece.replace("_", " ").casefold(), 0
        if len(lowered) != len(piece):
            return None
        article = _ARTICLE.match(lowered) if first in _FIRST_OF_ARTICLES else None
        for begin in (start,) if article is None else (start, article.end()):
            for text, index in self.by_first.get(lowered[begin : begin + 1], ()):
                if lowered.startswith(text, begin) and ends_name(lowered, begin + len(text)):
                    return index, position + begin + len(text)
        return None

    def text_spans(self, lowered: str) -> list[tuple[int, int, int]]:
        """The spans of the options' texts in a text, the longest first; none inside another."""
        spans: list[tuple[int, int, int]] = []
        for text, index in self.by_text:
            start = lowered.find(text)
            while start >= 0 and len(spans) < MOST_SPANS:
                end = start + len(text)
                inside = any(one < end and start < other for one, other, _ in spans)
                if not inside and ends_name(lowered, end) and starts_name(lowered, start):
                    spans.append((start, end, index))
                start = lowered.find(text, end)
        return spans


@dataclass(frozen=True, slots=True)
class Question:
    """The options of a row, and the indices of the right ones."""

    options: Options
    right: frozenset[int]

    def describe(self, selection: frozenset[int]) -> str:
        """Options in words."""
        listed = self.options.listed
        names = [listed[index].labels or listed[index].texts for index in sorted(selection)]
        return ", ".join(name[0].upper() if len(name[0]) == 1 else name[0][:60] for name in names)


def fold(text: str) -> str:
    """Text for comparison: one case, single spaces, no marks around it."""
    return " ".join(canonical(text).replace("_", " ").casefold().split()).strip(" .,;:!\"'“”‘’`*$")


def read_question(sample: Trajectory) -> Question:
    """A multiple-choice question; raises InvalidTrajectory for a row without options or a right answer among them."""
    listed = find_column(sample, "choices", "options")
    lettered = None if listed is not None else [find_column(sample, letter) for letter in string.ascii_uppercase]
    answers = [find_column(sample, "answerKey"), find_column(sample, "answer_index"), sample.ground_truth]
    answers = [answer for answer in answers if answer is not None and answer != ""]
    if not answers:
        need_truth(sample)
    return _read_question(listed, lettered, sample.prompt_text, answers)


@cache_by_content
def _read_question(listed: Any, lettered: list[Any] | None, prompt: str, answers: list[Any]) -> Question:
    """The question of a list of options, of options in columns, or of options in the prompt."""
    labels, texts = _read_options(read_literal(listed), lettered or [], prompt)
    options = _index_options(tuple(_option(index, labels, text) for index, text in enumerate(texts)))
    return Question(options, _read_right(answers, options))


def read_labels(sample: Trajectory) -> Question:
    """A question whose answer is one of a few labels."""
    return _read_labels(
        need_truth(sample, "final_decision"), find_column(sample, "labels", "label_names", "classes", "choices")
    )


@cache_by_content
def _read_labels(truth: Any, written: Any) -> Question:
    listed = read_literal(written)
    if listed is None:
        families = [YES_OR_NO] if isinstance(truth, bool) else [tuple((name,) for name in names) for names in FAMILIES]
        texts = next((texts for texts in families if isinstance(truth, bool) or _is_among(truth, texts)), None)
        if texts is None:
            raise InvalidTrajectory(f"the row has no column labels, and {truth!r:.60} is not one of {FAMILIES}")
    else:
        texts = tuple((fold(text) or text.strip().casefold(),) for text in _texts("labels", listed))
    options = _index_options(tuple(Option((), text) for text in texts))
    truth = 1 - int(truth) if isinstance(truth, bool) and listed is None else truth
    return Question(options, frozenset({_index_of(truth, options)}))


def _is_among(truth: Any, texts: tuple[tuple[str, ...], ...]) -> bool:
    return isinstance(truth, str) and (fold(truth),) in texts


def _read_options(listed: Any, lettered: list[Any], prompt: str) -> tuple[Sequence[str] | None, list[str]]:
    """The labels, None where they are the letters from A on, and the texts."""
    if listed is None:
        return _options_in_columns(lettered) or _options_in_prompt(prompt)
    if isinstance(listed, Mapping) and {"text", "label"} <= listed.keys():
        labels, texts = listed["label"], listed["text"]
        if not isinstance(labels, list) or not isinstance(texts, list) or len(labels) != len(texts):
            raise InvalidTrajectory("choices needs as many labels as texts")
        return [str(label) for label in labels], _texts("choices", texts)
    if isinstance(listed, list) and listed and all(isinstance(each, Mapping) for each in listed):
        pairs = [(label, text) for each in listed for label, text in each.items() if text is not None]
        listed = {str(label): text for label, text in pairs} if len(pairs) == len(listed) else listed
    if isinstance(listed, Mapping):
        return [str(label) for label in listed], _texts("options", list(listed.values()))
    return _numbers_in_prompt(prompt, len(listed) if isinstance(listed, list) else 0), _texts("options", listed)


def _options_in_columns(lettered: list[Any]) -> tuple[Sequence[str] | None, list[str]] | None:
    texts = list(itertools.takewhile(lambda text: text is not None, lettered))
    return (None, _texts("A, B, …", texts)) if texts else None


def _options_in_prompt(prompt: str) -> tuple[Sequence[str] | None, list[str]]:
    if lettered := find_options(prompt):
        return list(lettered), list(lettered.values())
    numbered = _NUMBERED.findall(prompt)
    if len(numbered) > 1 and [number for number, _ in numbered] == [str(n + 1) for n in range(len(numbered))]:
        return [number for number, _ in numbered], [text for _, text in numbered]
    raise InvalidTrajectory("the row has no options: no column choices or options, and none listed in the prompt")


def _numbers_in_prompt(prompt: str, count: int) -> list[str] | None:
    """The labels 1, 2, …, where the prompt numbers as many options so."""
    wanted = [str(number + 1) for number in range(count)]
    if not count or f"\n{count}" not in prompt:
        return None
    return wanted if [number for number, _ in _NUMBERED.findall(prompt)] == wanted else None


def _option(index: int, labels: Sequence[str] | None, text: str) -> Option:
    letter = string.ascii_lowercase[index] if index < MOST_OPTIONS else ""
    label = letter if labels is None else labels[index].strip().lower()
    names = (label, letter) if label.isdigit() else (label,)  # letters name options that have numbers by their order
    folded = fold(text) or text.strip().casefold()
    bare = _ARTICLE.sub("", folded, count=1) if _ARTICLE.match(folded) else folded
    return Option(names, (folded,) if bare == folded else (folded, bare))


def _texts(column: str, values: Any) -> list[str]:
    if not isinstance(values, list) or not all(isinstance(each, str | int | float) for each in values):
        raise InvalidTrajectory(f"{column} is a list of texts, got {values!r:.80}")
    texts = [str(each) for each in values]
    if not all(fold(text) or text.strip() for text in texts):
        raise InvalidTrajectory(f"{column} has an empty option: {values!r:.80}")
    return texts


def _index_options(listed: tuple[Option, ...]) -> Options:
    if not 2 <= len(listed) <= MOST_OPTIONS:
        raise InvalidTrajectory(f"a question has 2 to {MOST_OPTIONS} options, got {len(listed)}")
    labels = [option.labels[0] for option in listed if option.labels]
    for names in (labels, [option.texts[0] for option in listed]):
        if len(set(names)) != len(names):
            raise InvalidTrajectory(f"two options are the same: {names!r:.120}")
    by_label = {label: index for index, option in reversed(list(enumerate(listed))) for label in option.labels[::-1]}
    texts = [(text, index) for index, option in enumerate(listed) for text in option.texts]
    by_text = tuple(sorted(texts, key=lambda each: -len(each[0])))
    firsts = {text[:1]: tuple(each for each in by_text if each[0][:1] == text[:1]) for text, _ in by_text}
    return Options(listed, by_label, by_text, firsts)


def _read_right(answers: list[Any], options: Options) -> frozenset[int]:
    readings = {_indices_of(answer, options) for answer in answers}
    if len(readings) > 1:
        raise InvalidTrajectory(f"the columns name different answers: {', '.join(repr(each)[:40] for each in answers)}")
    return readings.pop()


def _indices_of(answer: Any, options: Options) -> frozenset[int]:
    if isinstance(answer, str) and answer.lstrip()[:1] == "[":
        answer = read_literal(answer)
    if isinstance(answer, list | tuple) and answer:
        return frozenset(_index_of(each, options) for each in answer)
    parts = [part.strip("()") for part in _LIST.split(answer.strip())] if isinstance(answer, str) else []
    if len(parts) > 1 and all(part.lower() in options.by_label for part in parts):
        return frozenset(_index_of(part, options) for part in parts)
    return frozenset({_index_of(answer, options)})


def _index_of(answer: Any, options: Options) -> int:
    if is_at_least(answer, 0) and answer < len(options) and answer == int(answer):  # 1.0 in tables with nulls
        return int(answer)
    if isinstance(answer, str):
        label, text = answer.strip().strip("().").lower(), fold(answer)
        for index, option in enumerate(options.listed):
            if label in option.labels[:1]:
                return index
        for name, index in options.by_text:
            if text == name:
                return index
        if label.isdigit() and int(label) < len(options):
            return int(label)
    raise InvalidTrajectory(f"the right answer {answer!r:.60} is none of the {len(options)} options")


def ends_name(text: str, position: int) -> bool:
    """Whether a name that ends here is not part of a longer word or number."""
    after = text[position : position + 2]
    if not after or not (after[0].isalnum() or after[0] in "%^") or not text[position - 1].isascii():
        return not (after[:1] in (".", ",") and after[1:].isdigit() and text[position - 1].isdigit())
    return False


def starts_name(text: str, position: int) -> bool:
    before = text[max(0, position - 1) : position]
    return not (before.isalnum() and before.isascii()) and before not in ("-", "/", "^")
