"""Plain values as JSON text and back, without loss and without running anything.

Used on both sides of the wall, so it imports only the standard library; arrays travel where numpy is imported. What a
program's process sends may be forged: the reader takes nothing but the shapes below, to a depth, and builds only types
of the standard library. An instance of a subclass of a plain type, which may lie about `==`, travels as exactly the
plain value that it is underneath.
"""

import importlib
import json
import math
import re
import sys
from collections import Counter, OrderedDict, defaultdict, deque, namedtuple
from collections.abc import Callable
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from functools import lru_cache
from typing import Any

__all__ = ["Handle", "NotPlain", "decode", "encode", "from_text", "to_text"]

DEPTH = 200
TIMEDELTA_PARTS = ("days", "seconds", "microseconds")
SMALL = 1 << 53
FRACTION_BITS = 20_000  # making a fraction looks for common factors, which grows with the square of the size
_INTEGERS, _TEXTS = {int}, {str}
SAME_HASHES = 64  # keys of one set or dict that may share a hash: forged collisions make building it quadratic

_encoder = json.JSONEncoder(ensure_ascii=True, check_circular=False, allow_nan=False, separators=(",", ":"))
_scan = json.JSONDecoder().scan_once  # type: ignore[attr-defined]  # what its `decode` calls


class NotPlain(ValueError):
    """A value that does not travel, or text that is no value."""


class Handle:
    """A value that stays in the program's process; only its number travels."""

    __slots__ = ("number",)

    def __init__(self, number: int) -> None:
        self.number = number

    def __repr__(self) -> str:
        return f"Handle({self.number})"

    def __eq__(self, other: object) -> bool:
        return type(other) is Handle and other.number == self.number

    def __hash__(self) -> int:
        return hash(("Handle", self.number))


def to_text(value: Any) -> str:
    """A plain value as JSON text."""
    return _dumps(encode(value))


def _make_encoder() -> Callable[[Any], str]:
    """What `_encoder.encode` does, with the part in C made once instead of for every value."""
    make = json.encoder.c_make_encoder  # type: ignore[attr-defined]
    if make is None:  # a Python without that part
        return _encoder.encode
    text_of = json.encoder.encode_basestring_ascii
    iterate = make(None, _encoder.default, text_of, None, ":", ",", False, False, False)
    return lambda value: "".join(iterate(value, 0))


_dumps = _make_encoder()


def _loads(text: str) -> Any:
    """What a JSON text says, which must be all of it."""
    try:
        coded, end = _scan(text, 0)
    except StopIteration:
        raise NotPlain("not a value: no JSON") from None
    if end != len(text):
        raise NotPlain("not a value: text behind it")
    return coded


def from_text(text: str) -> Any:
    """The value of a JSON text that `to_text` wrote, or that somebody forged; NotPlain when it is no value."""
    try:
        coded = _loads(text)
        if "{" not in text and text.count("[") <= DEPTH:
            return coded  # nothing in it is tagged
        return decode(coded, DEPTH + 3)  # a reply is a list around values
    except NotPlain:
        raise
    except (ValueError, RecursionError) as error:
        raise NotPlain(f"not a value: {type(error).__name__}") from error


def encode(value: Any, depth: int = DEPTH) -> Any:
    """A plain value as what JSON can say; everything JSON cannot say becomes `{tag: content}`."""
    kind = type(value)
    if kind is str:
        return (
            value
            if value.isascii() or _has_no_surrogates(value)
            else {"u": value.encode("utf-32-le", "surrogatepass").hex()}
        )
    if kind is bool or value is None:
        return value
    if kind is int:
        return value if -SMALL < value < SMALL else {"i": hex(value)}
    if kind is float:
        return value if math.isfinite(value) else {"f": repr(value)}
    if depth <= 0:
        raise NotPlain("nested too deeply")
    if kind is list:
        return value if _says_itself(value) else [encode(item, depth - 1) for item in value]
    writer = _WRITERS.get(kind)
    if writer is None:
        return _encode_underneath(value, kind, depth)
    tag, write = writer
    return {tag: write(value, depth - 1)}


def _encode_underneath(value: Any, kind: type, depth: int) -> Any:
    """An instance of a subclass as the plain value it is underneath; an array, or a number of numpy's, as such."""
    mro = type.__dict__["__mro__"].__get__(kind)
    if Enum in mro and str not in mro and int not in mro:
        raise NotPlain(f"{kind.__name__} is not plain data")
    numpy = sys.modules.get("numpy")
    if numpy is not None and numpy.ndarray in mro:
        return {"a": _array_parts(numpy, value, depth - 1)}
    if numpy is not None and numpy.generic in mro and not {numpy.void, numpy.object_} & set(mro):
        item = numpy.generic.item(value)
        if type(item) is not kind:
            return encode(item, depth - 1)
    fields = kind.__dict__.get("_fields") if tuple in mro else None
    if type(fields) is tuple and fields and all(type(name) is str for name in fields):
        items = tuple(tuple.__iter__(value))
        if len(items) == len(fields):
            return {"n": [str(kind.__name__), list(fields), _items(items, depth - 1)]}
    for base in mro:
        if base in _UNDERNEATH:
            return encode(_UNDERNEATH[base](value), depth)
    raise NotPlain(f"{kind.__name__} is not plain data")


