"""Which kinds of response a reward pays, and how responses fail.

A sample fails if its score is below one half or, if the reward gives no scores, if its reward lies in the lower half of
the range of all rewards. Unscored samples are not failures.

Responses are classified by their text alone. Forms are found in the data (digits become 9, words become a), so that
unexpected kinds show too. Short responses are also compared with a short ground truth, character by character.
"""

import math
import re
from collections.abc import Callable, Iterable
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from plaudit.checks.quality import has_hallucination, has_reasoning_steps
from plaudit.contract.output import RewardOutput
from plaudit.diff.difference import RIGHT
from plaudit.report.figures import Example, FailurePattern, Kind, Patterns
from plaudit.report.table import Floats, Samples
from plaudit.rollouts import ScoredRollout
from plaudit.trajectory import Trajectory
from plaudit.verify.math.extraction.candidates import find_marks
from plaudit.verify.text import bare_words, ngrams

TOP = 8
MAX_KINDS = 20_000
CLEAR = 3.0  # standard errors: with dozens of kinds, two would turn up by chance
LEAST_SHARE = 0.005
REASON = "because: "
_NUMBER = re.compile(r"-?\d+(?:[.,]\d+)*")
_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"")


class ResponseKinds:
    """The rows of each kind of response and of each reason, with one example each; never all responses."""

    def __init__(self) -> None:
        self.rows: list[int] = []
        self.members: dict[str, list[int]] = {}
        self.examples: dict[str, Example] = {}

    def add(self, row: int, rollout: ScoredRollout) -> None:
        """Take one sample; one that was not scored does not count."""
        trajectory, output = rollout.trajectory, rollout.output
        if output.reward is None:
            return
        index = len(self.rows)
        self.rows.append(row)
        for kind in (*sorted(find_kinds(trajectory)), *_reasons(output)):
            if kind not in self.members and len(self.members) >= MAX_KINDS:
                continue
            self.members.setdefault(kind, []).append(index)
            if (
                kind not in self.examples or output.reward < self.examples[kind].reward
            ):  # the worst shows a failure best
                self.examples[kind] = _example(trajectory, output, output.reward)


def find_patterns(samples: Samples, kinds: ResponseKinds) -> Patterns:
    """The rewards of each kind of response, and the kinds that failures have in common."""
    rewards, scores = samples.rewards[kinds.rows], samples.scores[kinds.rows]
    failing = np.where(np.isnan(scores), rewards < samples.middle, scores < RIGHT)
    paid = _paid_kinds(rewards, kinds)
    return Patterns(
        responses=len(rewards),
        failing=int(failing.sum()),
        failures=_failure_patterns(failing, kinds),
        high=tuple(kind for kind in paid if kind.difference > 0)[:TOP],
        low=tuple(kind for kind in reversed(paid) if kind.difference < 0)[:TOP],
    )


def _paid_kinds(rewards: Floats, kinds: ResponseKinds) -> list[Kind]:
    """Kinds whose rewards clearly differ from those of all other responses, best first."""
    paid = []
    with np.errstate(over="ignore", invalid="ignore"):
        total, std = rewards.sum(), float(rewards.std()) if len(rewards) else 0.0
        for name, members in kinds.members.items():
            count, others = len(members), len(rewards) - len(members)
            if name.startswith(REASON) or not others or not std or count < LEAST_SHARE * len(rewards):
                continue
            earned = rewards[members].sum()
            difference = float(earned / count - (total - earned) / others)
            if abs(difference) >= CLEAR * std * math.sqrt(1 / count + 1 / others):
                paid.append(Kind(name, count, count / len(rewards), float(earned / count), difference))
    return sorted(paid, key=lambda kind: kind.difference, reverse=True)


def _failure_patterns(failing: npt.NDArray[np.bool_], kinds: ResponseKinds) -> tuple[FailurePattern, ...]:
    """The kinds that are more common among failures than among the other responses, the largest difference first."""
    failed = int(failing.sum())
    others = len(failing) - failed
    patterns = []
    for kind, members in kinds.members.items():
        count = int(failing[members].sum())
        if not count or count < LEAST_SHARE * failed:
            continue
        share, elsewhere = count / failed, (len(members) - count) / others if others else 0.0
        if share > elsewhere and share - elsewhere >= CLEAR * _standard_error(len(members), failed, others):
            what, example = kind.removeprefix(REASON), kinds.examples[kind]
            patterns.append(FailurePattern(what, count, share, elsewhere, example))
    patterns.sort(key=lambda pattern: pattern.share_of_failures - pattern.share_of_others, reverse=True)
    return tuple(patterns[:TOP])


