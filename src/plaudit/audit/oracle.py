"""Is a response really wrong? A stricter judge than the reward looks at every candidate before it is reported.

What an operator writes is wrong by construction; where the truth is an answer, `plaudit.verify` must agree, so that a
response which happens to be right is dropped. What it cannot judge stays as the construction has it. For a row whose
verifier is known (`plaudit score auto`), that verifier decides.
"""

import json
import re
from functools import cache, lru_cache

from plaudit.audit.tasks import Kind, Task
from plaudit.contract.function import RewardFunction
from plaudit.contract.output import RewardOutput
from plaudit.errors import MissingPackage, PlauditError
from plaudit.rewards import BUILT_INS
from plaudit.rewards.verifiers.recognisers import verifiers_of
from plaudit.trajectory import Trajectory
from plaudit.verify import Count, verify_math
from plaudit.verify.card import kinds

NEAR = 0.0999
"""The share of a number up to which another one may be within a tolerance."""
_NUMBER = re.compile(r"[-+]?\d[\d,]*(?:\.\d+)?")
MOST_OF_WRONG = 0.5
"""The highest score of a verifier for a response that counts as wrong."""

_ANSWERS = frozenset({Kind.NUMBER, Kind.WORD, Kind.CHOICE})


def is_wrong(task: Task, response: str, *, by_construction: bool = False) -> bool:
    """Whether a response does not solve its task."""
    judged = judge_by_row(task, response)
    if judged is not None:
        return judged.score is not None and judged.score <= MOST_OF_WRONG
    if by_construction:
        return True
    if task.kind in _ANSWERS:
        return not _is_near(task, response) and not _is_right_answer(task, response)
    if task.kind is Kind.JSON:
        return read_json(response) != (task.truth if isinstance(task.truth, dict) else read_json(task.right))
    return task.right not in response or task.kind is Kind.SENTENCE


def judge_by_row(task: Task, response: str, like: Task | None = None) -> RewardOutput | None:
    """The best verdict of the verifiers of a task's row on a response; None where no verifier can read the row.

    `like` is a task whose verifier is used, for a row that can no longer be recognised or read.
    """
    specs = verifiers_of(_sample(like or task, response))
    verifiers = [_verifier(spec) for spec in specs if spec in kinds()]
    outputs = [verifier.compute_reward(_sample(task, response)) for verifier in verifiers if verifier is not None]
    outputs = outputs if like else [output for output in outputs if output.score is not None]
    return max(outputs, key=lambda output: output.score or 0.0, default=None)


@cache
def _verifier(spec: str) -> RewardFunction | None:
    try:
        return BUILT_INS[spec]()
    except MissingPackage:
        return None


def _sample(task: Task, response: str) -> Trajectory:
    return Trajectory(
        prompt=task.prompt,
        response=response,
        ground_truth=task.truth,
        columns=dict(task.columns),
        metadata=dict(task.metadata),
        task=task.task,
    )


def is_within_a_tenth(one: str, other: str) -> bool:
    """Whether two different numbers are so near that a reward may take one for the other."""
    left, right = (float(text.replace(",", "")) if _NUMBER.fullmatch(text) else None for text in (one, other))
    return left is not None and right is not None and 0 < abs(left - right) < NEAR * abs(right)


def is_equal_answer(truth: str, response: str) -> bool:
    """Whether the verifier of math accepts a response as the truth."""
    return _is_verified(truth, response, "")


def _is_near(task: Task, response: str) -> bool:
    """Whether the last number of the response is within a tenth of the truth and differs from it."""
    numbers = _NUMBER.findall(response)
    return task.kind is Kind.NUMBER and bool(numbers) and is_within_a_tenth(numbers[-1], task.right)


def _is_right_answer(task: Task, response: str) -> bool:
    """Whether the verifier of math accepts an answer, or that of counts, for which "none" is 0."""
    if response.strip() == task.right or _is_verified(task.right, response, task.prompt_text):
        return True
    return task.kind is Kind.NUMBER and Count().verify({"ground_truth": task.right}, response).passed


@lru_cache(maxsize=20_000)
def _is_verified(right: str, response: str, prompt: str) -> bool:
    try:
        return verify_math(right, response, prompt=prompt).correct
    except PlauditError:  # a truth that it cannot read
        return False


def read_json(text: str) -> object:
    """The value of a JSON text; None for one that cannot be read."""
    try:
        return json.loads(text)
    except ValueError:
        return None
