import pytest

from plaudit import RewardOutput, Status, Trajectory
from plaudit.errors import RolloutsError
from plaudit.report import AgreementBuilder, BreakdownBuilder


def compare(pairs):
    builder = AgreementBuilder("label")
    for value, label in pairs:
        output = RewardOutput.unscored(Status.ERROR, "no") if value is None else RewardOutput(value)
        builder.add(Trajectory(prompt="p", response="r", columns={} if label is None else {"label": label}), output)
    return builder.agreement()


def test_agreement_counts_and_figures_are_those_of_the_textbook():
    pairs = [(1.0, True)] * 20 + [(1.0, False)] * 5 + [(0.0, True)] * 10 + [(0.0, False)] * 15
    agreement = compare(pairs)
    assert (agreement.precision, agreement.recall) == (pytest.approx(0.8), pytest.approx(2 / 3))
    assert agreement.accuracy == pytest.approx(0.7)
    assert agreement.kappa == pytest.approx(0.4)  # Cohen's own example of 50 samples


@pytest.mark.parametrize("labels", [(1, 0), ("yes", "no"), ("Correct", "incorrect"), (1.0, 0.0), ("true", "FALSE")])
def test_labels_are_read_as_people_write_them(labels):
    agreement = compare([(0.9, labels[0]), (0.2, labels[1])])
    assert (agreement.right_right, agreement.wrong_wrong) == (1, 1)


def test_samples_without_score_or_label_are_left_out_and_counted():
    agreement = compare([(None, True), (1.0, None), (1.0, True)])
    assert (agreement.count, agreement.unscored, agreement.unlabelled) == (1, 1, 1)
    assert agreement.kappa is None  # one class only: chance explains everything


def test_a_score_goes_before_a_reward():
    builder = AgreementBuilder("label")
    builder.add(Trajectory(prompt="p", response="r", columns={"label": 1}), RewardOutput(0.1, score=1.0))
    assert builder.agreement().right_right == 1


def test_a_label_that_is_neither_right_nor_wrong_is_an_error():
    with pytest.raises(RolloutsError, match="must say right or wrong"):
        compare([(1.0, "maybe")])


def test_a_column_that_no_sample_has_is_an_error_with_a_suggestion():
    builder = AgreementBuilder("promt")
    builder.add(Trajectory(prompt="p", response="r", columns={"prompts": 1}), RewardOutput(1.0))
    with pytest.raises(RolloutsError, match="did you mean 'prompt"):
        builder.agreement()


def test_a_breakdown_has_means_by_value_and_counts_what_was_not_scored():
    builder = BreakdownBuilder("level")
    outputs = [RewardOutput(1.0, score=1.0), RewardOutput(0.0), RewardOutput.unscored(Status.ERROR, "no")]
    for level, output in zip((1, 1, 2), outputs, strict=True):
        builder.add(Trajectory(prompt="p", response="r", metadata={"level": level}), output)
    builder.add(Trajectory(prompt="p", response="r"), RewardOutput(0.25))
    assert builder.breakdown().to_dict() == {
        "1": {"count": 2, "scored": 2, "reward": 0.5, "reward_all": 0.5, "score": 1.0, "score_all": 1.0},
        "2": {"count": 1, "scored": 0, "reward": None, "reward_all": 0.0, "score": None, "score_all": None},
        "(none)": {"count": 1, "scored": 1, "reward": 0.25, "reward_all": 0.25, "score": None, "score_all": None},
    }
    builder = BreakdownBuilder("levl")
    builder.add(Trajectory(prompt="p", response="r", metadata={"level": 1}), RewardOutput(1.0))
    with pytest.raises(RolloutsError, match="no sample has the column 'levl'"):
        builder.breakdown()
