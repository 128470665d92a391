"""`plaudit episode`: episodes in the terminal."""

import io
import json

from plaudit import Trajectory


def test_a_person_plays_and_the_episodes_are_kept(plaudit, tmp_path, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO("= 41\nThe answer is 42\n"))
    (tmp_path / "sums.jsonl").write_text('{"prompt": "6 x 7? ", "answer": "42"}\n')
    done = plaudit("episode", "math_retries", "sums.jsonl", "-n", 1, "-o", "played.jsonl")
    assert done.code == 0, done.err
    assert "episode 1: reward 1, score 1" in done.out
    assert "[INCORRECT] Try again" in done.out
    assert "6 x 7? = 41" in done.err  # what the person is asked
    [line] = (tmp_path / "played.jsonl").read_text().splitlines()
    played = Trajectory.from_json(line)
    assert [step.response for step in played.steps] == ["= 41", "The answer is 42"]
    assert played.tokens is None
    assert json.loads(line)["reward_output"]["reward"] == 1.0


def test_a_model_plays_with_its_own_tokens(plaudit):
    done = plaudit("episode", "math_retries", "--actor", "tiny", "-n", 1, "--truth", 7, "--max-new-tokens", 2, "--json")
    assert done.code == 0, done.err
    assert sum(done.json["tokens"]["mask"]) <= 6
    assert len(done.json["steps"]) == 3


def test_a_failing_environment_is_reported_and_sets_the_exit_code(plaudit, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO("= 41\n"))
    done = plaudit("episode", "math_retries", "-n", 1, "--truth", "many")
    assert done.code == 1
    assert "could not convert string to float" in " ".join(done.out.split())


def test_the_end_of_the_input_stops_the_command(plaudit, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    assert plaudit("episode", "treasure_hunt").code == 130
