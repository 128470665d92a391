"""Agent-Tunix's `agent_tunix.rewards`: the functions that its document describes, and the batch functions in its code.

Both use the same names. A call with lists of prompts and completions uses the batch function, which scores up to 3
points; any other call uses the documented function of a response and an expected answer.
"""

import re
from collections.abc import Callable, Sequence
from typing import Any

from plaudit import checks

_TAGS = ("<reasoning>", "</reasoning>", "<answer>", "</answer>")
_FORMAT = re.compile(r"^\s*<reasoning>.+?</reasoning>.*?<answer>(.+?)</answer>\s*$", re.MULTILINE | re.DOTALL)
_NUMBER = re.compile(r"<answer>.*?([\d.]+)", re.DOTALL)


def _match_format_exactly(prompts: Sequence[str], completions: Sequence[str], **_: Any) -> list[float]:
    """3.0 if reasoning and answer are in their tags, else 0.0."""
    return [3.0 if _FORMAT.search(each) else 0.0 for each in completions]


def _match_format_approximately(prompts: Sequence[str], completions: Sequence[str], **_: Any) -> list[float]:
    """+0.5 for each tag that occurs once, −0.5 for each other."""
    return [sum(0.5 if each.count(tag) == 1 else -0.5 for tag in _TAGS) for each in completions]


def _check_answer(prompts: Sequence[str], completions: Sequence[str], answer: Sequence[str], **_: Any) -> list[float]:
    """3.0 equal, 1.5 equal up to whitespace, 0.5 within 10 %, 0.25 within 20 %, −1.0 wrong, −0.5 no number, else 0."""
    matches = [_FORMAT.search(each) for each in completions]
    return [_grade(match[1], truth) if match else 0.0 for match, truth in zip(matches, answer, strict=True)]


def _grade(guess: str, truth: str) -> float:
    if guess == truth:
        return 3.0
    if guess.strip() == truth.strip():
        return 1.5
    try:
        ratio = float(guess) / float(truth)
    except (ValueError, ZeroDivisionError):
        return -0.5
    return 0.5 if 0.9 <= ratio <= 1.1 else 0.25 if 0.8 <= ratio <= 1.2 else -1.0


def _check_numbers(prompts: Sequence[str], completions: Sequence[str], answer: Sequence[str], **_: Any) -> list[float]:
    """1.5 if the first number of the answer equals the ground truth, else 0.0."""
    matches = [_NUMBER.search(each) for each in completions]
    return [_same_number(match, truth) for match, truth in zip(matches, answer, strict=True)]


def _same_number(match: re.Match[str] | None, truth: str) -> float:
    try:
        return 1.5 if match and float(match[1]) == float(truth) else 0.0
    except ValueError:
        return 0.0


def _either(documented: Callable[..., Any], batched: Callable[..., Any]) -> Callable[..., Any]:
    """The function for lists of prompts and completions, and the document's for everything else."""

    def check(*arguments: Any, **keywords: Any) -> Any:
        lists = len(arguments) > 1 and all(isinstance(each, list | tuple) for each in arguments[:2])
        called = batched if lists or "completions" in keywords else documented
        return called(*arguments, **keywords)

    check.__name__ = check.__qualname__ = documented.__name__
    check.__doc__ = documented.__doc__
    return check


def get_reward_functions() -> list[Callable[..., Any]]:
    """The functions that Agent-Tunix trains with."""
    return [_match_format_exactly, _match_format_approximately, _check_answer, _check_numbers]


STUBS: dict[str, dict[str, object]] = {
    "agent_tunix.rewards": {
        **{name: getattr(checks, name) for name in dir(checks)},
        "match_format_exactly": _either(checks.match_format_exactly, _match_format_exactly),
        "match_format_approximately": _match_format_approximately,
        "check_answer": _either(checks.check_answer, _check_answer),
        "check_numbers": _either(checks.check_numbers, _check_numbers),
        "get_reward_functions": get_reward_functions,
    },
    "agent_tunix.data": dict(
        zip(("REASONING_START", "REASONING_END", "SOLUTION_START", "SOLUTION_END"), _TAGS, strict=True)
    ),
}
