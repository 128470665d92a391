"""Does a response have the form that was asked for?"""

from plaudit.verify.templates import TemplateMatch, match_template
from plaudit.verify.text import words

__all__ = ["check_format", "evaluate_format", "match_format_exactly"]

_VALUES = {TemplateMatch.PERFECT: 1.0, TemplateMatch.PARTIAL: 0.5, TemplateMatch.NONE: 0.0}


def match_format_exactly(response: str, expected_format: str) -> float:
    """1.0 when the response closes with the template's statement, 0.5 for a partial match, else 0.0.

    `[NUM]`, `[WORD]` and `[TEXT]` are placeholders. Measures form alone: any number fills `[NUM]`.

    >>> match_format_exactly("The answer is 4.", "The answer is [NUM].")
    1.0
    """
    return _VALUES[match_template(response, expected_format)]


def check_format(response: str, expected_format: str) -> float:
    """The value of `match_format_exactly`; 0.8 and more means a perfect match."""
    return match_format_exactly(response, expected_format)


def evaluate_format(response: str, expected_format: str | None = None) -> float:
    """How well the response fits the template; where none was asked for, any readable response fits.

    Cannot judge whether a free response is well laid out.
    """
    if expected_format is None:
        return 1.0 if words(response) else 0.0
    return match_format_exactly(response, expected_format)
