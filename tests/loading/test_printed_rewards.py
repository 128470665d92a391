"""What a composed reward prints is an expression: loaded again, it gives the same numbers."""

from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from plaudit import CompositeReward, RewardFunction, Trajectory, load, score
from plaudit.compose import TaskReward, bonus, cautious, gdpo, lexicographic, maximum, median, minimum, product
from plaudit.contract.function import as_reward
from plaudit.normalize import GroupNormalizer, RunningNormalizer, ZScoreNormalizer
from plaudit.rewards import BUILT_INS, FormatReward, KeywordReward, LengthReward, MathReward, TextSimilarityReward
from plaudit.schedules import CosineSchedule, LinearSchedule, PiecewiseSchedule
from plaudit.shaping import CosineLength, GroupLength, LengthPenalty

SAMPLES = [
    Trajectory("2 + 2?", text, ground_truth="4", group=group, task=task, training_step=step, columns={"kind": "b"})
    for group, task, step, text in [
        ("a", "math", 0, "The answer is 4."),
        ("a", "math", 3, "<think>no</think><answer>5</answer>"),
        ("a", "code", 7, ""),
        ("b", None, 12, "4 4 4 perhaps it is really four in the end"),
        ("b", "math", 40, "<answer>4</answer>"),
    ]
]
FILE = Path(__file__).with_name("rewards_to_print.py")
OF_A_FILE = [
    load(f"{FILE}:brief"),
    load(f"{FILE}:share", scope="group"),
    load(f"{FILE}:Near"),
    load(f"{FILE}:Near(target=7, note='it\\'s')"),
    load(f"{FILE}:compute_score"),
    load(f"{FILE}:completions_length", dialect="trl:text", max_batch=2),
]
NUMBERS = st.one_of(st.integers(-3, 3), st.floats(-3, 3, allow_nan=False).map(lambda x: x + 0.0))
STEPS = st.integers(1, 20)
WEIGHTS = st.one_of(
    NUMBERS,
    st.builds(LinearSchedule, NUMBERS, NUMBERS, STEPS),
    st.builds(CosineSchedule, NUMBERS, NUMBERS, STEPS),
    st.builds(lambda a, b, at: PiecewiseSchedule(((0, a), (at, b))), NUMBERS, NUMBERS, STEPS),
)
NORMALIZERS = st.one_of(
    st.sampled_from(["group", "zscore", "minmax", "rank", "quantile", "running"]),
    st.builds(GroupNormalizer, st.booleans(), st.floats(1e-8, 1e-2)),
    st.builds(ZScoreNormalizer, st.floats(1e-8, 1e-2)),
    st.builds(RunningNormalizer, st.floats(1e-8, 1e-2)),
)
LEAVES = st.one_of(
    st.sampled_from(OF_A_FILE),
    st.builds(LengthReward, target=st.integers(1, 50)),
    st.builds(MathReward, partial=st.floats(0, 1)),
    st.builds(KeywordReward, required=st.lists(st.sampled_from(["answer", "it's", 'say "4"', "4"]), min_size=1)),
    st.builds(TextSimilarityReward, measure=st.sampled_from(["edit", "token", "chrf"])),
    st.builds(CosineLength, limit=st.integers(1, 30), low=st.floats(-1, 0), high=st.floats(0, 1)),
    st.builds(LengthPenalty, amount=st.floats(0, 1), per=st.integers(1, 100)),
    st.sampled_from([FormatReward(), load("check_answer"), load("close_match(tolerance=0.25)"), load("template")]),
)


