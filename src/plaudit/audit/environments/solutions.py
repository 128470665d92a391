"""Changed solutions: changes of what the task names must cost the reward, changes of form must not."""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from plaudit.audit.environments.playing import scripted
from plaudit.audit.environments.policies import ENDINGS, Case
from plaudit.audit.environments.target import Target, call_places, replace_call, words_of, write_call
from plaudit.audit.rows.objects import change_values
from plaudit.verify.tools.parsing import MalformedCall, ToolCall, parse_tool_calls

WRONG, UNPAID = "reward without goal", "goal without reward"
NEXT = 3
"""How many other starts lend their solutions and values to a start."""
_ORDERED = re.compile(r"(?i)\bin (?!any\b|no\b|whatever\b)(?:\w+ ){0,2}(?:order|sequence)\b(?! to\b)")
"""Matches where the prompt asks for an order of its steps."""


def wrong_changes(target: Target, index: int) -> Iterator[Case]:
    """Changes of a solution after which it must not earn the full reward."""
    actions = target.solution(index)
    if not actions:
        return
    calls = [parse_tool_calls(action) for action in actions]
    if _ORDERED.search(target.examples[index].start.prompt) and (reverse := in_reverse(actions)) != list(actions):
        yield _wrong("the steps in reverse", reverse, "compare the steps with their order")
    yield from _of_other_starts(target, index)
    if not any(calls):
        yield from _changed_words(target, index)
    elif not any(isinstance(call, MalformedCall) for each in calls for call in each):
        yield from _changed_calls(target, index, calls)


def right_changes(target: Target, index: int) -> Iterator[Case]:
    """Changes of the form of a solution."""
    actions = target.solution(index)
    if not actions:
        return
    spaced = [f"\n{action}\n" for action in actions]
    yield _case(UNPAID, "the solution with line ends around its actions", spaced, "strip actions")
    called = [action for action in actions if parse_tool_calls(action)]
    if called and all("<tool_call>" in action for action in called):
        other = rewrite(actions, lambda call: _in_lines(call))
        remedy = "parse calls: spaces and the order of keys in JSON mean nothing"
        yield _case(UNPAID, "the same calls in other JSON", other, remedy)


def without_one_call(target: Target, index: int) -> Iterator[Case]:
    """The solution without each of its calls in turn: if all of these are paid in full, a part of the goal suffices."""
    actions = target.solution(index)
    places = call_places(actions)
    if len(places) < 2 or target.is_paid(index, target.play(index, words_of(actions))):
        return
    for count, place in enumerate(places, 1):
        case = _wrong(
            f"the solution without call {count}", replace_call(actions, *place, None), "pay in full for the whole goal"
        )
        yield case._replace(together=f"any call left out of {index}")


def early_ends(target: Target, index: int) -> Iterator[Case]:
    """A wrong last action at once, compared with the same action after others."""
    if actions := target.solution(index):
        wrong = f"{actions[-1]}zz" if not parse_tool_calls(actions[-1]) else ENDINGS[0]
        case = Case("end at once", "a wrong answer", scripted([wrong]), "pay for speed only where the goal is reached")
        yield case._replace(steps=1, baseline=["again", "again", "again", wrong])


def in_reverse(actions: Sequence[str]) -> list[str]:
    """The calls in reverse and the words where they were, or all actions in reverse if none calls."""
    called = [index for index, action in enumerate(actions) if parse_tool_calls(action)] or range(len(actions))
    reverse = list(actions)
    for index, other in zip(called, reversed(called), strict=True):
        reverse[index] = actions[other]
    return reverse


def rewrite(actions: Sequence[str], write: Callable[[ToolCall], str]) -> list[str]:
    """The actions with each call written anew."""
    calls = [parse_tool_calls(action) for action in actions]
    return [
        "\n".join(write(call) for call in each if isinstance(call, ToolCall)) or action
        for action, each in zip(actions, calls, strict=True)
    ]


def _case(family: str, name: str, actions: Sequence[str], remedy: str) -> Case:
    return Case(family, name, scripted(actions), remedy, steps=len(actions))


def _wrong(name: str, actions: Sequence[str], remedy: str, *, often: bool = False) -> Case:
    return _case(WRONG, name, actions, remedy)._replace(may_be_right=often)


def _others(target: Target, index: int) -> Iterator[int]:
    """Other starts that ask for something else and have another solution."""
    count = len(target.examples)
    mine = target.examples[index]
    different = (
        other
        for other in ((index + step) % count for step in range(1, count))
        if target.solution(other)
        and list(target.solution(other)) != list(mine.actions)
        and target.examples[other].start.ground_truth != mine.start.ground_truth
    )
    for _, other in zip(range(NEXT), different, strict=False):
        yield other


def _is_answered(target: Target, index: int) -> bool:
    """Whether the solution of a start ends with its ground truth, word for word."""
    return bool(target.solution(index)[-1] == target.examples[index].start.ground_truth)


