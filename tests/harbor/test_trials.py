"""Tasks run: phases, what crosses, reward files, Dockerfiles, and tasks that cannot be run."""

import json
import subprocess
import sys

import pytest

from plaudit.cli import main
from plaudit.contract.output import Status
from plaudit.errors import InvalidSettings
from plaudit.harbor import Runtime, Solution, TaskRunner, find_tasks, read_task, run_task
from plaudit.harbor.dockerfile import CannotRun, read_dockerfile
from plaudit.harbor.reward_files import read_rewards
from plaudit.harbor.workspace import HostImage
from tests.harbor.task_folders import SHARED, TEST, write_task

RUNTIME = Runtime(network="none")


def run(task, solution="oracle", **options):
    return run_task(read_task(task), solution, RUNTIME, **options)


@pytest.mark.parametrize("mode", ["separate", "shared"])
@pytest.mark.parametrize(("solution", "reward"), [("oracle", 1.0), ("nop", 0.0)])
def test_the_solution_earns_one_and_doing_nothing_zero(mode, solution, reward, tmp_path):
    trial = run(write_task(tmp_path), solution, mode=mode)
    assert trial.reward == reward
    assert trial.mode == mode
    assert ("shared mode" in " ".join(trial.notes)) is (mode == "shared")


def test_a_folder_is_a_solution(tmp_path):
    task = write_task(tmp_path)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "add.py").write_text("def add(a, b): return 5\n")
    assert run(task, str(tmp_path / "mine")).reward == 1.0
    (tmp_path / "mine" / "solve.sh").write_text("exit 1")
    assert run(task, str(tmp_path / "mine")).reward == 0.0
    with pytest.raises(InvalidSettings, match="oracle, nop or a folder"):
        run(task, "orcale")


FORGERIES = {
    "reward files": "echo 1 > /logs/verifier/reward.txt; echo '{\"reward\": 1}' > /logs/verifier/reward.json",
    "a reward file that cannot be removed": "mkdir -p /logs/verifier/reward.json/x",
    "a process left behind": "(while :; do echo 1 > /logs/verifier/reward.txt; done) & disown",
    "a link in place of the log": "ln -s /tests/test.sh /logs/verifier/test-stdout.txt",
    "tests": "mkdir -p /tests; echo 'echo 1 > /logs/verifier/reward.txt' > /tests/test.sh; chmod +x /tests/test.sh",
    "python": "printf '#!/bin/sh\\nexit 0' > /usr/local/bin/python3; chmod +x /usr/local/bin/python3",
    "a start-up file": "echo 'import os; os._exit(0)' > /usr/lib/python3/dist-packages/sitecustomize.py",
    "the shell's start-up": "echo 'exit 0' > /root/.bashrc; echo 'exit 0' > /etc/profile",
}


@pytest.mark.parametrize("command", FORGERIES.values(), ids=FORGERIES)
def test_a_forgery_earns_nothing_in_separate_mode(command, tmp_path):
    with TaskRunner(read_task(write_task(tmp_path)), RUNTIME) as runner:
        assert runner.run(Solution("forgery", command=command)).reward == 0.0


def test_shared_mode_behaves_as_harbor_s_so_a_forgery_can_pay(tmp_path):
    with TaskRunner(read_task(write_task(tmp_path, toml=SHARED)), RUNTIME) as runner:
        assert runner.mode == "shared"
        paid = [runner.run(Solution("forgery", command=each)).reward for each in FORGERIES.values()]
    assert paid[0] == 0.0  # Harbor removes these files
    assert paid[1] is None
    assert 1.0 in paid


def test_declared_artifacts_alone_cross(tmp_path):
    toml = 'artifacts = ["/app/add.py"]\n'
    task = write_task(tmp_path)
    (task / "task.toml").write_text(toml + (task / "task.toml").read_text())
    listing = '[ "$(ls /app)" = add.py ]; echo $((1 - $?)) > /logs/verifier/reward.txt'
    (task / "tests" / "test.sh").write_text(f"#!/bin/bash\n{listing}\n")
    (task / "solution" / "solve.sh").write_text("touch /app/add.py /app/other /data")
    assert run(task).reward == 1.0


