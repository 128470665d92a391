import pytest

from plaudit import Trajectory
from plaudit.errors import InvalidSettings
from plaudit.rewards import RepetitionPenalty


def earned(response, **settings):
    return RepetitionPenalty(**settings).compute_reward(Trajectory(prompt="", response=response)).reward


@pytest.mark.parametrize(
    ("response", "settings", "value"),
    [
        pytest.param("one two three four five", {}, 0.0, id="nothing repeats"),
        pytest.param("a b c a b c", {}, -0.25, id="one run of four"),
        pytest.param("A b c. a B c!", {}, -0.25, id="case and punctuation do not hide it"),
        pytest.param("a a a a", {"ngram": 1, "max_penalty": 2.0}, -1.5, id="single words"),
        pytest.param("a b", {}, 0.0, id="too short"),
        pytest.param("", {}, 0.0, id="empty"),
    ],
)
def test_the_share_of_repeated_runs_is_the_penalty(response, settings, value):
    assert earned(response, **settings) == pytest.approx(value)


@pytest.mark.parametrize("settings", [{"ngram": 0}, {"ngram": 1.5}, {"max_penalty": 0}, {"max_penalty": -1}])
def test_settings_that_make_no_sense_are_refused_when_built(settings):
    with pytest.raises(InvalidSettings):
        RepetitionPenalty(**settings)
