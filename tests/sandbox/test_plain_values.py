"""Plain values cross the wall without loss; nothing else does, and forged text is refused."""

import math
import sys
from array import array
from collections import ChainMap, Counter, OrderedDict, UserDict, UserList, UserString, defaultdict, deque, namedtuple
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from enum import Enum, IntEnum
from fractions import Fraction
from pathlib import PosixPath, PurePosixPath
from types import SimpleNamespace
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plaudit.sandbox.child.runtime import Runtime
from plaudit.sandbox.judging.handles.written_contents import WrittenContents
from plaudit.sandbox.values import Graph, NotPlain, from_text, to_text

SAMPLES = [
    *(None, True, 0, -1, 2**53, -(2**53), 10**5000, 1.5, -0.0, 1e308, math.inf, -math.inf),
    *("", "ä€😀", "\ud800", "\ud83d\ude00", "\0", b"\x00\xff", bytearray(b"x")),
    *([], [[], [1, [2]]], (), (1,), ((),), {}, {1: 2, "1": 3, (1, 2): [None]}, set(), {1, "a"}, frozenset({1})),
    *(1j, complex(math.inf, -0.0), range(3, 9, 2), Decimal("1.10"), Decimal("NaN"), Fraction(1, 3)),
    *(Counter("aab"), OrderedDict([(2, 1), (1, 2)]), deque([1, 2], 5)),
    *(date(2020, 2, 29), datetime(2020, 1, 1, 2, 3, 4, 5), time(1, 2), timedelta(-1, 5)),
    *({"a": 1}.keys(), {"a": 1}.items(), ..., NotImplemented, UTC),
    *(timezone(timedelta(hours=1)), timezone(timedelta(hours=1), "X")),
    *(PosixPath("/a"), PurePosixPath("b"), UUID(int=5), array("d", [0.5]), int, {"t": [1]}, [{"i": "0x1"}]),
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
def test_a_plain_value_is_unchanged_after_a_round_trip(value):
    with_limit = sys.get_int_max_str_digits()
    assert same(from_text(to_text(value)), value)
    assert sys.get_int_max_str_digits() == with_limit


def test_nan_comes_back_as_nan():
    assert math.isnan(from_text(to_text(math.nan)))


def test_a_defaultdict_keeps_a_factory_that_is_a_class_of_plain_values():
    value = from_text(to_text(defaultdict(list, {1: [2]})))
    assert value == {1: [2]}
    assert value[3] == []


plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text() | st.binary() | st.fractions(),
    lambda inner: st.lists(inner) | st.tuples(inner, inner) | st.dictionaries(st.text() | st.integers(), inner),
    max_leaves=20,
)


@given(plain)
def test_any_plain_value_is_unchanged_after_a_round_trip(value):
    assert same(from_text(to_text(value)), value)


@pytest.mark.parametrize(
    "value",
    [object(), print, iter([]), Shade, Shade.DARK, [Shade.DARK], Liar(3), [Liar(1)], Tone.LOW],
    ids=lambda value: type(value).__name__,
)
def test_an_object_of_any_other_exact_type_is_not_plain(value):
    with pytest.raises(NotPlain):
        to_text(value)


def test_a_list_that_holds_itself_comes_back_as_one():
    value = from_text(to_text(CYCLE))
    assert value[0] is value


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
        (Text("a"), "a"),
        (Items([1, 2]), [1, 2]),
        (Pairs({"a": 1}), {"a": 1}),
        (Tone.LOW, 1),
        (type("S", (set,), {})({1}), {1}),
        (type("F", (float,), {"__float__": lambda self: 9.0})(0.5), 0.5),
    ],
    ids=lambda value: type(value).__name__,
)
def test_methods_of_a_subclass_do_not_decide_on_its_plain_value(value, underneath):
    _, _, coded, _ = Runtime()._describe(value)
    assert same(Graph().decode(coded), underneath)


class Sides:
    """Both ends of a channel, with messages in turn."""

    def __init__(self):
        self.ours, self.theirs = Graph(), Graph()

    def send(self, values):
        self.theirs.forget(self.ours.release())
        changes = self.ours.write_changes()
        self.theirs.apply_changes(changes)
        return [self.theirs.decode(coded) for coded in [self.ours.encode(value) for value in values]]

    def receive(self, value):
        self.ours.apply_changes(self.theirs.write_changes())
        return self.ours.decode(self.theirs.encode(value))


containers = st.sampled_from([list, dict, set, deque, bytearray, Counter, OrderedDict])


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(0, 9), st.booleans()), max_size=12))
def test_changes_and_aliases_on_either_side_are_those_of_one_process(steps):
    """Four lists that may contain each other, changed here or there: both sides agree with lists of one process."""
    sides = Sides()
    ours = [[] for _ in range(4)]
    single = [[] for _ in range(4)]
    theirs = sides.send(ours)
    for holder, item, number, is_theirs in steps:
        side = theirs if is_theirs else ours
        side[holder].append(side[item] if number > 6 else number)
        single[holder].append(single[item] if number > 6 else number)
        if is_theirs:
            assert sides.receive(theirs[holder]) is ours[holder]
        else:
            assert sides.send([ours[holder]])[0] is theirs[holder]
    for values in (ours, theirs):
        assert repr(values) == repr(single)
        for holder, expected in zip(values, single, strict=True):
            assert [item is holder for item in holder] == [item is expected for item in expected]


