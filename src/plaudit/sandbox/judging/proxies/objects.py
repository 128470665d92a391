"""Stand-ins, in the tests, for what lives in the program's process: its functions, its classes, its objects.

Plain values never come here, whatever their class claims. What is left is asked only what the tests may ask of it: an
instance of a class that the tests name (`asked_for`) answers for itself, since its methods are what is tested; anything
else gives its items, its attributes and its text, and is never asked to compare itself or to compute with a value of
the tests, which would let it grade itself.
"""

import random
from collections.abc import Callable, Generator, Iterator
from typing import Any, Protocol

from plaudit.sandbox.judging.proxies.exceptions import NotSplittable
from plaudit.sandbox.judging.proxies.plain_attributes import PLAIN_ATTRIBUTES, decoys

__all__ = ["Asking", "Remote", "RemoteObject", "is_instance", "is_subclass"]

MAX_ITEMS = 100_000
END = "__plaudit_end_of_iteration__"
_dice = random.SystemRandom()


class Asking(Protocol):
    """Who calls across the boundary."""

    carrying: tuple[Any, ...] | None  # which arguments the tests want to see changed; None: all

    @property
    def expects_objects(self) -> bool:
        """Whether the tests use attributes that no plain type has."""

    def call(self, path: str, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        """The value of a call over there, or its exception raised again."""

    def get(self, path: str) -> Any:
        """What a path names over there."""


class Remote:
    """A function or class of the program, by its name."""

    def __init__(self, asking: Asking, path: str) -> None:
        self._asking, self._path = asking, path
        self.__name__ = self.__qualname__ = path.rpartition(".")[2]

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        return self._asking.call(self._path, args, keywords)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name.endswith("__") and name != "__doc__":
            raise AttributeError(name)
        found = self._asking.get(f"{self._path}.{name}")
        if isinstance(found, RemoteObject) and "c" in found.traits and "t" not in found.traits:
            return Remote(self._asking, f"{self._path}.{name}")
        return found

    def resolve(self) -> Any:
        """The object itself."""
        return self._asking.get(self._path)

    def __instancecheck__(self, instance: Any) -> bool:
        return is_instance(instance, self)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.resolve())

    def __len__(self) -> int:
        return len(self.resolve())

    def __getitem__(self, key: Any) -> Any:
        return self.resolve()[key]

    def __contains__(self, item: Any) -> bool:
        return item in self.resolve()

    def __eq__(self, other: Any) -> bool:
        return isinstance(other, Remote) and other._path == self._path

    def __hash__(self) -> int:
        return hash(self._path)

    def __repr__(self) -> str:
        return f"<{self._path} of the program>"


