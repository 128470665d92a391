import pytest

from plaudit import Trajectory
from plaudit.errors import InvalidSettings
from plaudit.rewards import FormatReward

GOOD = "<think>2 and 2 make 4</think>\n<answer>4</answer>"


def earned(response, **settings):
    return FormatReward(**settings).compute_reward(Trajectory(prompt="", response=response)).reward


def test_documented_batch_call_gives_one_number_per_trajectory():
    trajectories = [Trajectory(prompt="", response=text) for text in (GOOD, "4")]
    assert FormatReward()(trajectories, ["4", "4"]) == [1.0, 0.0]


@pytest.mark.parametrize(
    ("response", "settings", "value"),
    [
        pytest.param(GOOD, {}, 1.0, id="default sections"),
        pytest.param("# Plan\nadd\n# Result\n4", {"required_sections": ["plan", "result"]}, 1.0, id="headings"),
        pytest.param("<think>a</think>", {}, 0.0, id="half of it is nothing"),
        pytest.param("<think>a</think>", {"partial": True}, 0.5, id="half of it is half"),
        pytest.param("<think></think><answer>4</answer>", {"partial": True}, 0.5, id="an empty section earns no part"),
        pytest.param("id: 12", {"required_patterns": [r"id: \d+"]}, 1.0, id="patterns alone ask for no sections"),
        pytest.param(GOOD, {"required_patterns": [r"\d{3}"], "required_sections": ["think"]}, 0.0, id="both"),
        pytest.param(f"{GOOD}", {"forbidden_patterns": ["make"]}, 0.0, id="forbidden"),
        pytest.param(
            "<think>a TODO</think>", {"forbidden_patterns": ["TODO"], "partial": True}, 0.0, id="forbidden is final"
        ),
        pytest.param("fine", {"forbidden_patterns": ["TODO"]}, 1.0, id="nothing forbidden"),
        pytest.param("", {"forbidden_patterns": ["TODO"]}, 0.0, id="empty"),
        pytest.param("", {"partial": True}, 0.0, id="empty earns no part"),
    ],
)
def test_the_required_sections_and_patterns_decide(response, settings, value):
    assert earned(response, **settings) == value


def test_the_reason_names_what_is_wrong():
    output = FormatReward().compute_reward(Trajectory(prompt="", response="<think> </think>"))
    assert output.reason == "<think> is empty; <answer> is missing"


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"required_patterns": ["(open"]}, r"'\(open' is not a regular expression"),
        ({"required_sections": "think"}, "write \\['think'\\]"),
        ({"forbidden_patterns": [""]}, "forbidden_patterns holds texts"),
    ],
)
def test_settings_that_make_no_sense_are_refused_when_built(settings, message):
    with pytest.raises(InvalidSettings, match=message):
        FormatReward(**settings)
