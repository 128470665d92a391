"""Sound rewards: a second set by the author of the script rewards."""

import json
import re
import unicodedata
from collections import Counter
from fractions import Fraction

from plaudit import reward


def _same(one, other):
    return unicodedata.normalize("NFC", one.strip()).casefold() == unicodedata.normalize("NFC", other).casefold()


def _fraction(text):
    text = text.strip().replace("\u2212", "-").replace(",", "")
    text = re.sub(r"^(-?)\\[dt]?frac\{(\d{1,9})\}\{(\d{1,9})\}$", r"\1\2/\3", text)
    if not re.fullmatch(r"-?\d{1,12}(?:\.\d{1,12}|/\d{1,12})?", text):
        return None
    try:
        return Fraction(text)
    except ZeroDivisionError:
        return None


def same_fraction(completions, solution, **kwargs):
    """The whole completion is a box; its value is the solution's."""
    rewards = []
    for text, gold in zip(completions, solution, strict=True):
        match = re.fullmatch(r"\s*\\boxed\{((?:[^{}]|\{[^{}]*\})*)\}\s*", text)
        said = _fraction(match[1]) if match else None
        rewards.append(1.0 if said is not None and said == _fraction(gold) else 0.0)
    return rewards


def one_letter(response, ground_truth):
    """One letter, perhaps in brackets or with a full stop."""
    match = re.fullmatch(r"\s*\(?([A-Da-d])\)?\.?\s*", response)
    return float(match is not None and match[1].upper() == ground_truth)


def printed_alike(response, expected_output):
    """Line by line, blanks at their ends aside."""
    said, gold = ([line.rstrip() for line in text.strip().splitlines()] for text in (response, expected_output))
    return float(said == gold)


class QueryReward:
    """A query without regard to blanks, a closing semicolon and the case of what is not quoted."""

    def __call__(self, response, ground_truth):
        return float(self._normal(response) == self._normal(ground_truth))

    @staticmethod
    def _normal(text):
        parts = re.split(r"('[^']*')", text.strip().rstrip("; \n"))
        return [" ".join(part.lower().split()) if index % 2 == 0 else part for index, part in enumerate(parts)]


same_query_text = QueryReward()


def close_record(response, ground_truth):
    """The same fields; numbers may differ by a thousandth."""
    try:
        said = json.loads(response)
    except (ValueError, RecursionError):
        return 0.0
    return float(_close(said, ground_truth))


def _close(said, gold):
    if isinstance(gold, dict):
        return (
            isinstance(said, dict) and said.keys() == gold.keys() and all(_close(said[key], gold[key]) for key in gold)
        )
    if isinstance(gold, list):
        return isinstance(said, list) and len(said) == len(gold) and all(map(_close, said, gold))
    if isinstance(gold, int | float) and not isinstance(gold, bool):
        return type(said) in (int, float) and abs(said - gold) <= 1e-3 * max(1.0, abs(gold))
    return said == gold


def same_calls(response, ground_truth):
    """The same calls, each as often as expected, in any order."""
    try:
        calls = json.loads(response)
    except (ValueError, RecursionError):
        return 0.0
    if not isinstance(calls, list):
        return 0.0
    said, gold = (Counter(json.dumps(each, sort_keys=True) for each in listed) for listed in (calls, ground_truth))
    return float(said == gold)


def prime_factors(response, ground_truth):
    """The factors with their multiplicity, in any order."""
    said, gold = (re.fullmatch(r"\s*\d{1,9}(?:\s*[,*]\s*\d{1,9}){0,30}\s*", text) for text in (response, ground_truth))
    if said is None or gold is None:
        return 0.0
    return float(Counter(map(int, re.findall(r"\d+", said[0]))) == Counter(map(int, re.findall(r"\d+", gold[0]))))


def only_label(completions, label, **kwargs):
    """The completion is the label, whatever its case is."""
    return [float(_same(text.strip().rstrip("."), gold)) for text, gold in zip(completions, label, strict=True)]


def right_then_short(response, ground_truth):
    """Right answers earn 1 up to 400 characters, and down to a half at 2,000."""
    match = re.fullmatch(r"(?:<think>[^<>]{0,20000}</think>)?\s*<answer>([^<>]{1,200})</answer>", response.strip())
    if match is None or not _same(match[1], str(ground_truth)):
        return 0.0
    return 1.0 - 0.5 * min(1.0, max(0.0, len(response) - 400) / 1600)


@reward(scope="group")
def share_among_right(trajectories):
    """The right responses of a group share what it earns, so that a right answer is worth more where it is rare."""
    right = [_same(each.response.strip().rstrip("."), str(each.ground_truth)) for each in trajectories]
    return [0.5 + 0.5 / sum(right) if each else 0.0 for each in right]


def covers_points(response, points):
    """The share of the points, each of which needs a sentence of its own that names it among five other words."""
    sentences = [set(re.findall(r"\w+", text.lower())) for text in re.split(r"[.!?]", response)]
    named = [[point.lower() in words for point in points] for words in sentences]
    found = {
        names.index(True) for words, names in zip(sentences, named, strict=True) if sum(names) == 1 and len(words) >= 6
    }
    return len(found) / len(points)


def same_mailbox(response, ground_truth):
    """An e-mail address; its host has no case, its name has."""
    said, gold = (text.strip().rpartition("@") for text in (response, ground_truth))
    return float(said[0] == gold[0] and said[2].lower() == gold[2].lower() and said[1] == "@")
