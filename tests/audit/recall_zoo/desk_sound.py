"""Sound rewards for the tasks of a desk, by the author of the flawed ones."""

import json
import re
import sqlite3
import unicodedata
from collections import Counter
from decimal import Decimal

from plaudit import reward


def _text(value):
    return " ".join(unicodedata.normalize("NFC", value).split())


def _number(text):
    text = text.strip().replace("\u2212", "-")
    if not re.fullmatch(r"-?(?:\d{1,12}|\d{1,3}(?:,\d{3}){1,3})(?:\.\d{1,9})?", text):
        return None
    return Decimal(text.replace(",", ""))


def amount_due(completions, amount, **kwargs):
    """The last line is the amount, with or without the dollar sign."""
    rewards = []
    for text, gold in zip(completions, amount, strict=True):
        last = (text.strip().splitlines() or [""])[-1].strip()
        match = re.fullmatch(r"(?:Total: )?\$?([^$]{1,30})", last)
        said = _number(match[1]) if match else None
        rewards.append(float(said is not None and said == Decimal(gold)))
    return rewards


def same_release(response, ground_truth):
    """The whole version, with or without a v."""
    return float(response.strip().removeprefix("v") == ground_truth)


def same_cron(response, ground_truth):
    """Five fields that are the same, whatever blanks are between them."""
    return float(response.split() == ground_truth.split())


def rating_near(response, ground_truth):
    """Half for a neighbour of the right rating; nothing for what is not a rating."""
    match = re.fullmatch(r"\s*rating:\s*([1-5])\s*", response.lower())
    if match is None:
        return 0.0
    return {0: 1.0, 1: 0.5}.get(abs(int(match[1]) - ground_truth), 0.0)


def same_telephone(response, ground_truth):
    """All digits of a telephone number, and nothing but digits and the marks between them."""
    if not re.fullmatch(r"\+?[\d ()./-]{5,25}", response.strip()):
        return 0.0
    return float(re.sub(r"\D", "", response) == re.sub(r"\D", "", ground_truth))


def same_rows(response, tables, ground_truth):
    """A query that only reads and returns the rows of the expected one, in its order, with a limit of steps."""
    base = sqlite3.connect(":memory:")
    try:
        base.executescript(tables)
        gold = base.execute(ground_truth).fetchall()
        base.execute("PRAGMA query_only = 1")
        base.set_progress_handler(lambda: 1, 200_000)
        return float(base.execute(response.strip()).fetchmany(1000) == gold)
    except (sqlite3.Error, sqlite3.Warning, ValueError):
        return 0.0
    finally:
        base.close()


def plan_in_order(response, ground_truth):
    """The steps of a plan in their order, one in each line."""
    lines = [_text(line).casefold() for line in response.splitlines() if line.strip()]
    return float(lines == [_text(step).casefold() for step in ground_truth])


def exact_tags(response, tags):
    """The tags, each once, in any order."""
    try:
        said = json.loads(response)
    except (ValueError, RecursionError):
        return 0.0
    if not isinstance(said, list) or not all(isinstance(each, str) for each in said):
        return 0.0
    return float(Counter(map(_text, said)) == Counter(map(_text, tags)))


def tags_then_answer(response, ground_truth):
    """Nine tenths for the answer; a tenth for the tags, where the answer is right."""
    match = re.fullmatch(r"\s*(?:<plan>[^<>]{1,4000}</plan>\s*)?<answer>([^<>]{1,200})</answer>\s*", response)
    if match is None or _text(match[1]).casefold() != _text(ground_truth).casefold():
        return 0.0
    return 1.0 if "<plan>" in response else 0.9


def share_by_value(response, ground_truth):
    """A share in percent by its value, 0 as well."""
    match = re.fullmatch(r"\s*<share>\s*([^<>%]{1,20}?)\s*%?\s*</share>\s*", response)
    said = _number(match[1]) if match else None
    return float(said is not None and said == Decimal(ground_truth))


@reward(scope="group")
def better_than_mean(trajectories):
    """Right answers less their share in the group: zero where all or none are right."""
    right = [_text(each.response).casefold() == _text(str(each.ground_truth)).casefold() for each in trajectories]
    return [each - sum(right) / len(right) for each in right]


def reference_required(response, reference):
    """A row without a reference is a mistake of the data and cannot be scored."""
    if not reference.strip():
        raise ValueError("the row has no reference")
    return float(_text(response).casefold() == _text(reference).casefold())
