"""`plaudit pairs` as a user meets it."""

import json

import pytest


@pytest.fixture
def scored(plaudit, rollouts):
    assert plaudit("score", "check_answer", rollouts, "-o", "scored.jsonl", "--backend", "inline", "-q").code == 0
    return "scored.jsonl"


def read(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_pairs_of_a_scored_file_are_written_and_what_was_done_is_said(plaudit, scored, tmp_path):
    ran = plaudit("pairs", scored, "-o", "pairs.jsonl")
    assert ran.code == 0, ran.err
    assert ran.out.split("\n")[0].split() == ["4", "samples"]
    assert "2  pairs" in ran.out
    assert "0  not scored, in no pair" in ran.out
    assert [(row["chosen"], row["rejected"]) for row in read(tmp_path / "pairs.jsonl")] == [
        ("The answer is 4.", "The answer is 5."),
        ("The answer is 6.", "no idea"),
    ]


def test_a_file_is_not_replaced_by_default(plaudit, scored):
    assert plaudit("pairs", scored, "-o", "pairs.jsonl", "-q").code == 0
    ran = plaudit("pairs", scored, "-o", "pairs.jsonl")
    assert (ran.code, ran.err.strip()) == (2, "error: pairs.jsonl exists; --overwrite replaces it")
    assert plaudit("pairs", scored, "-o", "pairs.jsonl", "--overwrite", "-q").code == 0


def test_standard_output_gets_the_pairs_and_nothing_else(plaudit, scored):
    ran = plaudit("pairs", scored, "-o", "-")
    assert [json.loads(line)["chosen_reward"] for line in ran.out.splitlines()] == [1.0, 1.0]
    assert "pairs" in ran.err


def test_counts_are_there_for_programs(plaudit, scored):
    assert plaudit("pairs", scored, "-o", "pairs.jsonl", "--json").json["groups"] == 2


def test_without_pairs_the_error_suggests_a_margin_and_no_file_is_written(plaudit, scored, tmp_path):
    ran = plaudit("pairs", scored, "-o", "pairs.jsonl", "--margin", "2")
    assert ran.code == 1
    assert "no two responses of a group differ by 2; lower --margin" in ran.err
    assert not (tmp_path / "pairs.jsonl").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("rollouts.jsonl", "-o", "pairs.jsonl"), "is not scored; score the file first"),
        (("scored.jsonl", "-o", "pairs.csv"), "pairs are written as JSON lines"),
        (("scored.jsonl", "-o", "pairs.jsonl", "--margin", "-1"), "margin: expected float >= 0.0"),
        (("scored.jsonl", "-o", "-", "--json"), "both write to standard output"),
    ],
    ids=["not scored", "csv", "negative margin", "both to stdout"],
)
def test_impossible_options_are_refused_with_a_message(plaudit, scored, arguments, message):
    ran = plaudit("pairs", *arguments)
    assert ran.code == 2
    assert message in ran.err


def test_bad_pairs_are_named_by_their_row_before_anything_is_loaded(plaudit, tmp_path):
    (tmp_path / "bad.jsonl").write_text('{"prompt": "p", "chosen": "a", "rejected": "a"}\n')
    ran = plaudit("train-reward-model", "bad.jsonl", "-o", "rm")
    assert ran.code == 2
    assert ran.err.startswith("error: bad.jsonl:1: chosen and rejected are the same text: 'a'")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "no pairs: name a file with chosen and rejected responses"),
        (("a.jsonl", "b.jsonl"), "one file of pairs at most, got a.jsonl and b.jsonl"),
        (("a.jsonl", "training.step=3"), "no key 'training.step'; did you mean 'training.steps'?"),
        (("a.jsonl",), "no file a.jsonl"),
        (("a.jsonl", "no.yaml"), "no config file 'no.yaml'"),
    ],
    ids=["no pairs", "two files", "a wrong key", "no file", "no config"],
)
def test_a_wrong_command_line_is_an_error_with_a_message(plaudit, arguments, message):
    ran = plaudit("train-reward-model", *arguments)
    assert ran.code == 2
    assert message in ran.err


def test_the_config_is_printed_as_a_config_file(plaudit, tmp_path):
    printed = plaudit("train-reward-model", "--print-config", "training.steps=7", "-o", "elsewhere").out
    (tmp_path / "rm.yaml").write_text(printed)
    again = plaudit("train-reward-model", "rm.yaml", "--print-config").out
    assert printed == again
    assert "steps: 7" in printed
    assert "output_dir: elsewhere" in printed
