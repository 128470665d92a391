"""What a hostile agent leaves behind: it is judged as no solution, is never the reason for a missing score in separate
mode, and changes nothing that the verifier runs."""

import pytest

from plaudit.cli import main
from plaudit.harbor import Runtime, read_task
from plaudit.harbor.trial import Solution, TaskRunner
from plaudit.harbor.workspace import HostImage
from tests.harbor.task_folders import SHARED, write_task

DOCKERFILE = """FROM debian:12
WORKDIR /app
RUN mkdir -p /data/folder && echo f > /data/file && echo g > /data/folder/in && ln -s /usr/local/bin/tool /data/out
RUN useradd -m agent && chown agent /app
"""
ATTACKS = {
    "the WORKDIR is a file": "rm -rf /app; echo x > /app",
    "the WORKDIR is a link": "rm -rf /app; ln -s tmp /app",
    "the WORKDIR is a link out": "rm -rf /app; ln -s /etc /app",
    "the WORKDIR is a pipe": "rm -rf /app; mkfifo /app",
    "the WORKDIR is gone": "rm -rf /app",
    "the artifacts are a link to the reward folder": "rm -rf /logs/artifacts; ln -s verifier /logs/artifacts",
    "the artifacts are a file": "rm -rf /logs/artifacts; echo 1 > /logs/artifacts",
    "the logs are a link": "rm -rf /logs; ln -s app /logs",
    "a folder where the image has a file": "rm /data/file; mkdir -p /data/file/in; echo x > /data/file/in/y",
    "a file where the image has a folder": "rm -r /data/folder; echo x > /data/folder",
    "a link where the image has a file": "rm /data/file; ln -s ../etc/passwd /data/file",
    "names that break shells and archives": "cd /app; touch -- -rf $'new\\nline' $'\\xff\\xfe' '$(id)' '`id`' '*'"
    " \"$(printf 'a%.0s' {1..255})\"; mkfifo $'\\xff-pipe'",
    "folders too deep": "cd /app; for i in $(seq 110); do mkdir d; cd d; done; touch x",
    "paths too long": "cd /app; n=$(printf 'b%.0s' {1..250}); for i in $(seq 20); do mkdir $n; cd $n; done; touch x",
    "too many files": "cd /app; seq 1 20000 | xargs touch",
    "a sparse file": "truncate -s 400G /app/large; truncate -s 60M /app/also",
    "closed folders": "mkdir /app/closed; echo x > /app/closed/f; chmod 000 /app/closed/f /app/closed",
    "times out of range": "touch -d 1900-01-01 /app/old; touch -d 2500-01-01 /app/new; touch -d @-5000000000 /app/was",
    "owners that do not exist": "echo x > /app/a; chown 4242:4242 /app/a /app",
    "devices that mark removed files": "mknod /app/gone c 0 0; mknod /app/null c 1 3",
    "every signal": "for s in $(seq 1 64); do kill -$s 1; done; kill -9 -1",
    "processes that ignore signals": "trap '' TERM INT HUP; (trap '' TERM; sleep 1000) & setsid sleep 1000 &",
}


@pytest.fixture(scope="module")
def runner(tmp_path_factory):
    folder = write_task(tmp_path_factory.mktemp("hostile"), files={"environment/Dockerfile": DOCKERFILE})
    with TaskRunner(read_task(folder), Runtime(network="none", storage_mb=64)) as runner:
        yield runner


@pytest.mark.parametrize("command", ATTACKS.values(), ids=ATTACKS)
def test_whatever_an_agent_leaves_its_trial_is_scored_zero(command, runner):
    trial = runner.run(Solution("hostile", command=f"cd /; {command}"))
    assert trial.reward == 0.0, trial


RUN_BY_A_VERIFIER = (
    "/etc/ld.so.preload", "/etc/environment", "/etc/profile.d/x.sh", "/etc/bash.bashrc", "/etc/gitconfig", "/etc/hosts",
    "/etc/locale.conf", "/root/.bashrc", "/root/.gitconfig", "/root/.local/lib/python3.11/site-packages/a.pth",
    "/usr/lib/python3/dist-packages/a.pth", "/usr/lib/python3/dist-packages/sitecustomize.py", "/usr/local/bin/python3",
    "/usr/local/lib/libc.so.6", "/opt/venv/bin/python3", "/run/x", "/var/spool/cron/crontabs/root", "/logs/agent/x",
    "/tests/conftest.py", "/solution/solve.sh", "/logs/verifier/reward.txt", "/logs/verifier/reward.json",
)  # fmt: skip


