"""Stand-ins, in the tests, for what lives in the program's process: its functions, its classes, its objects.

An object of the program's is never asked whether it equals a plain value: that would let it grade itself. It is turned
into a plain value over there and compared here, or it is not equal. Nor may it say what it contains, or show one face
to `len` and another to a loop: its items are taken once. Only an instance that the tests made themselves, by calling a
class, answers for itself, since then its methods are what is tested.
"""

from collections.abc import Iterator
from typing import Any, Protocol

from plaudit.sandbox.judging.proxies.arrays import array_of

__all__ = ["Asking", "Remote", "RemoteObject", "plain_or_remote"]

MAX_ITEMS = 100_000
END = "__plaudit_end_of_iteration__"
TWINS = (int, float, str, bytes, tuple, list, dict, set, frozenset)
NUMPY_SCALARS = {
    "bool_", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64",
}  # fmt: skip


class Asking(Protocol):
    """Who calls across the boundary."""

    def call(self, path: str, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        """The value of a call over there, or its exception raised again."""


class Remote:
    """A function or class of the program, by its name."""

    def __init__(self, asking: Asking, path: str) -> None:
        self._asking, self._path = asking, path
        self.__name__ = path

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        return self._asking.call(self._path, args, keywords)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        return Remote(self._asking, f"{self._path}.{name}")

    def __instancecheck__(self, instance: Any) -> bool:
        return isinstance(instance, RemoteObject) and instance.type_name == self._path

    def __repr__(self) -> str:
        return f"<{self._path} of the program>"


def plain_or_remote(asking: Asking, path: str, number: int, type_name: str) -> Any:
    """What a call of `path` left over there: plain after all where that loses nothing, else a stand-in for it."""
    called = path.rpartition(".")[2]
    made_here = called == type_name and called[:1].isupper()  # it is the tests that say whether they call a class
    thing = RemoteObject(asking, number, type_name, made_here=made_here)
    if type_name in NUMPY_SCALARS:
        return asking.call(f"@{number}.item", (), {})
    if type_name == "dict_keys":
        return dict.fromkeys(asking.call("builtins:list", (thing,), {})).keys()
    if type_name == "ndarray":
        array = array_of(thing.__getattr__, lambda: asking.call(f"@{number}.tolist", (), {}))
        return thing if array is None else array
    return thing


class RemoteObject:
    """An object that the program keeps; its methods and attributes are asked for over there.

    `made_here` marks an instance that the tests made by calling one of the program's classes.
    """

    __hash__ = None  # type: ignore[assignment]
    _OWN = ("_asking", "_items", "made_here", "number", "type_name")

    def __init__(self, asking: Asking, number: int, type_name: str, *, made_here: bool = False) -> None:
        self._asking, self.number, self.type_name, self.made_here = asking, number, type_name, made_here
        self._items: list[Any] | None = None

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        return self._ask("builtins:getattr", name)

    def __setattr__(self, name: str, value: Any) -> None:
        if name in self._OWN:
            object.__setattr__(self, name, value)
        else:
            self._ask("builtins:setattr", name, value)

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        return self._asking.call(f"@{self.number}.__call__", args, keywords)

    def __eq__(self, other: Any) -> bool:
        if isinstance(other, RemoteObject):
            return self.made_here and other.made_here and self._member("__eq__", other) is True
        return type(other) in TWINS and self._equals_plain(other)

    def __ne__(self, other: Any) -> bool:
        return not self == other

    def __len__(self) -> int:
        length = self._ask("builtins:len") if self.made_here else len(self._fetch_items())
        if type(length) is not int:
            raise TypeError(f"the length of {self.type_name} is no number")
        return length

    def __bool__(self) -> bool:
        return self._ask("builtins:bool") is True

    def __iter__(self) -> Iterator[Any]:
        return self._iterate() if self.made_here else iter(self._fetch_items())

    def __next__(self) -> Any:
        item = self._ask("builtins:next", END)
        if type(item) is str and item == END:
            raise StopIteration
        return item

    def __getitem__(self, key: Any) -> Any:
        if not self.made_here and isinstance(key, int | slice):
            return self._fetch_items()[key]
        return self._member("__getitem__", key)

    def __setitem__(self, key: Any, value: Any) -> None:
        self._member("__setitem__", key, value)

    def __contains__(self, item: Any) -> bool:
        if self.made_here:
            return self._member("__contains__", item) is True
        return any(item == one for one in self._fetch_items())

    def __enter__(self) -> Any:
        return self._member("__enter__")

    def __exit__(self, *_: object) -> None:
        self._member("__exit__", None, None, None)

    def __str__(self) -> str:
        return self._text("builtins:str")

    def __repr__(self) -> str:
        return self._text("builtins:repr")

    def _text(self, path: str) -> str:
        text = self._ask(path)
        return text if type(text) is str else f"<{self.type_name} of the program>"

    def _ask(self, path: str, *args: Any) -> Any:
        return self._asking.call(path, (self, *args), {})

    def _member(self, name: str, *args: Any) -> Any:
        return self._asking.call(f"@{self.number}.{name}", args, {})

    def _fetch_items(self) -> list[Any]:
        """Its items, taken once."""
        if self._items is None:
            self._items = list(self._iterate())
        return self._items

    def _iterate(self) -> Iterator[Any]:
        iterator = self._ask("builtins:iter")
        if not isinstance(iterator, RemoteObject):
            raise TypeError(f"{self.type_name} is not iterable")
        for _ in range(MAX_ITEMS):
            item = self._asking.call("builtins:next", (iterator, END), {})
            if type(item) is str and item == END:
                return
            yield item
        raise AssertionError(f"{self.type_name} gave more than {MAX_ITEMS:,} items")

    def _equals_plain(self, other: Any) -> bool:
        """Whether this object, made a plain value of the same type over there, is equal here."""
        kind = type(other).__name__
        known = self._asking.call("builtins:eval", (kind,), {})
        if self._asking.call("builtins:isinstance", (self, known), {}) is not True:
            return False
        plain = self._asking.call(f"builtins:{kind}", (self,), {})
        return type(plain) is type(other) and bool(plain == other)
