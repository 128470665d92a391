"""Keys differ exactly where a reward could tell two samples apart."""

from decimal import Decimal

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plaudit import FunctionReward, RewardFunction, Step, Tokens, Trajectory, reward
from plaudit.engine.caching.keys import SampleKeys
from plaudit.shaping import LengthPenalty

SAMPLE = Trajectory(prompt="2 + 2?", response="4", ground_truth="4", id=1, group=7, metadata={"level": 1})


class Whole(RewardFunction):
    def compute_reward(self, trajectory):
        return float(len(trajectory.response))


class WithId(RewardFunction):
    def compute_reward(self, trajectory):
        return float(trajectory.id == 1)


@reward
def matches(response, ground_truth):
    return float(response == ground_truth)


@reward
def levelled(response, level=None, **columns):
    return float(level or 0)


def key(rewarding: RewardFunction, trajectory: Trajectory) -> bytes:
    (found,) = SampleKeys(rewarding).of([trajectory])
    assert found is not None
    return found


def changed(**fields) -> Trajectory:
    return msgspec.structs.replace(SAMPLE, **fields)


FIELDS = {
    "prompt": "3 + 1?",
    "response": "four",
    "ground_truth": 4,
    "metadata": {"level": 2},
    "group": 8,
    "task": "sums",
    "tokens": Tokens([1, 2]),
    "steps": [Step("seen", "said")],
    "training_step": 3,
    "columns": {"level": 1},
}


@pytest.mark.parametrize("field", FIELDS)
def test_every_field_counts_for_a_reward_that_is_given_the_whole_sample(field):
    assert key(Whole(), SAMPLE) != key(Whole(), changed(**{field: FIELDS[field]}))


@pytest.mark.parametrize("field", FIELDS)
def test_only_the_fields_a_function_asks_for_count(field):
    same = key(matches, SAMPLE) == key(matches, changed(**{field: FIELDS[field]}))
    assert same is (field not in ("response", "ground_truth"))


@pytest.mark.parametrize("field", FIELDS)
def test_columns_that_a_function_takes_count_wherever_they_come_from(field):
    same = key(levelled, SAMPLE) == key(levelled, changed(**{field: FIELDS[field]}))
    assert same is (field not in ("response", "metadata", "columns"))


def test_a_function_of_the_trajectory_is_keyed_by_all_of_it():
    taking = FunctionReward(lambda trajectory: float(len(trajectory.response)))
    assert key(taking, SAMPLE) != key(taking, changed(task="sums"))


def test_a_function_reward_that_computes_its_own_way_is_keyed_by_everything():
    class Otherwise(FunctionReward):
        def compute_reward(self, trajectory):
            return float(len(trajectory.prompt_text))

    otherwise = Otherwise(lambda response: 0.0)
    assert key(otherwise, SAMPLE) != key(otherwise, changed(prompt="3 + 1?"))


def test_the_id_counts_only_where_the_code_mentions_it():
    assert key(Whole(), SAMPLE) == key(Whole(), changed(id=2))
    assert key(WithId(), SAMPLE) != key(WithId(), changed(id=2))


TRUTHS = [1, 1.0, "1", True, None, [1], ["1"], {"1": 1}, {"1": 1.0}, Decimal(1), Decimal("1.0"), 2**70, "\ud800", {1}]
EMPTY = [0, 0.0, -0.0, "", False, None, [], {}, Decimal(0), set()]


@pytest.mark.parametrize("values", [TRUTHS, EMPTY], ids=["ones", "nothings"])
@pytest.mark.parametrize("rewarding", [Whole(), matches], ids=["whole", "named"])
def test_values_of_different_types_never_share_a_key(values, rewarding):
    keys = SampleKeys(rewarding).of([changed(ground_truth=value) for value in values])
    assert None not in keys
    assert len(set(keys)) == len(values)


def test_the_same_content_shares_a_key_whatever_the_object():
    for value in ("\ud800", 2**70, {"a": [1, Decimal(2)]}):
        assert key(Whole(), changed(ground_truth=value)) == key(Whole(), changed(ground_truth=value))


def test_a_missing_column_differs_from_none_only_where_it_can_be_told():
    assert key(levelled, changed(metadata={})) == key(levelled, changed(metadata={"level": None}))
    assert key(Whole(), changed(metadata={})) != key(Whole(), changed(metadata={"level": None}))


def test_content_that_cannot_be_identified_has_no_key_and_leaves_the_others_theirs(tmp_path):
    with open(tmp_path / "file", "w") as opened:
        keys = SampleKeys(Whole()).of([SAMPLE, changed(ground_truth=opened), changed(ground_truth="5")])
    assert [found is None for found in keys] == [False, True, False]


def test_a_sample_without_the_column_that_is_asked_for_has_no_key():
    asking = FunctionReward(lambda response, difficulty: 0.0)
    assert SampleKeys(asking).of([SAMPLE]) == [None]


def test_another_reward_gives_another_key():
    assert key(LengthPenalty(0.1), SAMPLE) != key(LengthPenalty(0.2), SAMPLE)


def test_a_reward_that_must_not_be_cached_gives_no_keys_and_a_reason():
    keys = SampleKeys(reward(deterministic=False)(lambda response: 0.0))
    assert keys.of([SAMPLE, SAMPLE]) == [None, None]
    assert "not deterministic" in keys.reason


def test_a_group_reward_is_keyed_by_the_whole_group_in_order():
    keys = SampleKeys(LengthPenalty().normalized("group"))
    one, other = changed(response="a"), changed(response="b b")
    assert keys.of([one, other]) == keys.of([one, other])
    assert len({*keys.of([one, other]), *keys.of([other, one]), *keys.of([one]), *keys.of([one, other, one])}) == 8


def test_one_unknown_sample_leaves_its_whole_group_without_keys(tmp_path):
    keys = SampleKeys(LengthPenalty().normalized("group"))
    with open(tmp_path / "file", "w") as opened:
        assert keys.of([SAMPLE, changed(ground_truth=opened)]) == [None, None]


plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


keys_of_matches = SampleKeys(matches)


@given(plain, plain)
def test_keys_are_equal_exactly_when_the_values_look_the_same(one, other):
    left, right = keys_of_matches.of([changed(ground_truth=one), changed(ground_truth=other)])
    assert (left == right) is (repr(one) == repr(other))
