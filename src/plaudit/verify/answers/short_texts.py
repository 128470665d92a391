"""Short answers as words: SQuAD's normal form, and one that keeps the signs of numbers; dates by value."""

import datetime
import re
import string
from collections import Counter
from collections.abc import Sequence

from plaudit.verify.patterns import compile_late
from plaudit.verify.text import canonical

__all__ = ["f1_of_words", "find_date", "normal_words", "squad_words"]

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
    """Whether a mark is between two digits, or a sign or a point before one."""
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
