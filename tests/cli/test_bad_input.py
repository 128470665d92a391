"""Errors of input are one line that names file, line and remedy; never a traceback."""

import io
import json
import os

import pytest

GOOD = {"prompt": "2+2?", "response": "4", "ground_truth": "4"}


def row(**changes) -> bytes:
    return json.dumps({**GOOD, **changes}).encode() + b"\n"


FILES = {
    "empty file": (b"", 2, "holds no rollouts"),
    "only blank lines": (b"\n\n", 2, "holds no rollouts"),
    "broken JSON": (row() + b"{broken\n" + row(), 2, "data.jsonl:2: broken JSON"),
    "half a line in the middle": (row() + b'{"prompt": "p", \n' + row(), 2, "data.jsonl:2: broken JSON"),
    "not an object": (row() + b"[1, 2]\n", 2, "data.jsonl:2: expected a JSON object"),
    "missing column": (b'{"prompt": "p", "text": "t"}\n', 2, "--columns response=text"),
    "wrong type": (row() + row(response=5), 2, "data.jsonl:2: response must be text, got int 5"),
    "null response": (row(response=None), 2, "data.jsonl:1: response must be text, got NoneType"),
    "metadata that is no object": (row(metadata=[1]), 2, "data.jsonl:1: metadata must be a dict"),
    "duplicate ids": (row(id="a") + row(id="b") + row(id="a"), 2, "data.jsonl:3: the id 'a' occurs on line 1 already"),
    "not UTF-8": (row() + b'{"prompt": "p", "response": "\xff"}\n', 2, "data.jsonl:2: broken JSON: not UTF-8"),
    "UTF-16": (json.dumps(GOOD).encode("utf-16"), 2, "UTF-16"),
}


@pytest.mark.parametrize(("content", "code", "message"), FILES.values(), ids=FILES)
@pytest.mark.parametrize("command", ["score", "explain", "check"])
def test_a_file_that_cannot_be_read_is_named_with_its_line(plaudit, tmp_path, command, content, code, message):
    (tmp_path / "data.jsonl").write_bytes(content)
    ran = plaudit(command, "exact_match", "data.jsonl")
    assert ran.code == code
    assert message in ran.err
    assert ran.err.count("\n") == 1
    assert "Traceback" not in ran.err


@pytest.mark.parametrize("name", [name for name, (content, *_) in FILES.items() if content.count(row())])
def test_bad_lines_can_be_left_out_and_are_counted(plaudit, tmp_path, name):
    (tmp_path / "data.jsonl").write_bytes(FILES[name][0])
    ran = plaudit("score", "exact_match", "data.jsonl", "--skip-bad", "-o", "out.jsonl")
    assert ran.code == 0
    assert "left out 1 line" in ran.err
    assert len((tmp_path / "out.jsonl").read_text().splitlines()) == FILES[name][0].count(row())


def test_the_half_line_of_an_interrupted_write_is_left_out_and_reported(plaudit, tmp_path):
    (tmp_path / "data.jsonl").write_bytes(row() + row()[:20])
    ran = plaudit("score", "exact_match", "data.jsonl", "--json")
    assert ran.code == 0
    assert ran.json["count"] == 1
    assert "half a line" in ran.err


REWARDS = {
    "NaN": ("def r(response): return float('nan')", "reward is nan"),
    "infinity": ("def r(response): return float('inf')", "reward is inf"),
    "raises": ("def r(response): raise RuntimeError('boom')", "raised RuntimeError: boom"),
    "exits": ("def r(response): import sys; sys.exit(0)", "raised SystemExit"),
    "text": ("def r(response): return 'high'", "must be a number, got str 'high'"),
    "too few values": ("def r(responses): return [1.0]", "it returned 1 values for 2 samples"),
    "unknown column": ("def r(respnse): return 1.0", "did you mean 'response'"),
    "None": ("def r(response): pass", "the reward returned None"),
}


