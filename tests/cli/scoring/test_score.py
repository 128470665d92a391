import csv
import json
import signal
import subprocess
import sys
import textwrap
import time

import pytest

from tests.forked import ForkedCommand

COMPOSITE = "0.7 * check_answer + 0.3 * length(target=4)"


def lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_scoring_shows_a_table_with_components_statuses_and_a_histogram(plaudit, rollouts):
    ran = plaudit("score", COMPOSITE, rollouts)
    assert ran.code == 0
    for shown in ("reward", "MathReward", "LengthReward", "mean", "ok", "━"):
        assert shown in ran.out
    assert "0.7 * MathReward(partial=0.5) + 0.3 * LengthReward(target=4)" in ran.out


def test_scored_lines_keep_every_column_and_add_what_the_reward_said(plaudit, rollouts, tmp_path):
    out = tmp_path / "scored.jsonl"
    ran = plaudit("score", COMPOSITE, rollouts, "-o", out, "--quiet")
    assert (ran.code, ran.err) == (0, "")  # no notes; the result is printed
    assert "samples  4: 4 ok" in ran.out
    before, after = lines(rollouts), lines(out)
    assert [{key: row[key] for key in row if key != "reward_output"} for row in after] == before
    assert [row["reward_output"]["score"] for row in after] == [1.0, 0.0, 1.0, 0.0]
    assert after[0]["reward_output"]["components"]["MathReward"]["reward"] == 1.0


def test_the_summary_as_json_has_the_figures(plaudit, rollouts):
    ran = plaudit("score", "check_answer", rollouts, "--json", "--quiet")
    assert ran.json["reward"]["mean"] == 0.5
    assert ran.json["statuses"] == {"ok": 4}
    assert ran.json["groups"]["count"] == 2


def test_it_works_in_a_pipe(rollouts):
    done = subprocess.run(
        [sys.executable, "-m", "plaudit", "score", "check_answer", "-", "-o", "-", "-w", "1"],
        input=rollouts.read_bytes(),
        capture_output=True,
        check=True,
    )
    scored = [json.loads(line) for line in done.stdout.splitlines()]
    assert [row["reward_output"]["reward"] for row in scored] == [1.0, 0.0, 1.0, 0.0]
    assert b"mean" in done.stderr
    assert b"\x1b" not in done.stdout + done.stderr


def test_a_reader_that_leaves_early_is_no_error(rollouts):
    many = rollouts.read_bytes().replace(b'"id": "r', b'"key": "r') * 5000
    command = f"{sys.executable} -m plaudit score length - -o - -w 1 | head -n 1"
    done = subprocess.run(["bash", "-o", "pipefail", "-c", command], input=many, capture_output=True)
    assert done.returncode == 0
    assert b"Traceback" not in done.stderr
    assert b"rror" not in done.stderr


def test_colour_follows_the_terminal_and_no_color(rollouts):
    arguments = ["score", "check_answer", rollouts, "--backend", "inline"]
    coloured, plain = (ForkedCommand(arguments, {"FORCE_COLOR": "1", **no}) for no in ({}, {"NO_COLOR": "1"}))
    assert (coloured.wait(), plain.wait()) == (0, 0)
    assert "\x1b[32m" in coloured.out
    assert "mean" in plain.out
    assert "\x1b[3" not in plain.out


def test_samples_that_fail_are_counted_and_kept_with_their_reason(plaudit, rollouts, tmp_path):
    (tmp_path / "picky.py").write_text(
        "def picky(response):\n    if 'no idea' in response:\n"
        "        raise ValueError('cannot judge this')\n    return 1.0\n"
    )
    ran = plaudit("score", "picky.py:picky", rollouts, "-o", "out.jsonl")
    assert ran.code == 0
    assert "cannot judge this" in ran.out
    failed = lines(tmp_path / "out.jsonl")[3]["reward_output"]
    assert failed["status"] == "error"
    assert failed["reward"] is None
    assert failed["reason"].startswith("picky raised ValueError: cannot judge this (at picky.py:3)")


UNSURE = """
def unsure(response):
    assert '4' not in response, 'four'
    return None if '5' in response else 1.0
"""


