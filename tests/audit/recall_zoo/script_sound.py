"""Sound rewards by the author of the script flaws, some in unusual styles."""

import ast
import json
import math
import operator
import re
import unicodedata
from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation

from plaudit import reward


def _decimal(text):
    text = text.strip().replace(",", "").replace("\u2212", "-")
    if not re.fullmatch(r"[+-]?(?:\d{1,40}(?:\.\d{0,40})?|\.\d{1,40})", text):
        return None
    try:
        return Decimal(text)
    except InvalidOperation:
        return None


def _same_text(one, other):
    """Whether texts are equal without regard to case and to how accents are encoded."""
    return unicodedata.normalize("NFC", one.strip()).casefold() == unicodedata.normalize("NFC", other).casefold()


def final_number(completions, answer, **kwargs):
    """The one number behind the only `####`, by value."""
    rewards = []
    for text, gold in zip(completions, answer, strict=True):
        parts = text.split("####")
        said = _decimal(parts[1]) if len(parts) == 2 else None
        rewards.append(1.0 if said is not None and said == _decimal(str(gold)) else 0.0)
    return rewards


@dataclass
class BoxedValue:
    """An instance as a reward, with its penalty as a setting."""

    wrong: float = -0.5

    def __call__(self, response, ground_truth):
        box = re.fullmatch(r"\s*(?:The (?:result|answer) is )?\\boxed\{([^{}]*)\}\.?\s*", response)
        if box is None:
            return self.wrong
        said = _decimal(box[1])
        return 1.0 if said is not None and said == _decimal(ground_truth) else self.wrong


boxed_value = BoxedValue()


def share_or_percent(response, ground_truth):
    """A number, or a number with a per cent sign, which divides it by a hundred."""
    text = response.strip()
    said = _decimal(text.removesuffix("%"))
    if said is None:
        return 0.0
    said = said / 100 if text.endswith("%") else said
    return float(said == _decimal(ground_truth))


async def awaited(response, ground_truth):
    """The only thing that is said is the answer, without regard to case."""
    return float(_same_text(response.strip().rstrip("."), ground_truth))


_OPERATORS = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul}


def _work_out(node):
    if isinstance(node, ast.Expression):
        return _work_out(node.body)
    if isinstance(node, ast.Constant) and type(node.value) is int and abs(node.value) < 10**6:
        return node.value
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
        return _OPERATORS[type(node.op)](_work_out(node.left), _work_out(node.right))
    raise ValueError("not an expression of the game")


def uses_numbers(response, numbers, target):
    """An expression of three operators that uses each number once and has the value of the target."""
    text = response.strip()
    if len(text) > 60 or not re.fullmatch(r"[\d+*() -]+", text):
        return 0.0
    if Counter(map(int, re.findall(r"\d+", text)[:20])) != Counter(numbers):
        return 0.0
    try:
        return float(_work_out(ast.parse(text.replace(" ", ""), mode="eval")) == target)
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return 0.0


def exact_or_alias(response, aliases):
    """One of the aliases, whole."""
    return float(response.strip().rstrip(".").lower() in {alias.lower() for alias in aliases})


def option_at_end(completions, ground_truth, **kwargs):
    """The last line names one option in round brackets, and no other."""
    rewards = []
    for text, gold in zip(completions, ground_truth, strict=True):
        lines = text.strip().splitlines() or [""]
        named = re.fullmatch(r"(?:It is )?\(([A-Z])\)\.?", lines[-1].strip())
        rewards.append(float(named is not None and named[1] == gold))
    return rewards


def strict_sections(completions, answer, **kwargs):
    """One thought and one answer and nothing else; the form earns a tenth where the answer is wrong."""
    rewards = []
    for text, gold in zip(completions, answer, strict=True):
        match = re.fullmatch(r"<think>\n([^<>]{10,5000})\n</think>\n<answer>([^<>]{1,100})</answer>", text.strip())
        if match is None:
            rewards.append(0.0)
            continue
        rewards.append(1.0 if _same_text(match[2], str(gold)) else 0.1)
    return rewards


def same_json(response, ground_truth):
    """The object of the response, alone or in a fence, equals the expected one."""
    text = response.strip().removeprefix("```json").removesuffix("```")
    try:
        return float(json.loads(text) == ground_truth)
    except (ValueError, RecursionError):
        return 0.0


def share_of_fields(response, ground_truth):
    """The share of the fields that are right; a field too many costs as much as a wrong one."""
    try:
        said = json.loads(response)
    except (ValueError, RecursionError):
        return 0.0
    if not isinstance(said, dict):
        return 0.0
    right = sum(name in said and said[name] == value for name, value in ground_truth.items())
    return right / len(said.keys() | ground_truth.keys())


def in_band(prompt, response):
    """Different words within a band: 40 to 80 earn everything, beyond that less."""
    words = response.lower().split()
    if not words or len(set(words)) < 0.5 * len(words):
        return 0.0
    return max(0.0, 1.0 - max(0, 40 - len(words), len(words) - 80) / 40)


def overlong_margin(response, ground_truth):
    """A right answer loses up to a half between 600 and 1,200 characters."""
    match = re.fullmatch(r"(?:.*\n)?Answer: ([^\n]{1,80})", response.strip(), re.DOTALL)
    if match is None or response.count("Answer:") != 1 or not _same_text(match[1], ground_truth):
        return 0.0
    return 1.0 - 0.5 * min(1.0, max(0.0, (len(response) - 600) / 600))


