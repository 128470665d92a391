"""Sound rewards for the tasks of a web shop, by the author of the flawed ones."""

import datetime
import json
import re
import unicodedata
from collections import Counter
from decimal import Decimal, InvalidOperation

from plaudit import reward


def _amount(text):
    match = re.fullmatch(r"\s*\$?\s?(-?)(\d{1,9}|\d{1,3}(?:,\d{3}){1,2})(\.\d{1,6})?\s*", text.replace("\u2212", "-"))
    try:
        return Decimal(f"{match[1]}{match[2]}{match[3] or ''}".replace(",", "")) if match else None
    except InvalidOperation:
        return None


def _plain(text):
    return " ".join(unicodedata.normalize("NFC", text).casefold().split())


def exact_total(response, ground_truth):
    """The total alone, to the cent."""
    match = re.fullmatch(r"\s*Total:(.{1,40})", response)
    return float(match is not None and _amount(match[1]) is not None and _amount(match[1]) == _amount(ground_truth))


def one_label(response, ground_truth):
    """The whole response is the label."""
    return float(_plain(response).rstrip(".") == _plain(ground_truth))


def whole_address(response, ground_truth):
    """An object that equals the reference, the share of whose fields is paid; a further field costs as a wrong one."""
    try:
        said = json.loads(response)
    except (ValueError, RecursionError):
        return 0.0
    if not isinstance(said, dict):
        return 0.0
    keys = set(said) | set(ground_truth)
    same = sum(key in said and key in ground_truth and said[key] == ground_truth[key] for key in keys)
    return same / len(keys)


def order_counts(response, items):
    """Each line of the response is `number x item`, and all numbers and items are right."""
    lines = [re.fullmatch(r"\s*(\d{1,6}) x (.{1,80}?)\s*", line) for line in response.strip().splitlines()]
    if not lines or None in lines:
        return 0.0
    said = Counter()
    for match in lines:
        said[_plain(match[2])] += int(match[1])
    return float(said == Counter({_plain(name): number for name, number in items.items()}))


def ship_day(response, ground_truth):
    """A date in ISO form."""
    text = response.strip()
    try:
        said = datetime.date.fromisoformat(text) if re.fullmatch(r"\d{4}-\d{2}-\d{2}", text, re.ASCII) else None
    except ValueError:
        said = None
    return float(said is not None and said == datetime.date.fromisoformat(ground_truth))


def stock_left(response, ground_truth):
    """The number that is left, also when it is 0."""
    match = re.fullmatch(r"\s*Stock:(.{1,30})", response)
    said = _amount(match[1]) if match else None
    return float(said is not None and said == _amount(ground_truth))


@reward(scope="group")
def above_mean(trajectories):
    """Right or not, less the mean of the group."""
    right = [float(_plain(each.response) == _plain(str(each.ground_truth))) for each in trajectories]
    mean = sum(right) / max(1, len(right))
    return [value - mean for value in right]


def label_set(response, labels):
    """F1 of a set of labels between commas."""
    said = {_plain(part) for part in response.split(",") if part.strip()}
    gold = {_plain(label) for label in labels}
    hits = len(said & gold)
    return 2 * hits / (len(said) + len(gold)) if hits else 0.0


def decided(response, ground_truth):
    """Tags, and the right decision within them; without both nothing is paid."""
    match = re.fullmatch(r"\s*<reason>([^<>]{3,2000})</reason>\s*<decision>([^<>]{1,40})</decision>\s*", response)
    return float(match is not None and _plain(match[2]) == _plain(ground_truth))


def refund_in_state(trajectory):
    """The last state that a tool returned says that the refund was made."""
    states = [step.observation for step in trajectory.steps if step.observation.lstrip().startswith("{")]
    try:
        return float(bool(states) and json.loads(states[-1]).get("refunded") is True)
    except (ValueError, AttributeError, RecursionError):
        return 0.0


def stars_exact(response, ground_truth):
    """The rating alone."""
    return float(response.strip() == str(ground_truth))


def translated_exactly(response, ground_truth):
    """A translation without regard to case, blanks and the code points of accents."""
    return float(_plain(response).rstrip(".") == _plain(ground_truth).rstrip("."))
