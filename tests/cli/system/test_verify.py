import io
import sys

import pytest


def test_verify_shows_the_answer_how_it_is_read_and_how_it_was_decided(plaudit):
    ran = plaudit("verify", "0.5", r"So the answer is \boxed{\frac{1}{2}}.")
    assert ran.code == 0
    for shown in ("right", r"\frac{1}{2}", "boxed", "divide(1, 2)", "decided by"):
        assert shown in ran.out


def test_verify_exits_with_one_for_a_wrong_answer(plaudit):
    ran = plaudit("verify", "4", "The answer is 4 or 5.", "--json")
    assert ran.code == 1
    assert ran.json["correct"] is False
    assert ran.json["status"] == "ok"
    assert ran.json["ground_truth"] == "4"


def test_verify_says_when_there_is_no_answer(plaudit):
    ran = plaudit("verify", "4", "")
    assert ran.code == 1
    assert "no answer found" in ran.out


@pytest.mark.parametrize(
    ("switch", "truth", "response", "code"),
    [
        ("units=ignore", "5 cm", "5 meters", 0),
        ("unevaluated=no", "4", r"\boxed{2+2}", 1),
        ("read_think=yes", "4", "<think>The answer is 4</think>", 0),
        ("rounding=false, last_number=off", "4", "there are about 4 of them", 1),
    ],
)
def test_verify_takes_switches_of_the_policy(plaudit, switch, truth, response, code):
    assert plaudit("verify", truth, response, "--policy", switch).code == code


@pytest.mark.parametrize(
    ("switch", "message"),
    [
        ("unit=ignore", "no switch named 'unit'; did you mean 'units'?"),
        ("units=maybe", "units is one of compare, ignore, require"),
        ("rounding=maybe", "rounding is yes or no"),
        ("units", "a switch is NAME=VALUE"),
    ],
)
def test_verify_refuses_switches_that_are_none(plaudit, switch, message):
    ran = plaudit("verify", "4", "4", "--policy", switch)
    assert ran.code == 2
    assert message in ran.err


def test_verify_reads_the_response_from_standard_input(plaudit, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.StringIO("The answer is 4."))
    assert plaudit("verify", "4", "-").code == 0


def test_verify_takes_the_options_from_the_prompt(plaudit):
    assert plaudit("verify", "B", "13", "--prompt", "(A) 12 (B) 13").code == 0


def test_verify_judges_by_a_kind_with_columns_of_the_row(plaudit):
    passed = plaudit("verify", "contains", "It is Paris.", "contains=Paris")
    assert (passed.code, "passed" in passed.out, "'Paris' is there" in passed.out) == (0, True, True)
    failed = plaudit("verify", "contains(any_of=True)", "It is Rome.", 'contains=["Paris", "London"]', "--json")
    assert (failed.code, failed.json["score"]) == (1, 0.0)


def test_verify_exits_with_three_if_the_row_is_declined(plaudit):
    ran = plaudit("verify", "regex", "anything", "pattern=(")
    assert ran.code == 3
    assert "not scored" in ran.out
    assert "is not a regular expression" in ran.out


def test_verify_takes_row_and_response_from_files(plaudit, tmp_path):
    (tmp_path / "row.json").write_text('{"prompt": "?", "contains": "Paris"}')
    (tmp_path / "response.txt").write_text("It is Paris.")
    assert plaudit("verify", "contains", "--file", "response.txt", "--row", "@row.json").code == 0
    assert plaudit("verify", "contains", "--file", "response.txt", "contains=Rome").code == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("contians", "x", "contains=x"), "no verifier named 'contians'; did you mean 'contains'?"),
        (("sqll", "SELECT 1"), "no verifier named 'sqll'; did you mean 'sql'?"),
        (("mqc(several='any')", "B"), "did you mean 'mcq'?"),
        (("contains", "x", "contains"), "a column is COLUMN=VALUE"),
        (("contains",), "no response"),
        (("contains", "x", "--row", "["), "--row is not JSON"),
        (("contains", "x", "--row", "[]"), "--row is a JSON object"),
    ],
)
def test_verify_says_what_is_wrong_with_the_command(plaudit, arguments, message):
    ran = plaudit("verify", *arguments)
    assert ran.code == 2
    assert message in ran.err
