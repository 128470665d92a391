import math

import pytest

from plaudit import CompositeReward, Trajectory
from plaudit.errors import InvalidSettings
from plaudit.rewards import FormatReward, KeywordReward, LengthReward


def earned(reward, words):
    text = " ".join(f"w{n}" for n in range(words))
    return reward.compute_reward(Trajectory(prompt="", response=text)).reward


def test_documented_composite_is_built_and_weighted():
    reward = CompositeReward(
        [(KeywordReward(required=["w1"]), 0.5), (LengthReward(target=200), 0.3), (FormatReward(), 0.2)]
    )
    (value,) = reward([Trajectory(prompt="", response=" ".join(f"w{n}" for n in range(100)))])
    assert value == pytest.approx(0.5 * 1.0 + 0.3 * 0.5 + 0.2 * 0.0)


@pytest.mark.parametrize(
    ("settings", "words", "value"),
    [
        pytest.param({}, 200, 1.0, id="the default target is 200"),
        pytest.param({"target": 100}, 100, 1.0, id="on target"),
        pytest.param({"target": 100}, 50, 0.5, id="half of it"),
        pytest.param({"target": 100}, 150, 0.5, id="half as much again"),
        pytest.param({"target": 100}, 200, 0.0, id="twice"),
        pytest.param({"target": 100}, 400, 0.0, id="never paid again"),
        pytest.param({"target": 100, "tolerance": 10}, 95, 0.5, id="tolerance in words"),
        pytest.param({"target": 100, "tolerance": 20, "shape": "gaussian"}, 120, math.exp(-0.5), id="gaussian"),
        pytest.param({"target": 100, "shape": "target"}, 110, 1.0, id="within a tenth"),
        pytest.param({"target": 100, "shape": "target"}, 111, 0.0, id="beyond a tenth"),
        pytest.param({"min_length": 10, "max_length": 20}, 10, 1.0, id="lower end of the band"),
        pytest.param({"min_length": 10, "max_length": 20}, 20, 1.0, id="upper end of the band"),
        pytest.param({"min_length": 10, "max_length": 20}, 5, 0.5, id="below the band"),
        pytest.param({"min_length": 10, "max_length": 20}, 30, 0.5, id="above the band"),
        pytest.param({"min_length": 10}, 500, 1.0, id="no upper end"),
        pytest.param({"max_length": 20}, 1, 1.0, id="no lower end"),
        pytest.param({"max_length": 20}, 0, 0.0, id="empty earns nothing"),
        pytest.param({"shape": "gaussian"}, 0, 0.0, id="empty earns nothing in any shape"),
    ],
)
def test_the_distance_from_the_target_decides(settings, words, value):
    assert earned(LengthReward(**settings), words) == pytest.approx(value)


def test_target_and_target_length_are_the_same():
    assert LengthReward(target=50) == LengthReward(target_length=50)
    assert repr(LengthReward(target_length=50)) == "LengthReward(target=50)"


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"shape": "gausian"}, "did you mean 'gaussian'"),
        ({"target": 10, "target_length": 20}, "are the same; give one"),
        ({"target": 0}, "need target > 0"),
        ({"target": "200"}, "target is a finite number"),
        ({"min_length": 30, "max_length": 20}, "min_length <= target <= max_length"),
        ({"target": 5, "min_length": 10}, "min_length <= target <= max_length"),
        ({"tolerance": math.inf}, "tolerance is a finite number"),
    ],
)
def test_settings_that_make_no_sense_are_refused_when_built(settings, message):
    with pytest.raises(InvalidSettings, match=message):
        LengthReward(**settings)
