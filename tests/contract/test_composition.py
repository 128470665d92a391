import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plaudit import CompositeReward, RewardFunction, RewardOutput, Status, Trajectory, reward, score
from plaudit.compose import TaskReward, bonus, cautious, gdpo, lexicographic, maximum, median, minimum, product
from plaudit.errors import InvalidSettings
from plaudit.schedules import CosineSchedule, LinearSchedule, PiecewiseSchedule


class Value(RewardFunction):
    """The number that the sample's metadata holds under `key`."""

    bounds = (0.0, 1.0)

    def __init__(self, key, *, scored=False, tokens=False):
        self.key, self.scored, self.tokens = key, scored, tokens
        self.name = key

    def compute_reward(self, trajectory):
        value = trajectory.metadata[self.key]
        if value is None:
            return RewardOutput.unscored(Status.UNPARSED, f"no {self.key}")
        words = trajectory.response.split()
        return RewardOutput(
            value,
            score=value if self.scored else None,
            token_rewards=[value / len(words)] * len(words) if self.tokens else None,
            reason=f"{self.key} is {value}",
        )

    def __repr__(self):
        return self.key


def sample(a=0.5, b=0.25, c=1.0, **fields):
    return Trajectory(**{"prompt": "p", "response": "w w", "metadata": {"a": a, "b": b, "c": c}, **fields})


def value(rewarding, trajectory=None):
    [output] = score(rewarding, [trajectory or sample()])
    assert output.ok, output.reason
    return output.reward


a, b, c = Value("a"), Value("b"), Value("c")


@pytest.mark.parametrize(
    ("made", "expected", "printed"),
    [
        (0.7 * a + 0.3 * b, 0.425, "0.7 * a + 0.3 * b"),
        (a - b, 0.25, "a - b"),
        (a - 0.5, 0.0, "a - 0.5"),
        (1 - a, 0.5, "-a + 1"),
        (-a, -0.5, "-a"),
        (a / 2, 0.25, "0.5 * a"),
        (2 * (a + b), 1.5, "2 * a + 2 * b"),
        (a * b, 0.125, "product(a, b)"),
        ((a + b) * c, 0.75, "product(a + b, c)"),
        ((3 * a).clip(), 1.0, "(3 * a).clip()"),
        (a.floor(0.75), 0.75, "a.clip(low=0.75, high=None)"),
        (a.scale((0, 1), to=(-1, 1)), 0.0, "a.scale(source=(0, 1), to=(-1, 1))"),
        (a.smooth(0.2), 0.5, "a.scale(source=(0, 1), to=(0.1, 0.9))"),
        (a.sigmoid(0.5), 0.5, "a.sigmoid(reference=0.5)"),
        (a.gate(on=c, at=0.8), 0.5, "a.gate(on=c, at=0.8)"),
        (a.gate(on=b, at=0.8), 0.0, "a.gate(on=b, at=0.8)"),
        (a.gate(on=b, at=0.8, otherwise=-1), -1.0, "a.gate(on=b, at=0.8, otherwise=-1)"),
        (product(a, b, c), 0.125, "product(a, b, c)"),
        (minimum(a, b), 0.25, "minimum(a, b)"),
        (maximum(a, b, c), 1.0, "maximum(a, b, c)"),
        (median(a, b, c), 0.5, "median(a, b, c)"),
        (cautious(a, b, penalty=2), 0.375 - 0.25, "cautious(a, b, penalty=2)"),
        (bonus(a, [(b, 0.4), (c, -0.1)]), 0.5 * (1 + 0.1 - 0.1), "bonus(a, [(b, 0.4), (c, -0.1)])"),
        ((a * b).normalized("group"), 0.0, "product(a, b).normalized('group')"),
    ],
    ids=lambda made: repr(made) if isinstance(made, RewardFunction) else "",
)
def test_rewards_combine_as_arithmetic_says_and_print_as_expressions(made, expected, printed):
    assert value(made) == pytest.approx(expected)
    assert repr(made) == printed


def test_composites_of_composites_keep_every_value_status_and_reason():
    inner = CompositeReward([(a, 0.5), (b, 0.5)])
    inner.name = "inner"
    [output] = score(CompositeReward([(inner, 1.0), (c, 0.1), (c, 0.2)]), [sample()])
    assert output.reward == pytest.approx(0.375 + 0.3)
    assert {name: part.reward for name, part in output.flat_components().items()} == {
        "inner": 0.375, "inner/a": 0.5, "inner/b": 0.25, "c": 1.0, "c_2": 1.0,
    }  # fmt: skip
    assert output.components["c_2"].reason == "c is 1.0"