@pytest.mark.parametrize(("options", "code"), [((), 3), (("--max-unscored", "0.8"), 0), (("--fail-under", "2"), 3)])
def test_the_exit_code_is_three_if_too_many_samples_were_not_scored(options, code, plaudit, tmp_path):
    (tmp_path / "unsure.py").write_text(UNSURE)
    rows = [{"prompt": "p", "response": text} for text in ("4", "44", "5", "6")]
    (tmp_path / "rows.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    ran = plaudit("score", "unsure.py", "rows.jsonl", "-q", *options)
    assert ran.code == code
    if code == 3:
        first, second, third = ran.err.splitlines()[-3:]
        assert "3 of 4 samples were not scored, more than --max-unscored 0.5" in first
        assert "2 × error: unsure raised AssertionError: four" in second
        assert "(first: sample 0)" in second
        assert "1 × skipped" in third


def test_the_exit_code_of_a_folder_is_three_if_too_many_samples_were_not_scored(plaudit, rollouts, tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "a.jsonl").write_text(rollouts.read_text())
    (tmp_path / "bad.py").write_text("def bad(response):\n    return float('nan')\n")
    ran = plaudit("score", "bad.py", "folder", "-o", "scored")
    assert ran.code == 3
    assert "4 of 4 samples were not scored" in ran.err
    assert "4 × error" in ran.err


def test_the_exit_code_is_one_if_nothing_was_scored_and_that_is_allowed(plaudit, rollouts, tmp_path):
    (tmp_path / "bad.py").write_text("def bad(response):\n    return float('nan')\n")
    ran = plaudit("score", "bad.py", rollouts, "--max-unscored", "1")
    assert ran.code == 1
    assert "reward is nan" in ran.out


def test_an_existing_output_is_replaced_only_with_overwrite(plaudit, rollouts, tmp_path):
    out = tmp_path / "out.jsonl"
    out.write_text("precious\n")
    ran = plaudit("score", "length", rollouts, "-o", out)
    assert ran.code == 2
    assert "--overwrite" in ran.err
    assert out.read_text() == "precious\n"
    assert plaudit("score", "length", rollouts, "-o", out, "--overwrite").code == 0


def test_resuming_after_a_cut_line_gives_the_lines_of_an_uninterrupted_run(plaudit, rollouts, tmp_path):
    whole, cut = tmp_path / "whole.jsonl", tmp_path / "cut.jsonl"
    plaudit("score", COMPOSITE, rollouts, "-o", whole)
    first, second = whole.read_text().splitlines(keepends=True)[:2]
    cut.write_text(first + second[:40])
    ran = plaudit("score", COMPOSITE, rollouts, "-o", cut, "--resume", "--json", "--quiet")
    assert ran.code == 0
    assert ran.json["count"] == 4
    assert [without_time(row) for row in lines(cut)] == [without_time(row) for row in lines(whole)]


def without_time(row):
    output = row["reward_output"]
    output.pop("latency_s")
    for component in output.get("components", {}).values():
        component.pop("latency_s")
    return row


def test_a_killed_run_resumes_without_losing_or_repeating_a_line(tmp_path):
    """kill -9 in the middle; the reward is slow enough that the run cannot have ended."""
    reward = tmp_path / "slow.py"
    reward.write_text(
        textwrap.dedent("""
            import os
            import time

            def slow(response):
                time.sleep(float(os.environ["PAUSE_S"]))
                return float(response) / 1000
        """)
    )
    rollouts, out = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    count = 2000
    rollouts.write_text("".join(json.dumps({"prompt": "p", "response": str(n)}) + "\n" for n in range(count)))
    arguments = ["score", f"{reward}:slow", rollouts, "-o", out]
    process = ForkedCommand(arguments, {"PAUSE_S": "0.002"})
    deadline = time.monotonic() + 60
    while (not out.exists() or out.stat().st_size < 20_000) and time.monotonic() < deadline:
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    written = len(out.read_text().splitlines())
    assert 0 < written < count
    assert ForkedCommand([*arguments, "--resume"], {"PAUSE_S": "0"}).wait() == 0
    rows = lines(out)
    assert [row["response"] for row in rows] == [str(n) for n in range(count)]
    assert [row["reward_output"]["reward"] for row in rows] == [n / 1000 for n in range(count)]


FLAKY = """
import os

def flaky(response):
    if response == "no idea":
        return None
    if os.path.exists("down") and "6" in response:
        raise ConnectionError("no answer")
    return 1.0
"""


def test_failed_samples_are_scored_again_and_the_others_are_kept(plaudit, rollouts, tmp_path):
    (tmp_path / "flaky.py").write_text(FLAKY)
    (tmp_path / "down").touch()
    out = tmp_path / "out.jsonl"
    plaudit("score", "flaky.py", rollouts, "-o", out)
    before = lines(out)
    assert [row["reward_output"].get("status", "ok") for row in before] == ["ok", "ok", "error", "skipped"]
    (tmp_path / "down").unlink()
    out.write_text("".join(out.read_text().splitlines(keepends=True)[:3]) + '{"cut')
    ran = plaudit("score", "flaky.py", rollouts, "-o", out, "--resume", "--retry-failed")
    assert (ran.code, "retried 1 failed samples" in ran.err) == (0, True)
    after = lines(out)
    assert [row["reward_output"]["reward"] for row in after] == [1.0, 1.0, 1.0, None]
    assert after[:2] == before[:2]
    assert [path.name for path in tmp_path.glob("retry-*")] == []


def test_failed_samples_are_not_scored_again_alone_by_a_reward_of_groups(plaudit, rollouts, tmp_path):
    (tmp_path / "groups.py").write_text(
        "from plaudit import reward\n\n@reward(scope='group')\ndef size(responses):\n    raise ValueError('no')\n"
    )
    plaudit("score", "groups.py", rollouts, "-o", "out.jsonl")
    ran = plaudit("score", "groups.py", rollouts, "-o", "out.jsonl", "--resume", "--retry-failed")
    assert (ran.code, "compares the samples of a group" in ran.err) == (2, True)


def test_retrying_is_for_resumed_runs(plaudit, rollouts):
    ran = plaudit("score", "length", rollouts, "-o", "out.jsonl", "--retry-failed")
    assert (ran.code, "--retry-failed goes with --resume" in ran.err) == (2, True)


def test_group_rewards_resume_with_whole_groups(plaudit, rollouts, tmp_path):
    (tmp_path / "groups.py").write_text(
        "from plaudit import reward\n\n"
        "@reward(scope='group')\ndef size(responses):\n    return [float(len(responses))] * len(responses)\n"
    )
    out = tmp_path / "out.jsonl"
    plaudit("score", "groups.py", rollouts, "-o", out)
    out.write_text(out.read_text().splitlines(keepends=True)[0])
    assert plaudit("score", "groups.py", rollouts, "-o", out, "--resume").code == 0
    assert [row["reward_output"]["reward"] for row in lines(out)] == [2.0] * 4


def test_the_input_is_never_overwritten(plaudit, rollouts):
    before = rollouts.read_text()
    ran = plaudit("score", "length", rollouts, "-o", rollouts, "--overwrite")
    assert ran.code == 2
    assert "the input as well" in ran.err
    assert rollouts.read_text() == before


def test_resuming_with_other_data_is_refused(plaudit, rollouts, tmp_path):
    out = tmp_path / "out.jsonl"
    plaudit("score", "length", rollouts, "-o", out)
    other = tmp_path / "other.jsonl"
    other.write_text("".join(json.dumps({"prompt": "x", "response": f"y{n}"}) + "\n" for n in range(9)))
    ran = plaudit("score", "length", other, "-o", out, "--resume")
    assert ran.code == 2
    assert "made from other data" in ran.err
    assert plaudit("score", "length", rollouts, "--resume").code == 2


@pytest.mark.parametrize("suffix", [".jsonl.gz", ".parquet"])
def test_other_formats_are_read_and_written(plaudit, rollouts, tmp_path, suffix):
    packed, again = tmp_path / f"packed{suffix}", tmp_path / "again.jsonl"
    assert plaudit("score", "check_answer", rollouts, "-o", packed).code == 0
    assert plaudit("score", "check_answer", packed, "-o", again).code == 0
    kept = [{key: row[key] for key in row if key != "reward_output"} for row in lines(again)]
    assert kept == lines(rollouts)


def test_csv_goes_in_and_out(plaudit, tmp_path):
    (tmp_path / "in.csv").write_text('question,completion,answer,level\n"2+2, is?","The answer is 4.",4,1\n3?,,5,2\n')
    ran = plaudit("score", "check_answer", "in.csv", "-o", "out.csv", "--where", "level>=1")
    assert ran.code == 0, ran.err
    head, first, second = csv.reader((tmp_path / "out.csv").read_text().splitlines())
    rows = [dict(zip(head, row, strict=True)) for row in (first, second)]
    assert [row["reward_output.reward"] for row in rows] == ["1.0", "0.0"]
    assert (rows[0]["prompt"], rows[1]["response"]) == ("2+2, is?", "")
    again = plaudit("summary", "out.csv", "--by", "level", "--json")
    assert {level: one["reward"] for level, one in again.json["by"]["level"].items()} == {"1": 1.0, "2": 0.0}


def test_the_output_file_is_printed_at_the_end(plaudit, rollouts):
    assert "wrote 4 scored samples to out.jsonl" in plaudit("score", "length", rollouts, "-o", "out.jsonl").err


def test_resume_and_overwrite_exclude_each_other(plaudit, rollouts):
    ran = plaudit("score", "length", rollouts, "-o", "out.jsonl", "--resume", "--overwrite")
    assert ran.code == 2
    assert "give one of them" in ran.err


def test_ctrl_c_says_what_was_written_and_how_to_continue(tmp_path):
    (tmp_path / "slow.py").write_text("import time\n\ndef slow(response):\n    time.sleep(0.01)\n    return 1.0\n")
    rows = "".join(json.dumps({"prompt": "p", "response": str(n)}) + "\n" for n in range(3000))
    (tmp_path / "in.jsonl").write_text(rows)
    process = ForkedCommand(["score", "slow.py", "in.jsonl", "-o", "out.jsonl"], folder=tmp_path)
    out, deadline = tmp_path / "out.jsonl", time.monotonic() + 60
    while (not out.exists() or out.stat().st_size < 1_000) and time.monotonic() < deadline:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=60) == 130
    err = process.err
    written = len(out.read_text().splitlines())
    assert f"stopped after {written} scored samples; they are in out.jsonl" in err
    assert "--resume" in err
    assert "Traceback" not in err