class RemoteObject:
    """An object that the program keeps; its methods and attributes are asked for over there."""

    _OWN = ("_asking", "_items", "_iterator", "asked_for", "number", "traits", "type_name")

    def __init__(self, asking: Asking, number: int, type_name: str, traits: str = "", *, asked_for: bool) -> None:
        self._asking, self.number, self.type_name, self.traits, self.asked_for = (
            asking,
            number,
            type_name,
            traits,
            asked_for,
        )
        self._items: list[Any] = []
        self._iterator: Iterator[Any] | None = None

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name.endswith("__") and name not in ("__name__", "__doc__", "__dict__"):
            raise AttributeError(name)
        if name in PLAIN_ATTRIBUTES and not (self.asked_for or self._asking.expects_objects):
            raise AttributeError(f"{name!r} of plain data is asked for, and the program returned a {self.type_name}")
        return self._ask("builtins:getattr", name)

    def __setattr__(self, name: str, value: Any) -> None:
        if name in self._OWN:
            object.__setattr__(self, name, value)
        else:
            self._ask("builtins:setattr", name, value)

    def __delattr__(self, name: str) -> None:
        self._ask("builtins:delattr", name)

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        return self._asking.call(f"@{self.number}", args, keywords)

    def __eq__(self, other: Any) -> bool:
        if other is self:
            return True
        other = other.resolve() if isinstance(other, Remote) else other
        if isinstance(other, RemoteObject):
            return self._equals_object(other)
        return self.asked_for and self._equals_plain(other)

    def __ne__(self, other: Any) -> bool:
        return not self == other

    def __hash__(self) -> int:
        found = self._ask("builtins:hash")
        if type(found) is not int:
            raise TypeError(f"the hash of {self.type_name} is not a number")
        return hash(found)

    def __len__(self) -> int:
        if "i" in self.traits and not self.asked_for:
            raise TypeError(f"object of type {self.type_name!r} has no len()")
        length = self._ask("builtins:len") if self.asked_for else len(self._fetch_items())
        if type(length) is not int:
            raise TypeError(f"the length of {self.type_name} is not a number")
        return length

    def __bool__(self) -> bool:
        return self._ask("builtins:bool") is True

    def __iter__(self) -> Iterator[Any]:
        if "i" in self.traits:
            return self
        return self._iterate() if self.asked_for else self._iterate_once()

    def __next__(self) -> Any:
        item = self._ask("next:", END)
        if type(item) is str and item == END:
            raise StopIteration(self._asking.call("stop:", (), {}))
        return item

    def __await__(self) -> Generator[Any, None, Any]:
        return self._ask("await:")
        yield  # what makes it a generator

    def __aiter__(self) -> "RemoteObject":
        return self

    async def __anext__(self) -> Any:
        try:
            return self._asking.call("await:", (self._asking.call(f"@{self.number}.__anext__", (), {}),), {})
        except Exception as error:
            if "StopAsyncIteration" in str(error):
                raise StopAsyncIteration from None
            raise

    def __getitem__(self, key: Any) -> Any:
        if not self.asked_for and isinstance(key, int | slice) and not self._asking.expects_objects:
            return self._fetch_items()[key]
        return self._ask("operator:getitem", key)

    def __setitem__(self, key: Any, value: Any) -> None:
        self._ask("operator:setitem", key, value)

    def __delitem__(self, key: Any) -> None:
        self._ask("operator:delitem", key)

    def __contains__(self, item: Any) -> bool:
        if self.asked_for or self.type_name == "EnumType":
            return self._ask("operator:contains", item) is True
        return any(item == one for one in self._fetch_items())

    def __enter__(self) -> Any:
        return self._member("__enter__")

    def __exit__(self, kind: Any, error: Any, _: object) -> Any:
        if error is None:
            return self._member("__exit__", None, None, None) is True
        return self._ask("exit:", type(error).__name__, str(error)) is True

    def __instancecheck__(self, instance: Any) -> bool:
        return is_instance(instance, self)

    def __str__(self) -> str:
        return self._text("builtins:str")

    def __repr__(self) -> str:
        return self._text("builtins:repr")

    def __format__(self, spec: str) -> str:
        text = self._ask("builtins:format", spec)
        return text if type(text) is str else f"<{self.type_name} of the program>"

    def _text(self, path: str) -> str:
        text = self._ask(path)
        return text if type(text) is str else f"<{self.type_name} of the program>"

    def _ask(self, path: str, *args: Any) -> Any:
        return self._asking.call(path, (self, *args), {})

    def _member(self, name: str, *args: Any) -> Any:
        return self._asking.call(f"@{self.number}.{name}", args, {})

    def _operate(self, name: str, *operands: Any) -> Any:
        if not self.asked_for and not self._asking.expects_objects:
            raise TypeError(f"the tests compute with what the program returned, which is a {self.type_name}")
        return self._asking.call(f"operator:{name}", operands, {})

    def _fetch_items(self) -> list[Any]:
        """All its items; each is taken once."""
        for _ in self._iterate_once():
            pass
        return self._items

    def _iterate_once(self) -> Iterator[Any]:
        """Its items, each asked for once, however often tests go through them."""
        if self._iterator is None:
            self._iterator = self._iterate()
        place = 0
        while True:
            if place == len(self._items):
                item = next(self._iterator, END)
                if item is END:
                    return
                self._items.append(item)
            yield self._items[place]
            place += 1

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

    def _equals_object(self, other: "RemoteObject") -> bool:
        """Whether two of the program's objects are equal; who equals just anything says nothing."""
        if self.number == other.number:
            return True
        if self._asking.call("operator:eq", (self, other), {}) is not True:
            return False
        stranger = self._asking.call("builtins:object", (), {})
        for one in (self, other):
            if one._equals_stranger(stranger):
                raise AssertionError(f"{one.type_name} says that it equals anything")
        return self._asking.call("operator:ne", (self, other), {}) is not True

    def _equals_stranger(self, stranger: Any) -> bool:
        try:
            return self._asking.call("operator:eq", (self, stranger), {}) is True
        except Exception:  # noqa: BLE001 - it cannot be compared with a stranger, which is as good as not equal
            return False

    def _equals_plain(self, other: Any) -> bool:
        """Whether it says that it equals a value, and no other value that is asked for in between."""
        asked = [(other, True), *((decoy, False) for decoy in decoys(other))]
        _dice.shuffle(asked)
        for value, is_meant in asked:
            if (self._asking.call("operator:eq", (self, value), {}) is True) is not is_meant:
                return False
        return True


