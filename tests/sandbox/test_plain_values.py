"""Plain values cross the wall without loss; nothing else does, and forged text is refused."""

import math
import sys
from collections import Counter, OrderedDict, defaultdict, deque, namedtuple
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum, IntEnum
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plaudit.sandbox.values import Handle, NotPlain, from_text, to_text

SAMPLES = [
    *(None, True, 0, -1, 2**53, -(2**53), 10**5000, 1.5, -0.0, 1e308, math.inf, -math.inf),
    *("", "ä€😀", "\ud800", "\ud83d\ude00", "\0", b"\x00\xff", bytearray(b"x")),
    *([], [[], [1, [2]]], (), (1,), ((),), {}, {1: 2, "1": 3, (1, 2): [None]}, set(), {1, "a"}, frozenset({1})),
    *(1j, complex(math.inf, -0.0), range(3, 9, 2), Decimal("1.10"), Decimal("NaN"), Fraction(1, 3)),
    *(Counter("aab"), OrderedDict([(2, 1), (1, 2)]), deque([1, 2], 5)),
    *(date(2020, 2, 29), datetime(2020, 1, 1, 2, 3, 4, 5), time(1, 2), timedelta(-1, 5)),
    *(Handle(3), {"t": [1]}, [{"i": "0x1"}]),
]


class Liar(int):
    def __eq__(self, other):
        return True

    __hash__ = int.__hash__


class Shade(Enum):
    DARK = 1


class Tone(IntEnum):
    LOW = 1


Point = namedtuple("Point", "x")
CYCLE: list = []
CYCLE.append(CYCLE)
NOW = datetime(2020, 1, 1, tzinfo=UTC)


def same(first, second):
    if type(first) is not type(second):
        return False
    if isinstance(first, (list, tuple, deque)):
        return len(first) == len(second) and all(map(same, first, second))
    return repr(first) == repr(second) if isinstance(first, (float, complex, Decimal)) else first == second


@pytest.mark.parametrize("value", SAMPLES, ids=lambda value: type(value).__name__)
def test_a_plain_value_comes_back_as_it_was(value):
    with_limit = sys.get_int_max_str_digits()
    assert same(from_text(to_text(value)), value)
    assert sys.get_int_max_str_digits() == with_limit


def test_nan_comes_back_as_nan():
    assert math.isnan(from_text(to_text(math.nan)))


def test_a_defaultdict_comes_back_without_its_factory():
    value = from_text(to_text(defaultdict(list, {1: [2]})))
    assert value == {1: [2]}
    with pytest.raises(KeyError):
        value[3]


plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text() | st.binary() | st.fractions(),
    lambda inner: st.lists(inner) | st.tuples(inner, inner) | st.dictionaries(st.text() | st.integers(), inner),
    max_leaves=20,
)


@given(plain)
def test_any_plain_value_comes_back_as_it_was(value):
    assert same(from_text(to_text(value)), value)


@pytest.mark.parametrize(
    "value", [object(), print, iter([]), CYCLE, bool, Shade.DARK, [Shade.DARK]], ids=lambda value: type(value).__name__
)
def test_what_is_not_plain_underneath_does_not_travel(value):
    with pytest.raises((NotPlain, RecursionError)):
        to_text(value)


class Text(str):
    __slots__ = ()
    __eq__ = __contains__ = lambda self, other: True
    __hash__ = str.__hash__
    __str__ = __repr__ = lambda self: "forged"


class Items(list):
    def __iter__(self):
        return iter([7])

    def __len__(self):
        return 7

    def __eq__(self, other):
        return True


class Pairs(dict):
    items = __iter__ = lambda self: iter([])

    def __eq__(self, other):
        return True


@pytest.mark.parametrize(
    ("value", "underneath"),
    [
        (Liar(3), 3),
        ([Liar(1)], [1]),
        ({Liar(1): 2}, {1: 2}),
        (Text("a"), "a"),
        (Items([1, 2]), [1, 2]),
        (Pairs({"a": 1}), {"a": 1}),
        (Tone.LOW, 1),
        (type("S", (set,), {})({1}), {1}),
        (type("F", (float,), {"__float__": lambda self: 9.0})(0.5), 0.5),
        (type("D", (Decimal,), {"__str__": lambda self: "9"})("1.5"), Decimal("1.5")),
    ],
    ids=lambda value: type(value).__name__,
)
def test_an_instance_of_a_subclass_travels_as_the_plain_value_it_is_underneath(value, underneath):
    back = from_text(to_text(value))
    assert same(back, underneath)


def test_a_named_tuple_keeps_its_names_in_a_class_of_ours():
    back = from_text(to_text(Point(4)))
    assert back == (4,)
    assert back.x == 4
    assert type(back) is not Point


def test_a_time_with_a_zone_is_the_same_moment():
    assert from_text(to_text(NOW)) == NOW


FORGED = [
    *("", "{", "[" * 100_000, "{}", '{"x":1}', '{"t":1}', '{"t":[1],"s":[]}', '{"s":[[]]}', '{"z":[{"d":[]}]}'),
    *('{"i":"zz"}', '{"i":5}', '{"f":"1e5"}', '{"b":"0"}', '{"b":5}', '{"u":"00"}', '{"D":"x"}', '{"@":"1"}'),
    *('{"d":[[1]]}', '{"d":[[[],1]]}', '{"d":{"a":1}}', '{"c":[1,2,3]}', '{"c":["a","b"]}', '{"r":[1,2,0]}'),
    *('{"r":"ab"}', '{"F":[1,0]}', '{"F":{"t":[]}}', '{"q":5}', '{"q":[{"i":"-0x1"},[]]}', '{"T":"x"}', '{"L":["a"]}'),
]


@pytest.mark.parametrize("text", FORGED, ids=lambda text: text[:30])
def test_forged_text_is_refused(text):
    with pytest.raises(NotPlain):
        from_text(text)


def test_a_fraction_that_would_take_long_to_reduce_is_refused():
    with pytest.raises(NotPlain, match="too large"):
        from_text(to_text(Fraction(3**200_000, 2**200_000)))


def test_keys_made_to_collide_are_refused():
    prime = 2**61 - 1
    keys = [number * prime for number in range(1, 5000)]
    with pytest.raises(NotPlain, match="share a hash"):
        from_text(to_text([1, dict.fromkeys(keys, 0)]).replace("null", "0"))
    assert from_text(to_text(dict.fromkeys(range(5000)))) == dict.fromkeys(range(5000))