def test_a_part_that_is_not_scored_leaves_the_whole_not_scored_but_keeps_the_rest():
    [output] = score(0.5 * a + 0.5 * b, [sample(b=None)])
    assert (output.status, output.reward) == (Status.UNPARSED, None)
    assert output.reason == "b: no b"
    assert output.components["a"].reward == 0.5


def test_a_part_that_raises_leaves_the_other_parts_scored():
    [output] = score(a + Value("missing"), [sample()])
    assert output.status is Status.ERROR
    assert output.reason.startswith("missing raised KeyError: 'missing'")
    assert output.components["a"].ok


def test_scores_combine_by_weight_and_style_rewards_have_no_say():
    right, better = Value("a", scored=True), Value("c", scored=True)
    [output] = score(0.6 * right + 0.2 * better + 0.2 * b, [sample()])
    assert output.score == pytest.approx((0.6 * 0.5 + 0.2 * 1.0) / 0.8)
    assert score(a + b, [sample()])[0].score is None
    assert score(right.gate(on=b, at=0.9), [sample()])[0].score == 0.5


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda t: 0.5 * t + b, [0.125, 0.125]),
        (lambda t: t * b, [0.0625, 0.0625]),
        (lambda t: t.gate(on=b, at=0.8), [0.0, 0.0]),
        (lambda t: (4 * t).clip(), [0.5, 0.5]),
        (lambda t: minimum(t, b), [0.0, 0.0]),
    ],
    ids=["sum", "product", "closed gate", "clip", "minimum"],
)
def test_token_rewards_follow_the_combination(made, expected):
    [output] = score(made(Value("a", tokens=True)), [sample()])
    assert output.token_rewards == pytest.approx(expected)


def test_bounds_follow_from_the_parts():
    assert (0.7 * a + 0.3 * b).bounds == pytest.approx((0.0, 1.0))
    assert (a - b).bounds == (-1.0, 1.0)
    assert (a - 0.5).clip().bounds == (0.0, 0.5)
    assert a.gate(on=b, at=1, otherwise=-1).bounds == (-1.0, 1.0)
    assert ((a - 1) * b).bounds == (-1.0, 0.0)
    unbounded = reward(lambda response: 1.0)
    assert unbounded.bounds is None
    assert (unbounded + a).bounds is (0 * unbounded).bounds is unbounded.floor(0).bounds is None
    assert unbounded.clip().smooth(0.2).bounds == pytest.approx((0.1, 0.9))
    assert (2 * unbounded.sigmoid() - 1).bounds == (-1.0, 1.0)


@pytest.mark.parametrize("pick", [minimum, maximum, median])
@given(data=st.data())
def test_a_pick_keeps_to_its_bounds_and_reaches_both(pick, data):
    ends = data.draw(st.lists(st.tuples(st.integers(-9, 9), st.integers(-9, 9)).map(sorted), min_size=1, max_size=5))
    rule = pick(*(Value(str(index)) for index in range(len(ends)))).rule
    low, high = rule.bounds([(float(low), float(high)) for low, high in ends])
    values = [float(data.draw(st.integers(*each))) for each in ends]
    assert low <= rule.combine(values, None).value <= high
    assert rule.combine([float(end) for end, _ in ends], None).value == low
    assert rule.combine([float(end) for _, end in ends], None).value == high


def test_later_parts_of_a_lexicographic_reward_only_break_ties():
    made = lexicographic(a, b, resolution=0.1)
    better_first = value(made, sample(a=0.6, b=0.0))
    better_second = value(made, sample(a=0.5, b=1.0))
    worst = value(made, sample(a=0.5, b=0.9))
    assert 1.0 >= better_first > better_second > worst >= 0.0
    assert value(made, sample(a=1.0, b=1.0)) == pytest.approx(1.0)


def test_a_lexicographic_part_outside_zero_to_one_is_an_error():
    [output] = score(lexicographic(2 * a, b), [sample(a=1.0)])
    assert output.status is Status.ERROR
    assert "must lie in [0, 1]" in output.reason


