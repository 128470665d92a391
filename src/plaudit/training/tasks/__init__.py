"""Tasks that come with plaudit, small enough for the embedded model."""

from collections.abc import Callable

from plaudit.errors import DataError, did_you_mean
from plaudit.training.tasks.sort_digits import sort_digits
from plaudit.training.tasks.task import Task

__all__ = ["TASKS", "Task", "find_task", "sort_digits"]

TASKS: dict[str, Callable[[], Task]] = {
    "sort_digits": sort_digits,
}
"""Every built-in task by name."""


def find_task(name: str) -> Task:
    """A built-in task by its name."""
    if name not in TASKS:
        raise DataError(f"no task named {name!r}{did_you_mean(name, TASKS)} (there are {', '.join(TASKS)})")
    return TASKS[name]()