def _standard_error(members: int, failures: int, others: int) -> float:
    """The standard error of the difference of a share between two sets."""
    if not others:
        return 0.0
    overall = members / (failures + others)
    return math.sqrt(overall * (1 - overall) * (1 / failures + 1 / others))


def _reasons(output: RewardOutput) -> Iterable[str]:
    """The reasons of a reward without numbers and quotations, so that equal causes count together."""
    parts = dict.fromkeys(part.strip() for part in output.reason.split("; ") if part.strip())
    return [f"{REASON}{_NUMBER.sub('N', _QUOTED.sub('…', part)):.100}" for part in parts]


def _example(trajectory: Trajectory, output: RewardOutput, reward: float) -> Example:
    truth = "" if trajectory.ground_truth is None else str(trajectory.ground_truth)
    return Example(
        prompt=trajectory.prompt_text[-300:],
        response=trajectory.response[:500],
        ground_truth=truth[:200],
        reward=reward,
        reason=output.reason[:200],
    )


SHORT, LONG = 10, 200  # words
REPEATED_SHARE = 0.5
FORM_CHARACTERS = 40

_DIGITS = re.compile(r"\d+")
_LETTERS = re.compile(r"[^\W\d_]+")
_SPACE = re.compile(r"\s+")


def find_kinds(trajectory: Trajectory) -> frozenset[str]:
    """The kinds that a response belongs to."""
    truth = trajectory.ground_truth
    kinds = _text_kinds(trajectory.response) | _near_kinds(trajectory.response.strip(), str(truth).strip())
    return kinds | {"cut off at the length limit"} if _is_cut_off(trajectory) else kinds


@lru_cache(maxsize=4096)  # a trained policy often gives the same response
def _text_kinds(response: str) -> frozenset[str]:
    kinds = {name for name, holds in KINDS.items() if holds(response)}
    return frozenset(kinds | {_form(response)} if response.strip() else kinds)


def _near_kinds(response: str, truth: str) -> set[str]:
    if not 0 < len(response) <= FORM_CHARACTERS or not 1 < len(truth) <= FORM_CHARACTERS or response == truth:
        return set()
    return {name for name, holds in NEAR_KINDS.items() if holds(response, truth)}


def _is_cut_off(trajectory: Trajectory) -> bool:
    return trajectory.metadata.get("finish_reason") == "length"


def _form(response: str) -> str:
    """The shape of a short response, the first words of a long one."""
    text = _SPACE.sub(" ", response.strip())
    if len(text) <= FORM_CHARACTERS:
        return f"of the form {_LETTERS.sub('a', _DIGITS.sub('9', text))!r}"
    return f"begins with {' '.join(text.split()[:2])!r:.40}"


def _repeats(response: str) -> bool:
    runs = ngrams(bare_words(response), 3)
    return len(runs) > 3 and 1 - len(set(runs)) / len(runs) >= REPEATED_SHARE


def _leaves_tag_open(response: str) -> bool:
    opened = re.findall(r"<(\w+)>", response)
    return any(response.count(f"</{tag}>") < response.count(f"<{tag}>") for tag in set(opened))


def _is_one_off(response: str, truth: str) -> bool:
    """Whether one character put in, left out or exchanged makes the one into the other."""
    if abs(len(response) - len(truth)) > 1:
        return False
    start = _shared_prefix(response, truth)
    end = _shared_prefix(response[start:][::-1], truth[start:][::-1])
    return max(len(response), len(truth)) - start - end <= 1


def _shared_prefix(one: str, other: str) -> int:
    """The length of the common prefix."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((index for index, (a, b) in pairs if a != b), min(len(one), len(other)))


NEAR_KINDS: dict[str, Callable[[str, str], bool]] = {
    "has the ground truth's characters in another order": lambda response, truth: sorted(response) == sorted(truth),
    "is one character away from the ground truth": _is_one_off,
    "is longer than the ground truth": lambda response, truth: len(response) > len(truth),
    "is shorter than the ground truth": lambda response, truth: len(response) < len(truth),
}
KINDS: dict[str, Callable[[str], bool]] = {
    "empty": lambda response: not response.strip(),
    f"shorter than {SHORT} words": lambda response: 0 < len(response.split()) < SHORT,
    f"longer than {LONG} words": lambda response: len(response.split()) > LONG,
    "repeats itself": _repeats,
    "states an answer": lambda response: bool(find_marks(response)),
    "states different answers": lambda response: len({mark.text.strip() for mark in find_marks(response)}) > 1,
    "reasons in steps": has_reasoning_steps,
    "states false arithmetic": has_hallucination,
    "holds a code block": lambda response: "```" in response,
    "leaves a tag open": _leaves_tag_open,
}
