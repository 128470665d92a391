"""What kinds of response there are, told from their text alone, so that rewards can be compared between kinds.

A response may be of several kinds, or of none. Forms are found in the data (digits become 9, words become a), so that
kinds nobody thought of show too.
"""

import re
from collections.abc import Callable
from functools import lru_cache

from plaudit.checks.reasoning import has_hallucination, has_reasoning_steps
from plaudit.trajectory import Trajectory
from plaudit.verify.marks import marks_in
from plaudit.verify.text import bare_words, ngrams

__all__ = ["KINDS", "kinds_of"]

SHORT, LONG = 10, 200  # words
REPEATED_SHARE = 0.5
FORM_CHARACTERS = 40

_DIGITS = re.compile(r"\d+")
_LETTERS = re.compile(r"[^\W\d_]+")
_SPACE = re.compile(r"\s+")


def kinds_of(trajectory: Trajectory) -> frozenset[str]:
    """The kinds that a response belongs to."""
    kinds = _text_kinds(trajectory.response)
    return kinds | {"cut off at the length limit"} if _is_cut_off(trajectory) else kinds


@lru_cache(maxsize=4096)  # a policy that has learnt something says the same again and again
def _text_kinds(response: str) -> frozenset[str]:
    return frozenset({name for name, holds in KINDS.items() if holds(response)} | {_form(response)})


def _is_cut_off(trajectory: Trajectory) -> bool:
    return trajectory.metadata.get("finish_reason") == "length"


def _form(response: str) -> str:
    """The shape of a short response, the first words of a long one."""
    text = _SPACE.sub(" ", response.strip())
    if len(text) <= FORM_CHARACTERS:
        return f"of the form {_LETTERS.sub('a', _DIGITS.sub('9', text))!r}"
    return f"begins with {' '.join(text.split()[:2])!r:.40}"


def _is_empty(response: str) -> bool:
    return not response.strip()


def _is_short(response: str) -> bool:
    return 0 < len(response.split()) < SHORT


def _is_long(response: str) -> bool:
    return len(response.split()) > LONG


def _repeats(response: str) -> bool:
    runs = ngrams(bare_words(response), 3)
    return len(runs) > 3 and 1 - len(set(runs)) / len(runs) >= REPEATED_SHARE


def _states_answer(response: str) -> bool:
    return bool(marks_in(response))


def _states_rivals(response: str) -> bool:
    return len({mark.text.strip() for mark in marks_in(response)}) > 1


def _has_code(response: str) -> bool:
    return "```" in response


def _leaves_tag_open(response: str) -> bool:
    opened = re.findall(r"<(\w+)>", response)
    return any(response.count(f"</{tag}>") < response.count(f"<{tag}>") for tag in set(opened))


KINDS: dict[str, Callable[[str], bool]] = {
    "empty": _is_empty,
    f"shorter than {SHORT} words": _is_short,
    f"longer than {LONG} words": _is_long,
    "repeats itself": _repeats,
    "states an answer": _states_answer,
    "states different answers": _states_rivals,
    "reasons in steps": has_reasoning_steps,
    "states false arithmetic": has_hallucination,
    "holds a code block": _has_code,
    "leaves a tag open": _leaves_tag_open,
}