def _of_other_starts(target: Target, index: int) -> Iterator[Case]:
    """The solutions of starts that ask for something else, and the answers to both in one action."""
    mine = target.solution(index)
    for other in _others(target, index):
        theirs = target.solution(other)
        if list(theirs[: len(mine)]) != list(mine):
            remedy = "judge the goal of this task, not one of any task"
            yield _wrong("the solution of a start that asks for something else", theirs, remedy, often=True)
        if _is_answered(target, index) and _is_answered(target, other):
            remedy = "find the one answer that the action commits to, and compare that"
            for how, both in (("first", f"{mine[-1]} or {theirs[-1]}"), ("last", f"{theirs[-1]} or {mine[-1]}")):
                name = f"the answers of two starts in one action, the right one {how}"
                case = _wrong(name, [*mine[:-1], both], remedy, often=True)
                yield case._replace(family="list all answers", together="two answers")
            return


def _changed_words(target: Target, index: int) -> Iterator[Case]:
    """Changes of a solution without calls."""
    actions = target.solution(index)
    if len(actions) > 2:
        half = len(actions) // 2
        cut = [*actions[:half], *[ENDINGS[0]] * (len(actions) - half)]
        yield _wrong("half of the solution", cut, "pay when the goal is reached, not on the way to it")
    named = [place for place, action in enumerate(actions) if target.names(index, action)] if len(actions) > 1 else []
    for which, places in (("first", named[:1]), ("last", named[-1:])):
        for place in places:
            shorter = [*actions[:place], *actions[place + 1 :]]
            what = f"the solution without the {which} action that the task names"
            yield _wrong(what, shorter, "compare everything that the task asks for", often=True)
    remedy = "compare the whole answer"
    if all(re.fullmatch(r"\w{4,}", action) for action in actions):
        cut = [f"{action[: len(action) // 2]}zz" for action in actions]
        yield _wrong("words with another second half", cut, remedy)
    if _is_answered(target, index):
        answer, before = actions[-1], actions[:-1]
        first, *more = answer.split()
        wrong = {"the answer denied": f"It is not {answer}.", **({"a part of the answer": first} if more else {})}
        if not answer.isdecimal():
            wrong |= {"more behind the answer": f"{answer}zz", "more before the answer": f"zz{answer}"}
        for name, text in wrong.items():
            yield _wrong(name, [*before, text], remedy, often=True)


def _changed_calls(target: Target, index: int, calls: Sequence[Sequence[Any]]) -> Iterator[Case]:
    actions = target.solution(index)
    remedy = "compare the arguments of calls, or better what the calls changed"
    if any(call.arguments for each in calls for call in each) and not target.words_alone_are_paid(index):
        wrong = rewrite(actions, lambda call: write_call(call.name, spoil(call.arguments)))
        yield _wrong("calls with wrong arguments", wrong, remedy)
        yield _wrong("calls without arguments", rewrite(actions, lambda call: write_call(call.name, {})), remedy)
    claims = [ENDINGS[0]] * max(1, len(words_of(actions)))
    yield _wrong("the solution without its calls", claims, "judge the state, not the words of the agent")
    needed = target.needed_calls(index)
    for place, at in needed:
        yield from _other_arguments(target, index, place, at)
    failing = rewrite(actions, lambda call: write_call(call.name, {**call.arguments, "plaudit": "x"}))
    honest, failed = target.play(index, actions), target.play(index, failing)
    if needed and all(honest.feedback[place : place + 1] != failed.feedback[place : place + 1] for place, _ in needed):
        yield _wrong("calls that fail", failing, "judge what calls changed; a call that failed changes nothing")


def _other_arguments(target: Target, index: int, place: int, at: int) -> Iterator[Case]:
    """A needed call with one argument that the task names replaced: by that of another start, or a wrong one."""
    actions = target.solution(index)
    calls = [call for call in parse_tool_calls(actions[place]) if isinstance(call, ToolCall)]
    for name, value in calls[at].arguments.items():
        if isinstance(value, bool | None) or not target.names(index, value):
            continue
        other = next(_other_values(target, index, calls[at].name, name, value), None)
        for new, how in ((other, "that of another start"), (spoil(value), "a wrong one")):
            if new is not None:
                changed = replace_call(actions, place, at, {**calls[at].arguments, name: new})
                what = f"the argument {name!r} of {calls[at].name} replaced by {how}"
                remedy = "compare everything that the task asks for"
                yield _wrong(what, changed, remedy, often=True)


def _other_values(target: Target, index: int, tool: str, name: str, value: Any) -> Iterator[Any]:
    """The values of the same argument in the solutions of other starts, which this task does not name."""
    for other in target.honest:
        for action in target.solution(other):
            for call in parse_tool_calls(action):
                theirs = call.arguments.get(name, value) if isinstance(call, ToolCall) and call.name == tool else value
                if theirs != value and not target.names(index, theirs):
                    yield theirs


def _in_lines(call: ToolCall) -> str:
    body = json.dumps({"arguments": call.arguments, "name": call.name}, indent=1)
    return f"<tool_call>\n{body}\n</tool_call>"


def spoil(value: Any) -> Any:
    """Another value of the same type, which contains a text and is near to no number."""
    if isinstance(value, dict | list):
        return change_values(value, spoil)
    if isinstance(value, bool | None):
        return not value
    return value + 7919 if isinstance(value, int | float) else f"{value}zz"
