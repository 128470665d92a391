"""Are the tool calls of a response the expected ones?"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple

from plaudit.settings import check_fields
from plaudit.trajectory import Trajectory
from plaudit.verify.assignment import assign
from plaudit.verify.tools.expected import MOST_CALLS, ExpectedCall, ExpectedCalls, equals_default, read_expected_calls
from plaudit.verify.tools.parsing import (
    CALL_TAGS,
    MalformedCall,
    ToolCall,
    has_call,
    parse_python_calls,
    parse_tool_calls,
    quote,
    read_call,
)
from plaudit.verify.verifier import Answer, Verdict, Verifier

Call = ToolCall | MalformedCall


@dataclass(frozen=True, repr=False)
class ToolCalls(Verifier[ExpectedCalls]):
    """1.0 when the calls of the response are the expected ones, in any order, else less; components for each mode.

    `mode` is "exact" (all calls right and no other), "f1" (the F1 of right calls) or "graded" (ToolRL's score of names,
    parameter names and values, scaled to [0, 1]). `published=True` compares texts as BFCL does, where "15" is "1.5".
    """

    kind: ClassVar[str] = "tool_call"

    mode: Literal["exact", "f1", "graded"] = "exact"
    published: bool = False

    def __post_init__(self) -> None:
        check_fields(self)

    def read(self, sample: Trajectory) -> ExpectedCalls:
        return read_expected_calls(sample)

    def judge(self, task: ExpectedCalls, answer: Answer) -> Verdict:
        calls = calls_of(answer)
        details = {"calls": [_plain(call) for call in calls[:MOST_CALLS]]}
        if len(calls) > MOST_CALLS:
            return self._verdict(dict.fromkeys(("exact", "f1", "graded"), 0.0), f"{len(calls)} calls", details)
        if not task.calls or not calls:
            right = not task.calls and not calls and not has_call(answer.text, task.parameters)
            number = len(calls) or ("no" if right or task.calls else "some")
            reason = f"{number} calls where {len(task.calls) or 'none'} are expected"
            return self._verdict(dict.fromkeys(("exact", "f1", "graded"), float(right)), reason, details)
        pairs = [[_compare(task, call, expected, self.published) for call in calls] for expected in task.calls]
        matched = _best_sum([[float(pair.is_right) for pair in row] for row in pairs])
        if matched == len(calls) == len(task.calls):
            return self._verdict(dict.fromkeys(("exact", "f1", "graded"), 1.0), "the calls are as expected", details)
        scores = {
            "exact": 0.0,
            "f1": 2 * matched / (len(calls) + len(task.calls)),
            "graded": _grade(task, calls, pairs),
        }
        return self._verdict(scores, _describe(task, calls, pairs), details)

    def _verdict(self, scores: dict[str, float], reason: str, details: dict[str, Any]) -> Verdict:
        components = {name: Verdict(score, name) for name, score in scores.items()}
        return Verdict(scores[self.mode], reason, components, details)


class _Pair(NamedTuple):
    """A call of the response beside an expected one."""

    graded: float = 0.0
    """ToolRL's score of parameter names and values."""
    is_right: bool = False
    wrong: Sequence[str] = ()
    """The arguments with a wrong value."""
    missing: Sequence[str] = ()
    extra: Sequence[str] = ()


def calls_of(answer: Answer) -> list[Call]:
    """The calls in `tool_calls`, else those in the text. A code block without a call is text."""
    if answer.tool_calls:
        return [read_call(call) for call in answer.tool_calls]
    text = answer.text
    calls = parse_tool_calls(text) or parse_python_calls(text)
    if any(isinstance(call, ToolCall) for call in calls):
        return calls
    return calls if text.startswith("{") or any(tag in text for tag in CALL_TAGS) else []


