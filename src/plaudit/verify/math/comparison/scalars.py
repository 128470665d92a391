"""Single values: expressions, percentages, angles, amounts with units, ratios, numbers in a base, and words.

Words are equal in the same order, ignoring case, articles and punctuation; letters in a formula are no words.
"""

import re
import unicodedata
from collections.abc import Callable

from plaudit.verify.math.comparison.lists import all_of
from plaudit.verify.math.exact.folding import fold
from plaudit.verify.math.exact.values import agree_as_shown, hash_to_fraction, is_computed, rounds_to, same_value
from plaudit.verify.math.parsing.tree import (
    Node,
    Op,
    name,
    nodes,
    number,
    rewrite,
    substitute,
    symbols,
)
from plaudit.verify.math.parsing.units import power_of, unit_of
from plaudit.verify.math.policy import MathPolicy, Names, Percent, Units
from plaudit.verify.patterns import compile_late

_COUNTERS = set("klmnjtpqrs")  # letters that usually count, and may be chosen freely


def same_scalar(truth: Node, answer: Node, policy: MathPolicy) -> bool | None:
    """Compare two single values under a policy."""
    if truth.op in _SPECIAL or answer.op in _SPECIAL:
        if policy.units is not Units.IGNORE and _measure_different_things(truth, answer):
            return False
        compare = next(compare for op, compare in _SPECIAL.items() if op in (truth.op, answer.op))
        return compare(truth, answer, policy)
    verdict = same_value(truth, answer)
    if verdict or (policy.rounding and (rounds_to(truth, answer) or is_computed(truth, answer))):
        return True
    if policy.rounded_answers and agree_as_shown(truth, answer):
        return True
    for rewrite_both in _READINGS:
        if again := rewrite_both(truth, answer, policy):
            return again
    return verdict


def _measure_different_things(truth: Node, answer: Node) -> bool:
    """Whether both have a unit, of which percent and degree signs are two, and these differ."""
    one, other = _unit(truth), _unit(answer)
    return one is not None and other is not None and one != other


def _unit(node: Node) -> str | None:
    return unit_of(_SIGNS.get(node.op) or node.leaf) if node.op in (*_SIGNS, Op.UNIT) else None


_SIGNS = {Op.PERCENT: "percent", Op.DEGREE: "degree"}


def _with_names_changed(truth: Node, answer: Node, policy: MathPolicy) -> bool | None:
    """ "kπ" and "nπ": the one whole number that counts a family of angles may have any name, or any unknown may."""
    one, other = symbols(truth), symbols(answer)
    if len(one) != 1 or len(other) != 1 or one == other:
        return None
    counts = (one | other) <= _COUNTERS and all(_has_angle(side) for side in (truth, answer))
    if not counts and policy.names is Names.STRICT:
        return None
    return same_value(substitute(truth, {one.pop(): name(other.pop())}), answer)


def _has_angle(node: Node) -> bool:
    return any(inner.leaf == "π" or inner.op is Op.DEGREE for inner in nodes(node))


def _with_natural_logarithm(truth: Node, answer: Node, policy: MathPolicy) -> bool | None:
    """Read "log" as "ln", as programs print it."""
    if "log" not in {node.leaf for side in (truth, answer) for node in nodes(side)}:
        return None
    return same_value(*(rewrite(side, _read_log_as_ln) for side in (truth, answer)))


def _read_log_as_ln(node: Node) -> Node:
    return node._replace(leaf="ln") if node.leaf == "log" else node


def _up_to_constant(truth: Node, answer: Node, policy: MathPolicy) -> bool | None:
    """Antiderivatives with a capital C on one side: the constant may have any letter and any added number."""
    one, other = _without_constant(truth), _without_constant(answer)
    if one is None or other is None or not symbols(one) or _INTEGRATED.isdisjoint(symbols(truth) | symbols(answer)):
        return None
    difference = Node(Op.ADD, (one, Node(Op.NEGATE, (other,))))
    unknowns = sorted(symbols(difference))
    points = [{symbol: number(hash_to_fraction(f"{symbol} {round_}")) for symbol in unknowns} for round_ in range(3)]
    values = [substitute(difference, point) for point in points]
    return all_of(same_value(values[0], value) for value in values[1:])


