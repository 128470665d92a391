"""Wrong labels and misjudged responses are found from rollouts alone."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plaudit import RewardOutput, Trajectory
from plaudit.cli import main
from plaudit.errors import InvalidTrajectory
from plaudit.labels import Decision, FindingKind, build_cases, build_patch, examine, group_answers, masked_rollouts
from plaudit.labels.model import LabelModel, Votes
from plaudit.rollouts import Rollout, RolloutsWriter, read_rollouts
from plaudit.testing import load_cases
from tests.labels.simulated_rollouts import Policy, simulate, simulate_policy

PLANTED = simulate(600, 16, 0.05, seed=4)


def rollouts(*responses, label="18", paid=(), group="g"):
    """Responses to one prompt; `paid` are the indexes of those that are paid."""
    return [
        Rollout(
            Trajectory(prompt=f"prompt of {group}", response=response, ground_truth=label, group=group),
            RewardOutput(float(index in paid)),
        )
        for index, response in enumerate(responses)
    ]


def kinds(report):
    return {finding.kind for finding in report.findings}


@pytest.fixture(scope="module")
def planted_report():
    return examine(PLANTED.rollouts)


def test_planted_wrong_labels_are_found_with_few_false_alarms(planted_report):
    reported = {each.group for each in planted_report.findings if each.kind is FindingKind.WRONG_LABEL}
    hits = len(reported & PLANTED.wrong)
    assert hits >= 0.6 * len(PLANTED.wrong)
    assert hits >= 0.8 * len(reported)


def test_the_interval_contains_the_planted_rate_and_zero_without_errors(planted_report):
    low, high = planted_report.interval
    assert low <= 0.05 <= high
    sound = examine(simulate(600, 16, 0.0, seed=5).rollouts)
    assert sound.interval[0] <= 0.005
    assert sum(each.kind is FindingKind.WRONG_LABEL for each in sound.findings) <= 3


def test_a_wrong_label_has_the_answer_that_responses_agree_on_as_suggestion(planted_report):
    [finding] = [each for each in planted_report.findings if each.kind is FindingKind.WRONG_LABEL][:1]
    cluster = [each.text for each in finding.answers]
    assert set(cluster) == {finding.suggestion}
    assert finding.suggestion != finding.label


def test_a_right_answer_that_is_not_paid_is_a_fault_of_the_reward_not_of_the_label():
    report = examine(rollouts("The answer is 1,800.", "The answer is 1800.", label="1800", paid={1}))
    [finding] = report.findings
    assert finding.kind is FindingKind.REJECTED
    assert [each.row for each in finding.answers] == [1]


def test_a_hedged_right_answer_may_be_unpaid():
    report = examine(rollouts("The answer is 18, or maybe 20.", "The answer is 18.", paid={1}))
    assert FindingKind.REJECTED not in kinds(report)


def test_a_paid_wrong_answer_and_unequal_rewards_are_reported():
    report = examine(rollouts("The answer is 7.", "So it is \\boxed{7}", paid={0}))
    assert kinds(report) == {FindingKind.PAID, FindingKind.UNEQUAL}


@pytest.mark.parametrize(("answer", "label"), [("3.14", "3.1416"), ("50", "0.5"), ("0.5", "50")])
def test_a_nearly_equal_answer_that_is_not_paid_is_reported(answer, label):
    report = examine(rollouts(f"The answer is {answer}.", "The answer is 9.", label=label))
    assert FindingKind.NEAR in kinds(report)


def test_a_form_that_is_never_paid_is_reported_although_its_answers_are_right():
    samples = [
        each for number in range(4) for each in rollouts("#### 18", "The answer is 18.", paid={1}, group=f"g{number}")
    ]
    [form] = [each for each in examine(samples).findings if each.kind is FindingKind.FORMAT]
    assert form.group == "hashes"


def test_responses_without_an_answer_are_counted_and_clustered_by_their_end():
    unread = "I would rather not say anything about this question at all, and " * 8 + "that is all."
    report = examine(rollouts(unread, unread, unread, "The answer is 18.", paid={3}))
    assert report.unread == 3
    assert FindingKind.UNREAD in kinds(report)


def test_unscored_rollouts_are_examined_for_labels_only():
    samples = [Rollout(each.trajectory) for each in PLANTED.rollouts]
    report = examine(samples)
    assert report.unscored == len(samples)
    assert kinds(report) == {FindingKind.WRONG_LABEL}


def test_samples_without_a_label_are_left_out_and_counted():
    labelled = rollouts("The answer is 18.", "The answer is 18.", paid={0, 1})
    unlabelled = [Rollout(Trajectory(prompt="p", response="4", ground_truth=truth)) for truth in (None, {"a": 1}, [])]
    report = examine([*unlabelled, *labelled])
    assert (report.unlabelled, report.responses) == (3, 2)
    with pytest.raises(InvalidTrajectory, match="no sample has a ground truth"):
        examine(unlabelled)


def test_every_accepted_answer_agrees_with_a_label_that_is_a_list():
    responses = ["The answer is Paris.", "The answer is City of Light.", "The answer is Rome."]
    samples = [Rollout(Trajectory("Capital?", each, ground_truth=["Paris", "City of Light"])) for each in responses]
    [group] = group_answers(samples)
    assert [each.text for each in group.agreeing.answers] == ["Paris", "City of Light"]
    assert group.label == "Paris or City of Light"


@given(st.lists(st.tuples(st.integers(0, 16), st.lists(st.integers(1, 16), max_size=6)), max_size=20))
def test_the_model_gives_probabilities_for_any_votes(votes):
    listed = [Votes(agree, tuple(others)) for agree, others in votes]
    model = LabelModel(listed)
    low, high = model.interval
    assert 0 <= low <= model.error_rate <= high <= 1
    for each in listed:
        suspicion = model.suspect(each)
        assert 0 <= suspicion.wrong <= 1
        assert sum(suspicion.truths) <= suspicion.wrong + 1e-9


def test_a_label_that_half_of_the_responses_give_is_less_suspect_than_one_that_nobody_gives():
    model = LabelModel([Votes(12, (1, 1, 1, 1)), Votes(4, (2, *[1] * 10)), Votes(0, (15, 1))] * 20)
    nobody, half, most = (model.suspect(Votes(count, (16 - count,))).wrong for count in (0, 8, 14))
    assert nobody > 0.9 > 0.1 > half > most


def test_popular_mistakes_of_a_weak_policy_are_not_called_wrong_labels():
    report = examine(simulate_policy(Policy("weak", "frequent"), 150, 8, 0.05, seed=1).rollouts)
    assert FindingKind.WRONG_LABEL not in kinds(report)
    assert report.error_rate < 0.2
    assert "are not named cannot be told from mistakes" in report.label_errors


def test_wrong_labels_are_named_in_any_notation_beside_missing_labels_and_a_popular_mistake():
    planted = simulate_policy(Policy("strong", "some"), 150, 8, 0.1, seed=1)
    report = examine(planted.rollouts)
    named = {each.group for each in report.findings if each.kind is FindingKind.WRONG_LABEL}
    assert len(named & planted.wrong) >= 0.8 * len(named)
    assert len(named & planted.wrong) >= 0.6 * len(planted.wrong)
    assert report.unlabelled > 0


def test_patch_and_mask_follow_decisions(planted_report):
    suspected = list(build_patch(planted_report))
    [first, second] = [each for each in planted_report.findings if each.kind is FindingKind.WRONG_LABEL][:2]
    decisions = {first.key: (Decision.LABEL_WRONG, "42"), second.key: (Decision.LABEL_RIGHT, "")}
    [line] = build_patch(planted_report, decisions)
    assert (line["group"], line["corrected"], line["decided"]) == (first.group, "42", True)
    assert len(suspected) > 2
    columns = {
        each.trajectory.group: each.trajectory.columns["label_suspect"]
        for each in masked_rollouts(PLANTED.rollouts, planted_report, decisions)
    }
    assert (columns[first.group], columns[second.group]) == (1.0, 0.0)


def test_cases_are_a_table_that_loads(tmp_path):
    report = examine(rollouts("The answer is 1,800.", "The answer is 1800.", label="1800", paid={1}))
    (tmp_path / "misses.cases.yaml").write_text(build_cases(report, "math"))
    [case] = load_cases(tmp_path / "misses.cases.yaml").cases
    assert case.trajectory.ground_truth == "1800"


def test_the_command_writes_everything_and_says_what_it_found(tmp_path, capsys):
    path = tmp_path / "rollouts.jsonl"
    with RolloutsWriter(path) as writer:
        for each in PLANTED.rollouts[:1600]:
            writer.write(each)
    outputs = {name: tmp_path / name for name in ("page.html", "patch.jsonl", "masked.jsonl", "new.cases.yaml")}
    options = zip(("-o", "--patch", "--mask", "--cases"), map(str, outputs.values()), strict=True)
    command = ["labels", str(path), *(word for option in options for word in option)]
    with pytest.raises(SystemExit) as exit_code:
        main(command)
    assert exit_code.value.code == 1
    assert "wrong labels: about" in capsys.readouterr().out
    assert "<script>" in outputs["page.html"].read_text()
    assert json.loads(outputs["patch.jsonl"].read_text().splitlines()[0])["decided"] is False
    assert "label_suspect" in next(iter(read_rollouts(outputs["masked.jsonl"]))).trajectory.columns
    with pytest.raises(SystemExit) as exit_code:
        main(command)
    assert exit_code.value.code == 2
    assert "--overwrite replaces it" in capsys.readouterr().err
