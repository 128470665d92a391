"""Multiple choice and labels: what the rows of data sets mean, what answers commit to, what abstention earns."""

import pytest

from plaudit.errors import InvalidSettings
from plaudit.rewards import ChoiceReward, McqReward
from plaudit.verify import Choice, Mcq
from plaudit.verify.verifier import sample_of

CITIES = {"question": "The capital of France?", "choices": ["London", "Paris", "Rome"], "answer": 1}


@pytest.mark.parametrize(
    "row",
    [
        CITIES,
        {**CITIES, "answer": "B"},
        {**CITIES, "answer": "(B)"},
        {**CITIES, "answer": "Paris"},
        {**CITIES, "choices": '["London", "Paris", "Rome"]'},
        {"question": "?", "choices": {"text": ["London", "Paris"], "label": ["A", "B"]}, "answerKey": "B"},
        {"question": "?", "options": {"A": "London", "B": "Paris"}, "answer": "B"},
        {"question": "?", "options": [{"A": "London"}, {"B": "Paris"}], "expected_answer": "B"},
        {"question": "?", "A": "London", "B": "Paris", "C": "Rome", "answer": "B"},
        {"question": "Which?\nA. London\nB. Paris", "answer": "B"},
        {"question": "?", "options": ["London", "Paris"], "answer": "B", "answer_index": 1},
        {"question": "?", "options": ["London", "Paris"], "extra_info": {"answer_index": 1}},
    ],
    ids=str,
)
def test_columns_of_data_sets_name_the_right_option(row):
    assert Mcq().verify(row, "The answer is B.").passed
    assert Mcq().verify(row, "Paris").passed
    assert Mcq().verify(row, "A").score == 0.0


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"answer": 3}, "none of the 3 options"),
        ({"answer": "D"}, "none of the 3 options"),
        ({"answer": True}, "none of the 3 options"),
        ({"answer": None}, "no ground truth"),
        ({"choices": ["Paris"]}, "2 to 26 options"),
        ({"choices": ["Paris"] * 3}, "two options are the same"),
        ({"choices": ["Paris", ""]}, "empty option"),
        ({"choices": "Paris"}, "list of texts"),
        ({"choices": [["Paris"], ["Rome"]]}, "list of texts"),
        ({"choices": {"text": ["x"], "label": ["A", "B"]}}, "as many labels as texts"),
        ({"answer_index": 0}, "different answers"),
    ],
    ids=str,
)
def test_rows_without_one_meaning_are_declined_with_the_reason(change, reason):
    verdict = Mcq().verify({**CITIES, **change}, "B")
    assert verdict.score is None
    assert reason in verdict.reason


@pytest.mark.parametrize("reward", [McqReward(abstention=0.25), ChoiceReward(abstention=0.25)])
def test_an_abstention_earns_its_own_value_and_no_score(reward):
    row = CITIES if isinstance(reward, McqReward) else {"question": "?", "answer": True}
    output = reward.compute_reward(sample_of(row, "I don't know."))
    assert (output.reward, output.score, output.metadata) == (0.25, 0.0, {"abstained": True})
    wrong = reward.compute_reward(sample_of(row, "The answer is wrong, I don't know"))
    assert wrong.score == 0.0


def test_an_answer_beside_an_abstention_is_an_answer():
    assert McqReward(abstention=0.25).compute_reward(sample_of(CITIES, "I'm not sure. The answer is A.")).reward == 0.0


@pytest.mark.parametrize("settings", [{"several": "some"}, {"abstention": 1.0}, {"abstention": "x"}])
def test_settings_out_of_range_are_refused(settings):
    with pytest.raises(InvalidSettings):
        Mcq(**settings)


def test_the_verdict_says_what_was_chosen_and_what_is_right():
    verdict = Mcq().verify(CITIES, "The answer is C.")
    assert verdict.reason == "commits to C; right is B"
    assert verdict.details == {"answer": "C"}


def test_a_label_inside_the_text_of_an_option_does_not_confuse():
    row = {"question": "?", "choices": ["vitamin A", "vitamin B", "vitamin C"], "answer": 2}
    assert Mcq().verify(row, "Vitamin C").passed
    assert Mcq().verify(row, "The answer is vitamin C.").passed
    assert not Mcq().verify(row, "Vitamin B").passed


def test_a_boolean_is_answered_by_yes_or_true():
    for answer in ("yes", "True"):
        assert Choice().verify({"question": "?", "answer": True}, answer).passed
        assert not Choice().verify({"question": "?", "answer": False}, answer).passed
