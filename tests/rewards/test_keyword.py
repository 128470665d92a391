import pytest

from plaudit import Trajectory
from plaudit.errors import InvalidSettings
from plaudit.rewards import KeywordReward


def earned(response, **settings):
    return KeywordReward(**settings).compute_reward(Trajectory(prompt="", response=response)).reward


@pytest.mark.parametrize(
    ("response", "settings", "value"),
    [
        pytest.param("It rains because of clouds.", {"required": ["because"]}, 1.0, id="required"),
        pytest.param("It rains, because and so on", {"required": ["because", "therefore"]}, 0.5, id="half of them"),
        pytest.param("It rains.", {"required": ["because"]}, 0.0, id="none"),
        pytest.param("BECAUSE!", {"required": ["because"]}, 1.0, id="case and punctuation"),
        pytest.param("becauses", {"required": ["because"]}, 0.0, id="whole words only"),
        pytest.param("for  the\nexample", {"required": ["for the example"]}, 1.0, id="phrases"),
        pytest.param("C++ it is", {"required": ["C++"]}, 1.0, id="signs"),
        pytest.param("a plain text", {"bonus": ["because", "example"]}, 0.8, id="bonus set aside"),
        pytest.param("example because", {"bonus": ["because", "example"]}, 1.0, id="bonus earned"),
        pytest.param("because because", {"bonus": ["because", "example"]}, 0.9, id="each counts once"),
        pytest.param("maybe it is", {"penalty": ["maybe"]}, 0.85, id="penalty"),
        pytest.param("maybe it is", {"penalty": {"maybe": 0.4}}, 0.6, id="an amount of its own"),
        pytest.param("maybe perhaps", {"penalty": {"maybe": 0.9, "perhaps": 0.9}}, 0.0, id="never below 0"),
        pytest.param("", {"penalty": ["maybe"]}, 0.0, id="empty"),
    ],
)
def test_words_said_decide(response, settings, value):
    assert earned(response, **settings) == pytest.approx(value)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({}, "needs words"),
        ({"required": "because"}, "write \\['because'\\]"),
        ({"bonus": "because"}, "write \\['because'\\]"),
        ({"bonus": {"because": -1}}, "need the bonus of 'because' >= 0"),
        ({"required": ["..."]}, "no letter or digit"),
    ],
)
def test_settings_that_make_no_sense_are_refused_when_built(settings, message):
    with pytest.raises(InvalidSettings, match=message):
        KeywordReward(**settings)
