"""Tasks that come with plaudit, small enough for the embedded model."""

from collections.abc import Callable
from functools import cache

from plaudit.errors import InvalidSettings, did_you_mean
from plaudit.training.tasks.addition import addition
from plaudit.training.tasks.follow_format import follow_format
from plaudit.training.tasks.length_control import length_control
from plaudit.training.tasks.sort_digits import sort_digits
from plaudit.training.tasks.task import Task

__all__ = ["TASKS", "Task", "addition", "find_task", "follow_format", "length_control", "sort_digits"]

TASKS: dict[str, Callable[[], Task]] = {
    "sort_digits": sort_digits,
    "addition": addition,
    "follow_format": follow_format,
    "length_control": length_control,
}
"""Every built-in task by name."""


@cache
def find_task(name: str) -> Task:
    """A built-in task by its name; made once, since its thousands of prompts never change."""
    if name not in TASKS:
        raise InvalidSettings(f"no task named {name!r}{did_you_mean(name, TASKS)} (there are {', '.join(TASKS)})")
    return TASKS[name]()
