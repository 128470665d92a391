"""Handles: what represents the program's functions, classes and objects in the tests.

A handle calls the program with arguments that the test chose: calls, attributes, items, length, iteration, truth value,
text, conversions, context managers, `await`. Operations that would show the object a value of the tests as an operand
(`==`, ordering, arithmetic) are never executed by the object: two handles are equal where they are the same object, and
a handle that meets a plain value has failed the check. Only where the program is trusted does it answer these too.
"""

import operator
from collections import ChainMap, Counter, OrderedDict, UserDict, UserList, UserString, defaultdict, deque
from collections.abc import Callable, Generator, Iterator
from types import SimpleNamespace
from typing import Any, Protocol

from plaudit.sandbox.containers import CONTAINERS
from plaudit.sandbox.judging.handles.places import is_in_check
from plaudit.sandbox.judging.handles.violations import violate
from plaudit.sandbox.value_kinds import KINDS

READABLE = frozenset(
    f"__{name}__"
    for name in (
        "abstractmethods", "aenter", "aexit", "annotations", "bases", "bool", "call", "class", "closure", "code",
        "defaults", "dataclass_fields", "delitem", "dict", "doc", "enter", "exit", "getitem", "init", "iter",
        "kwdefaults", "len", "match_args", "members",
        "module", "mro", "name", "next",
        "post_init", "qualname", "repr", "setitem", "slots", "str", "wrapped",
    )
)  # fmt: skip

PLAIN_METHODS = frozenset(
    name for kind in (str, frozenset, *CONTAINERS, *KINDS) for name in dir(kind) if not name.startswith("_")
)
COMPARING = frozenset({"endswith", "isdisjoint", "issubset", "issuperset", "startswith"})


