"""Arrays of numpy that a program returned, made anew here from plain data, where numpy is installed.

Nothing of the program's own array is kept: its shape, the name of its type and its items were decoded like any value.
Empty ones are left over there: numpy stretches them to any length, and every statement about all of nothing is true.
"""

import importlib.util
import re
from collections.abc import Callable
from typing import Any

__all__ = ["array_of", "to_list"]

TYPE_NAME = re.compile(r"[<>|=]?([?biufc]\d{0,2}|[US]\d{1,6})")


def array_of(attribute: Callable[[str], Any], items: Callable[[], Any]) -> Any | None:
    """The array whose `attribute(name)` and `items()` the program tells; None where it is empty or makes no sense."""
    if importlib.util.find_spec("numpy") is None:
        return None
    shape, kind, values = attribute("shape"), attribute("dtype").str, items()
    if type(shape) is not tuple or type(kind) is not str or not TYPE_NAME.fullmatch(kind):
        return None
    numpy = importlib.import_module("numpy")
    try:
        array = numpy.array(values, dtype=kind).reshape(shape)
    except (ValueError, TypeError, OverflowError):
        return None
    return array if array.size else None


def to_list(value: Any) -> Any:
    """An array, made anew here or left over there, as a list, as data sets have it; anything else as it is."""
    return value.tolist() if getattr(value, "type_name", type(value).__name__) == "ndarray" else value
