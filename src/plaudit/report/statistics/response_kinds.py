"""Classify responses by their text alone, so that rewards can be compared between kinds.

A response may be of several kinds, or of none. Forms are found in the data (digits become 9, words become a), so that
unexpected kinds show too. Short responses are also compared with a short ground truth, character by character.
"""

import re
from collections.abc import Callable
from functools import lru_cache

from plaudit.checks.quality import has_hallucination, has_reasoning_steps
from plaudit.trajectory import Trajectory
from plaudit.verify.math.extraction.candidates import find_marks
from plaudit.verify.text import bare_words, ngrams

__all__ = ["KINDS", "NEAR_KINDS", "find_kinds"]

SHORT, LONG = 10, 200  # words
REPEATED_SHARE = 0.5
FORM_CHARACTERS = 40

_DIGITS = re.compile(r"\d+")
_LETTERS = re.compile(r"[^\W\d_]+")
_SPACE = re.compile(r"\s+")


def find_kinds(trajectory: Trajectory) -> frozenset[str]:
    """The kinds that a response belongs to."""
    truth = trajectory.ground_truth
    kinds = _text_kinds(trajectory.response) | _near_kinds(trajectory.response.strip(), str(truth).strip())
    return kinds | {"cut off at the length limit"} if _is_cut_off(trajectory) else kinds


@lru_cache(maxsize=4096)  # a policy that has learnt something says the same again and again
def _text_kinds(response: str) -> frozenset[str]:
    kinds = {name for name, holds in KINDS.items() if holds(response)}
    return frozenset(kinds | {_form(response)} if response.strip() else kinds)


def _near_kinds(response: str, truth: str) -> set[str]:
    if not 0 < len(response) <= FORM_CHARACTERS or not 1 < len(truth) <= FORM_CHARACTERS or response == truth:
        return set()
    return {name for name, holds in NEAR_KINDS.items() if holds(response, truth)}


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
    return bool(find_marks(response))


def _states_rivals(response: str) -> bool:
    return len({mark.text.strip() for mark in find_marks(response)}) > 1


def _has_code(response: str) -> bool:
    return "```" in response


def _leaves_tag_open(response: str) -> bool:
    opened = re.findall(r"<(\w+)>", response)
    return any(response.count(f"</{tag}>") < response.count(f"<{tag}>") for tag in set(opened))


def _is_reordered(response: str, truth: str) -> bool:
    return sorted(response) == sorted(truth)


def _is_one_off(response: str, truth: str) -> bool:
    """Whether one character put in, left out or exchanged makes the one into the other."""
    if abs(len(response) - len(truth)) > 1:
        return False
    start = _shared_prefix(response, truth)
    end = _shared_prefix(response[start:][::-1], truth[start:][::-1])
    return max(len(response), len(truth)) - start - end <= 1


def _shared_prefix(one: str, other: str) -> int:
    """How many characters both begin with."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((index for index, (a, b) in pairs if a != b), min(len(one), len(other)))


def _is_longer(response: str, truth: str) -> bool:
    return len(response) > len(truth)


def _is_shorter(response: str, truth: str) -> bool:
    return len(response) < len(truth)


NEAR_KINDS: dict[str, Callable[[str, str], bool]] = {
    "has the ground truth's characters in another order": _is_reordered,
    "is one character away from the ground truth": _is_one_off,
    "is longer than the ground truth": _is_longer,
    "is shorter than the ground truth": _is_shorter,
}
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
