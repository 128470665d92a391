"""Breakdowns, labels and thresholds, while scoring and afterwards."""

import json
import os
import threading

import pytest


@pytest.fixture
def labelled(tmp_path):
    rows = [
        {"prompt": "p", "response": f"The answer is {answer}.", "ground_truth": "4", "level": level, "label": label}
        for answer, level, label in [(4, 1, True), (4, 1, False), (5, 2, False), (4, 2, True), (6, 2, True)]
    ]
    path = tmp_path / "labelled.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.fixture
def scored(plaudit, labelled, tmp_path):
    assert plaudit("score", "math", labelled, "-o", "scored.jsonl", "-q").code == 0
    return tmp_path / "scored.jsonl"


def test_a_breakdown_of_standard_input_reads_it_once(plaudit, rollouts, tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=lambda: pipe.write_bytes(rollouts.read_bytes()))
    writer.start()
    done = plaudit("score", "check_answer", pipe, "--by", "group", "--json")
    writer.join()
    assert done.json["count"] == 4


def test_rewards_are_broken_down_by_a_column(plaudit, labelled):
    ran = plaudit("score", "math", labelled, "--by", "level", "--json", "-q")
    by_level = ran.json["by"]["level"]
    assert {value: one["reward"] for value, one in by_level.items()} == {"2": pytest.approx(1 / 3), "1": 1.0}
    assert "by level" in plaudit("score", "math", labelled, "--by", "level").out


def test_agreement_with_labels_is_counted(plaudit, labelled):
    against = plaudit("score", "math", labelled, "--against", "label", "--json", "-q").json["against"]
    assert (against["precision"], against["recall"]) == (pytest.approx(2 / 3), pytest.approx(2 / 3))
    out = plaudit("score", "math", labelled, "--against", "label").out
    assert "precision 0.667, recall 0.667" in out
    assert "κ" in out


def test_samples_are_selected_by_conditions_and_a_limit(plaudit, labelled, tmp_path):
    ran = plaudit("score", "math", labelled, "--where", "level=2", "--limit", "2", "-o", "out.jsonl")
    assert ran.code == 0
    assert [json.loads(line)["level"] for line in (tmp_path / "out.jsonl").read_text().splitlines()] == [2, 2]
    resumed = plaudit("score", "math", labelled, "--where", "level=2", "-o", "out.jsonl", "--resume", "--json", "-q")
    assert resumed.json["count"] == 3


@pytest.mark.parametrize(("bound", "code"), [("0.5", 0), ("0.7", 1)])
@pytest.mark.parametrize("command", [["score", "math", "labelled.jsonl"], ["summary", "scored.jsonl"]])
def test_a_mean_below_the_bound_fails(plaudit, scored, command, bound, code):
    ran = plaudit(*command, "--fail-under", bound)
    assert ran.code == code
    assert ("below --fail-under" in ran.err) == bool(code)


def test_a_scored_file_is_summed_up_without_scoring(plaudit, labelled, scored):
    before = plaudit("score", "math", labelled, "--by", "level", "--against", "label", "--json", "-q").json
    after = plaudit("summary", scored, "--by", "level", "--against", "label", "--json").json
    for name in ("count", "statuses", "reward", "by", "against", "groups"):
        assert after[name] == before[name]
    assert "mean" in plaudit("summary", scored, "--where", "level=2").out


def test_a_scored_file_is_explained_without_scoring(plaudit, labelled, scored):
    ran = plaudit("explain", "scored.jsonl", "--sample", "2")
    assert (ran.code, "'5' is not '4'" in ran.out) == (0, True)


@pytest.mark.parametrize("command", ["summary", "explain"])
def test_a_file_that_is_not_scored_explains_how_to_score_it(plaudit, labelled, command):
    ran = plaudit(command, labelled)
    assert ran.code == 2
    assert "plaudit score REWARD" in ran.err


def test_failures_beyond_the_first_kinds_are_counted(plaudit, tmp_path):
    rows = [{"prompt": "p", "response": str(n)} for n in range(40)]
    (tmp_path / "data.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    kinds = "\n".join(f"    if n % 10 == {kind}: raise ValueError(n)" for kind in range(10))
    (tmp_path / "kinds.py").write_text(f"def kinds(response):\n    n = int(response)\n{kinds}\n    return 1.0\n")
    ran = plaudit("score", "kinds.py", "data.jsonl")
    assert "2 further kinds of failure, 8 samples, not shown" in ran.out
    assert ran.out.count("raised ValueError") == 8