def cosine_clamped(completions, answer, **kwargs):
    """Right answers earn from 1 down to 0.5 with the length, wrong ones nothing."""
    rewards = []
    for text, gold in zip(completions, answer, strict=True):
        box = re.fullmatch(r"(?:[^\\]*\n)?The (?:result|answer) is \\boxed\{([^{}]*)\}\.?", text.strip())
        said = _decimal(box[1]) if box else None
        right = said is not None and said == _decimal(str(gold))
        progress = min(1.0, len(text) / 2000)
        rewards.append(0.75 + 0.25 * math.cos(progress * math.pi) if right else 0.0)
    return rewards


def gold_citations(response, gold_ids):
    """F1 of the cited passages; none cited is none found."""
    cited = {int(each) for each in re.findall(r"\[(\d{1,3})\]", response)}
    same = len(cited & set(gold_ids))
    return 2 * same / (len(cited) + len(gold_ids)) if same else 0.0


def exact_call(response, ground_truth):
    """One call with the right name and the right arguments."""
    match = re.fullmatch(r"\s*<tool_call>\s*(\{.{1,2000}\})\s*</tool_call>\s*", response, re.DOTALL)
    try:
        return float(match is not None and json.loads(match[1]) == ground_truth)
    except (ValueError, RecursionError):
        return 0.0


def calls_in_order(response, ground_truth):
    """The share of calls that agree at their place, of the longer list."""
    try:
        said = json.loads(response)
    except (ValueError, RecursionError):
        return 0.0
    if not isinstance(said, list) or not said:
        return 0.0
    same = sum(one == other for one, other in zip(said, ground_truth, strict=False))
    return same / max(len(said), len(ground_truth))


def longest_common_words(response, ground_truth):
    """F1 of the longest common subsequence of words, squared so that half of it is worth a quarter."""
    said, gold = (re.findall(r"\w+", text.lower())[:400] for text in (response, ground_truth))
    row = [0] * (len(gold) + 1)
    for word in said:
        before = 0
        for index, other in enumerate(gold):
            before, row[index + 1] = row[index + 1], before + 1 if word == other else max(row[index], row[index + 1])
    return (2 * row[-1] / max(1, len(said) + len(gold))) ** 2


def verdict_of_judge(prompt, response, ground_truth):
    """A judge whose reply is an object; what it quotes stands in a field of its own."""
    right = _same_text(response.strip().rstrip("."), ground_truth)
    reply = json.dumps({"quote": response, "score": 1 if right else 0})
    return float(json.loads(reply)["score"])


@reward(scope="group")
def standardised(trajectories):
    """Correctness less the mean of the group, by its spread; 0 where there is none."""
    right = [float(each.response.strip().rstrip(".") == str(each.ground_truth)) for each in trajectories]
    mean = sum(right) / len(right)
    spread = math.sqrt(sum((value - mean) ** 2 for value in right) / len(right))
    return [(value - mean) / spread if spread > 1e-6 else 0.0 for value in right]


@reward(scope="group")
def right_and_short(trajectories):
    """Right answers earn 1, and up to a fifth more where they are shorter than the other right ones."""
    rights = [
        len(each.response)
        if each.response.strip().rstrip(".").endswith(f"answer is {each.ground_truth}")
        and each.response.count("answer is") == 1
        else None
        for each in trajectories
    ]
    lengths = [length for length in rights if length is not None]
    longest, shortest = max(lengths, default=0), min(lengths, default=0)
    spread = max(1, longest - shortest)
    return [0.0 if each is None else 1.0 + 0.2 * (longest - each) / spread for each in rights]


def same_month(response, ground_truth):
    """A month as `April 2019` or `2019-04`."""
    said = []
    for text in (response, ground_truth):
        for form in ("%B %Y", "%Y-%m"):
            try:
                said.append(datetime.strptime(text.strip(), form).replace(tzinfo=UTC))
            except ValueError:
                continue
    return float(len(said) == 2 and said[0] == said[1])


_GRAMS = {"g": Decimal(1), "kg": Decimal(1000), "mg": Decimal("0.001"), "t": Decimal(10**6)}


def same_mass(response, ground_truth):
    """A mass with a unit of the table; 2 kg is 2000 g."""
    masses = []
    for text in (response, ground_truth):
        match = re.fullmatch(r"\s*([\d.,]{1,20})\s?(mg|kg|g|t)\s*", text)
        value = _decimal(match[1]) if match else None
        masses.append(None if value is None or match is None else value * _GRAMS[match[2]])
    return float(None not in masses and masses[0] == masses[1])


same_set = lambda response, items: float(  # noqa: E731
    sorted(each.strip().lower() for each in response.split(";")) == sorted(item.lower() for item in items)
)


def fibonacci_lines(response, count):
    """As many lines as were asked for, each the sum of the two before."""
    lines = response.strip().splitlines()
    if len(lines) != count or not all(re.fullmatch(r"\d{1,30}", line.strip()) for line in lines):
        return 0.0
    values = [int(line) for line in lines]
    return float(
        values[:2] == [1, 1] and all(c == a + b for a, b, c in zip(values, values[1:], values[2:], strict=False))
    )


def palindrome_of(response, letters):
    """A palindrome of exactly these letters."""
    said = [each for each in response.lower() if each.isalpha()]
    return float(bool(said) and said == said[::-1] and Counter(said) == Counter(letters.lower()))
