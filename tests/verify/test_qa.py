"""Short answers: normal form, modes, values, lists."""

import pytest

from plaudit.errors import InvalidSettings
from plaudit.verify import Qa
from plaudit.verify.answers.final_answer import find_date, normal_words, squad_words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("The U.S. paid $-1,000.50!", ["us", "paid", "-1000.50"]),
        ("1.41", ["1.41"]),
        ("twenty-one", ["twentyone"]),
        ("1939-1945", ["1939-1945"]),
        ("the", ["the"]),
        ("!!!", ["!!!"]),
        ("", []),
    ],
)
def test_the_normal_form_keeps_the_signs_of_numbers(text, words):
    assert normal_words(text) == words


def test_the_published_form_drops_every_mark():
    assert squad_words("The U.S. paid $-1,000.50!") == ["us", "paid", "100050"]


@pytest.mark.parametrize("text", ["12 May 1999", "May 12, 1999", "1999-05-12", "12th of May 1999", "on May 12th 1999."])
def test_dates_are_read_with_the_name_of_the_month_or_by_year(text):
    assert find_date(text).isoformat() == "1999-05-12"


@pytest.mark.parametrize("text", ["1999", "31 February 1999", "12/5/1999", "May", "12 May 1999 and later"])
def test_other_texts_are_no_dates(text):
    assert find_date(text) is None


def test_the_modes_are_components_of_every_verdict():
    row = {"question": "Who?", "answer": "William Shakespeare"}
    verdict = Qa(mode="f1").verify(row, "It was William Shakespeare himself")
    values = {name: part.score for name, part in verdict.components.items()}
    assert values == {"exact": 0.0, "contains": 1.0, "f1": pytest.approx(4 / 7)}
    assert verdict.score == values["f1"]


def test_zero_is_a_value():
    assert Qa(values=True).verify({"answer": "0"}, "zero").passed


def test_an_unknown_mode_is_refused():
    with pytest.raises(InvalidSettings, match="mode"):
        Qa(mode="fuzzy")


def test_answers_with_spellings_are_each_given_once():
    row = {"question": "Name both.", "answer": [["USA", "United States"], ["UK"]]}
    assert Qa(lists=True).verify(row, "UK and the United States").passed
    assert not Qa(lists=True).verify(row, "UK, USA, United States").passed
