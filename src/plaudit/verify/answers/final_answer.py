"""Short answers as words: SQuAD's normal form, and one that keeps the signs of numbers; dates by value; and the final
answer of a response: in `<answer>`, in a box, in JSON, after "the answer is", else all of it.

An answer that is stated several times must be the same each time, unless words of correction or conclusion stand
between; one that is taken back ("actually, …") leaves no answer.
"""

import datetime
import json
import re
import string
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from plaudit.verify.answers.clauses import ANSWER_NOUNS, CORRECTION, IS, NEGATION, RETRACTION, clause_before
from plaudit.verify.fences import find_fences
from plaudit.verify.math.extraction.boxes import find_boxes
from plaudit.verify.patterns import compile_late
from plaudit.verify.tags import find_blocks
from plaudit.verify.text import canonical

MOST_STATEMENTS = 50
JSON_KEYS = ("answer", "final_answer")
_NOUN = "|".join(ANSWER_NOUNS)
_PHRASE = compile_late(rf"(?:{_NOUN})(?:\s+(?:to|for)\s+[\w\s']{{1,60}}?)?\s*(?:{IS}|:)[\s:*]*", re.IGNORECASE)
_HEADING = compile_late(
    rf"^#{{1,6}}[ \t]+(?:\w+[ \t]+){{0,3}}(?:{_NOUN})[ \t]*:?[ \t]*\n+", re.IGNORECASE | re.MULTILINE
)
_TENTATIVE = compile_late(r"\b(?:thought|initially|first|guess\w*|if|whether|could|might|may)\b")
_SENTENCE_END = compile_late(r"[.!?]\s|。")
_TAKEN_BACK = compile_late(rf"[\s.!?。]*(?:{RETRACTION}|or|alternatively|maybe|perhaps|either)\b", re.IGNORECASE)
_EMPHASIS = compile_late(r"\*\*|__(?=\S)|(?<=\S)__|`")
_WRAPPED = compile_late(r"\\(?:text|textbf|mathrm|mathbf)\s?\{([^{}]*)\}")
_RETRACTION = compile_late(rf"\b(?:{RETRACTION})\b", re.IGNORECASE)
_COPULA_BEHIND = ("です", "だ", "입니다", "이다")
"""The endings of a statement in languages whose verb is at the end."""


class FinalAnswer(NamedTuple):
    """The final answer of a response: the readings to try, and their source; none if answers differ."""

    readings: tuple[str, ...]
    source: str
    paragraph: str = ""
    """The whole paragraph that a phrase begins, for answers of several lines."""

    @property
    def text(self) -> str:
        """The answer with all of its lines."""
        return self.paragraph or self.readings[0]


class _Statement(NamedTuple):
    line: str
    sentence: str
    start: int
    begin: int
    """Where the answer begins."""
    end: int

    def agrees(self, other: "_Statement") -> bool:
        """Whether one of two statements begins with the other."""
        one, two = (each.sentence.strip(" .").casefold() for each in (self, other))
        return one.startswith(two) or two.startswith(one)


def find_final_answer(text: str) -> FinalAnswer:
    """The final answer of a text without thoughts."""
    if "<" in text and (blocks := find_blocks(text, "answer")):
        return _only([block.text for block in blocks], "<answer>", text[blocks[-1].end :])
    if boxes := find_boxes(text):
        if NEGATION.search(clause_before(text, boxes[-1].start)):
            return FinalAnswer((), "box, which is denied")
        return _only([_WRAPPED.sub(r"\1", box.text) for box in boxes], "box", text[boxes[-1].end :])
    if (value := _find_json_answer(text)) is not None:
        return FinalAnswer((value,), "JSON")
    plain = _EMPHASIS.sub("", canonical(text))
    statements = list(_statements(plain))
    if not statements:
        return FinalAnswer((plain.strip(),), "whole answer")
    current = statements[0]
    for statement in statements[1:]:
        if not statement.agrees(current) and not CORRECTION.search(plain, current.end, statement.start):
            return FinalAnswer((), "phrases, which differ")
        current = statement
    if _TAKEN_BACK.match(plain, current.end):
        return FinalAnswer((), "phrase, which is taken back")
    paragraph = plain[current.begin :].partition("\n\n")[0]
    return FinalAnswer(tuple(dict.fromkeys((current.line, current.sentence))), "phrase", paragraph)


def _only(texts: list[str], source: str, rest: str) -> FinalAnswer:
    """The answer where all texts are the same one, and the rest of the response does not correct it."""
    stripped = list(dict.fromkeys(text.strip() for text in texts))
    retraction = _RETRACTION.search(rest)
    corrected = retraction is not None and any(True for _ in _statements(rest[retraction.start() :]))
    return FinalAnswer(tuple(stripped) if len(stripped) == 1 and not corrected else (), source)


