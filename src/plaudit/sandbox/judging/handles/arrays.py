"""Arrays that a program returned, rebuilt from plain data, with stricter comparisons than those of numpy.

numpy broadcasts shapes, and `all` of an empty array is true. So an array of the program is computed and compared only
with its own shape or a single number, and an empty one only with an empty one.
"""

import operator
import sys
from functools import lru_cache
from typing import Any

from plaudit.sandbox.judging.handles.violations import violate

COMPARING = ("allclose", "array_equiv", "isclose")
OPERANDS = ("a", "b", "a1", "a2", "x", "y", "actual", "desired")  # of these and the following, by their names
ASSERTING = (
    "assert_allclose", "assert_almost_equal", "assert_array_almost_equal", "assert_array_almost_equal_nulp",
    "assert_array_equal", "assert_array_less", "assert_array_max_ulp", "assert_equal",
)  # fmt: skip


def to_list(value: Any) -> Any:
    """An array as a list, as data sets have it; anything else as it is."""
    numpy = sys.modules.get("numpy")
    return value.tolist() if numpy is not None and isinstance(value, numpy.ndarray) else value


@lru_cache(maxsize=1)
def answer_type() -> Any:
    """The class of arrays that a program returned."""
    numpy = sys.modules["numpy"]

    class Answer(numpy.ndarray):  # type: ignore[misc, name-defined]
        """An array that the program returned."""

        def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **keywords: Any) -> Any:
            if method == "__call__" and len(inputs) > 1:
                _check_shapes(numpy, *inputs[:2])
            plain = [item.view(numpy.ndarray) if isinstance(item, Answer) else item for item in inputs]
            if "out" in keywords:
                keywords["out"] = tuple(
                    item.view(numpy.ndarray) if isinstance(item, Answer) else item for item in keywords["out"]
                )
            return getattr(ufunc, method)(*plain, **keywords)

    return Answer


def _check_shapes(numpy: Any, one: Any, other: Any) -> None:
    shapes = [numpy.shape(one), numpy.shape(other)]
    if shapes[0] == shapes[1]:
        return
    if () not in shapes:
        raise AssertionError(f"the shapes {shapes[0]} and {shapes[1]} differ")
    if 0 in max(shapes, key=len):
        raise AssertionError("an empty array is compared with a number")


class Literal(float):
    """A number literal in the text of the tests: arrays may be compared with it as a whole."""


def meet_shaped(operation: Any, left: Any, right: Any, answer_is_left: bool) -> Any:
    """`==`, `!=` or `-` of an answer and an expected value, in which the answer has the shape of an expected array.

    The operation is a function of numpy, or the name of one of `operator`.
    """
    answer, expected = (left, right) if answer_is_left else (right, left)
    shape = getattr(expected, "shape", ()) if isinstance(operation, str) else _shape_of(expected)
    if shape != () and _shape_of(answer) != shape:
        violate(f"the program returned a value of another shape where an array of shape {shape} is expected")
    return (getattr(operator, operation) if isinstance(operation, str) else operation)(left, right)


def _shape_of(value: Any) -> Any:
    try:
        return sys.modules["numpy"].shape(value)
    except ValueError:  # lists of unequal lengths
        return None


def has_nan(value: Any) -> bool:
    """Whether an array has an item that is not a number."""
    return getattr(getattr(value, "dtype", None), "kind", "") in ("f", "c") and bool((value != value).any())


def guard_comparisons(numpy: Any) -> None:
    """Have numpy's comparisons within a tolerance look at shapes first; done once, in the server."""
    if getattr(numpy.allclose, "__name__", "") == "guarded":
        return
    for name in COMPARING:
        setattr(numpy, name, _guard(numpy, getattr(numpy, name), fails=lambda: False))
    testing = numpy.testing
    for name in ASSERTING:
        setattr(testing, name, _guard(numpy, getattr(testing, name), fails=None))


def _guard(numpy: Any, compare: Any, fails: Any) -> Any:
    def guarded(*args: Any, **keywords: Any) -> Any:
        one, other = [*args, *(keywords[name] for name in keywords if name in OPERANDS)][:2]
        try:
            _check_shapes(numpy, one, other)
            if numpy.shape(one) != numpy.shape(other) and not isinstance(one, Literal) | isinstance(other, Literal):
                raise AssertionError("a single number is compared with an array")
        except AssertionError:
            if fails is None:
                raise
            return fails()
        except ValueError:  # no shape at all, as of lists of unequal lengths
            pass
        return compare(*args, **keywords)

    return guarded