def _without_constant(node: Node) -> Node | None:
    """A sum without the free constant that it ends in; None if it has none."""
    terms = node.args if node.op is Op.ADD else (node,)
    free = [term for term in terms if term.op is Op.NAME and term.leaf in _FREE_CONSTANTS]
    rest = [term for term in terms if term not in free]
    if len(free) != 1 or not rest or free[0].leaf in symbols(Node(Op.ADD, tuple(rest))):
        return None
    return Node(Op.ADD, tuple(rest))


_INTEGRATED = {"C", "C_1", "C_0"}
_FREE_CONSTANTS = _INTEGRATED | {"c", "K", "k", "c_1"}


def _compare_percent(truth: Node, answer: Node, policy: MathPolicy) -> bool | None:
    """The sign may be left out; 400 % is 4 but does not answer "4", where 4 % does."""
    if _unit(truth) and _unit(answer):
        return _compare_unit(truth, answer, policy)
    hundred = number(100)
    if policy.percent is Percent.STRICT:
        scaled = [
            Node(Op.DIVIDE, (side.args[0], hundred)) if side.op is Op.PERCENT else side for side in (truth, answer)
        ]
        return same_scalar(scaled[0], scaled[1], policy)
    if truth.op is Op.PERCENT:
        plain = same_scalar(truth.args[0], answer, policy)
        return plain or same_scalar(truth.args[0], Node(Op.MULTIPLY, (hundred, answer)), policy)
    value = fold(truth).value
    if value is None or value >= 1 or value <= -1:
        return same_scalar(truth, answer.args[0], policy)
    return same_scalar(truth, Node(Op.DIVIDE, (answer.args[0], hundred)), policy)


def _compare_degree(truth: Node, answer: Node, policy: MathPolicy) -> bool | None:
    """The sign may be left out; without one the other side may be in radians."""
    verdict = _compare_unit(truth, answer, policy)
    return verdict or (same_value(truth, answer) if Op.UNIT not in (truth.op, answer.op) else verdict)


def _compare_unit(truth: Node, answer: Node, policy: MathPolicy) -> bool | None:
    """A unit that one side leaves out is open; that two do not differ was seen before."""
    if policy.units is Units.REQUIRE and _unit(truth) is not None and _unit(answer) is None:
        return False
    if policy.units is not Units.IGNORE and truth.op is answer.op and power_of(truth.leaf) != power_of(answer.leaf):
        return False
    bare = [side.args[0] if side.op in (*_SIGNS, Op.UNIT) else side for side in (truth, answer)]
    return same_scalar(bare[0], bare[1], policy)


def _compare_ratio(truth: Node, answer: Node, policy: MathPolicy) -> bool | None:
    """`2:4` is `1:2`; a clock time `1:30` is itself; a ratio of two is also their quotient."""
    if is_time(truth) or is_time(answer):
        return truth.op is answer.op and _same_time(truth, answer)
    if truth.op is not answer.op:
        sides = [_quotient(side) for side in (truth, answer)]
        return same_scalar(sides[0], sides[1], policy) if sides[0] and sides[1] else False
    if len(truth.args) != len(answer.args):
        return False
    first, second = truth.args[0], answer.args[0]
    pairs = zip(truth.args[1:], answer.args[1:], strict=True)
    return all_of(
        same_value(Node(Op.MULTIPLY, (first, right)), Node(Op.MULTIPLY, (second, left))) for left, right in pairs
    )


def _quotient(node: Node) -> Node | None:
    if node.op is not Op.RATIO:
        return node
    return Node(Op.DIVIDE, node.args) if len(node.args) == 2 else None


def is_time(node: Node) -> bool:
    """Whether a ratio is hours and two digits of minutes: "12:00" and "9:05", not "1:2"."""
    if node.op is not Op.RATIO or len(node.args) not in (2, 3):
        return False
    hours, *rest = (_core(part) for part in node.args)
    clock = all(len(part.leaf) == 2 and part.leaf.isdecimal() and int(part.leaf) < 60 for part in rest)
    marked = rest[0].leaf.startswith("0") or rest[0].leaf.endswith("0") or node.args[-1].op is Op.UNIT or len(rest) == 2
    return clock and marked and hours.leaf.isdecimal() and len(hours.leaf) <= 2 and int(hours.leaf) <= 24


def _core(node: Node) -> Node:
    return node.args[0] if node.op is Op.UNIT else node


