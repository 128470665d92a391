"""A task in a world: what the user says in each turn, and the calls that do what the user wants.

Calls of an agent are never compared with these gold calls: only the state after them counts, and what was said.
"""

import re
from collections.abc import Iterable
from typing import Any

import msgspec

from plaudit.verify.tools.parsing import ToolCall

MAX_NUMBERS, MAX_WORDS = 20, 400
"""An agent that says more than this in an episode has stated no value: a list of guesses is no answer."""
_NUMBER = re.compile(r"(?<![\w.,])[-−]?\d+(?:,\d{3})*(?:\.\d+)?(?![\w]|[.,]\d)")


class Turn(msgspec.Struct, frozen=True):
    """One turn: the user's message, the calls that carry it out, and the values that the agent's messages state."""

    user: str
    calls: tuple[ToolCall, ...] = ()
    outputs: tuple[str | int | float, ...] = ()


class Task(msgspec.Struct, frozen=True):
    """Turns of a user, after calls that prepare the state.

    `scenario` is for a user that is a model, `data` for worlds whose initial state depends on the task.
    """

    id: str
    turns: tuple[Turn, ...]
    setup: tuple[ToolCall, ...] = ()
    scenario: str = ""
    data: dict[str, Any] = {}


def call(name: str, /, **arguments: Any) -> ToolCall:
    """A call of a tool, as tables of tasks write it."""
    return ToolCall(name, arguments)


def states_value(value: str | float, messages: Iterable[str]) -> bool:
    """Whether the messages state a value: a number as a whole number, a text as whole words.

    >>> states_value(10, ["The total is 2100."]), states_value(1234.5, ["It costs $1,234.50."])
    (False, True)
    >>> states_value("May", ["Maybe."]), states_value("blue lamp", ["a Blue  lamp"])
    (False, True)
    """
    text = "\n".join(messages)
    numbers = {float(number.replace(",", "").replace("−", "-")) for number in _NUMBER.findall(text)}
    if len(numbers) > MAX_NUMBERS or len(text.split()) > MAX_WORDS:
        return False
    if isinstance(value, int | float):
        return float(value) in numbers
    words = r"\s+".join(map(re.escape, value.split()))
    return bool(words) and re.search(rf"(?<!\w){words}(?!\w)", text, re.IGNORECASE) is not None