@pytest.mark.parametrize(("source", "message"), REWARDS.values(), ids=REWARDS)
def test_a_reward_that_misbehaves_is_a_status_with_a_reason(plaudit, tmp_path, source, message):
    (tmp_path / "data.jsonl").write_bytes(row() + row())
    (tmp_path / "r.py").write_text(source + "\n")
    ran = plaudit("score", "r.py:r", "data.jsonl", "-o", "out.jsonl")
    assert ran.code == 3
    assert "2 error" in ran.out or "2 skipped" in ran.out
    for line in (tmp_path / "out.jsonl").read_text().splitlines():
        output = json.loads(line)["reward_output"]
        assert output["reward"] is None
        assert output["status"] in ("error", "skipped")
        assert message in output["reason"]


def test_huge_and_strange_responses_are_scored_and_kept(plaudit, tmp_path):
    huge = "word " * 2_000_000
    strange = "\ud800 \x00 \u202e שלום \u200b"
    (tmp_path / "data.jsonl").write_bytes(row(response=huge) + row(response=strange))
    ran = plaudit("score", "length + format", "data.jsonl", "-o", "out.jsonl", "--json")
    assert ran.code == 0
    assert ran.json["statuses"] == {"ok": 2}
    kept = [json.loads(line)["response"] for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert kept == [huge, strange]
    assert plaudit("explain", "format", "data.jsonl").code == 0


COMMANDS = {
    "unknown command": (["scroe"], "No such command"),
    "unknown option of all commands": (["--verison"], "No such option"),
    "missing arguments": (["score"], "Missing argument"),
    "missing argument": (["score", "length"], "Missing argument 'ROLLOUTS'"),
    "one argument too many": (["score", "length", "data.jsonl", "more"], "unexpected extra argument"),
    "unknown option": (["score", "length", "data.jsonl", "--jsn"], "--json"),
    "option without its value": (["score", "length", "data.jsonl", "-o"], "requires an argument"),
    "unknown reward": (["score", "lenght", "data.jsonl"], "no reward named 'lenght'; did you mean 'length'?"),
    "empty reward": (["score", "", "data.jsonl"], "is empty"),
    "expression that does not parse": (["score", "0.5 * (length", "data.jsonl"], "0.5 * (length"),
    "expression with code": (["score", "__import__('os').system('x')", "data.jsonl"], "cannot stand"),
    "unknown file": (["score", "length", "dat.jsonl"], "did you mean 'data.jsonl'"),
    "a folder without OUT": (["score", "length", "."], "-o OUTFOLDER"),
    "a folder into a file": (["score", "length", ".", "-o", "data.txt"], "is a file"),
    "a folder without rollouts": (["score", "length", "empty", "-o", "out"], "holds no rollouts files"),
    "a folder with a limit": (["score", "length", ".", "-o", "out", "--limit", "3"], "for single files"),
    "unknown suffix": (["score", "length", "data.txt"], ".jsonl"),
    "columns without equals": (["score", "length", "data.jsonl", "-c", "response"], "FIELD=COLUMN"),
    "unknown field": (["score", "length", "data.jsonl", "-c", "respnse=text"], "did you mean 'response'"),
    "wrong argument": (["score", "length(taget=3)", "data.jsonl"], "did you mean 'target'"),
    "argument of the wrong type": (["score", "length(target='x')", "data.jsonl"], "target"),
    "missing reward file": (["score", "no.py:f", "data.jsonl"], "no file"),
    "missing name in a file": (["score", "good.py:quality", "data.jsonl"], "qualty"),
    "missing module": (["score", "no_such.module:f", "data.jsonl"], "no module"),
    "missing YAML file": (["score", "no.yaml", "data.jsonl"], "no.yaml"),
    "YAML that does not parse": (["score", "broken.yaml", "data.jsonl"], "broken.yaml"),
    "YAML with an unknown key": (["score", "unknown.yaml", "data.jsonl"], "did you mean 'sum'"),
    "reward file that raises": (["score", "broken.py", "data.jsonl"], "ZeroDivisionError"),
    "reward file that exits": (["score", "exits.py", "data.jsonl"], "exits.py"),
    "reward file that does not parse": (["score", "syntax.py", "data.jsonl"], "SyntaxError"),
    "reward file without a reward": (["score", "nothing.py", "data.jsonl"], "nothing.py"),
    "unknown backend": (["score", "length", "data.jsonl", "--backend", "proceses"], "'processes', 'inline', 'ray'"),
    "no workers": (["score", "length", "data.jsonl", "--workers", "0"], "--workers"),
    "workers that are not a number": (["score", "length", "data.jsonl", "--workers", "two"], "--workers"),
    "deadline below zero": (["score", "length", "data.jsonl", "--deadline", "-1"], "deadline"),
    "address without Ray": (["score", "length", "data.jsonl", "--address", "auto"], "ray"),
    "no limit": (["score", "length", "data.jsonl", "--limit", "0"], "--limit"),
    "condition without a comparison": (["score", "length", "data.jsonl", "--where", "level"], "level>=3"),
    "condition on no column": (["score", "length", "data.jsonl", "--where", "levle=3"], "no sample has the column"),
    "condition that none meets": (["score", "length", "data.jsonl", "--where", "response=nope"], "no sample meets"),
    "breakdown by no column": (["score", "length", "data.jsonl", "--by", "respons"], "did you mean 'response'"),
    "labels that are no labels": (["score", "length", "data.jsonl", "--against", "prompt"], "right or wrong"),
    "labels nowhere": (["score", "length", "data.jsonl", "--against", "label"], "no sample has the column 'label'"),
    "a bound that is not a number": (["score", "length", "data.jsonl", "--fail-under", "high"], "--fail-under"),
    "output folder does not exist": (["score", "length", "data.jsonl", "-o", "no/out.jsonl"], "no folder"),
    "output of unknown suffix": (["score", "length", "data.jsonl", "-o", "out.xls"], ".csv"),
    "output exists": (["score", "length", "data.jsonl", "-o", "scored.jsonl"], "--overwrite"),
    "resume without a file": (["score", "length", "data.jsonl", "--resume"], "-o OUT"),
    "resume and overwrite": (["score", "length", "data.jsonl", "-o", "o.jsonl", "--resume", "--overwrite"], "one of"),
    "resume what is no scored file": (["score", "length", "data.jsonl", "-o", "other.jsonl", "--resume"], "other"),
    "no such sample": (["explain", "length", "data.jsonl", "--sample", "nobody"], "no such sample"),
    "unknown pick": (["explain", "length", "data.jsonl", "--pick", "best"], "'failed', 'lowest', 'highest', 'first'"),
    "too many arguments to explain": (["explain", "length", "a.jsonl", "b.jsonl"], "got 3 arguments"),
    "explain what is not scored": (["explain", "data.jsonl"], "is not scored"),
    "summary of what is not scored": (["summary", "data.jsonl"], "is not scored"),
    "summary of nothing": (["summary", "no.jsonl"], "no.jsonl"),
    "missing case table": (["test", "length", "no.yaml"], "no.yaml"),
    "case table that names no reward": (["test", "cases.yaml"], "names no reward"),
    "case table of unknown suffix": (["test", "length", "data.txt"], ".yaml"),
    "case that expects nothing": (["test", "length", "expects_nothing.yaml"], "expects nothing"),
    "too many arguments to test": (["test", "length", "a.yaml", "b.yaml"], "got 3 arguments"),
    "check an unknown reward": (["check", "lenght"], "did you mean 'length'?"),
    "check on no samples": (["check", "length", "no.jsonl"], "no.jsonl"),
    "show an unknown reward": (["rewards", "lenght"], "did you mean 'length'?"),
    "show a missing file": (["rewards", "no.py"], "no file"),
    "init into a file": (["init", "data.txt"], "is a file"),
    "init where files are": (["init", "."], "exist already"),
    "program that does not exist": (["run-code", "no.py", "--tests", "good.py"], "no.py"),
    "tests that do not exist": (["run-code", "good.py", "--tests", "no.py"], "no.py"),
    "unknown switch of math": (["verify", "1", "1", "--policy", "unit=ignore"], "did you mean 'units'"),
    "unknown tier": (["doctor", "--at-most", "everything"], "seccomp"),
    "train without a config file": (["train", "no.yaml"], "no config file"),
    "a key without a value": (["train", "steps"], "write steps=VALUE"),
    "watch a file that is not there": (["watch", "no.jsonl"], "no file no.jsonl"),
    "watch broken lines": (["watch", "garbage.jsonl"], "garbage.jsonl:1: broken JSON"),
    "view what is not scored": (["view", "data.jsonl"], "is not scored"),
    "view broken lines": (["view", "garbage.jsonl"], "garbage.jsonl:1: broken JSON"),
    "watch what is not scored": (["watch", "data.jsonl"], "is not scored"),
    "pairs into no folder": (["pairs", "scored.jsonl", "-o", "no/pairs.jsonl"], "there is no folder no"),
    "a report into a folder": (["report", "scored.jsonl", "-o", "."], "it is a folder"),
    "a page of differences into no folder": (["diff", "length", "math", "data.jsonl", "-o", "no/a.html"], "no folder"),
    "audit results into no folder": (
        ["audit", "length", "--accept", "--baseline", "no/a.json"],
        "there is no folder no",
    ),
    "audit with no baseline": (["audit", "length", "--baseline", "no.json"], "no baseline no.json"),
    "audit with no case table": (["audit", "length", "--cases", "no.yaml"], "no.yaml"),
    "export into no folder": (["export", "length", "trl", "--out", "no/a.py"], "there is no folder no"),
    "train with two config files": (["train", "train.yaml", "train.yaml"], "one config file"),
    "train config that does not parse": (["train", "broken.yaml"], "broken.yaml"),
    "train config that is a list": (["train", "list.yaml"], "list.yaml"),
    "unknown training key": (["train", "step=3"], "did you mean 'steps'"),
    "unknown section": (["train", "optimzer.lr=1"], "optimizer"),
    "training value of the wrong type": (["train", "steps=many"], "steps"),
    "training value out of range": (["train", "steps=-1"], "steps"),
    "unknown task": (["train", "task=sorting"], "sort_digits"),
    "unknown advantage": (["train", "advantage=grop"], "did you mean 'grpo'"),
    "unknown loss": (["train", "loss.name=dapoo"], "dapo"),
    "unknown training engine": (["train", "engine=verl"], "local"),
    "missing data": (["train", "data.path=no.jsonl"], "no.jsonl"),
    "missing model": (["train", "model.path=./no_model"], "no_model"),
    "unknown training reward": (["train", "training.reward_function=lenght"], "did you mean 'length'"),
    "a device that is not there": (["train", "model.device=cuda"], "cuda"),
    "resume of no run": (["train", "output_dir=nowhere", "--resume"], "no run in nowhere to resume"),
    "dialect nobody speaks": (["test", "good.py", "cases.yaml", "--dialect", "flx"], "did you mean 'flux'"),
    "sample of no run": (["sample", "no_run", "hello"], "no_run"),
    "merge of no run": (["merge", "no_run", "-o", "merged"], "no_run"),
    "merge of a folder without a model": (["merge", "empty", "-o", "merged"], "it has no config.json"),
}
WRITTEN = {
    "data.txt": row().decode(),
    "garbage.jsonl": "garbage\n",
    "scored.jsonl": row(reward_output={"reward": 1.0, "status": "ok"}).decode(),
    "other.jsonl": row(prompt="other").decode(),
    "good.py": "def qualty(response):\n    return 1.0\n",
    "broken.py": "1 / 0\n",
    "exits.py": "import sys\nsys.exit()\n",
    "syntax.py": "def f(:\n",
    "nothing.py": "x = 1\n",
    "broken.yaml": "a: [1\n",
    "list.yaml": "- 1\n",
    "unknown.yaml": "sums: [length]\n",
    "cases.yaml": "- {response: a, expected: 1}\n",
    "expects_nothing.yaml": "- {response: a}\n",
    "train.yaml": "steps: 1\n",
}


@pytest.mark.parametrize(("arguments", "message"), COMMANDS.values(), ids=COMMANDS)
def test_a_command_that_cannot_be_run_gives_the_reason(plaudit, tmp_path, arguments, message):
    (tmp_path / "data.jsonl").write_bytes(row())
    (tmp_path / "empty").mkdir()
    for name, text in WRITTEN.items():
        (tmp_path / name).write_text(text)
    ran = plaudit(*arguments)
    assert ran.code == 2, ran.err
    assert message in ran.err
    assert "Traceback" not in ran.err
    assert "bug in plaudit" not in ran.err


def test_there_are_more_than_sixty_wrong_command_lines():
    assert len({tuple(arguments) for arguments, _ in COMMANDS.values()}) > 60


def test_debug_shows_where_an_error_came_from(tmp_path, monkeypatch):
    from plaudit.cli import main
    from plaudit.errors import RewardNotLoaded

    monkeypatch.chdir(tmp_path)
    (tmp_path / "data.jsonl").write_bytes(row())
    with pytest.raises(RewardNotLoaded):
        main(["score", "lenght", "data.jsonl", "--debug"])


@pytest.mark.parametrize("option", ["--by", "--against"])
def test_a_column_that_is_not_there_is_an_error_before_anything_is_scored(plaudit, tmp_path, option):
    (tmp_path / "data.jsonl").write_bytes(row(label="right"))
    (tmp_path / "r.py").write_text("def r(response):\n    open('scored', 'w')\n    return 1.0\n")
    ran = plaudit("score", "r.py", "data.jsonl", option, "lable", "-o", "out.jsonl", "--backend", "inline")
    assert ran.code == 2
    assert "did you mean 'label'" in ran.err
    assert not (tmp_path / "scored").exists()
    assert not (tmp_path / "out.jsonl").exists()


def test_a_path_of_the_authors_machine_is_named_with_what_to_do(plaudit, tmp_path):
    (tmp_path / "data.jsonl").write_bytes(row())
    (tmp_path / "r.py").write_text(
        "def reward_func(queries, prompts, labels):\n"
        "    with open('/home/author/logs/rewards.jsonl', 'a') as log:\n"
        "        log.write(str(queries))\n"
        "    return [1.0] * len(queries)\n"
    )
    ran = plaudit("score", "r.py", "data.jsonl", "-o", "out.jsonl")
    assert ran.code == 3
    reason = json.loads((tmp_path / "out.jsonl").read_text())["reward_output"]["reason"]
    assert "there is no folder /home/author/logs on this machine" in reason


def test_an_empty_cell_of_a_mapped_response_is_an_empty_response(plaudit, tmp_path):
    (tmp_path / "data.csv").write_text("question,text,truth\n2+2?,4,4\n2+3?,,5\n")
    columns = ["-c", "prompt=question", "-c", "response=text", "-c", "ground_truth=truth"]
    ran = plaudit("score", "check_answer", "data.csv", *columns, "--json")
    assert ran.code == 0
    assert ran.json["count"] == 2
    assert ran.json["statuses"] == {"ok": 2}


@pytest.mark.parametrize("command", ["score", "check", "audit"])
def test_a_command_stops_before_scoring_where_the_ground_truth_is_not_found(plaudit, tmp_path, command):
    (tmp_path / "sql.py").write_text("def same(response, ground_truth):\n    return float(response == ground_truth)\n")
    (tmp_path / "rows.jsonl").write_text('{"question": "q", "output": "a", "gold_sql": "a"}\n')
    ran = plaudit(command, "sql.py:same", "rows.jsonl")
    assert ran.code == 2
    assert "same needs a ground truth" in ran.err
    assert "the other columns are: gold_sql; name the column that holds it: -c ground_truth=COLUMN" in ran.err


WITHOUT_TRUTH = '{"question": "q", "output": "a", "gold_sql": "a"}\n'
SAME = "def same(response, ground_truth):\n    return float(response == ground_truth)\n"
NO_TRUTH = "same needs a ground truth ('ground_truth'), and no sample has one; the other columns are: gold_sql"


def test_samples_from_standard_input_are_checked_for_a_ground_truth(plaudit, tmp_path, monkeypatch):
    (tmp_path / "sql.py").write_text(SAME)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(WITHOUT_TRUTH.encode())))
    ran = plaudit("score", "sql.py:same", "-", "-o", "out.jsonl")
    assert (ran.code, NO_TRUTH in ran.err) == (2, True)
    assert not (tmp_path / "out.jsonl").exists()


