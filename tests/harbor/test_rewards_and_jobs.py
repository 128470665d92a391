"""Rewards as tests of a task, and trials that Harbor recorded as rollouts."""

import json

import pytest

from plaudit.cli import main
from plaudit.contract.output import Status
from plaudit.errors import InvalidSettings, RewardNotLoaded, RolloutsError
from plaudit.harbor import Runtime, export_tests, read_task, read_trials, run_task
from plaudit.harbor.jobs import verify_job
from plaudit.rollouts import read_rollouts
from tests.harbor.task_folders import write_task

RUNTIME = Runtime(network="none")


def write_trial(folder, name="adding__a", *, files=None, **result):
    trial = folder / name
    (trial / "artifacts").mkdir(parents=True)
    plain = {"trial_name": name, "task_name": "adding", "agent_info": {"name": "oracle"}, **result}
    (trial / "result.json").write_text(json.dumps(plain))
    for path, text in (files or {}).items():
        (trial / path).parent.mkdir(parents=True, exist_ok=True)
        (trial / path).write_text(text)
    return trial


def test_an_exported_reward_scores_the_response_with_its_components(tmp_path):
    spec = "0.8 * exact_match + 0.2 * length(target=1)"
    task = write_task(tmp_path, files={"solution/solve.sh": "echo 4 > /app/response.txt"})
    export_tests(spec, task / "tests", prompt="2 + 2?", columns={"ground_truth": "4"}, bundles=True)
    trial = run_task(read_task(task), "oracle", RUNTIME)
    assert trial.reward == pytest.approx(1.0), trial
    assert len(trial.output.components) == 2
    assert run_task(read_task(task), "nop", RUNTIME).reward != 1.0


def test_a_reward_that_fails_leaves_no_reward(tmp_path):
    (tmp_path / "bad.py").write_text("def bad(response):\n    raise ValueError('no number here')\n")
    task = write_task(tmp_path)
    export_tests(f"{tmp_path}/bad.py:bad", task / "tests", bundles=True)
    assert (task / "tests" / "bad.py").is_file()
    trial = run_task(read_task(task), "nop", RUNTIME)
    assert trial.reward is None
    assert "no number here" in " ".join(trial.notes)


def test_an_export_needs_a_reward_and_does_not_overwrite(tmp_path):
    with pytest.raises((RewardNotLoaded, InvalidSettings)):
        export_tests("no_such_reward", tmp_path / "tests")
    arguments = ["harbor", "export", "length", "-o", str(tmp_path / "tests")]
    for code in (0, 2):
        with pytest.raises(SystemExit) as exited:
            main(arguments)
        assert exited.value.code == code


def test_recorded_trials_are_rollouts(tmp_path):
    write_trial(tmp_path, verifier_result={"rewards": {"reward": 0.5, "speed": 2.0}})
    failure = {"exception_type": "VerifierTimeoutError", "exception_message": "too slow"}
    write_trial(tmp_path, "adding__b", exception_info=failure)
    atif = {
        "steps": [
            {"source": "user", "message": "Add it."},
            {"source": "agent", "message": "I look.", "tool_calls": [{"function_name": "ls"}],
             "observation": {"results": [{"content": "a.py"}]}},
            {"source": "agent", "message": [{"type": "text", "text": "Done."}]},
        ]
    }  # fmt: skip
    files = {"agent/trajectory.json": json.dumps(atif)}
    write_trial(tmp_path, "adding__c", files=files, verifier_result={"rewards": {"reward": 1}})
    first, second, third = (each.rollout for each in read_trials(tmp_path))
    assert (first.output.reward, first.output.components["speed"].reward) == (0.5, 2.0)
    assert second.output.status is Status.TIMEOUT
    assert second.output.reward is None
    assert (third.trajectory.prompt, third.trajectory.response) == ("Add it.", "Done.")
    assert [step.observation for step in third.trajectory.steps] == ["", "a.py"]
    assert third.trajectory.group == "adding"


def test_the_command_writes_rollouts_that_other_commands_read(tmp_path, capfd):
    write_trial(tmp_path / "job", verifier_result={"rewards": {"reward": 1.0}})
    out = tmp_path / "trials.jsonl"
    with pytest.raises(SystemExit) as exited:
        main(["harbor", "rollouts", str(tmp_path / "job"), "-o", str(out)])
    assert exited.value.code == 0
    assert [each.output.reward for each in read_rollouts(out)] == [1.0]


def test_recorded_files_are_verified_again_without_the_agent(tmp_path):
    task = write_task(tmp_path / "tasks")
    manifest = json.dumps([{"source": "/app", "destination": "artifacts/app", "type": "directory", "status": "ok"}])
    good = {"artifacts/manifest.json": manifest, "artifacts/app/add.py": "def add(a, b): return a + b\n"}
    bad = {"artifacts/manifest.json": manifest, "artifacts/app/add.py": "def add(a, b): return 5\n"}
    write_trial(tmp_path / "job", "adding__a", files=good, verifier_result={"rewards": {"reward": 0.0}})
    write_trial(tmp_path / "job", "adding__b", files=bad, verifier_result={"rewards": {"reward": 0.0}})
    write_trial(tmp_path / "job", "adding__c", verifier_result={"rewards": {"reward": 0.0}})
    outputs = [each.output for each in verify_job(tmp_path / "job", [read_task(task)], RUNTIME)]
    assert [each.reward for each in outputs] == [1.0, 1.0, None]
    assert "declare artifacts" in outputs[2].reason
    other = tmp_path / "other"
    other.mkdir()
    check = "grep -q 'a + b' /app/add.py; echo $((1 - $?)) > /logs/verifier/reward.txt"
    (other / "test.sh").write_text(f"#!/bin/bash\n{check}\n")
    again = verify_job(tmp_path / "job", [read_task(task)], RUNTIME, other)
    assert [each.output.reward for each in again] == [1.0, 0.0, None]


def test_a_recorded_path_that_leaves_the_trial_is_not_read(tmp_path):
    (tmp_path / "secret").write_text("x")
    manifest = json.dumps([{"source": "/app/x", "destination": "../../secret"}])
    trial = write_trial(tmp_path / "job", files={"artifacts/manifest.json": manifest})
    (trial / "artifacts" / "x").symlink_to(tmp_path / "secret")
    [recorded] = read_trials(tmp_path / "job")
    assert recorded.recorded_files() == {}


def test_a_folder_without_trials_is_an_error(tmp_path):
    with pytest.raises(RolloutsError, match="no trials of Harbor"):
        list(read_trials(tmp_path))
