"""Outputs are read back from a cache as they were, or are not stored."""

import itertools
import sqlite3
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plaudit import RewardOutput, Status
from plaudit.engine import Cache

numbers = st.floats(allow_nan=False, allow_infinity=False)
words = st.text(st.characters(codec="utf-8"), max_size=8)
metadata = st.dictionaries(
    words,
    st.recursive(
        st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | numbers | words,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3),
        max_leaves=5,
    ),
    max_size=3,
)
scored = st.builds(
    RewardOutput,
    numbers,
    token_rewards=st.none() | st.lists(numbers, max_size=4),
    metadata=metadata,
    score=st.none() | st.floats(0.0, 1.0),
    reason=words,
    token_unit=st.sampled_from(["word", "token"]),
    latency_s=st.none() | numbers,
)
unscored = st.builds(
    RewardOutput.unscored, st.sampled_from([Status.UNPARSED, Status.SKIPPED]), words, metadata=metadata
)
composed = st.builds(
    RewardOutput, numbers, components=st.dictionaries(words, scored | unscored, max_size=3), metadata=metadata
)


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    with Cache(tmp_path_factory.mktemp("outputs") / "cache.sqlite") as opened:
        yield opened


keys = itertools.count()


def through(cache: Cache, output: RewardOutput) -> list[RewardOutput] | None:
    key = str(next(keys)).encode()
    cache.put_many({key: [output]})
    return cache.get_many([key]).get(key)


@given(output=scored | unscored | composed)
def test_plain_outputs_are_read_back_equal_in_value_and_type(cache, output):
    assert repr(through(cache, output)) == repr([output])  # unlike ==, tells 1 from 1.0 and 0.0 from -0.0


NOT_STORED = {
    "error": RewardOutput.unscored(Status.ERROR, "it raised"),
    "timeout": RewardOutput.unscored(Status.TIMEOUT, "too slow"),
    "memory": RewardOutput.unscored(Status.MEMORY, "too large"),
    "failed part": RewardOutput(1.0, components={"a": RewardOutput.unscored(Status.TIMEOUT, "too slow")}),
    "tuple": RewardOutput(1.0, metadata={"span": (0, 1)}),
    "decimal": RewardOutput(1.0, metadata={"value": Decimal(1)}),
    "object": RewardOutput(1.0, metadata={"value": object()}),
    "large number": RewardOutput(1.0, metadata={"value": 2**64}),
    "lone surrogate": RewardOutput(1.0, reason="\ud800"),
}


@pytest.mark.parametrize("output", NOT_STORED.values(), ids=NOT_STORED)
def test_failures_and_outputs_that_would_change_are_not_stored(cache, output):
    assert through(cache, output) is None


@pytest.mark.parametrize("value", [b"", b"\xff", b"\xc1", b"\x91"], ids=repr)
def test_bytes_that_hold_no_output_are_ignored(cache, value):
    connection = sqlite3.connect(cache.path)
    with connection:
        connection.execute("INSERT OR REPLACE INTO scores (key, value) VALUES (?, ?)", (b"damaged", value))
    connection.close()
    assert cache.get_many([b"damaged"]) == {}