def _same_time(truth: Node, answer: Node) -> bool:
    """The same hours and minutes; the half of the day counts where both give it."""
    halves = {side.args[-1].leaf for side in (truth, answer) if side.args[-1].op is Op.UNIT}
    return len(halves) < 2 and [_core(part).value for part in truth.args] == [_core(part).value for part in answer.args]


def _compare_based(truth: Node, answer: Node, policy: MathPolicy) -> bool | None:
    """A number in a base: the same digits, where one side may leave the base out."""
    return truth.leaf == answer.leaf and (truth.op is not answer.op or truth.args[0].value == answer.args[0].value)


def _compare_word(truth: Node, answer: Node, policy: MathPolicy) -> bool | None:
    is_named = truth.op is answer.op or Op.NAME in (truth.op, answer.op)
    return is_named and same_words(truth.leaf, answer.leaf)


Reading = Callable[[Node, Node, MathPolicy], bool | None]
# Other ways to read two values that differ as they stand.
_READINGS: tuple[Reading, ...] = (
    _with_names_changed,
    _with_natural_logarithm,
    _up_to_constant,
)

# The first that either side is decides.
_SPECIAL: dict[Op, Callable[[Node, Node, MathPolicy], bool | None]] = {
    Op.RATIO: _compare_ratio,
    Op.BASED: _compare_based,
    Op.PERCENT: _compare_percent,
    Op.DEGREE: _compare_degree,
    Op.UNIT: _compare_unit,
    Op.WORD: _compare_word,
}


_MARKUP = compile_late(r"\\(?:text|mathrm|mathbf)\s?\{([^{}]*)\}|(?<!\\)[{}$]")
_PIECE = compile_late(r"[^\W_]+(?:['-][^\W_]+)*|[^\s.,;:!?\"'*`]")
_EMPTY = {"the", "a", "an", "is", "are", "it", "answer", "so", "therefore", "thus", "hence"}
_SYNONYMS = {"true": "yes", "false": "no", "correct": "yes", "incorrect": "no", "ja": "yes", "nein": "no"}
_LONGEST_SENTENCE = 200
_COPULA = compile_late(r"\b(?:is|are|was|were|will be)\s", re.IGNORECASE)
_OPENING = compile_late(r"\W*(?:\\text\s?\{\s?)?(yes|no|true|false)[,.;:]\s", re.IGNORECASE)
_VERDICTS = (["yes"], ["no"])
_LONG_PLURAL = 5  # letters of a word that may be a plural
_LONG = 3  # letters that make a word rather than a product


def same_words(truth: str, answer: str) -> bool:
    """Whether two texts say the same word for word."""
    one, other = _words(truth), _words(answer)
    if one == other and one:
        return True
    if " " not in truth and " " not in answer:
        return False
    return _is_said_of_something(truth, answer) or _is_said_of_something(answer, truth)


def _is_said_of_something(words: str, sentence: str) -> bool:
    """Whether a sentence says nothing but these words of its subject: "odd" in "the sum is odd"."""
    if len(sentence) > _LONGEST_SENTENCE or _COPULA.search(words):
        return False
    wanted = _words(words)
    if wanted in _VERDICTS and (opening := _OPENING.match(sentence)):
        return _words(opening[1]) == wanted
    copulas = list(_COPULA.finditer(sentence))
    if len(copulas) != 1 or not wanted or any(not piece[0].isalpha() for piece in wanted):
        return False
    return _words(sentence[copulas[0].end() :]) == wanted


def _words(text: str) -> list[str]:
    """The words that carry meaning, in order; a formula is kept unchanged."""
    plain = unicodedata.normalize("NFKC", _MARKUP.sub(lambda match: f" {match[1] or ''} ", text))
    pieces = _PIECE.findall(plain)
    if not all(piece[0].isalnum() for piece in pieces) or not any(_is_word(piece) for piece in pieces):
        return [plain]
    lowered = [piece.casefold() for piece in pieces]
    kept = [_SYNONYMS.get(word, _singular(word)) for word in lowered if word not in _EMPTY]
    return kept or lowered


def _singular(word: str) -> str:
    """ "solutions" as "solution"; short words and those on "ss" are left alone."""
    return (
        word[:-1] if len(word) > _LONG_PLURAL and word.endswith("s") and not word.endswith(("ss", "us", "is")) else word
    )


def _is_word(piece: str) -> bool:
    return (len(piece) >= _LONG and piece.isalpha()) or not piece.isascii()
