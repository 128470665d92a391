"""Languages, lengths, transcripts, tables, patterns: values and settings."""

import pytest

from plaudit import Status, Tokens, Trajectory
from plaudit.errors import InvalidSettings
from plaudit.rewards import LengthTargetReward
from plaudit.verify import Contains, Language, LengthTarget, Regex, TableF1, Wer
from plaudit.verify.tags import thoughts_of, without_thinking
from plaudit.verify.texts.language import find_language

WORDS = {"prompt": "?", "unit": "words", "relation": "at most", "target": 4}


@pytest.mark.parametrize(
    ("name", "code"),
    [("de", "de"), ("DE", "de"), ("pt-BR", "pt"), ("zh_Hans", "zh"), ("German", "de"), ("nb", "no"), ("Farsi", "fa")],
)
def test_languages_are_named_by_code_or_in_english(name, code):
    assert find_language(name) == code


def test_the_foreign_sentence_is_named():
    verdict = Language().verify({"language": "de"}, "Heute ist es sehr schön. The weather is nice today and tomorrow.")
    assert verdict.score == 0.0
    assert "is English" in verdict.reason


def test_a_short_foreign_remark_in_a_long_answer_is_no_failure():
    german = "Heute scheint die Sonne und es ist sehr warm in der ganzen Stadt. " * 10
    assert Language().verify({"language": "de"}, german + "That is how it is today.").passed


@pytest.mark.parametrize(
    ("text", "thoughts", "said"),
    [
        ("<think>a</think>b", "a", "b"),
        ("<think>a", "a", ""),
        ("a</think>b", "a", "b"),
        ("<think>a</think>b<think>c</think>d", "a\nc", "b d"),
        ("no tags", "", "no tags"),
    ],
)
def test_thoughts_are_what_is_left_out_of_the_answer(text, thoughts, said):
    assert thoughts_of(text) == thoughts
    assert without_thinking(text).split() == said.split()


def test_tokens_are_counted_where_the_sample_has_them():
    sample = Trajectory("?", "<think>a b</think>c", tokens=Tokens(ids=[1, 2, 3, 4, 5]), columns={"num_tokens": 5})
    assert LengthTargetReward().compute_reward(sample).reward == 1.0
    assert LengthTargetReward(mode="max", alpha=0.1).compute_reward(sample).reward == 0.5
    longer = Trajectory("?", "c", tokens=Tokens(ids=[1] * 8), columns={"num_tokens": 5})
    assert LengthTargetReward().compute_reward(longer).reward == 0.0
    assert LengthTargetReward(mode="exact", alpha=0.1).compute_reward(longer).reward == pytest.approx(0.7)
    assert (
        LengthTargetReward().compute_reward(Trajectory("?", "c", columns={"num_tokens": 5})).status is Status.UNPARSED
    )


def test_lcpo_is_kept_within_zero_and_one():
    assert LengthTarget(mode="exact", alpha=1.0).verify(WORDS, "one two").score == 0.0
    assert LengthTarget(mode="max", alpha=1.0).verify(WORDS, "one").score == 1.0
    assert LengthTarget(mode="max", alpha=0.1).verify(WORDS, "one two three four five").score == pytest.approx(0.4)


def test_word_errors_are_shared_by_the_words_of_the_reference():
    row = {"prompt": "?", "ground_truth": "one two three four"}
    assert Wer().verify(row, "one two three").score == 0.75
    assert Wer().verify(row, "one two three four five").score == 0.75
    assert Wer().verify(row, "five six seven eight nine").score == 0.0
    assert Wer(unit="character").verify({"ground_truth": "abcd"}, "abce").score == 0.75


def test_cells_of_rows_that_differ_are_shared_by_the_best_match():
    row = {"ground_truth": [{"a": 1, "b": 2}, {"a": 3, "b": 4}]}
    verdict = TableF1().verify(row, "a,b\n3,9\n1,2")
    assert verdict.score == 0.75
    assert verdict.details == {"precision": 0.75, "recall": 0.75}
    assert TableF1().verify(row, "a,b\n1,2\n3,4\n5,6").score == pytest.approx(0.8)


def test_components_of_contains_name_each_text():
    verdict = Contains().verify({"contains": ["cat", "dog"], "forbidden": "bird"}, "a dog")
    assert {name: part.score for name, part in verdict.components.items()} == {"cat": 0.0, "dog": 1.0, "bird": 1.0}


@pytest.mark.parametrize(
    "build",
    [
        lambda: Regex(pattern="("),
        lambda: Regex(anchor="middle"),
        lambda: Regex(time_limit_s=0),
        lambda: Contains(anchor="middle"),
        lambda: LengthTarget(mode="near"),
        lambda: LengthTarget(alpha=0),
        lambda: Wer(unit="phoneme"),
        lambda: Wer(threshold=0),
    ],
)
def test_settings_out_of_range_are_refused(build):
    with pytest.raises(InvalidSettings):
        build()