def test_what_verifiers_load_by_themselves_stays_behind(runner):
    listed = " ".join(RUN_BY_A_VERIFIER)
    with runner.image.workspace() as workspace:
        workspace.run(f"for p in {listed}; do mkdir -p ${{p%/*}}; rm -f $p; echo planted > $p; done")
        assert workspace.run(f"cat {listed} 2>/dev/null | grep -c planted").output.strip() not in ("", "0")
        archive = runner.collect(runner.task, workspace, [])
    with runner.verifier_image.workspace() as workspace:
        workspace.put(archive, "/")
        assert workspace.run(f"grep -l planted {listed} 2>/dev/null").output == ""


def test_nothing_is_written_through_a_link_of_the_image(runner):
    with runner.image.workspace() as workspace:
        workspace.run("rm /data/out; echo broken > /data/out")
        archive = runner.collect(runner.task, workspace, [])
    with runner.verifier_image.workspace() as workspace:
        workspace.put(archive, "/")
        assert workspace.run("cat /data/out; ls -A /usr/local/bin").output == "broken\n"


REWARDS = {
    "a pipe": "mkfifo /logs/verifier/reward.txt",
    "a folder": "mkdir /logs/verifier/reward.json",
    "a link": "ln -sf /app/one /logs/verifier/reward.txt",
    "a huge file": "truncate -s 1G /logs/verifier/reward.txt",
    "a device": "mknod /logs/verifier/reward.txt c 1 5 || mkfifo /logs/verifier/reward.txt",
    "no number": "echo one > /logs/verifier/reward.txt",
}


@pytest.mark.parametrize("command", REWARDS.values(), ids=REWARDS)
def test_in_shared_mode_a_reward_file_of_another_kind_is_no_score_and_blocks_nothing(command, tmp_path):
    tests = f"#!/bin/bash\necho 1 > /app/one\nrm -rf /logs/verifier/*\n{command}\n"
    with TaskRunner(read_task(write_task(tmp_path, toml=SHARED, files={"tests/test.sh": tests})), Runtime()) as runner:
        trial = runner.run(Solution("nop"))
    assert trial.reward is None
    assert "reward." in trial.outcome


def test_in_shared_mode_a_reward_folder_behind_a_link_stays_in_the_workspace(tmp_path):
    task = read_task(write_task(tmp_path, toml=SHARED))
    with TaskRunner(task, Runtime(network="none")) as runner:
        trial = runner.run(Solution("link", command="rm -rf /logs/verifier; ln -s /app /logs/verifier"))
        assert trial.reward == 0.0, trial
        assert runner.run(Solution("nop")).reward == 0.0  # the next trial has folders of its own


def test_control_characters_of_an_agent_reach_no_terminal(tmp_path, capfd):
    solution = tmp_path / "solution"
    solution.mkdir()
    command = r"mkfifo $'/app/\e[2Jred' $'/app/\xff'; printf '\e]0;title\a\e[2Jgone \xff\n'; echo caf\u00e9 日本"
    (solution / "solve.sh").write_text(command)
    task = write_task(tmp_path)
    with pytest.raises(SystemExit):
        main(["harbor", "run", str(task), "--network", "none", "-s", str(solution), "--log"])
    shown = capfd.readouterr().out
    assert "gone" in shown
    assert "日本" in shown
    assert "did not cross" in shown
    assert not {each for each in shown if ord(each) < 32 and each != "\n"}


def test_hard_links_do_not_join_files_of_two_workspaces():
    with HostImage() as image, image.workspace() as first:
        assert first.run("ln /usr/bin/true /app/true").code != 0
        first.run("echo x > /app/a; ln /app/a /app/b; chmod 4777 /app/a")
        archive, _ = first.get(["/app"])
        with image.workspace() as second:
            second.put(archive, "/")
            assert second.run("stat -c '%h %a' /app/a /app/b").output.split() == ["1", "777", "1", "777"]
            first.run("echo y > /app/a")
            assert second.run("cat /app/a").output == "x\n"
