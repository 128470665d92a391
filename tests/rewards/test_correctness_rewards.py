import pytest

from plaudit import Status, Trajectory
from plaudit.errors import InvalidSettings
from plaudit.rewards import (
    BUILT_INS,
    CheckNumbersReward,
    ContinuousReward,
    GraduatedReward,
    MathReward,
    MultiAspectReward,
)
from plaudit.verify import MathPolicy
from tests.shared_data import gsm8k_rollouts

JUDGES = {
    "math": MathReward(),
    "partial": MathReward(partial=0.5),
    "close": MathReward(partial=1.0),
    "check_numbers": CheckNumbersReward(),
    "graduated": GraduatedReward(),
    "continuous": ContinuousReward(),
    "multi_aspect": MultiAspectReward(),
}
judges = pytest.mark.parametrize("reward", JUDGES.values(), ids=JUDGES)


def scored(reward, response, truth):
    return reward.compute_reward(Trajectory(prompt="How much?", response=response, ground_truth=truth))


def test_documented_math_reward_takes_trajectories_and_truths():
    generated = [Trajectory(prompt="2+2?", response=text) for text in ("The answer is 4.", "5")]
    truths = [Trajectory(prompt="2+2?", response="4")] * 2
    assert MathReward()(generated, truths) == [1.0, 0.0]
    assert MathReward()(generated, ["4", 4]) == [1.0, 0.0]


def test_documented_math_scale_penalises_a_missing_answer():
    reward = MathReward(no_answer=-0.5)
    answers = ["The answer is: 42", "so = 42", "#### 42", "41", "I do not know"]
    assert [scored(reward, answer, "42").reward for answer in answers] == [1.0, 1.0, 1.0, 0.0, -0.5]
    assert scored(reward, "I do not know", "42").score == 0.0
    assert reward.bounds == (-0.5, 1.0)


@judges
def test_right_beats_wrong_beats_nothing(reward):
    right, wrong, empty = (
        scored(reward, text, "400").reward for text in ("The answer is 400.", "The answer is 7.", "")
    )
    assert right > wrong >= empty


@judges
def test_right_has_score_one_and_wrong_has_score_zero(reward):
    assert scored(reward, "The answer is 400.", 400).score == 1.0
    assert scored(reward, "The answer is 7.", 400).score == 0.0


@judges
@pytest.mark.parametrize("truth", [None, "", "  ", float("nan")], ids=["none", "empty", "blank", "nan"])
def test_without_a_truth_nothing_is_scored(reward, truth):
    output = scored(reward, "4", truth)
    assert (output.status, output.reward) == (Status.SKIPPED, None)
    assert output.reason == "the sample has no ground truth (it has prompt)"


@judges
@pytest.mark.parametrize("truth", [{"a": 1}, {"x"}], ids=["dict", "set"])
def test_an_unusable_truth_is_never_the_models_fault(reward, truth):
    output = scored(reward, "4", truth)
    assert (output.status, output.reward) == (Status.UNPARSED, None)
    assert output.reason


@judges
def test_every_output_has_a_reason(reward):
    for response in ("The answer is 4.", "5", ""):
        assert scored(reward, response, "4").reason


def test_near_misses_earn_half_but_no_score():
    output = scored(MathReward(partial=0.5), "The answer is 105", "100")
    assert (output.reward, output.score) == (0.5, 0.0)
    output = scored(GraduatedReward(), "The answer is 105", "100")
    assert (output.reward, output.score) == (0.5, 0.0)


def test_the_tolerance_decides_what_is_close():
    assert scored(MathReward(partial=1.0, tolerance=0.01), "100.9", 100).reward == 1.0
    assert scored(MathReward(partial=1.0, tolerance=0.01), "101.1", 100).reward == 0.0


def test_an_answer_that_counts_in_full_is_scored_as_right():
    near = scored(MathReward(partial=1.0), "The answer is 105", "100")
    assert (near.reward, near.score) == (1.0, 1.0)
    assert "within 10 %" in near.reason


def test_spellings_are_the_rewards_they_stand_for():
    spellings = {name: BUILT_INS[name]() for name in ("check_answer", "exact_match", "binary", "close_match")}
    assert spellings == {
        "check_answer": MathReward(partial=0.5),
        "exact_match": MathReward(),
        "binary": MathReward(),
        "close_match": MathReward(partial=1.0),
    }
    assert BUILT_INS["close_match"](tolerance=0.01) == MathReward(partial=1.0, tolerance=0.01)


