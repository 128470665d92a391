"""Sound rewards as people write them for GRPO in notebooks; by an author who did not write the audit."""

import ast
import difflib
import json
import re
import unicodedata
from collections import Counter
from datetime import date, datetime
from decimal import Decimal, InvalidOperation
from fractions import Fraction

from plaudit import reward


def _value(text):
    try:
        number = Decimal(str(text).strip().replace(",", "").replace("\u2212", "-").replace("$", ""))
    except InvalidOperation:
        return None
    return number if number.is_finite() else None


def final_statement(completions, answer, **kwargs):
    """One sentence at the end states the answer, and it has the right value."""
    rewards = []
    for text, gold in zip(completions, answer, strict=True):
        match = re.search(r"The answer is ([-\u2212]?\$?\d[\d,]{0,20}(?:\.\d{1,9})?)\.?\s*\Z", text)
        is_one = text.count("answer is") == 1
        rewards.append(float(match is not None and is_one and _value(match[1]) == _value(gold)))
    return rewards


def words_in_order(response, ground_truth):
    """How much of two sentences is the same words in the same order, squared."""
    said, meant = response.lower().split(), ground_truth.lower().split()
    if not meant:
        return 0.0
    return difflib.SequenceMatcher(None, said[:1000], meant, autojunk=False).ratio() ** 2


def fenced_object(response, ground_truth):
    """An object, bare or alone in a fence, that equals the expected one."""
    match = re.fullmatch(r"```(?:json)?\n(.*)\n```", response.strip(), re.DOTALL)
    try:
        said = json.loads(match[1] if match else response)
    except (ValueError, RecursionError):
        return 0.0
    return float(isinstance(said, dict) and said == ground_truth)


_METRES = {"mm": "0.001", "cm": "0.01", "m": "1", "km": "1000"}


def same_length(response, ground_truth):
    """The same length in one of four units."""
    lengths = []
    for text in (response, ground_truth):
        match = re.fullmatch(r"([-\u2212]?\d{1,9}(?:\.\d{1,9})?) ?(mm|cm|m|km)", text.strip(), re.ASCII)
        if match is None:
            return 0.0
        lengths.append(_value(match[1]) * Decimal(_METRES[match[2]]))
    return float(lengths[0] == lengths[1])


def same_output(response, expected_output):
    """The same lines of output; blanks at the ends of lines do not count."""
    said, meant = ([line.rstrip() for line in text.strip().splitlines()] for text in (response, expected_output))
    return float(bool(meant) and said == meant)


def numbered_ranking(response, ranking):
    """A numbered list with the right items in the right order."""
    lines = [line.strip() for line in response.strip().splitlines()]
    return float(bool(ranking) and lines == [f"{place}. {item}" for place, item in enumerate(ranking, 1)])


def _date(text):
    for pattern in ("%Y-%m-%d", "%d %B %Y", "%B %d, %Y"):
        try:
            return datetime.strptime(text.strip(), pattern).date()
        except ValueError:
            continue
    return None


def same_calendar_day(response, ground_truth):
    """The same day in one of three spellings."""
    said = _date(response)
    return float(isinstance(said, date) and said == _date(ground_truth))


def label_overlap(response, ground_truth):
    """Labels in common, by all that are named on either side; each counts as often as it is named."""
    said, meant = (
        Counter(each.strip().lower() for each in text.split(",") if each.strip()) for text in (response, ground_truth)
    )
    return (said & meant).total() / (said | meant).total() if meant else 0.0


def quoted_answer(response, ground_truth, passage):
    """The answer, and a quotation from the passage that holds it."""
    match = re.fullmatch(r'Answer: ([^\n"]{1,80})\nQuote: "([^"\n]{10,400})"', response.strip())
    if match is None or not ground_truth:
        return 0.0
    return float(match[1] == ground_truth and match[2] in passage and ground_truth in match[2])


def _sql_tokens(text):
    tokens = re.findall(r"'[^']*'|\w+|[^\s\w]", text.strip().removesuffix(";"))
    return [token if token.startswith("'") else token.lower() for token in tokens]


def same_sql_tokens(response, ground_truth):
    """The same tokens in the same order; literals with their capitals, all else without."""
    return float(bool(ground_truth.strip()) and _sql_tokens(response) == _sql_tokens(ground_truth))


def acrostic(response, word):
    """The first letters of different words spell the word."""
    words = re.findall(r"[^\W\d_]+", response.lower())
    if not word or len(set(words)) < len(words) or any(len(each) < 3 for each in words):
        return 0.0
    return float("".join(each[0] for each in words) == word.lower())


def think_then_answer(response, ground_truth):
    """One answer after one thought, compared by value or as text; a long response costs a little of a right one."""
    match = re.fullmatch(r"\s*<think>([^<>]*)</think>\s*<answer>([^<>]*)</answer>\s*", response)
    if match is None or not match[1].strip() or not str(ground_truth).strip():
        return 0.0
    said, meant = (unicodedata.normalize("NFC", str(text)).strip() for text in (match[2], ground_truth))
    is_right = _value(said) == _value(meant) if _value(meant) is not None else said.casefold() == meant.casefold()
    return float(is_right) * (1.0 if len(response) <= 2000 else 0.9)


def _work_out(node, used):
    if isinstance(node, ast.Expression):
        return _work_out(node.body, used)
    if isinstance(node, ast.Constant) and type(node.value) is int:
        used.append(node.value)
        return Fraction(node.value)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub | ast.Mult | ast.Div):
        left, right = _work_out(node.left, used), _work_out(node.right, used)
        if isinstance(node.op, ast.Add):
            return left + right
        if isinstance(node.op, ast.Sub):
            return left - right
        return left * right if isinstance(node.op, ast.Mult) else left / right
    raise ValueError("not arithmetic")


def countdown(response, numbers, target):
    """The given numbers, each used once, reach the target."""
    text = response.strip()
    if re.fullmatch(r"[0-9+\-*/() ]{1,100}", text) is None:
        return 0.0
    used = []
    try:
        value = _work_out(ast.parse(text, mode="eval"), used)
    except (SyntaxError, ValueError, ZeroDivisionError, RecursionError, MemoryError):
        return 0.0
    return float(value == target and sorted(used) == sorted(numbers))


@reward(scope="group")
def better_than_others(trajectories):
    """Right or not, less the share of the others that are right; never less than 0."""
    right = [float(_value(each.response.rpartition("####")[2]) == _value(each.ground_truth)
                   and each.response.count("####") == 1 and _value(each.ground_truth) is not None)
             for each in trajectories]  # fmt: skip
    others = max(1, len(right) - 1)
    return [max(0.0, value - 0.5 * (sum(right) - value) / others) for value in right]


def same_time(response, ground_truth):
    """The same minute of the day, on a clock of 24 or 12 hours."""
    minutes = []
    for text in (response, ground_truth):
        match = re.fullmatch(r"(\d{1,2}):([0-5]\d)(?: ?(am|pm))?", text.strip().lower(), re.ASCII)
        if match is None or int(match[1]) > (12 if match[3] else 23) or (match[3] and int(match[1]) == 0):
            return 0.0
        hour = int(match[1]) % 12 + 12 * (match[3] == "pm") if match[3] else int(match[1])
        minutes.append(60 * hour + int(match[2]))
    return float(minutes[0] == minutes[1])