def test_the_samples_that_a_resumed_run_has_left_are_checked_for_a_ground_truth(plaudit, tmp_path):
    (tmp_path / "sql.py").write_text(SAME)
    (tmp_path / "rows.jsonl").write_text('{"question": "q", "output": "a", "answer": "a"}\n')
    assert plaudit("score", "sql.py:same", "rows.jsonl", "-o", "out.jsonl").code == 0
    (tmp_path / "rows.jsonl").write_text((tmp_path / "rows.jsonl").read_text() + WITHOUT_TRUTH)
    ran = plaudit("score", "sql.py:same", "rows.jsonl", "-o", "out.jsonl", "--resume")
    assert (ran.code, NO_TRUTH in ran.err) == (2, True)
    assert len((tmp_path / "out.jsonl").read_text().splitlines()) == 1


def test_the_files_of_a_folder_are_checked_for_a_ground_truth(plaudit, tmp_path):
    (tmp_path / "sql.py").write_text(SAME)
    (tmp_path / "rows").mkdir()
    (tmp_path / "rows" / "a.jsonl").write_text("not JSON\n")
    (tmp_path / "rows" / "b.jsonl").write_text(WITHOUT_TRUTH)
    ran = plaudit("score", "sql.py:same", "rows", "-o", "scored")
    assert (ran.code, NO_TRUTH in ran.err) == (2, True)
    assert not (tmp_path / "scored").exists()