def _find_json_answer(text: str) -> str | None:
    """The answer of a response that is one JSON object with an answer in it, alone or in a fence."""
    if '"' not in text or not any(f'"{key}"' in text for key in JSON_KEYS):
        return None
    blocks = find_fences(text).closed
    written = (blocks[0].text if len(blocks) == 1 else text).strip()
    try:
        value = json.loads(written) if written[:1] == "{" else None
    except (ValueError, RecursionError):
        return None
    answer: Any = next((value[key] for key in JSON_KEYS if key in value), None) if isinstance(value, dict) else None
    if isinstance(answer, list) and not any(isinstance(each, list | dict) for each in answer):
        return ", ".join(map(str, answer))
    return answer if isinstance(answer, str) or answer is None else json.dumps(answer)


def _statements(text: str) -> Iterator[_Statement]:
    """The statements after "the answer is" and headings such as "Final answer", unless they are denied or tentative."""
    lowered = text.casefold()
    if not any(noun in lowered for noun in ANSWER_NOUNS):
        return
    phrases = [*_PHRASE.finditer(text), *_HEADING.finditer(text)][-MOST_STATEMENTS:]
    for phrase in sorted(phrases, key=lambda match: match.start()):
        clause = clause_before(text, phrase.start())
        if NEGATION.search(clause) or _TENTATIVE.search(clause):
            continue
        line = text[phrase.end() :].partition("\n")[0]
        sentence = _SENTENCE_END.split(line, maxsplit=1)[0]
        yield _Statement(_bare(line), _bare(sentence), phrase.start(), phrase.end(), phrase.end() + len(sentence))


def _bare(text: str) -> str:
    plain = text.strip().removesuffix("。")
    for copula in _COPULA_BEHIND:
        plain = plain.removesuffix(copula)
    return plain


_NO_PUNCTUATION = str.maketrans("", "", string.punctuation)
_PUNCTUATION = compile_late(r"[^\w\s]|_")
_ARTICLES = compile_late(r"\b(?:a|an|the)\b")
_THOUSANDS = compile_late(r"(?<=\d),(?=\d{3}(?!\d))")
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = r"(?P<month>jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?"
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_YEAR = r"(?P<year>\d{4})"
_DATES = (
    compile_late(rf"(?:on\s+)?(?:the\s+)?{_DAY}\s+(?:of\s+)?{_MONTH},?\s+{_YEAR}", re.IGNORECASE),
    compile_late(rf"(?:on\s+)?{_MONTH}\s+{_DAY},?\s+{_YEAR}", re.IGNORECASE),
    compile_late(rf"(?:on\s+)?{_YEAR}-(?P<month>\d{{1,2}})-{_DAY}"),
)


def squad_words(text: str) -> list[str]:
    """SQuAD's normal form. A text of articles alone keeps them: else any empty answer would be the answer "A"."""
    plain = canonical(text).lower().translate(_NO_PUNCTUATION)
    return _ARTICLES.sub(" ", plain).split() or plain.split()


def normal_words(text: str) -> list[str]:
    """The same, but a sign, a point or a comma of a number stays, and so does punctuation that is all there is.

    >>> normal_words("The U.S. paid $-1,000.50!")
    ['us', 'paid', '-1000.50']
    """
    plain = _THOUSANDS.sub("", canonical(text).lower().replace("−", "-"))
    kept = _PUNCTUATION.sub(lambda mark: mark[0] if _is_of_number(plain, mark.start()) else "", plain)
    return _ARTICLES.sub(" ", kept).split() or kept.split() or plain.split()


def _is_of_number(text: str, index: int) -> bool:
    """Whether a mark is between two digits, or a sign or a point before a digit."""
    if not text[index + 1 : index + 2].isdigit():
        return False
    before = text[index - 1] if index else " "
    return before.isdigit() or (text[index] in "-." and not before.isalpha())


def f1_of_words(words: Sequence[str], reference: Sequence[str]) -> float:
    """The harmonic mean of the shares of words that both have."""
    shared = (Counter(words) & Counter(reference)).total()
    return 2 * shared / (len(words) + len(reference)) if shared else 0.0


def find_date(text: str) -> datetime.date | None:
    """The day that a text is, written with the name of the month or as 1999-05-12; None for other texts."""
    for pattern in _DATES:
        if date := pattern.fullmatch(text.strip(" .")):
            month = date["month"].lower()
            number = int(month) if month.isdigit() else _MONTHS.index(month[:3]) + 1
            try:
                return datetime.date(int(date["year"]), number, int(date["day"]))
            except ValueError:
                return None
    return None