def test_a_declared_artifact_cannot_hold_the_verifier_s_folders(tmp_path):
    task = write_task(tmp_path, files={"tests/test.sh": "#!/bin/bash\nls /tests | wc -l > /logs/verifier/reward.txt\n"})
    (task / "task.toml").write_text('artifacts = ["/tests", "/logs", "/app"]\n' + (task / "task.toml").read_text())
    (task / "solution" / "solve.sh").write_text("mkdir -p /tests; touch /tests/conftest.py /logs/verifier/reward.json")
    trial = run(task)
    assert trial.reward == 1.0, trial
    assert "did not cross: /tests: belongs to the verifier" in trial.notes


@pytest.mark.parametrize(
    "command",
    ["rm -rf /app", "cd /; rm -rf /app; ln -s /etc /app", "truncate -s 1T /app/huge", "rm -rf /usr/bin /bin",
     "d=/app; for i in $(seq 300); do d=$d/d; mkdir $d; done; mkfifo /app/pipe; chmod 000 /app"],
)  # fmt: skip
def test_an_agent_cannot_turn_its_failure_into_no_reward(command, tmp_path):
    with TaskRunner(read_task(write_task(tmp_path)), RUNTIME) as runner:
        assert runner.run(Solution("sabotage", command=command)).reward == 0.0


def test_a_removed_file_of_the_image_is_removed_for_the_verifier(tmp_path):
    test = "#!/bin/bash\n[ -e /app/old ] && echo 0 > /logs/verifier/reward.txt || echo 1 > /logs/verifier/reward.txt\n"
    files = {
        "environment/Dockerfile": "FROM debian:12\nWORKDIR /app\nRUN echo x > old\n",
        "solution/solve.sh": "rm old",
        "tests/test.sh": test,
    }
    task = write_task(tmp_path, files=files)
    assert (run(task).reward, run(task, "nop").reward) == (1.0, 0.0)


def test_a_verifier_image_of_its_own_is_built_from_tests(tmp_path):
    files = {"tests/Dockerfile": "FROM debian:12\nCOPY . /tests\nRUN chmod +x /tests/test.sh\nWORKDIR /app\n"}
    task = write_task(tmp_path, files=files)
    assert (run(task).reward, run(task, "nop").reward) == (1.0, 0.0)


@pytest.mark.parametrize(
    ("content", "reward", "reason"),
    [
        ({"reward.txt": b"0.5\n"}, 0.5, ""),
        ({"reward.json": b'{"reward": 1, "speed": 0.25}'}, 1.0, ""),
        ({"reward.json": b'{"passed": true}'}, 1.0, ""),
        ({"reward.json": b'{"reward": 1}', "reward.txt": b"0"}, 1.0, "reward.txt says something else"),
        ({}, None, "neither"),
        ({"reward.txt": b""}, None, "reward.txt"),
        ({"reward.txt": b"nan"}, None, "finite"),
        ({"reward.json": b""}, None, "empty"),
        ({"reward.json": b"{}"}, None, "no key at all"),
        ({"reward.json": b'{"reward": "1"}'}, None, "must be a number"),
        ({"reward.json": b'{"reward": {"a": 1}}'}, None, "must be a number"),
        ({"reward.json": b'{"reward": 1e999}'}, None, "finite"),
        ({"reward.json": b'{"reward": ' + b"9" * 5000 + b"}"}, None, "finite"),
        ({"reward.json": b"[" * 100_000}, None, "reward.json"),
        ({"reward.json": b"[1]"}, None, "expected an object"),
        ({"reward.json": b'{"a": 1, "b": 0}'}, None, "--key"),
        ({"reward.json": b"\xff"}, None, "reward.json"),
    ],
)
def test_a_reward_file_is_a_number_or_a_reason(content, reward, reason):
    output = read_rewards(lambda name, most: ("file", content[name]) if name in content else ("missing", b""))
    assert output.reward == reward
    assert reason in output.reason
    assert output.ok is (reward is not None)


@pytest.mark.parametrize("kind", ["folder", "link", "large", "other"])
def test_a_reward_file_that_is_not_plain_and_small_is_an_error(kind):
    output = read_rewards(lambda name, most: (kind, b"1"))
    assert output.status is Status.ERROR
    assert kind in output.reason


def test_a_verifier_that_takes_too_long_is_not_scored(tmp_path):
    task = write_task(tmp_path, files={"tests/test.sh": "sleep 30"})
    (task / "task.toml").write_text('[verifier]\nenvironment_mode = "separate"\ntimeout_sec = 0.5\n')
    trial = run(task)
    assert trial.output.status is Status.TIMEOUT