def test_two_rewards_that_need_a_ground_truth_are_not_compared_without_one(plaudit, tmp_path):
    (tmp_path / "sql.py").write_text(SAME)
    (tmp_path / "rows.jsonl").write_text(WITHOUT_TRUTH)
    ran = plaudit("diff", "length", "sql.py:same", "rows.jsonl")
    assert (ran.code, NO_TRUTH in ran.err) == (2, True)


def test_the_label_column_of_openrlhf_is_found(plaudit, tmp_path):
    (tmp_path / "sql.py").write_text("def same(response, ground_truth):\n    return float(response == ground_truth)\n")
    (tmp_path / "rows.jsonl").write_text('{"question": "q", "output": "a", "answers": "a"}\n')
    assert plaudit("score", "sql.py:same", "rows.jsonl", "--json").json["reward"]["mean"] == 1.0


@pytest.mark.parametrize(
    "flags", [("data.path=rows.jsonl",), ("--prompt_data", "rows.jsonl", "--input_key", "question")]
)
def test_training_stops_before_the_model_is_loaded_where_the_ground_truth_is_not_found(plaudit, tmp_path, flags):
    (tmp_path / "file.py").write_text(
        "def reward_func(queries, prompts, labels):\n    return [float(label) for label in labels]\n"
    )
    rows = "".join(f'{{"question": "q{number}", "gold_sql": "a"}}\n' for number in range(20))
    (tmp_path / "rows.jsonl").write_text(rows)
    reward = ("training.reward_function=file.py",) if len(flags) == 1 else ("--remote_rm_url", "./file.py")
    ran = plaudit("train", *flags, *reward)
    assert ran.code == 2
    assert "reward_func needs a ground truth ('labels'), and no sample has one" in ran.err
    assert "--label_key COLUMN" in ran.err


def test_a_file_that_may_not_be_written_is_refused_before_any_work(plaudit, tmp_path, monkeypatch):
    (tmp_path / "data.jsonl").write_bytes(row())
    monkeypatch.setattr(os, "access", lambda path, mode: False)  # tests run as root, who may write everything
    ran = plaudit("labels", "data.jsonl", "--patch", "patch.jsonl")
    assert ran.code == 2
    assert "cannot write patch.jsonl: no permission" in ran.err


def test_a_missing_file_is_not_compared_by_its_suffix(plaudit, tmp_path):
    (tmp_path / "wrong.jsonl").write_bytes(row())
    ran = plaudit("summary", "missing.jsonl")
    assert (ran.code, ran.err) == (2, "error: no file missing.jsonl\n")