class ProgramLink(Protocol):
    """Calls the program."""

    trusts_objects: bool
    class_names: frozenset[str]
    plain_methods: set[str]

    def call(self, path: str, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        """The value of a call, or its exception raised again."""


class Handle:
    """A function, class or object of the program; a global one by its name, any other by a number."""

    __slots__ = ("plaudit_key", "plaudit_link", "plaudit_type", "plaudit_value")
    plaudit_key: int | str
    plaudit_link: ProgramLink
    plaudit_type: str
    plaudit_value: Any  # by which it is compared: a plain value, or the function or class of the standard library

    def __init__(self, link: ProgramLink, key: int | str, type_name: str = "function", value: Any = None) -> None:
        object.__setattr__(self, "plaudit_link", link)
        object.__setattr__(self, "plaudit_key", key)
        object.__setattr__(self, "plaudit_type", type_name)
        object.__setattr__(self, "plaudit_value", value)

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        key = self.plaudit_key
        return self.plaudit_link.call(key if type(key) is str else f"@{key}", args, keywords)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name.endswith("__") and name not in READABLE:
            raise AttributeError(name)
        if name not in PLAIN_METHODS or self.plaudit_type in self.plaudit_link.class_names:
            return _ask(self, "builtins:getattr", name)
        if name in COMPARING and not self.plaudit_link.trusts_objects:
            violate(f"the tests compare what the program returned, an object of type {self.plaudit_type}, by {name}")
        method = _ask(self, "builtins:getattr", name)
        if isinstance(method, Handle):
            self.plaudit_link.plain_methods.add(f"@{method.plaudit_key}")
        return method

    def __iter__(self) -> Any:
        if self.plaudit_type == "generator":
            return self
        made = _ask(self, "builtins:iter")
        return made if isinstance(made, Handle) else iter(made)

    def __next__(self) -> Any:
        more, item = _ask(self, "help:next")
        if more is not True:
            raise StopIteration(item)
        return item

    async def __anext__(self) -> Any:
        more, item = _ask(self, "help:anext")
        if more is not True:
            raise StopAsyncIteration
        return item

    def __await__(self) -> Generator[Any, None, Any]:
        return _ask(self, "help:await")
        yield  # makes it a generator

    def __enter__(self) -> Any:
        return self.__getattr__("__enter__")()

    def __exit__(self, kind: Any, error: Any, _: object) -> bool:
        if not _is_shown(error):
            self.__getattr__("__exit__")(None, None, None)
            return False
        return _suppresses(_ask(self, "help:exit", type(error).__name__, str(error)), error)

    async def __aenter__(self) -> Any:
        return await self.__getattr__("__aenter__")()

    async def __aexit__(self, kind: Any, error: Any, _: object) -> bool:
        if not _is_shown(error):
            await self.__getattr__("__aexit__")(None, None, None)
            return False
        return _suppresses(await _ask(self, "help:aexit", type(error).__name__, str(error)), error)

    def __contains__(self, item: Any) -> bool:
        if self.plaudit_link.trusts_objects:
            return _ask(self, "operator:contains", item) is True
        return any(one is item or one == item for one in self)

    def __hash__(self) -> int:
        if self.plaudit_link.trusts_objects:
            return int(_exact(self, int, _ask(self, "builtins:hash")))
        return hash(("Handle", self.plaudit_key) if self.plaudit_value is None else self.plaudit_value)

    def __eq__(self, other: Any) -> Any:
        return _equal(self, other, "eq", when_same=True)

    def __ne__(self, other: Any) -> Any:
        return _equal(self, other, "ne", when_same=False)

    def __instancecheck__(self, thing: Any) -> bool:
        if (handle := handle_of(thing)) is not None:
            return _ask(handle, "builtins:isinstance", self) is True
        name = self.plaudit_key
        return hasattr(thing, "_fields") and type(thing).__name__ == name  # a namedtuple, which crosses as a value

    def __subclasscheck__(self, kind: Any) -> bool:
        return _ask(kind, "builtins:issubclass", self) is True if isinstance(kind, Handle) else False

    def __bytes__(self) -> bytes:
        is_named = self.plaudit_type in self.plaudit_link.class_names
        return _exact(self, bytes, _ask(self, "builtins:bytes")) if is_named else bytes([*self])

    def __deepcopy__(self, memo: Any) -> Any:
        return _ask(self, "copy:deepcopy")

    def __reversed__(self) -> Iterator[Any]:
        return iter(_ask(self, "builtins:reversed"))


class CoroutineHandle(Handle):
    """A coroutine of the program, which event loops accept for its methods."""

    __slots__ = ()

    def __next__(self) -> Any:
        raise StopIteration(_ask(self, "help:await"))

    def send(self, value: Any) -> Any:
        return next(self)

    def throw(self, error: Any, *_: object) -> Any:
        raise error

    def close(self) -> None:
        pass


def _ask(handle: Handle, path: str, *args: Any) -> Any:
    return handle.plaudit_link.call(path, (handle, *args), {})


def _is_shown(error: Any) -> bool:
    """Whether a context of the program sees an exception: a failed check of the tests is not to be suppressed."""
    return isinstance(error, Exception) and not isinstance(error, AssertionError)


def _suppresses(answer: Any, error: BaseException) -> bool:
    """Whether a context of the program suppresses an error; the check within which it was raised has failed."""
    if answer is True and is_in_check(error):
        violate(f"a context of the program suppressed the {type(error).__name__} of a check")
    return answer is True


def _exact(handle: Handle, kind: type, value: Any) -> Any:
    if type(value) is not kind:
        violate(f"a {handle.plaudit_type} of the program gave no {kind.__name__} where one is needed")
    return value


def _equal(handle: Handle, other: Any, name: str, *, when_same: bool) -> Any:
    """Whether a handle is equal (or unequal) to a value; None is compared by identity, as by `is`."""
    if handle.plaudit_link.trusts_objects and other is not None:
        return _ask(handle, f"operator:{name}", other)
    value, other_value = _value_of(handle), _value_of(other)
    if value is not None and other_value is not None:
        return getattr(operator, name)(value, other_value)
    if isinstance(other, Handle):
        return when_same is (handle.plaudit_key == other.plaudit_key)
    if other is None:
        return not when_same
    return violate(
        f"the tests compare a plain value ({type(other).__name__}) with what the program returned, "
        f"an object of type {handle.plaudit_type}"
    )


def _operation(name: str, *, reflected: bool = False) -> Callable[..., Any]:
    def operate(self: Handle, *operands: Any) -> Any:
        if not self.plaudit_link.trusts_objects:
            values = [*map(_value_of, (self, *operands))]
            if not any(value is None for value in values):
                return getattr(operator, name)(*(reversed(values) if reflected else values))
            violate(f"the tests compute with what the program returned, an object of type {self.plaudit_type}")
        ordered = (*operands, self) if reflected else (self, *operands)
        return self.plaudit_link.call(f"operator:{name}", ordered, {})

    return operate


def _conversion(name: str) -> Callable[..., Any]:
    def convert(self: Handle, *args: Any) -> Any:
        if self.plaudit_type not in self.plaudit_link.class_names:
            violate(f"the tests convert what the program returned, an object of type {self.plaudit_type}, to a number")
        return _ask(self, name, *args)

    return convert


def _value_of(operand: Any) -> Any:
    """An operand as a plain value; None if it is a handle without one."""
    return operand.plaudit_value if isinstance(operand, Handle) else operand


def _extend_wrapper(kind: Any, value: Any) -> Any:
    made = kind.__new__(kind)
    vars(made).update(vars(value))
    return made


# How an instance of a subclass is made of a plain value; of mutable containers, of an empty one.
EXTENSIBLE: dict[type, Callable[[Any, Any], Any]] = {
    **dict.fromkeys(
        (str, int, float, complex, bytes, tuple, frozenset, list, dict, set, Counter, OrderedDict, bytearray),
        lambda kind, value: kind(value),
    ),
    defaultdict: lambda kind, value: kind(value.default_factory),
    deque: lambda kind, value: kind((), value.maxlen),
    SimpleNamespace: lambda kind, value: kind(),
    **dict.fromkeys((ChainMap, UserDict, UserList, UserString), _extend_wrapper),
}
COMPARABLE = (str, int, float, complex, bytes, tuple)  # values by which an instance of a named class is compared
_EXTENSIBLE = tuple(EXTENSIBLE)


def extend_value(handle: Handle, value: Any, is_member: bool) -> Any:
    """A plain value, whose further attributes are those of an object: `name` of a member of an enum.

    The text of a text is the text itself, unless it is a member of an enum. What a dict lacks is requested from the
    object, which may have `__missing__`.
    """
    base = type(value)
    members: dict[str, Any] = {"plaudit_handle": handle, "__getattr__": _read_further}
    if base is not SimpleNamespace:  # whose attributes are its contents
        members["__setattr__"] = lambda _, name, item: setattr(handle, name, item)
    if is_member or base is not str:
        members |= {name: _text_of(handle, name) for name in ("__str__", "__repr__", "__format__")}
    if issubclass(base, dict | UserDict | ChainMap):
        members["__missing__"] = lambda _, key: _ask(handle, "operator:getitem", key)
    kind = type(handle.plaudit_type if handle.plaudit_type.isidentifier() else "object", (base,), members)
    return EXTENSIBLE[base](kind, value)


def _text_of(handle: Handle, name: str) -> Callable[..., str]:
    return lambda _, *spec: str(getattr(Handle, name)(handle, *spec))


def _read_further(value: Any, name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    return getattr(value.plaudit_handle, name)


def handle_of(value: Any) -> Handle | None:
    """The handle that a value is or carries."""
    if isinstance(value, Handle):
        return value
    if isinstance(value, BaseException):
        carried = value.__dict__.get("__handle")
    else:
        carried = getattr(type(value), "plaudit_handle", None) if isinstance(value, _EXTENSIBLE) else None
    return carried if isinstance(carried, Handle) else None


def _read_own(name: str) -> property:
    return property(lambda self: _ask(self, "builtins:getattr", name))


def _forward(path: str, kind: type | None) -> Callable[..., Any]:
    """An operation that the program does, with a result of this exact type."""

    def operate(self: Handle, *args: Any) -> Any:
        result = _ask(self, path, *args)
        return result if kind is None else _exact(self, kind, result)

    return operate


_FORWARDED: dict[str, type | None] = {
    "builtins:setattr": None, "builtins:delattr": None, "operator:getitem": None, "operator:setitem": None,
    "operator:delitem": None, "copy:copy": None, "builtins:aiter": None, "builtins:dir": list, "builtins:len": int,
    "builtins:bool": bool, "builtins:str": str, "builtins:repr": str, "builtins:format": str,
}  # fmt: skip
for _path, _kind in _FORWARDED.items():
    setattr(Handle, f"__{_path.partition(':')[2]}__", _forward(_path, _kind))
for _name in ("__annotations__", "__doc__", "__module__"):  # which the class of handles has itself
    setattr(Handle, _name, _read_own(_name))
for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "lshift", "rshift"):
    setattr(Handle, f"__{_name}__", _operation(_name))
    setattr(Handle, f"__r{_name}__", _operation(_name, reflected=True))
    setattr(Handle, f"__i{_name}__", _operation(f"i{_name}"))
for _name in ("and", "or", "xor"):
    setattr(Handle, f"__{_name}__", _operation(f"{_name}_"))
    setattr(Handle, f"__r{_name}__", _operation(f"{_name}_", reflected=True))
    setattr(Handle, f"__i{_name}__", _operation(f"i{_name}"))
for _name in ("lt", "le", "gt", "ge"):
    setattr(Handle, f"__{_name}__", _operation(_name))
for _name in ("neg", "pos", "invert", "abs"):
    setattr(Handle, f"__{_name}__", _conversion(f"operator:{_name}"))
for _name in ("int", "float", "complex", "round"):
    setattr(Handle, f"__{_name}__", _conversion(f"builtins:{_name}"))