def test_an_agent_that_takes_too_long_is_still_verified(tmp_path):
    files = {"solution/solve.sh": "printf 'def add(a, b): return a + b' > add.py; sleep 30"}
    trial = run(write_task(tmp_path, toml="[agent]\ntimeout_sec = 0.5\n", files=files))
    assert trial.reward == 1.0
    assert "ended after 0.5 s" in " ".join(trial.notes)


def test_users_of_the_image_run_the_phases(tmp_path):
    docker = "FROM debian:12\nRUN useradd -m agent\nWORKDIR /app\nRUN chown agent /app\nUSER agent\n"
    files = {
        "environment/Dockerfile": docker,
        "solution/solve.sh": "whoami > /app/agent",
        "tests/test.sh": '#!/bin/bash\n[ "$(cat /app/agent) $(whoami)" = "agent root" ]\n'
        "echo $((1 - $?)) > /logs/verifier/reward.txt\n",
    }
    toml = '[agent]\nuser = "agent"\n'
    task = write_task(tmp_path, files=files)
    (task / "task.toml").write_text(f'{toml}[verifier]\nuser = "root"\nenvironment_mode = "separate"\n')
    assert run(task).reward == 1.0


DOCKERFILE = """# syntax=docker/dockerfile:1
FROM --platform=linux/amd64 python:3.12-slim
ARG VERSION=7
ENV GREETING="hello world" NAME=$VERSION
WORKDIR /srv
WORKDIR data
COPY . .
COPY --chown=nobody --chmod=600 one.txt /other/
COPY ["two words.txt", "/json form/"]
COPY <<END /made.txt
made here
END
RUN echo "$GREETING $NAME" > greeting \\
    # a comment between
    && cat one.txt >> greeting
RUN <<EOF
echo from a document >> greeting
EOF
LABEL a=b
CMD ["bash"]
"""


def test_the_plain_instructions_of_a_dockerfile_are_carried_out(tmp_path):
    files = {
        "environment/Dockerfile": DOCKERFILE.replace("--platform=linux/amd64 ", ""),
        "environment/one.txt": "one\n",
        "environment/two words.txt": "two\n",
        "environment/ignored/secret": "x",
        "environment/.dockerignore": "ignored\n",
        "solution/solve.sh": "true",
        "tests/test.sh": "#!/bin/bash\ncat greeting '/json form/two words.txt' /made.txt\n"
        "stat -c '%U %a' /other/one.txt; ls; pwd\n"
        "echo 1 > /logs/verifier/reward.txt\n",
    }
    trial = run(write_task(tmp_path, files=files))
    assert trial.reward == 1.0, trial.output
    assert trial.log.partition("verifier ---\n")[2].splitlines() == [
        "hello world 7", "one", "from a document", "two", "made here", "nobody 600",
        "Dockerfile", "greeting", "one.txt", "two words.txt", "/srv/data",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("dockerfile", "reason"),
    [
        ("FROM debian:12\nVOLUME /data\n", "line 2: VOLUME is not supported"),
        ("FROM debian:12\nONBUILD RUN x\n", "ONBUILD is not supported"),
        ("FROM debian:12 AS a\nFROM debian:12\nCOPY --from=a /x /y\n", "not supported"),
        ("FROM debian:12\nRUN --mount=type=cache,target=/x true\n", "not supported"),
        ("FROM golang:1.22\n", "no base for the image golang:1.22"),
        ("FROM debian:12\nRUN echo gone wrong; exit 3\n", "ended with 3: gone wrong"),
        ("FROM debian:12\nCOPY missing /x\n", "there is no missing"),
        ("FROM debian:12\nCOPY ../../etc /x\n", "there is no ../../etc"),
        ("FROM debian:12\nADD https://x.test/a /x\n", "not supported"),
        ("FROM debian:12\nUSER ghost\nRUN true\n", "no user 'ghost'"),
    ],
)
def test_a_task_that_cannot_be_built_gives_the_reason_and_is_never_zero(dockerfile, reason, tmp_path):
    trial = run(write_task(tmp_path, files={"environment/Dockerfile": dockerfile}))
    assert trial.output.status is Status.SKIPPED
    assert not trial.can_run
    assert reason in trial.output.reason


