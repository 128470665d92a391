"""Built-in functions as the tests see them, which know of handles, and the helpers that rewritten tests call."""

import dataclasses
import inspect
import operator
import sys
import unittest.case
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from functools import lru_cache, partial, wraps
from types import FunctionType
from typing import Any

from plaudit.sandbox.containers import CONTAINERS
from plaudit.sandbox.judging.handles.arrays import Literal, has_nan, meet_shaped
from plaudit.sandbox.judging.handles.errors import SILENT, ErrorClass, ProgramError
from plaudit.sandbox.judging.handles.handles import EXTENSIBLE, Handle
from plaudit.sandbox.judging.handles.violations import UnsupportedTest, note_turn, violate
from plaudit.sandbox.judging.handles.written_contents import WrittenContents
from plaudit.sandbox.value_kinds import CLASS_NAMES, WRITERS, standard_path

_NOTHING = object()
_PLAIN_BASES = (Handle, *EXTENSIBLE)
_COMPARABLE = {bool, type(None), *CONTAINERS, *WRITERS}


def test_builtins(
    written: WrittenContents,
    read: Callable[[str], Any],
    send: Callable[[Any], Any],
    call: Callable[[str, tuple[Any, ...], dict[str, Any]], Any],
) -> dict[str, Any]:
    """The names that rewritten tests use; the parameters are methods of the program's proxy."""

    def change_setting(path: str, *args: Any) -> None:
        module, _, name = path.partition(":")
        getattr(sys.modules[module], name)(*args)
        call(path, args, {})

    return {
        "__setting__": change_setting,
        **BUILTINS,
        "__itself__": itself,
        "__expected__": check_expected,
        "__type__": type_of,
        "__strict_zip__": strict_zip,
        "__map__": strict_map,
        "__function__": as_argument,
        "__accept__": written.accept,
        "__argument__": written.argument,
        "__either__": lambda function: function if isinstance(function, Handle) else partial(written.call, function),
        "__own__": lambda function: function if _changes(function) else partial(written.call_own, function),
        "__show__": written.show,
        "__shown__": written.shown,
        "__begin__": written.begin,
        "__begin_unreturned__": written.begin_unreturned,
        "__written__": written.end,
        "__items__": written.items,
        "__member__": is_member,
        "__ordered__": check_ordered,
        "__comparing__": lambda name, value: partial(getattr(operator, name), value),
        "__turn__": note_turn,
        "__shaped__": meet_shaped,
        "__literal__": Literal,
        "__program__": read,
        "__sent__": send,
    }


def _changes(function: Any) -> bool:
    """Whether a call goes to the program, or may be a change of a container of the tests (`xs.append`)."""
    return isinstance(function, Handle) or type(getattr(function, "__self__", None)) in CONTAINERS


def is_member(item: Any, container: Any) -> bool:
    """`item in container`; what holds an object of the program is compared one by one, also where keys are hashed."""
    if isinstance(container, Set | Mapping) and _holds_object(item):
        return any(one is item or one == item for one in container)
    return item in container


def _holds_object(item: Any) -> bool:
    if isinstance(item, tuple | frozenset):
        return any(map(_holds_object, item))
    return isinstance(item, Handle) and item.plaudit_value is None and not item.plaudit_link.trusts_objects


def check_ordered(value: Any) -> Any:
    """An operand of `<`, `<=`, `>` or `>=`, which must not hold NaN: it is neither above nor below anything."""
    if isinstance(value, list | tuple):
        for item in value:
            check_ordered(item)
    elif (isinstance(value, float) and value != value) or has_nan(value):
        violate("the tests order a number with NaN")
    return value


def is_callable(thing: Any) -> bool:
    """`callable`; for an object of the program, the program answers."""
    if isinstance(thing, Handle):
        return thing.plaudit_link.call("builtins:callable", (thing,), {}) is True
    return callable(thing)


def has_attribute(thing: Any, name: str) -> bool:
    """`hasattr`; a handle has methods that its object may lack, so the program answers."""
    if isinstance(thing, Handle):
        return thing.plaudit_link.call("builtins:hasattr", (thing, name), {}) is True
    return hasattr(thing, name)


def type_of(thing: Any) -> Any:
    """`type(thing)`; for an object of the program, a handle of its class."""
    if not isinstance(thing, Handle):
        return type(thing)
    kind = thing.plaudit_link.call("builtins:type", (thing,), {})
    return violate(f"an object of the program claims to be of type {kind}") if kind in CLASS_NAMES else kind


def is_instance(thing: Any, kind: Any) -> bool:
    """`isinstance`; an object has a plain type by its base, and any other type if the program says so."""
    if isinstance(kind, tuple):
        return any(is_instance(thing, one) for one in kind)
    if isinstance(thing, Handle) and isinstance(kind, type) and path_in_program(kind):
        if kind in CLASS_NAMES:
            return issubclass(object if thing.plaudit_value is None else type(thing.plaudit_value), kind)
        return thing.plaudit_link.call("builtins:isinstance", (thing, kind), {}) is True
    if isinstance(kind, ErrorClass) and isinstance(thing, Handle):
        return thing.plaudit_link.call("builtins:isinstance", (thing, kind), {}) is True
    return isinstance(thing, kind)


