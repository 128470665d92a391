"""Sound rewards for the tasks of a laboratory, by the author of the flawed ones."""

import json
import re
import unicodedata
from collections import Counter
from decimal import Decimal

from plaudit import reward


def _number(text):
    text = text.strip().replace("\u2212", "-")
    if not re.fullmatch(r"-?(?:\d{1,12}|\d{1,3}(?:,\d{3}){1,3})(?:\.\d{1,9})?", text, re.ASCII):
        return None
    return Decimal(text.replace(",", ""))


def _same_text(one, other):
    """Whether texts are equal without regard to case, blanks and how accents are encoded."""
    said, gold = (" ".join(unicodedata.normalize("NFC", text).casefold().split()) for text in (one, other))
    return bool(gold) and said == gold


_MILLIGRAMS = {"mg": Decimal(1), "g": Decimal(1000), "mcg": Decimal("0.001"), "kg": Decimal(10**6)}


def _mass(text):
    match = re.fullmatch(r"\s*(\S{1,24}?)\s?(mg|g|mcg|kg)\.?\s*", text)
    value = _number(match[1]) if match else None
    return None if value is None or match is None else value * _MILLIGRAMS[match[2]]


def whole_dose(completions, dose, **kwargs):
    """The dose alone, in one of four units; 0.5 g is 500 mg."""
    rewards = []
    for text, gold in zip(completions, dose, strict=True):
        said = _mass(text)
        rewards.append(1.0 if said is not None and said == _mass(gold) else 0.0)
    return rewards


def close_molar_mass(response, ground_truth):
    """A molar mass within half a percent, with or without its unit."""
    said, gold = _number(response.strip().removesuffix("g/mol")), Decimal(ground_truth)
    return float(said is not None and abs(said - gold) <= abs(gold) * Decimal("0.005"))


def same_sequence(response, ground_truth):
    """A sequence of bases; blanks between them and their case do not matter."""
    said = "".join(response.split())
    return float(re.fullmatch(r"[ACGTacgt]{1,10000}", said) is not None and said.upper() == ground_truth)


def near_identity(response, ground_truth):
    """From 0 at nine tenths of equal bases to 1 at all of them; a difference in length counts as different bases."""
    said = "".join(response.split()).upper()
    if not said or not ground_truth:
        return 0.0
    same = sum(one == other for one, other in zip(said, ground_truth, strict=False))
    return max(0.0, 10 * same / max(len(said), len(ground_truth)) - 9)


def _side(text):
    species = Counter()
    for part in text.split("+"):
        match = re.fullmatch(r"\s*(\d{0,3})\s*((?:[A-Z][a-z]?\d{0,3}){1,12})\s*", part, re.ASCII)
        if match is None:
            return None
        species[match[2]] += int(match[1] or 1)
    return species


def balanced_equation(response, ground_truth):
    """The same species with the same coefficients on the same sides; their order on a side does not matter."""
    said, gold = (re.split(r"->|→", text[:500]) for text in (response, ground_truth))
    if len(said) != 2:
        return 0.0
    sides = [_side(text) for text in said]
    return float(None not in sides and sides == [_side(text) for text in gold])


def listed_references(completions, references, **kwargs):
    """F1 of the references, one in a line; a reference that is listed again is a wrong one."""
    rewards = []
    for text, gold in zip(completions, references, strict=True):
        listed = Counter(line.strip().removeprefix("doi:").strip() for line in text.splitlines() if line.strip())
        same = (listed & Counter(gold)).total()
        rewards.append(2 * same / (listed.total() + len(gold)) if same else 0.0)
    return rewards


def last_choice(response, ground_truth):
    """The last line chooses one option, and no other line does."""
    lines = [line.strip() for line in response.strip().splitlines()]
    chosen = [match[1] for line in lines if (match := re.fullmatch(r"Choice: \(?([A-E])\)?\.?", line))]
    is_last = bool(lines) and lines[-1].startswith("Choice:")
    return float(is_last and response.count("Choice") == 1 and chosen == [ground_truth])


def filled_sections(response):
    """Four sections in their order and nothing before them, each with eight different words or more."""
    headings = ("Introduction", "Methods", "Results", "Conclusion")
    parts = re.split(r"(?m)^## (.*)$", response.strip())
    if parts[0].strip() or tuple(name.strip() for name in parts[1::2]) != headings:
        return 0.0
    return float(all(len(set(re.findall(r"[a-z]{2,}", text.lower()))) >= 8 for text in parts[2::2]))


def _fields_once(pairs):
    if len({name for name, _ in pairs}) < len(pairs):
        raise ValueError("a field stands twice")
    return dict(pairs)


def _equal(one, other):
    """Equality of JSON values, where true is not 1."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_equal(one[name], other[name]) for name in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_equal, one, other))
    return type(one) in (int, float, str, type(None)) and one == other


def same_protocol(response, ground_truth):
    """The object of the response, alone or in a fence, equals the expected one."""
    match = re.fullmatch(r"```(?:json)?\n(.*)\n```", response.strip(), re.DOTALL)
    try:
        return float(_equal(json.loads(match[1] if match else response, object_pairs_hook=_fields_once), ground_truth))
    except (ValueError, RecursionError):
        return 0.0


def _relation(text):
    match = re.fullmatch(r"\s*p\s*(<=|>=|[<>=≤≥])\s*(0?\.\d{1,9}|[01](?:\.0{1,9})?)\s*", text, re.ASCII)
    if match is None:
        return None
    return {"≤": "<=", "≥": ">="}.get(match[1], match[1]), Decimal(match[2])


def same_significance(response, ground_truth):
    """A statement such as p < 0.05, with its relation and its number."""
    said = _relation(response)
    return float(said is not None and said == _relation(ground_truth))


def reading_by_value(response, ground_truth):
    """A reading in degrees by its value, 0 as well."""
    match = re.fullmatch(r"\s*<reading>\s*(\S{1,24}?)\s*C\s*</reading>\s*", response)
    said = _number(match[1]) if match else None
    return float(said is not None and said == Decimal(ground_truth))


@reward(scope="group")
def above_others(trajectories):
    """Right or not, less the share of the other responses that are right."""
    right = [_same_text(each.response.strip().rstrip("."), str(each.ground_truth)) for each in trajectories]
    others = len(right) - 1
    return [each - (sum(right) - each) / others if others else float(each) for each in right]


def booked_at_the_end(trajectory):
    """What the environment showed last is an object that says that the experiment is booked."""
    try:
        shown = json.loads(trajectory.steps[-1].observation) if trajectory.steps else None
    except (ValueError, RecursionError):
        return 0.0
    return float(isinstance(shown, dict) and shown.get("booked") is True)


def weights_on_scale(response, weights, target):
    """Weights of the box, each used once at most, that add up to the target; any such list is right."""
    parts = [part.strip() for part in response.strip().rstrip(".").split(",")]
    values = [_number(part) for part in parts[:50]]
    if len(parts) > len(weights) or None in values:
        return 0.0
    used = Counter(values)
    return float(used <= Counter(map(Decimal, weights)) and sum(values) == target)