def _binary(name: str) -> Callable[[RemoteObject, Any], Any]:
    return lambda self, other: self._operate(name, self, other)


def _make_reflected(name: str) -> Callable[[RemoteObject, Any], Any]:
    return lambda self, other: self._operate(name, other, self)


def _unary(name: str) -> Callable[[RemoteObject], Any]:
    return lambda self: self._operate(name, self)


def _conversion(name: str) -> Callable[..., Any]:
    def convert(self: RemoteObject, *args: Any) -> Any:
        if not self.asked_for and not self._asking.expects_objects:
            raise TypeError(f"the tests compute with what the program returned, which is a {self.type_name}")
        return self._ask(f"builtins:{name}", *args)

    return convert


def _make_ordering(name: str, opposite: str) -> Callable[[RemoteObject, Any], bool]:
    def compare(self: RemoteObject, other: Any) -> bool:
        if self._operate(name, self, other) is not True:
            return False
        if isinstance(other, RemoteObject) and self._operate(opposite, self, other) is True:
            raise AssertionError(f"{self.type_name} says that it is both below and above another")
        return True

    return compare


for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "lshift", "rshift"):
    setattr(RemoteObject, f"__{_name}__", _binary(_name))
    setattr(RemoteObject, f"__r{_name}__", _make_reflected(_name))
    setattr(RemoteObject, f"__i{_name}__", _binary(f"i{_name}"))
for _name in ("and", "or", "xor"):
    setattr(RemoteObject, f"__i{_name}__", _binary(f"i{_name}"))
    setattr(RemoteObject, f"__{_name}__", _binary(f"{_name}_"))
    setattr(RemoteObject, f"__r{_name}__", _make_reflected(f"{_name}_"))
for _name in ("neg", "pos", "invert", "abs", "index"):
    setattr(RemoteObject, f"__{_name}__", _unary(_name))
for _name in ("int", "float", "complex", "round", "reversed", "bytes", "divmod"):
    setattr(RemoteObject, f"__{_name}__", _conversion(_name))
for _name, _opposite in (("lt", "gt"), ("gt", "lt"), ("le", "gt"), ("ge", "lt")):
    setattr(RemoteObject, f"__{_name}__", _make_ordering(_name, _opposite))


def is_instance(thing: Any, kind: Any) -> bool:
    """`isinstance` where the class, or the object, may be the program's."""
    if isinstance(kind, tuple):
        return any(is_instance(thing, one) for one in kind)
    if not isinstance(kind, Remote | RemoteObject):
        return _is_instance(thing, kind)
    known = kind.resolve() if isinstance(kind, Remote) else kind
    if isinstance(thing, RemoteObject):
        return bool(known._asking.call("builtins:isinstance", (thing, known), {}) is True)
    return type(thing).__name__ == getattr(kind, "__name__", "") and hasattr(thing, "_fields")


_is_instance = isinstance


def is_subclass(one: Any, kind: Any) -> bool:
    """`issubclass` where either class may be the program's."""
    if isinstance(kind, tuple):
        return any(is_subclass(one, other) for other in kind)
    if not isinstance(one, Remote | RemoteObject) and not isinstance(kind, Remote | RemoteObject):
        return issubclass(one, kind)
    sides = [side.resolve() if isinstance(side, Remote) else side for side in (one, kind)]
    asking = next(side._asking for side in sides if isinstance(side, RemoteObject))
    for place, side in enumerate(sides):
        if isinstance(side, type):
            if side.__module__ != "builtins":
                raise NotSplittable(f"issubclass with {side.__name__}, which the program's process does not know")
            sides[place] = asking.get(f"builtins:{side.__name__}")
    return bool(asking.call("builtins:issubclass", tuple(sides), {}) is True)