def is_subclass(one: Any, kind: Any) -> bool:
    """`issubclass` where either class may be of the program."""
    if isinstance(kind, tuple):
        return any(is_subclass(one, other) for other in kind)
    for side in (one, kind):
        if isinstance(side, Handle):
            return side.plaudit_link.call("builtins:issubclass", (one, kind), {}) is True
        if isinstance(side, ErrorClass):
            return side.source.call("builtins:issubclass", (one, kind), {}) is True
    return issubclass(one, kind)


BUILTINS: dict[str, Any] = {
    "isinstance": is_instance,
    "issubclass": is_subclass,
    "callable": is_callable,
    "hasattr": has_attribute,
}
_PATHS = {id(function): f"builtins:{name}" for name, function in BUILTINS.items()}


def path_in_program(thing: Any) -> str:
    """`module:name` of a function or class of the standard library, by which the program finds its own."""
    return _PATHS.get(id(thing)) or standard_path(thing)


def standard_object(path: int | str) -> Any:
    """The function or class of the standard library that tests have under a path; None if there is none."""
    module, _, name = str(path).partition(":")
    if module == "builtins" and name in BUILTINS:
        return BUILTINS[name]
    is_standard = module.partition(".")[0] in sys.stdlib_module_names
    thing = vars(sys.modules[module]).get(name) if is_standard and module in sys.modules else None
    return thing if standard_path(thing) else None


def itself(value: Any) -> Any:
    """An operand of `is`: for a handle of a function or class of the standard library, that of the tests."""
    is_standard = isinstance(value, Handle) and callable(value.plaudit_value)
    return value.plaudit_value if is_standard else value


def check_expected(value: Any) -> Any:
    """The operand of a comparison; an object of the standard library that is not plain cannot be compared."""
    kind = type(value)
    if kind in (list, tuple, set, frozenset):
        for item in value:
            check_expected(item)
    elif kind is dict:
        for item in value.values():
            check_expected(item)
    elif not (kind in _COMPARABLE or isinstance(value, _PLAIN_BASES)) and _is_standard_instance(value):
        raise UnsupportedTest(
            f"the tests compare an answer with an object of type {kind.__name__} of the standard library, "
            "which is not plain data"
        )
    return value


def _is_standard_instance(value: Any) -> bool:
    return type(value).__module__ in sys.stdlib_module_names and not path_in_program(value)


def strict_zip(sides: tuple[bool, ...], *iterables: Iterable[Any]) -> Iterator[tuple[Any, ...]]:
    """`zip` in which an answer of the program (True in `sides`) that ends before the others fails the check.

    Without `sides`, any of the iterables may be an answer.
    """
    iterators = [iter(iterable) for iterable in iterables]
    while True:
        row = [next(iterator, _NOTHING) for iterator in iterators]
        ended = [item is _NOTHING for item in row]
        if any(ended):
            if any(over and side for over, side in zip(ended, sides or ended, strict=True)) and not all(ended):
                raise AssertionError("the program's answer is shorter than what it is compared with")
            return
        yield tuple(row)


def strict_map(function: Any, sides: tuple[bool, ...], *iterables: Iterable[Any]) -> Iterator[Any]:
    """`map` of a function or answer of the program that notices an answer which ends early."""
    for row in strict_zip(sides, *iterables):
        yield function(*row)


class _Argument(Handle):
    """A function of the program that is passed to a function of Python, whose work no StopIteration ends."""

    __slots__ = ()

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        return _call_silently(super().__call__, *args, **keywords)


def as_argument(function: Any) -> Any:
    """A function of the program, or one of the tests that calls it, where it is passed to a function of Python."""
    if type(function) is Handle:
        return _Argument(function.plaudit_link, function.plaudit_key, function.plaudit_type, function.plaudit_value)
    return partial(_call_silently, function) if isinstance(function, FunctionType) else function


def _call_silently(function: Callable[..., Any], *args: Any, **keywords: Any) -> Any:
    try:
        return function(*args, **keywords)
    except SILENT as error:
        raise ProgramError(f"{type(error).__name__}: {error}") from None


# Functions that look into an object: applied to an object of the program, they are run by the program.
_INSPECTING = {
    dataclasses: ("asdict", "astuple", "fields", "is_dataclass", "replace"),
    inspect: ("getdoc", "iscoroutinefunction", "isgeneratorfunction", "signature"),
}


@lru_cache(maxsize=1)
def support_handles() -> None:
    """Let `inspect`, `dataclasses` and unittest accept handles."""
    unittest.TestCase.assertSetEqual = unittest.TestCase._baseAssertEqual  # type: ignore[attr-defined, method-assign]  # by `==` alone
    for module in (inspect, unittest.case):
        vars(module)["isinstance"] = is_instance
    for module, names in _INSPECTING.items():
        for name in names:
            setattr(module, name, _let_program_run(getattr(module, name), f"{module.__name__}:{name}"))


def _let_program_run(function: Callable[..., Any], path: str) -> Callable[..., Any]:
    @wraps(function)
    def inspecting(thing: Any, *args: Any, **keywords: Any) -> Any:
        if isinstance(thing, Handle):
            return thing.plaudit_link.call(path, (thing, *args), keywords)
        return function(thing, *args, **keywords)

    return inspecting