@pytest.mark.parametrize(
    ("toml", "reason"),
    [
        ('[[steps]]\nname = "a"\n[steps.verifier]\nenvironment_mode = "separate"\n', "a step has"),
        ('[environment]\nos = "windows"\n', "Windows"),
        ("[environment]\ngpus = 1\n", "GPU"),
    ],
)
def test_a_task_of_another_kind_cannot_be_run(toml, reason, tmp_path):
    trial = run(write_task(tmp_path, toml=toml), "nop")
    assert reason in trial.output.reason
    assert trial.reward is None


def test_a_link_out_of_the_build_context_is_not_copied(tmp_path):
    task = write_task(tmp_path, files={"environment/Dockerfile": "FROM debian:12\nWORKDIR /app\nCOPY . .\n"})
    (tmp_path / "secret").write_text("secret")
    (task / "environment" / "link").symlink_to(tmp_path / "secret")
    (task / "tests" / "test.sh").write_text("#!/bin/bash\nls /app; echo 1 > /logs/verifier/reward.txt\n")
    trial = run(task, "nop")
    assert trial.log.split()[-1] == "Dockerfile"


def test_a_root_file_system_of_the_user_s_is_a_base(tmp_path):
    base = tmp_path / "base"
    for folder in ("usr/bin", "usr/lib/x86_64-linux-gnu", "proc", "dev", "etc", "tmp", "usr/lib64"):
        (base / folder).mkdir(parents=True)
    copies = (
        "for f in bash cat chmod mkdir; do cp /usr/bin/$f {0}/usr/bin/; "
        "for l in $(ldd /usr/bin/$f | grep -o '/[^ ]*'); do mkdir -p {0}$(dirname $l); cp -L $l {0}$l; done; done"
    )
    (base / "bin").symlink_to("usr/bin")
    subprocess.run(["bash", "-c", copies.format(base)], check=True)
    (base / "etc" / "passwd").write_text("root:x:0:0::/:/bin/sh\n")
    (base / "etc" / "group").write_text("root:x:0:\n")
    (base / "mark").write_text("1\n")
    files = {
        "environment/Dockerfile": "FROM strange:1\nWORKDIR /app\n",
        "tests/test.sh": "#!/bin/bash\ncat /mark > /logs/verifier/reward.txt\n",
    }
    trial = run_task(read_task(write_task(tmp_path, files=files)), "nop", Runtime({"strange": base}, "none"))
    assert trial.reward == 1.0, trial
    assert (base / "mark").read_text() == "1\n"
    assert str(base) in trial.notes[0]


def test_eight_tasks_run_at_once(tmp_path, capfd):
    for number in range(8):
        write_task(tmp_path, f"task{number}")
    with pytest.raises(SystemExit) as exited:
        main(["harbor", "run", str(tmp_path), "--workers", "8", "--json", "--network", "none"])
    trials = json.loads(capfd.readouterr().out)
    assert exited.value.code == 0
    assert [trial["reward_output"]["reward"] for trial in trials] == [1.0] * 8


def test_a_killed_command_leaves_no_process(tmp_path):
    code = (
        "from plaudit.harbor.workspace import HostImage\nimage = HostImage()\nworkspace = image.workspace()\n"
        "workspace.run('exec -a plaudit-orphan sleep 1000 &')\nprint('ready', flush=True)\nworkspace.run('sleep 1000')"
    )
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "ready\n"
    assert _count("plaudit-orphan") == 1
    process.kill()
    process.wait()
    process.stdout.close()
    for _ in range(500):
        if _count("plaudit-orphan") == 0:
            break
        subprocess.run(["sleep", "0.02"], check=True)
    assert _count("plaudit-orphan") == 0


def _count(name):
    return int(subprocess.run(["pgrep", "-c", "-f", f"^{name}"], capture_output=True, text=True).stdout)


def test_without_namespaces_the_error_says_what_is_needed(tmp_path):
    code = (
        "import os\nfrom plaudit.harbor.workspace import HostImage\n"
        "try: HostImage()\nexcept Exception as error: print(type(error).__name__, error)"
    )
    limited = ["unshare", "--user", "--map-root-user", "bash", "-c"]
    script = 'echo 0 > /proc/sys/user/max_user_namespaces; exec "$0" -c "$1"'
    done = subprocess.run([*limited, script, sys.executable, code], capture_output=True, text=True, cwd=tmp_path)
    assert done.stdout.startswith("SandboxError a workspace cannot be made here"), done
    assert "run as root" in done.stdout


