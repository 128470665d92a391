"""Decide whether a ground truth and an answer are equal: exactly, or undecided with a reason; no float tolerance.

Cheap tests come first: equal text, then two plain numbers; only the rest is parsed as mathematics.
"""

import re
from functools import lru_cache
from typing import Literal, NamedTuple

from plaudit.verify.math.choices import same_choice
from plaudit.verify.math.comparison.forms import Forms, Method
from plaudit.verify.math.comparison.lowest_form import find_open_operation
from plaudit.verify.math.comparison.scalars import same_words
from plaudit.verify.math.exact.folding import fold
from plaudit.verify.math.exact.values import is_rounded
from plaudit.verify.math.parsing.notation import unify_notation
from plaudit.verify.math.parsing.parser import parse
from plaudit.verify.math.parsing.tree import (
    Node,
    Op,
    OverBudget,
    Unreadable,
    is_number,
    number,
    operations,
    rewrite,
    start_work,
)
from plaudit.verify.math.policy import MathPolicy
from plaudit.verify.number_words import find_number_words, parse_number_words
from plaudit.verify.numbers import is_reducible_fraction, parse_plain_number
from plaudit.verify.patterns import compile_late

MAX_TEXT = 100_000
_QUOTED = 60  # characters of a text that a message shows
MAX_CACHED = 200  # characters of an expression that is kept as a tree
_DECIMAL_COMMA = compile_late(r"[^\d,]*(-?\d+),(\d+)(?!\d)[^\d,]*")
_TEXT_COMMAND = compile_late(r"\\(?:text|mathrm)\s?\{([^{}]*)\}")
_UNSURE = compile_late(
    r"n['’]t\b|\b(?:not?|never|nor|or|than|least|most|maybe|perhaps|but|except|wrong|plus|minus|times|half|twice)\b",
    re.IGNORECASE,
)
_RESTATED = compile_late(r"([^()]+) \(([^()]+)\)")  # "seven (7)" says one thing twice
_DIGIT = compile_late(r"\d")
_SPACE = compile_late(r"(?<!\d) | (?!\d)")  # of what cannot be parsed
_SAYING = {Op.WORD, Op.UNIT}
_AMOUNTS = (Op.NUMBER, Op.UNIT, Op.PERCENT)
_AROUND = " \n"  # not tabs: one may be the rest of an eaten \text


class Decision(NamedTuple):
    """Whether truth and answer are equal, how that was found, and why; `equal` is None if it is undecided."""

    equal: bool | None
    method: Method
    reason: str
    unparsed: Literal["truth", "answer"] | None = None


def decide(ground_truth: str, answer: str, policy: MathPolicy) -> Decision:
    """Compare an extracted answer with a ground truth.

    >>> decide("1/2", "0.5", MathPolicy()).equal
    True
    """
    start_work()
    truth, answer = _strip(ground_truth), _strip(answer)
    if truth == answer and truth:
        return Decision(True, Method.TEXT, "the same text")
    one = parse_plain_number(truth)
    other = parse_plain_number(answer) if one is not None else None
    if one is not None and other is not None and (one == other or not ("." in answer or policy.rounded_answers)):
        equal = one == other or (policy.rounding and is_rounded(truth, one, other))
        is_open = other.denominator == 1 or one != other or "." in answer  # 2/26 counts as written, 28/2 does not
        if equal and is_open and not policy.unevaluated and _is_reducible_beside(answer, truth):
            return _not_worked_out(Method.NUMBER, answer, "a fraction")
        return Decision(equal, Method.NUMBER, f"{quote(answer)} is {'' if equal else 'not '}{quote(truth)}")
    if len(truth) > MAX_TEXT or len(answer) > MAX_TEXT:
        which: Literal["truth", "answer"] = "truth" if len(truth) > MAX_TEXT else "answer"
        return Decision(None, Method.TEXT, f"the {which} is too long to compare", which)
    return _decide_unified(unify_notation(truth), unify_notation(answer), policy)


def _is_reducible_beside(answer: str, truth: str) -> bool:
    return is_reducible_fraction(answer) and not is_reducible_fraction(truth)


def _strip(text: str) -> str:
    """Without the space and the pair of dollar signs around it; a single dollar sign is money."""
    text = text.strip(_AROUND)
    while len(text) > 2 and text[0] == text[-1] == "$":
        text = text[1:-1].strip(_AROUND)
    return text


def _decide_unified(truth: str, answer: str, policy: MathPolicy) -> Decision:
    if not truth or not answer:
        which: Literal["truth", "answer"] = "answer" if truth else "truth"
        return Decision(None, Method.TEXT, f"the {which} is empty", which)
    if truth == answer:
        return Decision(True, Method.TEXT, "the same text")
    if same_choice(truth, answer):
        return Decision(True, Method.CHOICE, "the same choice")
    if (counted := _in_words(truth, answer)) is not None:
        return Decision(counted, Method.NUMBER, f"{quote(answer)} is {'' if counted else 'not '}{quote(truth)}")
    one, other = _tree(truth), _tree(answer)
    if isinstance(one, Node) and isinstance(other, Node):
        decision = _by_form(one, other, truth, answer, policy)
    else:
        decision = _by_words(truth, answer, one, other)
    if decision.equal or not (twice := _RESTATED.fullmatch(answer)):
        return decision
    decisions = [_decide_unified(truth, part.strip(), policy) for part in twice.groups()]
    return decisions[0] if all(part.equal for part in decisions) else decision