def _array_parts(numpy: Any, value: Any, depth: int) -> list[Any]:
    """An array's type, shape and items."""
    kind = numpy.ndarray.__dict__["dtype"].__get__(value).str
    if kind[1:2] not in "?biufcUS":
        raise NotPlain("an array of objects is not plain data")
    shape = numpy.ndarray.__dict__["shape"].__get__(value)
    flat = numpy.ndarray.tolist(numpy.ndarray.reshape(numpy.asarray(value), -1))
    return [kind, [int(length) for length in shape], _items(flat, depth)]


def _says_itself(items: list[Any]) -> bool:
    """Whether a list is its own coding, as most are: small integers only, or plain words only."""
    kinds = set(map(type, items))
    if kinds == _INTEGERS:
        return bool(min(items) > -SMALL and max(items) < SMALL)
    return kinds == _TEXTS and all(map(str.isascii, items))


def decode(coded: Any, depth: int = DEPTH) -> Any:
    """The value that `encode` described; NotPlain for anything it would not have written."""
    kind = type(coded)
    if kind is list:
        if depth <= 0:
            raise NotPlain("nested too deeply")
        return [decode(item, depth - 1) for item in coded]
    if kind is not dict:
        return coded
    if depth <= 0 or len(coded) != 1:
        raise NotPlain("nested too deeply" if depth <= 0 else "not a tagged value")
    ((tag, content),) = coded.items()
    reader = _READERS.get(tag)
    if reader is None:
        raise NotPlain(f"unknown tag {tag[:20]!r}")
    try:
        return reader(content, depth - 1)
    except NotPlain:
        raise
    except (ValueError, TypeError, ArithmeticError, AttributeError, KeyError) as error:
        raise NotPlain(f"bad content for tag {tag!r}: {type(error).__name__}") from error


