"""Changes of a known solution: some must still be paid, others must not."""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from plaudit.audit.environments.policies import ENDINGS, write_call
from plaudit.verify.tools.parsing import MalformedCall, parse_tool_calls

_ORDERED = re.compile(r"(?i)\bin (?!any\b|no\b|whatever\b)(?:\w+ ){0,2}(?:order|sequence)\b(?! to\b)")
"""The steps of the task have an order."""


class ChangedSolution(NamedTuple):
    """Actions made from a solution; `is_right` if they still reach the goal."""

    name: str
    actions: list[str]
    is_right: bool
    remedy: str


def words_of(actions: Sequence[str]) -> list[str]:
    """The actions of a solution that call nothing."""
    return [action for action in actions if not parse_tool_calls(action)]


def without_one_call(actions: Sequence[str]) -> list[list[str]]:
    """The actions without one of those that call, in turn; empty if fewer than two call."""
    called = [index for index, action in enumerate(actions) if parse_tool_calls(action)]
    return [[*actions[:index], *actions[index + 1 :]] for index in called] if len(called) > 1 else []


def _in_reverse(actions: Sequence[str]) -> list[str]:
    """The calls in reverse and the words where they were, or all actions in reverse if none calls."""
    called = [index for index, action in enumerate(actions) if parse_tool_calls(action)] or range(len(actions))
    reverse = list(actions)
    for index, other in zip(called, reversed(called), strict=True):
        reverse[index] = actions[other]
    return reverse


def change_solution(
    actions: Sequence[str], *, prompt: str = "", calls_matter: bool = True
) -> Iterator[ChangedSolution]:
    """The changes of a solution whose effect is known.

    Where the prompt asks for an order, it matters.
    Calls do not matter where the words of the solution alone earn as much: what such calls look up may be wrong.
    """
    calls = [parse_tool_calls(action) for action in actions]
    if _ORDERED.search(prompt) and (reverse := _in_reverse(actions)) != list(actions):
        yield ChangedSolution("the steps in reverse", reverse, False, "compare the steps with their order")
    if not any(calls) and len(actions) > 2:
        half = [*actions[: len(actions) // 2], *[ENDINGS[0]] * (len(actions) - len(actions) // 2)]
        yield ChangedSolution("half of the solution", half, False, "pay when the goal is reached, not on the way to it")
    if all(re.fullmatch(r"\w{4,}", action) for action in actions):
        cut = [f"{action[: len(action) // 2]}zz" for action in actions]
        yield ChangedSolution("words with another second half", cut, False, "compare whole words")
    if any(isinstance(call, MalformedCall) for each in calls for call in each) or not any(calls):
        return
    remedy = "compare the arguments of calls, or better what the calls changed"
    if calls_matter and any(call.arguments for each in calls for call in each):  # type: ignore[union-attr]
        yield ChangedSolution("calls with wrong arguments", _rewrite(actions, calls, _spoil), False, remedy)
        yield ChangedSolution("calls without arguments", _rewrite(actions, calls, lambda _: {}), False, remedy)
    claims = [ENDINGS[0]] * max(1, len(words_of(actions)))
    yield ChangedSolution("the solution without its calls", claims, False, "judge what was done, not what was said")
    other = [
        "\n".join(f"<tool_call>\n{json.dumps(_as_object(call), indent=1)}\n</tool_call>" for call in each) or action
        for action, each in zip(actions, calls, strict=True)
    ]
    if all("<tool_call>" in action for action, each in zip(actions, calls, strict=True) if each):
        remedy = "parse calls: spaces and the order of keys in JSON mean nothing"
        yield ChangedSolution("the same calls in other JSON", other, True, remedy)


def contains_solution(actions: Sequence[str], solution: Sequence[str]) -> bool:
    """Whether actions contain all calls of a solution, or its text if it has no calls: they solve it by accident."""
    calls = [call for action in solution for call in parse_tool_calls(action)]
    if not calls:
        return bool(solution) and all(action in actions for action in solution)
    made = [call for action in actions for call in parse_tool_calls(action)]
    return all(call in made for call in calls)


def _as_object(call: Any) -> dict[str, Any]:
    return {"arguments": call.arguments, "name": call.name}


def _rewrite(
    actions: Sequence[str], calls: Sequence[Sequence[Any]], change: Callable[[dict[str, Any]], dict[str, Any]]
) -> list[str]:
    return [
        "\n".join(write_call(call.name, change(call.arguments)) for call in each) if each else action
        for action, each in zip(actions, calls, strict=True)
    ]


def _spoil(arguments: dict[str, Any]) -> dict[str, Any]:
    return {name: _spoil_value(value) for name, value in arguments.items()}


def _spoil_value(value: Any) -> Any:
    if isinstance(value, bool) or value is None:
        return value is not True
    if isinstance(value, int | float):
        return value + 7919
    if isinstance(value, list):
        return list(map(_spoil_value, value))
    return _spoil(value) if isinstance(value, dict) else f"{value}zz"