@pytest.mark.parametrize(
    ("schedule", "values"),
    [
        (LinearSchedule(1.0, 0.0, steps=10), {0: 1.0, 5: 0.5, 10: 0.0, 99: 0.0}),
        (CosineSchedule(0.0, 1.0, steps=10), {0: 0.0, 5: 0.5, 10: 1.0, 99: 1.0}),
        (PiecewiseSchedule(((0, 1.0), (3, 0.5))), {0: 1.0, 2: 1.0, 3: 0.5, 99: 0.5}),
    ],
    ids=repr,
)
def test_weights_may_follow_the_training_step(schedule, values):
    made = CompositeReward([(c, schedule)])
    for step, expected in values.items():
        assert value(made, sample(training_step=step)) == pytest.approx(expected)


def test_a_scheduled_weight_without_a_training_step_is_an_error_with_the_reason():
    [output] = score(LinearSchedule(1.0, 0.0, steps=10) * a + b, [sample()])
    assert output.status is Status.ERROR
    assert "set training_step" in output.reason
    assert output.components["b"].reward == 0.25


def test_each_task_has_its_reward_and_an_unknown_task_is_skipped():
    made = TaskReward({"math": a, "code": b})
    outputs = score(made, [sample(task="code"), sample(task="math"), sample(task="mth"), sample()])
    assert [output.reward for output in outputs] == [0.25, 0.5, None, None]
    assert "no reward for task 'mth'; did you mean 'math'?" in outputs[2].reason
    assert outputs[3].status is Status.SKIPPED
    assert value(TaskReward({"math": a}, default=c)) == 1.0


def test_gdpo_normalises_each_part_in_its_group_before_summing():
    """A part of tiny spread counts as much as one of large spread, unlike when the sum is normalised."""
    samples = [sample(a=100.0, b=0.0, group=1), sample(a=0.0, b=0.01, group=1), sample(a=0.0, b=0.0, group=1)]
    large, small, neither = (output.reward for output in score(gdpo([(a, 1.0), (b, 1.0)]), samples))
    assert large == pytest.approx(small, abs=1e-3)
    assert small - neither > 1.0
    large, small, neither = (output.reward for output in score((a + b).normalized("group"), samples))
    assert large - small > 1.0 > 1e-3 > small - neither


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: a.normalized("gruop"), "no normaliser named 'gruop'; did you mean 'group'"),
        (lambda: reward(lambda response: 1.0).scale(), "declares no bounds"),
        (lambda: reward(lambda response: 1.0).smooth(), "needs declared bounds"),
        (lambda: a.clip(1, 0), "need low <= high"),
        (lambda: a.clip(None, None), "a low or a high"),
        (lambda: lexicographic(a, resolution=0), "resolution"),
        (lambda: LinearSchedule(0, 1, steps=0), "steps >= 1"),
        (lambda: PiecewiseSchedule(((5, 1.0),)), "start at step 0"),
        (lambda: TaskReward({}), "at least one task"),
    ],
    ids=range(9),
)
def test_combinations_built_wrongly_say_so(build, message):
    with pytest.raises(InvalidSettings, match=message):
        build()


def test_a_reward_cannot_be_added_to_something_else():
    with pytest.raises(TypeError):
        a + "b"
    with pytest.raises(TypeError):
        a * "b"


def test_sigmoid_is_finite_at_both_ends():
    assert value(a.sigmoid(), sample(a=1e308)) == 1.0
    assert value(a.sigmoid(), sample(a=-1e308)) == 0.0
    assert math.isfinite(value(a.sigmoid(), sample(a=-750.0)))


def test_another_name_adds_no_level_to_the_components():
    composite = 0.5 * Value("a").named("answer") + 0.5 * minimum(Value("b"), Value("c")).named("worst")
    [output] = score(composite, [Trajectory(prompt="p", response="r", metadata={"a": 1.0, "b": 0.5, "c": 0.0})])
    assert list(output.flat_components()) == ["answer", "worst", "worst/b", "worst/c"]
    assert output.components["answer"].reason == "a is 1.0"


def test_clipping_or_scaling_a_sum_keeps_its_components_at_the_top_level():
    clipped = (2 * Value("a") + Value("b")).clip(0, 1)
    samples = [Trajectory(prompt="p", response="r", metadata={"a": 0.5, "b": 0.25})]
    [output] = score(clipped, samples)
    components = {name: part.reward for name, part in output.flat_components().items()}
    assert components == {"CompositeReward": 1.25, "a": 0.5, "b": 0.25}
    [scaled] = score(clipped.normalized("rank"), samples)
    assert list(scaled.flat_components()) == ["raw", "CompositeReward", "a", "b"]