def _has_no_surrogates(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _items(value: Any, depth: int) -> list[Any]:
    return [encode(item, depth) for item in value]


def _pairs(value: Any, depth: int) -> list[Any]:
    return [[encode(key, depth), encode(item, depth)] for key, item in value.items()]


def _list(content: Any, depth: int) -> list[Any]:
    if type(content) is not list:
        raise NotPlain("content is not a list")
    return [decode(item, depth) for item in content]


def _keys(content: Any, depth: int) -> list[Any]:
    return _hashable(_list(content, depth))


def _hashable(keys: list[Any]) -> list[Any]:
    if len(keys) - len({hash(key) for key in keys}) > SAME_HASHES:
        raise NotPlain("too many keys share a hash")
    return keys


def _dict(content: Any, depth: int) -> dict[Any, Any]:
    if type(content) is not list or any(type(pair) is not list or len(pair) != 2 for pair in content):
        raise NotPlain("content is not a list of pairs")
    keys = _hashable([decode(pair[0], depth) for pair in content])
    return dict(zip(keys, (decode(pair[1], depth) for pair in content), strict=True))


def _text(content: Any) -> str:
    if type(content) is not str:
        raise NotPlain("content is not text")
    return content


def _whole(number: Any) -> int:
    if type(number) is dict:
        number = decode(number)
    if type(number) is not int:
        raise NotPlain("content is not a whole number")
    return number


def _short(number: Any) -> int:
    whole = _whole(number)
    if whole.bit_length() > FRACTION_BITS:
        raise NotPlain("a fraction of numbers that are too large")
    return whole


def _big(content: Any, depth: int) -> int:
    return int(_text(content), 16)


def _special_float(content: Any, depth: int) -> float:
    return {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}[_text(content)]


def _float(content: Any) -> float:
    number = decode(content) if type(content) is dict else content
    if type(number) is not float:
        raise NotPlain("content is not a float")
    return number


def _counter(content: Any, depth: int) -> "Counter[Any]":
    return Counter(_dict(content, depth))


def _default(content: Any, depth: int) -> "defaultdict[Any, Any]":
    return defaultdict(None, _dict(content, depth))


def _decimal(content: Any, depth: int) -> Decimal:
    return Decimal(_text(content))


# The plain value underneath an instance of a subclass, by methods that the subclass cannot replace.
_UNDERNEATH: dict[type, Callable[[Any], Any]] = {
    str: str.__str__,
    int: int.__index__,
    float: float.__float__,
    complex: lambda value: complex(_field(complex, "real", value), _field(complex, "imag", value)),
    bytes: lambda value: bytes.__getitem__(value, slice(None)),
    bytearray: lambda value: bytearray(bytearray.__getitem__(value, slice(None))),
    list: lambda value: list(list.__iter__(value)),
    tuple: lambda value: tuple(tuple.__iter__(value)),
    set: lambda value: set(set.__iter__(value)),
    frozenset: lambda value: frozenset(frozenset.__iter__(value)),
    Counter: lambda value: Counter(dict(dict.items(value))),
    OrderedDict: lambda value: OrderedDict(OrderedDict.items(value)),
    defaultdict: lambda value: defaultdict(None, dict(dict.items(value))),
    dict: lambda value: dict(dict.items(value)),
    deque: lambda value: deque(deque.__iter__(value), _field(deque, "maxlen", value)),
    Decimal: lambda value: Decimal(Decimal.__str__(value)),
    Fraction: lambda value: Fraction(int(value._numerator), int(value._denominator)),
    datetime: lambda value: datetime.fromisoformat(datetime.isoformat(value)),
    date: lambda value: date.fromisoformat(date.isoformat(value)),
    time: lambda value: time.fromisoformat(time.isoformat(value)),
    timedelta: lambda value: timedelta(
        *(_field(timedelta, part, value) for part in ("days", "seconds", "microseconds"))
    ),
}


def _field(kind: type, name: str, value: Any) -> Any:
    return kind.__dict__[name].__get__(value)


_WRITERS: dict[type, tuple[str, Callable[[Any, int], Any]]] = {
    tuple: ("t", _items),
    set: ("s", _items),
    frozenset: ("z", _items),
    dict: ("d", _pairs),
    bytes: ("b", lambda value, depth: value.hex()),
    bytearray: ("y", lambda value, depth: value.hex()),
    complex: ("c", lambda value, depth: [encode(value.real), encode(value.imag)]),
    range: ("r", lambda value, depth: [encode(value.start), encode(value.stop), encode(value.step)]),
    Decimal: ("D", lambda value, depth: str(value)),
    Fraction: ("F", lambda value, depth: [encode(value.numerator), encode(value.denominator)]),
    Counter: ("C", _pairs),
    OrderedDict: ("O", _pairs),
    defaultdict: ("e", _pairs),
    deque: ("q", lambda value, depth: [encode(value.maxlen), _items(value, depth)]),
    datetime: ("T", lambda value, depth: value.isoformat()),
    date: ("A", lambda value, depth: value.isoformat()),
    time: ("M", lambda value, depth: value.isoformat()),
    timedelta: ("L", lambda value, depth: [value.days, value.seconds, value.microseconds]),
    Handle: ("@", lambda value, depth: value.number),
}


def _array(content: Any, depth: int) -> Any:
    """An array of numpy's, made anew from plain data."""
    kind, shape, flat = content
    if not ARRAY_TYPE.fullmatch(_text(kind)) or any(type(length) is not int or length < 0 for length in shape):
        raise NotPlain("no array")
    items = _list(flat, depth)
    if math.prod(shape) != len(items):
        raise NotPlain("an array of another size")
    try:
        numpy = importlib.import_module("numpy")
    except ImportError:
        raise NotPlain("an array, and there is no numpy") from None
    return numpy.array(items, dtype=kind).reshape(shape)


def _named_tuple(content: Any, depth: int) -> Any:
    name, fields, items = content
    return _named_tuple_type(_text(name)[:100], tuple(_text(field)[:100] for field in fields))(*_list(items, depth))


@lru_cache(maxsize=256)
def _named_tuple_type(name: str, fields: tuple[str, ...]) -> Any:
    """A class of our own with the program's names, so that tests can ask for a field."""
    return namedtuple(name, fields)


ARRAY_TYPE = re.compile(r"[<>|=]?([?biufc]\d{0,2}|[US]\d{1,6})")
_READERS: dict[str, Callable[[Any, int], Any]] = {
    "a": _array,
    "n": _named_tuple,
    "u": lambda content, depth: bytes.fromhex(_text(content)).decode("utf-32-le", "surrogatepass"),
    "i": _big,
    "f": _special_float,
    "t": lambda content, depth: tuple(_list(content, depth)),
    "s": lambda content, depth: set(_keys(content, depth)),
    "z": lambda content, depth: frozenset(_keys(content, depth)),
    "d": _dict,
    "b": lambda content, depth: bytes.fromhex(_text(content)),
    "y": lambda content, depth: bytearray.fromhex(_text(content)),
    "c": lambda content, depth: complex(*(_float(part) for part in content)),
    "r": lambda content, depth: range(*(_whole(part) for part in content)),
    "D": _decimal,
    "F": lambda content, depth: Fraction(*(_short(part) for part in content)),
    "C": _counter,
    "O": lambda content, depth: OrderedDict(_dict(content, depth)),
    "e": _default,
    "q": lambda content, depth: deque(_list(content[1], depth), None if content[0] is None else _whole(content[0])),
    "T": lambda content, depth: datetime.fromisoformat(_text(content)),
    "A": lambda content, depth: date.fromisoformat(_text(content)),
    "M": lambda content, depth: time.fromisoformat(_text(content)),
    "L": lambda content, depth: timedelta(*(_whole(part) for part in content)),
    "@": lambda content, depth: Handle(_whole(content)),
}