def test_a_folder_is_scored_file_by_file_without_ray(plaudit, rollouts, tmp_path):
    folder = tmp_path / "folder"
    (folder / "inner").mkdir(parents=True)
    for name in ("a.jsonl", "inner/b.jsonl"):
        (folder / name).write_text(rollouts.read_text())
    (folder / "broken.jsonl").write_text("{broken\n")
    ran = plaudit("score", "check_answer", folder, "-o", "scored")
    assert ran.code == 1
    assert "2 files scored into scored, 8 samples: 8 ok" in ran.out
    assert "broken.jsonl:1: broken JSON" in ran.err
    assert [row["reward_output"]["reward"] for row in lines(tmp_path / "scored/inner/b.jsonl")] == [1.0, 0.0, 1.0, 0.0]
    (folder / "broken.jsonl").unlink()
    again = plaudit("score", "check_answer", folder, "-o", "scored")
    assert (again.code, "done before: 2 files" in again.out) == (0, True)


RESUMED_OTHERWISE = {
    "another reward": (("math",), ("length",), "was made with MathReward(), and this is"),
    "another parameter": (("length(target=3)",), ("length(target=4)",), "LengthReward(target=3), and this is"),
    "other columns": (
        ("length",),
        ("length", "-c", "metadata=nothing"),
        "was made with columns [], and this is columns ['metadata=nothing']",
    ),
    "another condition": (("length",), ("length", "--where", "id!=r0"), "and this is where ['id!=r0']"),
}


