"""Is a response really wrong? A stricter judge than the reward looks at every candidate before it is reported.

What an operator writes is wrong by construction; where the truth is an answer, `plaudit.verify` must agree, so that a
response which happens to be right is dropped. What it cannot judge stays as the construction has it.
"""

import json
from functools import lru_cache

from plaudit.audit.tasks import Kind, Task
from plaudit.errors import PlauditError
from plaudit.verify import verify_math

__all__ = ["is_wrong"]

_ANSWERS = frozenset({Kind.NUMBER, Kind.WORD, Kind.CHOICE})


def is_wrong(task: Task, response: str) -> bool:
    """Whether a response does not solve its task."""
    if task.kind in _ANSWERS:
        return not _is_right_answer(task, response)
    if task.kind is Kind.JSON:
        return _read_json(response) != (task.truth if isinstance(task.truth, dict) else _read_json(task.right))
    return task.right not in response or task.kind is Kind.SENTENCE


def _is_right_answer(task: Task, response: str) -> bool:
    return response.strip() == task.right or _is_verified(task.right, response, task.prompt_text)


@lru_cache(maxsize=20_000)
def _is_verified(right: str, response: str, prompt: str) -> bool:
    try:
        return verify_math(right, response, prompt=prompt).correct
    except PlauditError:  # a truth that it cannot read
        return False


def _read_json(text: str) -> object:
    try:
        return json.loads(text)
    except ValueError:
        return None
