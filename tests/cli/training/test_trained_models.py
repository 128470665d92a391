"""`plaudit eval`, `plaudit sample` and `plaudit merge`."""

import json

import pytest

from plaudit.training import train
from tests.training.runs import small


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("run") / "run"
    train(small(folder, "steps=1", "eval.every=0", "checkpoint.every=0"))
    return folder


def test_a_run_is_evaluated_on_its_own_held_out_prompts(plaudit, run, tmp_path):
    done = plaudit("eval", run, "--limit", 3, "-n", 2, "-k", 2, "-o", "kept.jsonl", "--json")
    assert done.code == 0, done.err
    [task] = done.json
    assert (task["task"], task["prompts"], task["samples"]) == ("sort_digits", 3, 6)
    assert {"score", "pass@2", "greedy", "reward"} == set(task["figures"])
    assert all(figure["low"] <= figure["value"] <= figure["high"] for figure in task["figures"].values())
    assert len((tmp_path / "kept.jsonl").read_text().splitlines()) == 3 * 3


def test_the_table_has_a_row_for_each_task(plaudit):
    done = plaudit("eval", "tiny", "--task", "addition", "--task", "sort_digits", "--limit", 2, "-n", 1)
    assert done.code == 0, done.err
    assert "addition" in done.out
    assert "sort_digits" in done.out
    assert "95 % interval" in done.out


def test_prompts_of_a_data_file_are_evaluated_with_the_named_reward(plaudit, tmp_path):
    rows = [{"question": f"{n}+1=", "ground_truth": str(n + 1)} for n in range(3)]
    (tmp_path / "data.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    done = plaudit("eval", "tiny", "--data", "data.jsonl", "--reward", "math", "-n", 1, "--json")
    assert done.code == 0, done.err
    assert done.json[0]["prompts"] == 3


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("tiny",), "name the prompts: --task NAME (sort_digits"),
        (("tiny", "--task", "adition"), "did you mean 'addition'"),
        (("tiny", "--task", "addition", "--data", "x.jsonl"), "not both"),
        (("tiny", "--data", "x.jsonl"), "add --reward REWARD"),
        (("tiny", "--data", "x.jsonl", "--reward", "math"), "no file x.jsonl"),
        (("tiny", "--task", "addition", "-n", "2", "-k", "3"), "pass@3 needs at least 3 samples"),
        (("nosuch", "--task", "addition"), "no model 'nosuch'"),
        (("http://127.0.0.1:9/v1", "--task", "addition"), "--model NAME"),
    ],
)
def test_a_wrong_eval_gives_a_remedy(plaudit, arguments, said):
    done = plaudit("eval", *arguments)
    assert done.code == 2
    assert said in done.err


def test_a_trained_model_answers_a_prompt(plaudit, run):
    one = plaudit("sample", run, "3142=")
    assert one.code == 0, one.err
    several = plaudit("sample", run, "3142=", "9871=", "-n", 2, "-t", 1, "--json")
    assert [(entry["prompt"], len(entry["responses"])) for entry in several.json] == [("3142=", 2), ("9871=", 2)]
    assert plaudit("sample", run, "3142=", "--json").json[0]["responses"] == [one.out.rstrip("\n")]


def test_the_same_likeliest_response_several_times_is_refused(plaudit, run):
    done = plaudit("sample", run, "3142=", "-n", 3)
    assert done.code == 2
    assert "add --temperature 1" in done.err


def test_merging_a_model_without_adapters_says_that_it_needs_none(plaudit, run):
    done = plaudit("merge", run, "-o", "whole")
    assert done.code == 2
    assert "no adapters to build in" in done.err