@pytest.mark.parametrize(("first", "then", "message"), RESUMED_OTHERWISE.values(), ids=RESUMED_OTHERWISE)
def test_a_run_is_not_resumed_with_something_else(plaudit, rollouts, tmp_path, first, then, message):
    out = tmp_path / "out.jsonl"
    plaudit("score", first[0], rollouts, "-o", out, *first[1:])
    kept = out.read_bytes().splitlines(keepends=True)[:2]
    out.write_bytes(b"".join(kept))
    ran = plaudit("score", then[0], rollouts, "-o", out, "--resume", *then[1:])
    assert ran.code == 2
    assert message in " ".join(ran.err.split())
    assert "out.jsonl.run.json" in ran.err.replace("\n", "")
    assert out.read_bytes() == b"".join(kept)


def test_a_reward_that_was_edited_meanwhile_is_not_resumed(plaudit, rollouts, tmp_path):
    (tmp_path / "own.py").write_text("def own(response):\n    return 1.0\n")
    plaudit("score", "own.py:own", rollouts, "-o", "out.jsonl")
    (tmp_path / "own.py").write_text("def own(response):\n    return 0.5\n")
    ran = plaudit("score", "own.py:own", rollouts, "-o", "out.jsonl", "--resume")
    assert ran.code == 2
    assert "its code, or what it uses, has changed since" in " ".join(ran.err.split())
    (tmp_path / "out.jsonl.run.json").unlink()
    assert plaudit("score", "own.py:own", rollouts, "-o", "out.jsonl", "--resume").code == 0
