"""Rewards that break an invariant; the docstring says which."""

import random
import re
import time

from plaudit import reward

_seen = set()


def fails_on_empty(response):
    """Total: an empty response raises."""
    return 1.0 / len(response.split()) * 0.0 + 0.5


@reward(bounds=(0.0, 1.0))
def leaves_bounds(response):
    """Bounds: more than it declares."""
    return len(response) / 1000


def random_bonus(response, ground_truth):
    """Determinism: rolls dice."""
    return float(response.strip().endswith(ground_truth)) + random.random() * 0.01


def novelty(response):
    """State: the second time is worth less."""
    fresh = response not in _seen
    _seen.add(response)
    return float(fresh)


def drops_repeats(responses):
    """Arity: one value per distinct response."""
    return [0.5 for _ in dict.fromkeys(responses)]


@reward(max_batch=64)
def ranks_batch(responses):
    """Independence: the value depends on the other samples, though batches may be cut."""
    longest = max(len(response) for response in responses)
    return [len(response) / max(1, longest) for response in responses]


def edits_sample(trajectory):
    """Purity: leaves a mark in the metadata of the sample."""
    trajectory.metadata["rated"] = True
    return 0.5


def not_a_number(response):
    """Finite: NaN for a response without letters."""
    letters = sum(char.isalpha() for char in response)
    return float("nan") if letters == 0 else 1.0


def hangs_on_powers(response, ground_truth):
    """Latency: a tower of powers is worked out."""
    if "9^" in response or "9**9**9" in response:
        time.sleep(60)
    found = re.search(r"#### (\S+)\s*$", response)
    return float(bool(found) and found[1] == ground_truth)


def backtracks(response):
    """Latency: a pattern with nested repeats."""
    return 1.0 if re.match(r"(a+)+$", response[:40]) else 0.0
