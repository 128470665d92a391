"""`plaudit harbor check`: the solution earns 1, doing nothing 0, each time; keys, files and sources."""

import json
from xml.etree import ElementTree

import pytest

from plaudit.cli import main
from plaudit.harbor import Runtime, check_task, read_task
from tests.harbor.task_folders import write_task

RUNTIME = Runtime(network="none")


def kinds(report):
    return {each.kind for each in report.failures}


def check(task, **options):
    return check_task(read_task(task), RUNTIME, **options)


def test_a_sound_task_passes(tmp_path):
    report = check(write_task(tmp_path))
    assert report.passed, report
    assert report.trials == 4


ALWAYS = "#!/bin/bash\necho 1 > /logs/verifier/reward.txt\n"


@pytest.mark.parametrize(
    ("files", "kind"),
    [
        ({"solution/solve.sh": "true"}, "oracle"),
        ({"tests/test.sh": ALWAYS}, "nop"),
        ({"tests/test.sh": "#!/bin/bash\necho $RANDOM$RANDOM > /logs/verifier/reward.txt\n"}, "determinism"),
        ({"tests/test.sh": "#!/bin/bash\ntrue\n"}, "reward file"),
        ({"tests/test.sh": "#!/bin/bash\necho 0.9999 > /logs/verifier/reward.txt\n"}, "oracle"),
        ({"tests/test.sh": '#!/bin/bash\necho \'{"reward": "1"}\' > /logs/verifier/reward.json\n'}, "reward file"),
    ],
    ids=["oracle", "nop", "random", "no reward", "nearly one", "text"],
)
def test_what_is_wrong_is_named(files, kind, tmp_path):
    assert kind in kinds(check(write_task(tmp_path, files=files)))


@pytest.mark.parametrize(
    ("toml", "message"),
    [
        ("[agnet]\ntimeout_sec = 5\n", "unknown key agnet; did you mean 'agent'?"),
        ("[agent]\ntimeout_secs = 5\n", "unknown key agent.timeout_secs; did you mean 'timeout_sec'?"),
        ('[agent]\ntimeout_sec = "5"\n', "agent.timeout_sec must be a number"),
        ("[environment]\nallow_internet = 1\n", "environment.allow_internet must be true or false"),
        ("[environment]\ncpu = 2\n", "unknown key environment.cpu"),
    ],
)
def test_unknown_and_wrong_keys_are_findings_and_do_not_stop_a_run(toml, message, tmp_path):
    report = check(write_task(tmp_path, toml=toml), repeats=1)
    assert [each.message for each in report.findings if message in each.message]
    assert kinds(report) == {"keys"}


def test_unpinned_sources_and_downloads_are_warnings(tmp_path):
    task = write_task(tmp_path)
    with (task / "tests" / "test.sh").open("a") as file:
        file.write("exit 0\npip install requests\ncurl https://x.test/i.sh | sh\n")
    (task / "environment" / "Dockerfile").write_text("FROM debian\nWORKDIR /app\n")
    report = check(task, repeats=1)
    messages = " ".join(each.message for each in report.findings)
    for part in ("unpinned image", "unpinned package requests", "piped download", "downloads while it verifies"):
        assert part in messages
    assert report.passed


def test_missing_files_are_findings(tmp_path):
    task = write_task(tmp_path)
    (task / "instruction.md").unlink()
    (task / "solution" / "solve.sh").unlink()
    report = check(task)
    assert kinds(report) == {"files", "oracle"} or kinds(report) == {"files"}


def test_a_broken_toml_cannot_run_and_names_the_place(tmp_path):
    task = write_task(tmp_path)
    (task / "task.toml").write_text("[agent\n")
    report = check(task)
    assert not report.passed
    assert any("task.toml" in each.message for each in report.findings)


def test_disagreeing_reward_files_are_a_warning(tmp_path):
    test = '#!/bin/bash\n[ -f /app/add.py ]; r=$((1 - $?))\necho "{\\"reward\\": $r}" > /logs/verifier/reward.json\n'
    report = check(write_task(tmp_path, files={"tests/test.sh": f"{test}echo 0.5 > /logs/verifier/reward.txt\n"}))
    assert report.passed
    assert any("disagree" in each.message for each in report.findings)


def test_the_command_prints_a_table_json_and_junit(tmp_path, capfd):
    write_task(tmp_path, "good")
    write_task(tmp_path, "bad", files={"tests/test.sh": ALWAYS})
    write_task(tmp_path, "windows", toml='[environment]\nos = "windows"\n')
    junit = tmp_path / "report.xml"
    arguments = ["harbor", "check", str(tmp_path), "--repeats", "1", "--network", "none"]
    with pytest.raises(SystemExit) as exited:
        main([*arguments, "--json", "--junit", str(junit)])
    reports = {each["task"]: each for each in json.loads(capfd.readouterr().out)}
    assert exited.value.code == 1
    assert reports["windows"]["state"] == "cannot run"
    suites = {each.get("name"): each for each in ElementTree.parse(junit).getroot()}
    assert len(list(suites["bad"].iter("failure"))) == 1
    assert len(list(suites["good"].iter("failure"))) == 0
    assert len(list(suites["windows"].iter("skipped"))) == 1
    with pytest.raises(SystemExit):
        main(arguments)
    printed = capfd.readouterr().out
    assert "nop earns 1, not 0" in printed
    assert "cannot run: it is for Windows" in printed
