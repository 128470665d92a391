"""What is wrong with the input is said in one line that names file, line and remedy; never a traceback."""

import json

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
    "duplicate ids": (row(id="a") + row(id="b") + row(id="a"), 2, "data.jsonl:3: the id 'a' stands on line 1 already"),
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
    assert ran.code == 1
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
    "missing argument": (["score", "length"], "Missing argument 'ROLLOUTS'"),
    "unknown option": (["score", "length", "data.jsonl", "--jsn"], "--json"),
    "unknown reward": (["score", "lenght", "data.jsonl"], "no reward named 'lenght'; did you mean 'length'?"),
    "unknown file": (["score", "length", "dat.jsonl"], "did you mean 'data.jsonl'"),
    "a folder": (["score", "length", "."], "folder"),
    "unknown suffix": (["score", "length", "data.txt"], ".jsonl"),
    "columns without equals": (["score", "length", "data.jsonl", "-c", "response"], "FIELD=COLUMN"),
    "unknown field": (["score", "length", "data.jsonl", "-c", "respnse=text"], "did you mean 'response'"),
    "wrong argument": (["score", "length(taget=3)", "data.jsonl"], "did you mean 'target'"),
    "missing reward file": (["score", "no.py:f", "data.jsonl"], "no file"),
    "reward file that raises": (["score", "broken.py", "data.jsonl"], "ZeroDivisionError"),
    "reward file that does not parse": (["score", "syntax.py", "data.jsonl"], "SyntaxError"),
    "missing case table": (["test", "length", "no.yaml"], "no.yaml"),
    "show an unknown reward": (["rewards", "show", "lenght"], "did you mean 'length'?"),
    "no such sample": (["explain", "length", "data.jsonl", "--sample", "nobody"], "no such sample"),
    "output folder does not exist": (["score", "length", "data.jsonl", "-o", "no/out.jsonl"], "no folder"),
}


@pytest.mark.parametrize(("arguments", "message"), COMMANDS.values(), ids=COMMANDS)
def test_a_command_that_cannot_be_run_says_why(plaudit, tmp_path, arguments, message):
    (tmp_path / "data.jsonl").write_bytes(row())
    (tmp_path / "data.txt").write_bytes(row())
    (tmp_path / "broken.py").write_text("1 / 0\n")
    (tmp_path / "syntax.py").write_text("def f(:\n")
    ran = plaudit(*arguments)
    assert ran.code == 2
    assert message in ran.err
    assert "Traceback" not in ran.err


def test_debug_shows_where_an_error_came_from(tmp_path, monkeypatch):
    from plaudit.cli import main
    from plaudit.errors import RewardNotLoaded

    monkeypatch.chdir(tmp_path)
    (tmp_path / "data.jsonl").write_bytes(row())
    with pytest.raises(RewardNotLoaded):
        main(["score", "lenght", "data.jsonl", "--debug"])
