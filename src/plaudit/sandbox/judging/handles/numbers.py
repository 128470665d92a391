"""Numbers of the program that are not finite: an ordering with NaN fails the check.

NaN is neither above nor below anything, so `not abs(f(x) - 1) > 1e-6` would accept it. Results of arithmetic with such
numbers are such numbers again, because infinity minus infinity is NaN.
"""

import math
from collections.abc import Callable
from typing import Any

from plaudit.sandbox.judging.handles.violations import violate
from plaudit.sandbox.value_kinds import WRITERS

__all__ = ["NonFinite", "NonFiniteComplex", "guard_number"]

_BINARY = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow")


class NonFinite(float):
    """Infinity or NaN as the program returned it."""


class NonFiniteComplex(complex):
    """A complex number with such a part."""


def guard_number(value: Any) -> Any:
    """A number as a guarded one where it is not finite."""
    if type(value) is float and not math.isfinite(value):
        return NonFinite(value)
    if type(value) is complex and not (math.isfinite(value.real) and math.isfinite(value.imag)):
        return NonFiniteComplex(value)
    return value


def _arithmetic(base: type, name: str) -> Callable[..., Any]:
    operate = getattr(base, name)
    return lambda self, *operands: guard_number(operate(self, *operands))


def _ordering(name: str) -> Callable[[float, Any], Any]:
    compare = getattr(float, name)

    def ordered(self: float, other: Any) -> Any:
        if isinstance(other, int | float) and (self != self or other != other):
            violate("the tests order a number with NaN, which the program returned")
        return compare(self, other)

    return ordered


for _base, _kind in ((float, NonFinite), (complex, NonFiniteComplex)):
    for _name in _BINARY:
        for _method in (f"__{_name}__", f"__r{_name}__"):
            if hasattr(_base, _method):
                setattr(_kind, _method, _arithmetic(_base, _method))
    for _method in ("__abs__", "__neg__", "__pos__"):
        setattr(_kind, _method, _arithmetic(_base, _method))
for _method in ("__lt__", "__le__", "__gt__", "__ge__"):
    setattr(NonFinite, _method, _ordering(_method))
WRITERS[NonFinite] = ("f", lambda graph, value, depth: float.__repr__(value))
WRITERS[NonFiniteComplex] = (
    "c",
    lambda graph, value, depth: [graph.encode(float(value.real)), graph.encode(float(value.imag))],
)
