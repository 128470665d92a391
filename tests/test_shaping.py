import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plaudit import Status, Step, Tokens, Trajectory, score
from plaudit.errors import InvalidSettings
from plaudit.shaping import (
    CosineLength,
    GroupLength,
    HallucinationPenalty,
    LengthPenalty,
    PotentialShaping,
    ReasoningBonus,
    SoftOverlong,
)


def words(count, **fields):
    return Trajectory(prompt="p", response=" ".join(["word"] * count), **fields)


def value(rewarding, trajectory):
    [output] = score(rewarding, [trajectory])
    assert output.ok, output.reason
    return output.reward


def test_the_length_penalty_of_document_003_is_a_tenth_per_hundred_words():
    assert value(LengthPenalty(), words(50)) == pytest.approx(-0.1 * 50 / 100)


@pytest.mark.parametrize(("length", "expected"), [(0, 0), (80, 0), (90, -0.5), (100, -1), (500, -1)])
def test_soft_overlong_is_daposs_formula(length, expected):
    assert value(SoftOverlong(limit=100, buffer=20, unit="word"), words(length)) == pytest.approx(expected)


def test_lengths_in_tokens_without_tokens_are_an_error():
    made = SoftOverlong(limit=4, buffer=2)
    assert value(made, words(1, tokens=Tokens(ids=[1, 2, 3]))) == -0.5
    [output] = score(made, [words(1)])
    assert output.status is Status.ERROR
    assert "need the trajectory's tokens" in output.reason


@given(st.integers(1, 400), st.integers(0, 400))
def test_the_cosine_never_pays_more_for_more_words(length, more):
    made = CosineLength(limit=100)
    assert value(made, words(length + more)) <= value(made, words(length)) + 1e-12


def test_the_cosine_stays_down_at_twice_the_limit_and_pays_nothing_for_silence():
    made = CosineLength(limit=100, low=-0.5, high=1.0)
    assert value(made, words(200)) == pytest.approx(-0.5)
    assert value(made, words(0)) == -0.5
    assert value(made, words(50)) == pytest.approx(0.25)
    assert value(made, words(1)) == pytest.approx(-0.5 + 0.75 * (1 + math.cos(math.pi / 100)))


def group_of(lengths_and_right):
    return [words(length, metadata={"right": right}, group="g") for length, right in lengths_and_right]


def is_right(metadata):
    return metadata["right"]


def test_the_shortest_right_answer_of_a_group_earns_most_and_wrong_ones_never_earn():
    outputs = score(GroupLength(is_right), group_of([(10, 1.0), (20, 1.0), (30, 1.0), (10, 0.0), (30, 0.0)]))
    assert [output.reward for output in outputs] == pytest.approx([0.5, 0.0, -0.5, 0.0, -0.5])


def test_a_group_of_equal_lengths_earns_nothing_and_unscored_answers_stay_out():
    assert [o.reward for o in score(GroupLength(is_right), group_of([(5, 1.0), (5, 0.0)]))] == [0.0, 0.0]
    outputs = score(GroupLength(is_right), group_of([(10, 1.0), (20, 1.0), (900, None)]))
    assert [output.reward for output in outputs] == [0.5, -0.5, None]


def test_reasoning_earns_and_made_up_content_costs_the_documented_amounts():
    reasoned = Trajectory(
        prompt="p",
        response="First, we add 2 and 3 to get 5. Then we double 5, which gives 10. Therefore the answer is 10.",
    )
    assert value(ReasoningBonus(), reasoned) == 0.1
    assert value(ReasoningBonus(), words(3)) == 0.0
    assert value(HallucinationPenalty(), reasoned) == 0.0


def episode(*states):
    steps = [Step(observation=state, response="go") for state in states]
    return Trajectory(prompt="start", response="go", steps=steps)


def progress(transcript):
    return {"A": 1.0, "B": 3.0}.get(transcript.split()[-1], 0.0)


def test_potential_shaping_telescopes_to_minus_the_first_potential():
    [output] = score(PotentialShaping(progress), [episode("A", "B", "A", "B")])
    assert output.reward == pytest.approx(0.0)
    assert sum(output.metadata["step_rewards"]) == pytest.approx(output.reward)
    assert len(output.metadata["step_rewards"]) == 4


@given(st.lists(st.sampled_from("AB"), min_size=1, max_size=6), st.floats(0.1, 1.0))
def test_walking_in_circles_never_earns(states, gamma):
    """Once round a closed loop of states and back, at non-negative potential, earns at most nothing."""
    shaping = PotentialShaping(progress, gamma=gamma)
    [output] = score(shaping, [episode("x", *states, "x", "x")])
    round_trip = output.metadata["step_rewards"][: len(states) + 1]
    assert sum(round_trip) <= 1e-9 + progress("x")


def test_without_steps_the_episode_is_one_step():
    [output] = score(PotentialShaping(lambda text: float(len(text))), [Trajectory(prompt="four", response="r")])
    assert output.reward == -4.0


@pytest.mark.parametrize(
    "build",
    [
        lambda: LengthPenalty(amount=-1),
        lambda: SoftOverlong(limit=10, buffer=20),
        lambda: CosineLength(limit=0),
        lambda: CosineLength(limit=5, low=1, high=0),
        lambda: PotentialShaping(progress, gamma=1.5),
    ],
)
def test_shaping_terms_built_wrongly_say_what_they_need(build):
    with pytest.raises(InvalidSettings, match="need"):
        build()