def combined(parts: st.SearchStrategy[RewardFunction]) -> st.SearchStrategy[RewardFunction]:
    several = st.lists(parts, min_size=1, max_size=3)
    pairs = st.lists(st.tuples(parts, WEIGHTS), min_size=1, max_size=3)
    numbered = st.lists(st.tuples(parts, NUMBERS), min_size=1, max_size=2)
    ends = st.tuples(NUMBERS, NUMBERS).map(sorted)
    tasks = st.dictionaries(st.sampled_from(["math", "code", "b", "it's"]), parts, min_size=1, max_size=2)
    return st.one_of(
        st.builds(CompositeReward, pairs, offset=NUMBERS),
        st.builds(lambda a, w, b, x: w * a + b - x, parts, WEIGHTS, parts, NUMBERS),
        st.builds(lambda a, b: (a - b) * b, parts, parts),
        st.builds(lambda a, w: -(w * a) / 3, parts, WEIGHTS),
        *(several.map(lambda each, make=make: make(*each)) for make in (minimum, maximum, median, product)),
        st.builds(lambda each, x: cautious(*each, penalty=x), several, NUMBERS),
        st.builds(
            lambda each, x: lexicographic(*(part.sigmoid() for part in each), resolution=x), several, st.floats(0.01, 1)
        ),
        st.builds(bonus, parts, numbered),
        st.builds(gdpo, pairs),
        st.builds(lambda a, low_high: a.clip(*low_high), parts, ends),
        st.builds(lambda a, x: a.floor(x), parts, NUMBERS),
        st.builds(lambda a, x: a.scale((-3, 4), to=(x, 2)), parts, NUMBERS),
        st.builds(lambda a, x: a.sigmoid().smooth(x) if a.bounds else a, parts, st.floats(0, 0.9)),
        st.builds(lambda a, x: a.sigmoid(x), parts, NUMBERS),
        st.builds(lambda a, b, x, y: a.gate(on=b, at=x, otherwise=y), parts, parts, NUMBERS, NUMBERS),
        st.builds(lambda a, how: a.normalized(how), parts, NORMALIZERS),
        st.builds(lambda a, name: a.named(name), parts, st.sampled_from(["x", "it's", 'a "b"', "ü\n"])),
        st.builds(lambda t, d, c: TaskReward(t, default=d, column=c), tasks, parts, st.sampled_from([None, "kind"])),
        st.builds(lambda a, x, unit: GroupLength(a, at=x, unit=unit), parts, NUMBERS, st.sampled_from(["word"])),
    )


@settings(max_examples=150, deadline=None)
@given(st.recursive(LEAVES, combined, max_leaves=6))
@example(TaskReward({"math": OF_A_FILE[1]}, default=OF_A_FILE[1]))
def test_a_printed_reward_loads_with_the_same_numbers(reward):
    again = load(repr(reward))
    assert repr(again) == repr(reward)
    before, after = score(reward, SAMPLES), score(again, SAMPLES)
    assert [(each.status, each.reward) for each in after] == [(each.status, each.reward) for each in before]
    assert [list(each.components) for each in after] == [list(each.components) for each in before]


@pytest.mark.parametrize(
    "name",
    [name for name in BUILT_INS if BUILT_INS[name].__module__.startswith(("plaudit.rewards", "plaudit.shaping"))],
)
def test_every_built_in_is_found_by_what_it_prints(name):
    given = {"keyword": "required=['x']", "words": "good_tokens=['x']", "soft_overlong": "limit=9, buffer=3"}
    reward = load(f"{name}({given.get(name, 'limit=9' if name == 'cosine_length' else '')})")
    assert repr(load(repr(reward))) == repr(reward)


@pytest.mark.parametrize("reward", OF_A_FILE, ids=lambda reward: reward.name)
def test_a_reward_of_a_file_prints_its_spec_with_settings_and_options(reward):
    again = load(repr(reward))
    assert type(again) is type(reward)
    assert (again.scope, again.max_batch, again.bounds) == (reward.scope, reward.max_batch, reward.bounds)
    assert vars(again).get("target") == vars(reward).get("target")


def test_a_reward_that_no_file_defines_at_its_top_level_prints_its_name():
    def local(response):
        return 0.0

    assert repr(0.5 * FormatReward() + as_reward(local)) == "0.5 * FormatReward() + local"