def test_continuous_reward_falls_with_the_error_as_documented():
    values = [scored(ContinuousReward(max_error=100), f"The answer is {n}", 50).reward for n in (50, 60, 100, 149, 500)]
    assert values == pytest.approx([1.0, 0.9, 0.5, 0.01, 0.0])


def test_continuous_reward_needs_numbers_on_both_sides():
    assert scored(ContinuousReward(), "no idea", 50).reward == 0.0
    assert scored(ContinuousReward(), "50", "fifty").status is Status.UNPARSED


def test_checks_of_ones_own_fit_the_patterns():
    def contains(response, truth):
        return set(truth) <= set(response.split())

    assert scored(GraduatedReward([(contains, 1.0)]), "a b c", ["a", "c"]).reward == 1.0
    levels = [(contains, 1.0), (lambda response, truth: "a" in response, 0.25)]
    assert [scored(GraduatedReward(levels), text, ["a", "c"]).reward for text in ("a c", "a", "b")] == [1.0, 0.25, 0.0]


def test_check_numbers_takes_a_list_of_truths():
    output = scored(CheckNumbersReward(), "x = 3 and y = 4", [3, 4])
    assert (output.reward, output.metadata) == (1.0, {"extracted": [3, 4], "matches": [True, True]})


def test_documented_aspects_are_weighted_and_kept_as_components():
    trajectory = Trajectory(
        prompt="How many clips did Natalia sell?", response="Natalia did sell 48 clips in all.", ground_truth="48"
    )
    output = MultiAspectReward().compute_reward(trajectory)
    parts = {name: part.reward for name, part in output.components.items()}
    assert parts == {"correctness": 1.0, "relevance": 1.0, "clarity": 1.0, "conciseness": 1.0}
    assert output.reward == pytest.approx(1.0)
    wrong = MultiAspectReward(correctness=1.0, relevance=0.0, clarity=0.0, conciseness=0.0)
    assert wrong.compute_reward(trajectory).reward == 1.0


@pytest.mark.parametrize(
    "build",
    [
        lambda: MathReward(no_answer=float("nan")),
        lambda: MathReward(tolerance=-0.1),
        lambda: ContinuousReward(max_error=0),
        lambda: GraduatedReward(levels=[(True, 1.0)]),
        lambda: GraduatedReward(levels=[]),
        lambda: MultiAspectReward(0, 0, 0, 0),
        lambda: MultiAspectReward(clarity=-1),
    ],
)
def test_settings_that_make_no_sense_are_refused_when_built(build):
    with pytest.raises(InvalidSettings):
        build()


def test_rewards_agree_with_the_labels_of_real_rollouts():
    labelled = gsm8k_rollouts()[:800]
    trajectories = [Trajectory.from_dict(row) for row in labelled]
    for reward in (MathReward(), MathReward(partial=0.5)):
        outputs = [reward.compute_reward(trajectory) for trajectory in trajectories]
        agreed = [
            (output.score == 1.0) == row["metadata"]["labelled_correct"]
            for output, row in zip(outputs, labelled, strict=True)
        ]
        assert sum(agreed) >= 0.995 * len(agreed)


def test_math_reward_pays_near_misses_only_with_partial():
    assert scored(MathReward(), "The answer is 105", "100").reward == 0.0
    near = scored(MathReward(partial=0.5), "The answer is 105", "100")
    assert (near.reward, near.score) == (0.5, 0.0)
    assert scored(MathReward(partial=0.5), "The answer is 111", "100").reward == 0.0


def test_math_reward_follows_its_policy():
    assert scored(MathReward(), r"\boxed{2+2}", "4").reward == 0.0
    assert scored(MathReward(policy={"unevaluated": True}), r"\boxed{2+2}", "4").reward == 1.0
    assert scored(MathReward(policy=MathPolicy()), r"\boxed{2+2}", "4").reward == 1.0
    with pytest.raises(InvalidSettings, match="no switch named 'unit'; did you mean 'units'"):
        MathReward(policy={"unit": "ignore"})


def test_math_reward_takes_options_from_the_prompt():
    trajectory = Trajectory(prompt="How many?\n(A) 12\n(B) 13", response="The answer is 13.", ground_truth="B")
    assert MathReward().compute_reward(trajectory).reward == 1.0


def test_a_truth_over_every_budget_is_not_scored():
    output = scored(MathReward(), "4", "9^" * 100_000 + "9")
    assert (output.status, output.reward) == (Status.UNPARSED, None)
    assert "ground truth" in output.reason