def _compare(task: ExpectedCalls, call: Call, expected: ExpectedCall, published: bool) -> _Pair:
    if isinstance(call, MalformedCall) or not _is_named(call, expected):
        return _OTHER_CALL
    wanted, arguments = expected.arguments, _arguments_of(task, call, expected)
    missing = [name for name, argument in wanted.items() if name not in arguments and not argument.optional]
    wrong, extra = [], []
    for name, value in arguments.items():
        argument = wanted.get(name)
        if argument is not None:
            if not argument.accepts(value, published=published):
                wrong.append(name)
        elif not equals_default(value, task.parameters.get(expected.name, {}).get(name, {})):
            extra.append(name)
    if not (extra or missing or wrong):
        return _Pair(1.0 + len(wanted), True)
    shared = sum(name in arguments for name in wanted)
    union = shared + len(missing) + len(extra)
    graded = (shared / union if union else 1.0) + len(wanted) - len(missing) - len(wrong)
    return _Pair(graded, False, wrong, missing, extra)


_OTHER_CALL = _Pair()


def _arguments_of(task: ExpectedCalls, call: ToolCall, expected: ExpectedCall) -> dict[str, Any]:
    if not call.positional:
        return call.arguments
    return _named_arguments(call, list(task.parameters.get(expected.name, {})))


def _difference(task: ExpectedCalls, call: Call, expected: ExpectedCall, pair: _Pair) -> str:
    """The difference between a call and the expected one; empty if there is none."""
    if pair.is_right:
        return ""
    if isinstance(call, MalformedCall):
        return f"malformed call: {call.reason:.100}"
    if not _is_named(call, expected):
        return f"a call of {call.name:.60} instead of {expected.name}"
    arguments = _arguments_of(task, call, expected)
    differences = [
        *(f"{name:.60} is {quote(arguments[name], 60)}" for name in pair.wrong),
        *(f"{name:.60} is missing" for name in pair.missing),
        *(f"{name:.60} is not expected" for name in pair.extra),
    ]
    return f"{expected.name}: {', '.join(differences)}"


def _is_named(call: ToolCall, expected: ExpectedCall) -> bool:
    """Whether a call has the expected name; APIs that allow no dots in names get underscores."""
    return call.name in (expected.name, expected.name.replace(".", "_"))


def _named_arguments(call: ToolCall, parameters: list[str]) -> dict[str, Any]:
    """Arguments by name; positional ones get the names of the schema, and numbers where it has no more names."""
    names = [*parameters, *(f"#{index}" for index in range(len(parameters), len(call.positional)))]
    positional = dict(zip(names, call.positional, strict=False))
    repeated = {f"{name} (again)": value for name, value in positional.items() if name in call.arguments}
    return {**positional, **call.arguments, **repeated}


def _best_sum(weights: list[list[float]]) -> float:
    if len(weights) == len(weights[0]) == 1:
        return weights[0][0]
    return sum(row[column] for row, column in zip(weights, assign(weights), strict=True) if column is not None)


def _grade(task: ExpectedCalls, calls: Sequence[Call], pairs: list[list[_Pair]]) -> float:
    """ToolRL's correctness (arXiv 2504.13958, section 3.3) as a share of its maximum 1 + |G| + number of parameters.

    Names are compared as multisets, as in ToolRL's code, so that a repeated call costs. Its reward is 6 · score - 3.
    """
    others = [call for call in calls if isinstance(call, ToolCall)]
    shared = 0
    for expected in task.calls:
        index = next((index for index, call in enumerate(others) if _is_named(call, expected)), None)
        if index is not None:
            del others[index]
            shared += 1
    name_score = shared / (len(calls) + len(task.calls) - shared)
    best = name_score + _best_sum([[pair.graded for pair in row] for row in pairs])
    return best / (1 + len(task.calls) + sum(len(expected.arguments) for expected in task.calls))


def _describe(task: ExpectedCalls, calls: Sequence[Call], pairs: list[list[_Pair]]) -> str:
    """A description of the wrong calls."""
    columns = assign([[float(pair.is_right) * 1e6 + pair.graded for pair in row] for row in pairs])
    differences = [
        f"no call of {expected.name}" if column is None else _difference(task, calls[column], expected, row[column])
        for expected, row, column in zip(task.calls, pairs, columns, strict=True)
    ]
    if len(calls) > len(task.calls):
        differences.append(f"{len(calls)} calls where {len(task.calls)} are expected")
    return "; ".join(filter(None, differences))[:300]


def _plain(call: Call) -> Mapping[str, Any]:
    if isinstance(call, MalformedCall):
        return {"malformed": call.reason[:100]}
    return {"name": call.name[:100], "arguments": quote(call.arguments, 200)}