def _in_words(truth: str, answer: str) -> bool | None:
    """Whether a number equals words such as "two" or "there are two of them"; None if neither is in words."""
    if _has_digit(truth) == _has_digit(answer):
        return None
    value, words = (parse_plain_number(truth), answer) if _has_digit(truth) else (parse_plain_number(answer), truth)
    if value is None:
        return None
    words = _TEXT_COMMAND.sub(r"\1", words)
    counted = parse_number_words(words)
    if counted is not None:
        return counted == value
    numbers = find_number_words(words) if words is not truth and not _UNSURE.search(words) else []
    return numbers[0] == value if len(numbers) == 1 else None


def _has_digit(text: str) -> bool:
    return _DIGIT.search(text) is not None


def _tree(text: str) -> Node | Unreadable:
    return _cached_tree(text) if len(text) <= MAX_CACHED else _parse_or_reason(text)


@lru_cache(maxsize=4096)  # the samples of a group share their truth, and often their answer
def _cached_tree(text: str) -> Node | Unreadable:
    return _parse_or_reason(text)


def clear_cache() -> None:
    """Drop the trees that are kept, for measurements of what reading costs."""
    _cached_tree.cache_clear()


def _parse_or_reason(text: str) -> Node | Unreadable:
    try:
        return parse(text)
    except Unreadable as reason:
        return reason.with_traceback(None)
    except RecursionError:
        return OverBudget("too deep")


def _by_form(one: Node, other: Node, truth: str, answer: str, policy: MathPolicy) -> Decision:
    try:
        verdict, method = Forms(policy).compare(one, other)
        if verdict is not True and (again := _with_decimal_commas(one, other, truth, answer)):
            verdict, method = Forms(policy).compare(*again)
        operation = find_open_operation(one, other) if verdict and not policy.unevaluated else None
    except (Unreadable, ArithmeticError, RecursionError) as reason:
        verdict, method, operation = None, Method.ALGEBRA, None
        if not isinstance(reason, Unreadable) or isinstance(reason, OverBudget):
            is_truth = is_number(other) or _is_over_budget(one, policy)  # a plain number takes no time to compare
            return Decision(None, method, str(reason), "truth" if is_truth else "answer")
    if verdict is not True and not _SAYING.isdisjoint(operations(one, other)) and same_words(truth, answer):
        return Decision(True, Method.TEXT, "the same words")
    if verdict and operation:
        return _not_worked_out(method, answer, operation)
    if verdict is None:
        return Decision(None, method, f"neither proven equal nor different: {quote(answer)} and {quote(truth)}")
    return Decision(verdict, method, f"{quote(answer)} is {'' if verdict else 'not '}{quote(truth)}")


def _not_worked_out(method: Method, answer: str, operation: str) -> Decision:
    return Decision(False, method, f"{quote(answer)} is not worked out: it leaves {operation}")


def _is_over_budget(tree: Node, policy: MathPolicy) -> bool:
    """Whether comparing a tree with a rewritten copy of itself exceeds the budget."""
    start_work()
    rewritten = rewrite(tree, lambda node: node if node.value is None else number(node.value, f"+{node.leaf}"))
    try:
        Forms(policy).compare(fold(tree), rewritten)
    except Unreadable as reason:
        return isinstance(reason, OverBudget)
    except (ArithmeticError, RecursionError):
        return True
    return False


def _with_decimal_commas(one: Node, other: Node, truth: str, answer: str) -> tuple[Node, Node] | None:
    """Both sides with a comma as the decimal sign, where one is a number and the other a list: "1,22" beside 1.22."""
    if (one.op in _AMOUNTS) == (other.op in _AMOUNTS) or Op.LIST not in (one.op, other.op):
        return None
    sides = [text.replace(",", ".") if _DECIMAL_COMMA.fullmatch(text) else text for text in (truth, answer)]
    return (parse(sides[0]), parse(sides[1])) if sides != [truth, answer] else None


def _by_words(truth: str, answer: str, one: Node | Unreadable, other: Node | Unreadable) -> Decision:
    """Decide by words, if one side is no mathematics."""
    if same_words(truth, answer) or _SPACE.sub("", truth) == _SPACE.sub("", answer):
        return Decision(True, Method.TEXT, "the same words")
    for which, side in (("truth", one), ("answer", other)):
        if isinstance(side, OverBudget):
            return Decision(
                None, Method.TEXT, f"the {which} is over the budget: {side}", "truth" if which == "truth" else "answer"
            )
    return Decision(False, Method.TEXT, f"{quote(answer)} is not {quote(truth)}")


def quote(text: str) -> str:
    """A text in quotes for a message, shortened; backslashes stay single, as LaTeX has them."""
    if len(text) > _QUOTED or not text.isascii() or not text.isprintable() or "'" in text or "  " in text:
        text = " ".join(text[:200].split())
        return repr(text if len(text) <= _QUOTED else f"{text[: _QUOTED - 1]}…").replace("\\\\", "\\")
    return f"'{text.strip()}'"
