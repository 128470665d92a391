import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plaudit.verify.text import bare_words, count_words, ngrams, normalize_text, sentences, words


@pytest.mark.parametrize(
    "padding", ["\u200b", "\u200d\u2060", "\u3164", "\u2800", " \t\n ", " - ", " ... ", "\ufeff", "\U000e0041"]
)
def test_padding_adds_no_word(padding):
    assert len(words(f"two{padding} words{padding}")) == 2


def test_text_without_spaces_counts_its_characters():
    assert words("答案是四") == ["答", "案", "是", "四"]


def test_words_are_compared_without_case_and_punctuation():
    assert bare_words("The END. the end!") == ["the", "end", "the", "end"]


def test_decimal_points_end_no_sentence():
    assert sentences("It is 3.5 m. Really?\n- yes") == ["It is 3.5 m.", "Really?", "- yes"]


def test_ngrams_of_too_short_a_list_are_none():
    assert ngrams(["a"], 2) == []


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Paris", " **paris**. "),
        ("(B)", "b"),
        ("ﬁne", "FINE"),
        ("$x+1$", "x+1"),
        ("“quoted”", "quoted"),
        ("a  b\nc", "A b c"),
        ("５", "5"),
    ],
)
def test_meaning_preserving_edits_do_not_change_normalised_text(one, other):
    assert normalize_text(one) == normalize_text(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [("-5", "5"), (".5", "5"), ("5!", "5"), ("50%", "50"), ("(1,2)", "[1,2]"), ("C#", "C"), ("a b", "ab")],
)
def test_signs_that_carry_meaning_survive_normalising(one, other):
    assert normalize_text(one) != normalize_text(other)


@given(st.text(st.characters(codec=None)))
def test_normalising_twice_changes_nothing_more(text):
    once = normalize_text(text)
    assert normalize_text(once) == once


def test_words_of_ascii_text_are_those_of_the_same_text_with_another_character():
    """ASCII text is cut in a faster way; the added word makes it take the general one."""
    chance = random.Random(1)
    for _ in range(20_000):
        text = "".join(chr(chance.randrange(128)) for _ in range(chance.randrange(12)))
        assert words(f"{text} é") == [*words(text), "é"], repr(text)
        assert count_words(text) == len(words(text)), repr(text)
