"""The key of a sample is the whole sample."""

from decimal import Decimal

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plaudit import Step, Tokens, Trajectory
from plaudit.engine.caching.cached_scores import entry_key

DIGEST = b"reward"
SAMPLE = Trajectory(prompt="2 + 2?", response="4", ground_truth="4", id=1, group=7, metadata={"level": 1})


def key(**fields) -> bytes | None:
    return entry_key(DIGEST, [msgspec.structs.replace(SAMPLE, **fields)])


FIELDS = {
    "prompt": "3 + 1?",
    "response": "four",
    "ground_truth": 4,
    "metadata": {"level": 2},
    "id": 2,
    "group": 8,
    "task": "sums",
    "tokens": Tokens([1, 2]),
    "steps": [Step("seen", "said")],
    "training_step": 3,
    "columns": {"difficulty": 1},
}


def test_every_field_is_listed_above():
    assert set(FIELDS) == set(Trajectory.__struct_fields__)


@pytest.mark.parametrize("field", FIELDS)
def test_every_field_is_part_of_the_key(field):
    assert key() != key(**{field: FIELDS[field]})
    assert key(**{field: FIELDS[field]}) == key(**{field: FIELDS[field]})


def test_another_reward_gives_another_key():
    assert entry_key(b"one", [SAMPLE]) != entry_key(b"other", [SAMPLE])


ONES = [1, 1.0, "1", True, None, [1], (1,), ["1"], {"1": 1}, {"1": 1.0}, {1: 1}, Decimal(1), 2**70, "\ud800", {1}]
EMPTY = [0, 0.0, -0.0, "", False, None, [], (), {}, Decimal(0), set()]


@pytest.mark.parametrize("values", [ONES, EMPTY], ids=["ones", "empty"])
def test_values_of_different_types_have_different_keys(values):
    keys = [key(ground_truth=value) for value in values]
    assert None not in keys
    assert len(set(keys)) == len(values)


def test_content_that_cannot_be_identified_has_no_key(tmp_path):
    with open(tmp_path / "file", "w") as opened:
        assert key(ground_truth=opened) is None
        assert entry_key(DIGEST, [SAMPLE, msgspec.structs.replace(SAMPLE, ground_truth=opened)]) is None


def test_a_group_is_keyed_by_all_its_samples_in_order():
    one, other = SAMPLE, msgspec.structs.replace(SAMPLE, response="b b")
    groups = [[one, other], [other, one], [one], [other], [one, other, one]]
    assert len({entry_key(DIGEST, group) for group in groups}) == len(groups)
    assert entry_key(DIGEST, [one, other]) == entry_key(DIGEST, [one, other])


plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


@given(plain, plain)
def test_keys_are_equal_exactly_if_the_values_print_the_same(one, other):
    assert (key(ground_truth=one) == key(ground_truth=other)) is (repr(one) == repr(other))