def test_folders_without_tasks_are_an_error(tmp_path):
    with pytest.raises(InvalidSettings, match=r"no task\.toml"):
        find_tasks([tmp_path])


def test_an_unfinished_dockerfile_is_refused():
    with pytest.raises(CannotRun, match="one FROM"):
        read_dockerfile("RUN true\n")
    assert TEST.startswith("#!")


def test_the_files_that_a_command_uses_are_observed_whether_they_are_there_or_not():
    with HostImage() as image, image.workspace() as workspace:
        command = "cd /app; echo x > made; cat made absent; PATH=/app/bin:$PATH; date; [ -x hook ]; exit 3"
        done = workspace.run(command, observes=True)
        plain = workspace.run(command)
    assert done.code == plain.code == 3
    assert not plain.events
    seen = {(use, path) for _, _, use, path, _ in done.events}
    expected = {("write", "/app/made"), ("read", "/app/absent"), ("look", "/app/bin/date"), ("find", "/app/hook")}
    assert expected <= seen
    assert ("fail", "cat made absent") in seen
    assert any(use == "run" and words == ["cat", "made", "absent"] for _, _, use, _, words in done.events)


STEPS = """multi_step_reward_strategy = "{}"
[verifier]
environment_mode = "shared"
[[steps]]
name = "one"
min_reward = {}
[[steps]]
name = "two"
"""


def write_steps(folder, strategy="mean", least=0.5, files=None):
    """Two steps: a number is written, then doubled by a script that the second step brings."""
    task = write_task(folder)
    for name in ("instruction.md", "solution/solve.sh", "tests/test.sh"):
        (task / name).unlink()
    (task / "task.toml").write_text(STEPS.format(strategy, least))
    paid = '[ "$(cat /app/number)" = {} ]; echo $((1 - $?)) > /logs/verifier/reward.txt\n'
    for name, number in (("one", 21), ("two", 42)):
        for part in ("solution", "tests", "workdir"):
            (task / "steps" / name / part).mkdir(parents=True)
        (task / "steps" / name / "instruction.md").write_text(f"Write {number} into /app/number.\n")
        (task / "steps" / name / "tests" / "test.sh").write_text(f"#!/bin/bash\n{paid.format(number)}")
    (task / "steps" / "one" / "solution" / "solve.sh").write_text("echo 21 > /app/number")
    (task / "steps" / "two" / "solution" / "solve.sh").write_text("[ -e /tests/test.sh ] || bash double.sh")
    (task / "steps" / "two" / "workdir" / "setup.sh").write_text(
        "echo 'echo $((2 * $(cat number))) > number' > double.sh"
    )
    for path, text in (files or {}).items():
        (task / path).write_text(text)
    return task


@pytest.mark.parametrize("mode", ["separate", "shared"])
def test_the_steps_of_a_task_share_a_workspace_and_a_reward(mode, tmp_path):
    trial = run(write_steps(tmp_path), mode=mode)
    assert trial.reward == 1.0, trial
    assert run(write_steps(tmp_path / "again"), "nop", mode=mode).reward == 0.0


@pytest.mark.parametrize(("strategy", "reward"), [("mean", 0.5), ("final", 0.0)])
def test_the_rewards_of_steps_are_combined_as_in_harbor(strategy, reward, tmp_path):
    trial = run(write_steps(tmp_path, strategy, files={"steps/two/solution/solve.sh": "true"}))
    assert trial.reward == reward


def test_a_step_below_its_least_reward_ends_the_trial(tmp_path):
    trial = run(write_steps(tmp_path, files={"steps/one/solution/solve.sh": "echo 42 > /app/number"}))
    assert trial.reward == 0.0
    assert "ended after step one: reward is below min_reward" in trial.notes


def test_a_step_that_is_not_scored_leaves_the_whole_trial_without_a_reward(tmp_path):
    trial = run(write_steps(tmp_path, files={"steps/two/tests/test.sh": "#!/bin/bash\ntrue\n"}))
    assert trial.reward is None
    assert "neither reward.json nor reward.txt" in trial.output.reason
    trial = run(write_steps(tmp_path / "again", files={"steps/two/workdir/setup.sh": "exit 3"}))
    assert trial.reward is None
    assert "setup.sh of step two ended with 3" in trial.output.reason