@given(containers, st.lists(st.integers(0, 255), max_size=5), st.lists(st.integers(0, 255), max_size=5))
def test_a_container_that_the_other_side_refills_keeps_its_identity(kind, before, after):
    def made(items):
        return kind(dict.fromkeys(items, 1)) if kind in (dict, Counter, OrderedDict) else kind(items)

    sides, value = Sides(), made(before)
    [copy] = sides.send([value])
    copy.clear()
    copy.update(made(after)) if hasattr(copy, "update") else copy.extend(after)
    assert sides.receive(copy) is value
    assert (type(value), value) == (kind, made(after))


def test_a_container_that_only_the_graph_refers_to_is_released_on_both_sides():
    sides = Sides()
    kept = [1]
    sides.send([kept, [2, [3]]])
    sides.send([])
    assert (len(sides.ours), len(sides.theirs)) == (1, 1)
    kept.append(4)
    assert sides.send([kept]) == [[1, 4]]


def test_the_contents_that_this_side_wrote_can_be_had_after_changes_by_the_other():
    sides, value = Sides(), [[1], 2]
    [copy] = sides.send([value])
    copy[0].clear()
    del copy[1:]
    sides.receive(0)
    assert value == [[]]
    written = WrittenContents(lambda: sides.ours)
    begun = written.begin()
    assert value == [[1], 2]
    assert not written.begin(), "within another expression it is done already"
    kept, items = written.end(begun, value), iter(value)
    assert (value, kept) == ([[]], [[1], 2])
    assert list(written.end(written.begin(), items)) == [[1], 2]
    assert written.end(written.begin(value), len(value[0])) == 0, "what the tests check stays"


def test_containers_of_all_kinds_are_copied_with_what_they_hold():
    shared = [1]
    held = [deque([shared], 3), OrderedDict(a=shared), defaultdict(list, {"a": shared}), {2}, bytearray(b"a")]
    held += [SimpleNamespace(a=shared), (shared,), {"a": shared}, {"a": 1}.keys()]
    sides = Sides()
    [copy] = sides.send([shared])
    copy.clear()
    sides.receive(0)
    written = WrittenContents(lambda: sides.ours)
    copied = written.end(written.begin(), held)
    assert shared == []
    assert [type(one) for one in copied] == [type(one) for one in held]
    assert (copied[0], copied[0].maxlen) == (deque([[1]]), 3)
    assert copied[2]["a"] is copied[5].a == [1]
    assert list(copied[-1]) == ["a"]


def test_a_named_tuple_keeps_its_names_in_a_class_of_ours():
    back = from_text(to_text(Point(4)))
    assert back == (4,)
    assert back.x == 4
    assert type(back) is not Point


def test_a_datetime_with_a_time_zone_survives_a_round_trip():
    assert from_text(to_text(NOW)) == NOW


FORGED = [
    *("", "{", "[" * 100_000, "{}", '{"x":1}', '{"t":1}', '{"t":[1],"s":[]}', '{"s":[[]]}', '{"z":[{"d":[]}]}'),
    *(
        '{"=":0}',
        '{"=":"a"}',
        "NaN",
        "Infinity",
        '{"k":"eval"}',
        '{"P":5}',
        '{"Y":["u","00"]}',
        '{"n":["a b",["x"],[1]]}',
    ),
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


def test_a_view_of_an_array_shows_the_array_on_the_other_side():
    numpy = pytest.importorskip("numpy")
    ours, theirs = Graph(), Graph(from_program=True)
    array = numpy.arange(6).reshape(2, 3).copy()
    copy = theirs.decode(ours.encode(array))
    for shown in (copy[::-1], copy.T, copy[:, 1], copy.reshape(3, 2), copy[1:, ::2]):
        view = ours.decode(theirs.encode(shown))
        assert view.tolist() == shown.tolist()
        assert numpy.shares_memory(view, array)
    widened = ours.decode(theirs.encode(numpy.broadcast_to(copy[0], (4, 3))))
    assert widened.shape == (4, 3)
    assert not numpy.shares_memory(widened, array)


def test_a_view_of_an_array_in_another_order_is_a_copy():
    numpy = pytest.importorskip("numpy")
    ours, theirs = Graph(), Graph(from_program=True)
    array = numpy.arange(6).reshape(2, 3).T
    copy = theirs.decode(ours.encode(array))
    assert ours.decode(theirs.encode(copy[1])).tolist() == array[1].tolist()


@pytest.mark.parametrize(
    "view",
    [
        [0, 0, "<i8", [7], [8]], [0, 8, "<i8", [3], [8]], [0, -8, "<i8", [1], [8]], [0, 0, "<i8", [3], [-8]],
        [0, 0, "|O", [3], [8]], [1, 0, "<i8", [3], [8]], [0, 0, "<i8", [10**12], [0]], [0, 0, "<i8", "3", [8]],
        [0, 0, "<i8", [-1, -1], [8, 8]], ["0", 0, "<i8", [3], [8]], [0, 0.5, "<i8", [3], [8]],
    ],
)  # fmt: skip
def test_a_forged_view_of_an_array_is_refused(view):
    numpy = pytest.importorskip("numpy")
    graph = Graph(from_program=True)
    graph.encode(numpy.arange(3))
    with pytest.raises(NotPlain):
        graph.decode({"V": view})


@pytest.mark.parametrize("value", [UserDict(a=[1]), UserList([1, [2]]), UserString("a"), ChainMap({"a": 1}, {})])
def test_a_wrapper_of_a_container_keeps_its_identity_and_its_content(value):
    ours, theirs = Graph(), Graph(from_program=True)
    copy = theirs.decode(ours.encode(value))
    assert type(copy) is type(value)
    assert copy == value
    assert ours.decode(theirs.encode(copy)) is value
