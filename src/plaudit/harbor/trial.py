"""Run one trial: the agent phase, then the verifier phase.

*Separate*: the agent's processes are ended, its files are packed, its workspace is closed, and the verifier runs in a
fresh one. So nothing of an agent can write to the tests or to the reward folder. *Shared* is Harbor's own order: the
verifier runs in the agent's live workspace.
"""

import math
import re
import shlex
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from plaudit.contract.output import RewardOutput, Status
from plaudit.dialects.results import read_named_rewards
from plaudit.errors import InvalidSettings, SandboxError
from plaudit.harbor.images import CannotRun, Runtime, build_image
from plaudit.harbor.machine.observer import Event
from plaudit.harbor.reward_files import REWARD_FILES, read_rewards
from plaudit.harbor.task import MODES, Task
from plaudit.harbor.workspace import Closing, Entry, Finished, Workspace, pack

KEPT_LOG = 4000
SETUP_S = 600.0
VERIFIER = "/logs/verifier"
TRACE = "/tmp/.plaudit-trace"
# Before each command of a bash script, note the one before if any part of it failed.
TRACING = (
    """trap '_s="${PIPESTATUS[*]}"; [[ "$_s" =~ [1-9] ]] && printf "%s\\n" "$_c: $_s" """
    f"""2>/dev/null >> {TRACE}.failed; _c=$BASH_COMMAND' DEBUG\n"""
)


_CONTROL = re.compile(r"[^\t\n -~\u00a0-\U0010ffff]")


@dataclass(frozen=True, slots=True)
class Solution:
    """The agent phase of a trial: files put into the workspace, and a command."""

    name: str
    files: Mapping[str, bytes | Path] = field(default_factory=dict)
    """By absolute path, or by a path relative to the WORKDIR."""
    command: str = ""
    after: dict[str, Entry | None] = field(default_factory=dict)
    """Files and links that are replaced after the command, by absolute path; None removes one."""
    closing: str = ""
    """A command after that."""
    steps: "tuple[Solution, ...]" = ()
    """The solutions of the steps, for a task that has them."""


@dataclass(frozen=True, slots=True)
class Trial:
    """The result of one trial."""

    task: str
    solution: str
    mode: str
    output: RewardOutput
    notes: tuple[str, ...] = ()
    log: str = ""
    seconds: dict[str, float] = field(default_factory=dict)
    """By phase: build, agent, verifier (what its own commands took), total."""
    can_run: bool = True
    artifacts: bytes = field(default=b"", repr=False)
    """The agent's files, where they were collected."""
    failed_commands: tuple[str, ...] = ()
    """Commands of the verifier that failed, in an observed trial."""
    events: tuple[Event, ...] = field(default=(), repr=False)
    """Which files the verifier's processes used, in an observed trial."""
    left: bytes = field(default=b"", repr=False)
    """The files after the verifier, in an observed trial."""

    @property
    def reward(self) -> float | None:
        return self.output.reward

    @property
    def outcome(self) -> str:
        """The reward, or why there is none."""
        return f"{self.reward:g}" if self.reward is not None else self.output.reason

    def to_dict(self) -> dict[str, Any]:
        names = ("task", "solution", "mode", "notes", "seconds", "can_run", "log")
        return {**{name: getattr(self, name) for name in names}, "reward_output": self.output.to_dict()}


def solution_of(text: str, task: Task) -> Solution:
    """`oracle`, `nop`, or a folder: its solve.sh is run, or else its files are put into the WORKDIR."""
    if text == "nop":
        return Solution("nop")
    if task.steps != (task,):
        names = [text if text == "oracle" else f"{text}/{step.name}" for step in task.steps]
        return Solution(text, steps=tuple(map(solution_of, names, task.steps)))
    folder = task.folder / "solution" if text == "oracle" else Path(text)
    if not folder.is_dir() and text == "oracle":
        raise CannotRun("it has no solution")
    if not folder.is_dir():
        raise InvalidSettings(f"a solution is oracle, nop or a folder, got {text!r}")
    if (folder / "solve.sh").is_file():
        return Solution(text, {"/solution": folder}, "bash /solution/solve.sh")
    return Solution(text, {each.name: each for each in sorted(folder.iterdir())})


class TaskRunner(Closing):
    """Runs trials of one task; the image is built once."""

    def __init__(self, task: Task, runtime: Runtime, mode: str | None = None, key: str = "reward") -> None:
        if mode not in (None, *MODES):
            raise InvalidSettings(f"mode is {' or '.join(MODES)}, got {mode!r}")
        self.task, self.runtime, self.key = task, runtime, key
        self.mode = mode or task.mode
        self.most_s = math.inf
        """A limit of both phases, where the task has a longer one."""
        start, self.started = time.monotonic(), int(time.time())
        self.image = build_image(task, runtime)
        try:
            bundled = self.mode == "separate" and (task.folder / "tests" / "Dockerfile").is_file()
            self.verifier_image = build_image(task, runtime, "tests") if bundled else self.image
        except BaseException:
            self.image.close()
            raise
        self.build_s = time.monotonic() - start

    def close(self) -> None:
        self.image.close()
        self.verifier_image.close()

    def run(self, solution: Solution, tests: Path | None = None, *, observes: bool = False) -> Trial:
        """One trial; a failure of ours is a reason and never a number.

        `observes` notes which commands of the verifier fail and which files its processes use.
        """
        start = time.monotonic()
        notes = [self.image.base_note]
        phases: list[_VerifierPhase] = []
        agents: list[Finished] = []
        try:
            with self.image.workspace() as workspace:
                parts = solution.steps or (solution,) * len(self.task.steps)
                for step, part in zip(self.task.steps, parts, strict=True):
                    phases.append(phase := _VerifierPhase(self, step, tests, notes, observes))
                    phase.prepare(workspace)
                    agents.append(self._agent(step, workspace, part, notes))
                    if self.mode == "separate":
                        workspace.end_processes()
                    artifacts = self.collect(step, workspace, notes if self.mode == "separate" else [])
                    if self.mode == "shared":
                        phase.run_shared(workspace)
                    else:
                        phase.run_separate(artifacts)
                    if step != self.task.steps[-1] and not phase.goes_on():
                        break
        except SandboxError as error:
            output = RewardOutput.unscored(Status.ERROR, str(error))
            return Trial(self.task.name, solution.name, self.mode, output, tuple(notes))
        times = {"build": self.build_s, "agent": sum(each.seconds for each in agents)}
        times["verifier"] = sum(each.done.seconds for each in phases)
        times["total"] = time.monotonic() - start
        log = "\n".join(
            f"{printable(agent.output[-KEPT_LOG:])}\n--- verifier ---\n{printable(phase.done.output[-KEPT_LOG:])}"
            for agent, phase in zip(agents, phases, strict=True)
        )
        observed: dict[str, Any] = {
            "failed_commands": phase.failed_commands,
            "events": phase.done.events,
            "artifacts": artifacts,
            "left": phase.left,
        }
        output = combine_steps(self.task, self.key, [each.output for each in phases])
        return Trial(self.task.name, solution.name, self.mode, output, tuple(notes), log, times, **observed)

    def verify(self, artifacts: bytes, tests: Path | None = None) -> RewardOutput:
        """Verify recorded files of an agent in a fresh workspace, without running the agent."""
        if self.task.steps != (self.task,):
            raise CannotRun("the files of a task with steps are recorded for each step")
        phase = _VerifierPhase(self, self.task, tests, [])
        phase.run_separate(artifacts)
        return phase.output

    def _agent(self, step: Task, workspace: Workspace, solution: Solution, notes: list[str]) -> Finished:
        config = self.image.config
        for path, source in solution.files.items():
            full = path if path.startswith("/") else f"{config.workdir}/{path}"
            workspace.put(pack({full.lstrip("/"): source}), "/")
        if not solution.command:
            return Finished(0, "", 0.0)
        user = step.user("agent") or config.user
        env = {**config.env, "DEBIAN_FRONTEND": "noninteractive", **step.env("solution")}
        limit = min(self.most_s, step.seconds("agent", self.runtime.agent_s))
        done = workspace.run(solution.command, cwd=config.workdir, env=env, user=user, seconds=limit)
        if done.timed_out:
            notes.append(f"the agent phase was ended after {limit:g} s")
        elif done.code:
            notes.append(f"the agent phase ended with {done.code}")
        for path, state in solution.after.items():
            workspace.run(f"rm -f {shlex.quote(path)}")
            if state is not None:
                workspace.put(pack({path.lstrip("/"): state}), "/")
        if solution.closing:
            workspace.run(solution.closing, cwd=config.workdir, env=env, user=user, seconds=limit)
        return done

    def collect(self, step: Task, workspace: Workspace, notes: list[str]) -> bytes:
        """The agent's files: the declared artifacts, or else the WORKDIR and what it changed beside it."""
        declared, workdir = step.artifacts, self.image.config.workdir
        most = self.runtime.storage_mb << 18  # a quarter of the verifier's workspace, which has room for its own files
        if declared and step.mode == "separate":
            present = [path for path in declared if workspace.read(path, 0)[0] != "missing"]
            archive, left_out = workspace.get([*present, "/logs/artifacts"], most=most)
        else:
            paths = [workdir] if workdir != "/" else []
            archive, left_out = workspace.get([*paths, "/logs/artifacts"], with_changes=True, most=most)
        notes += [f"did not cross: {each}" for each in left_out]
        return archive


@dataclass(slots=True)
class _VerifierPhase:
    """The verifier phase of one step of a trial, and what came of it."""

    runner: TaskRunner
    task: Task
    """The step, or the task itself where it has none."""
    tests: Path | None
    notes: list[str]
    observes: bool = False
    output: RewardOutput = field(
        default_factory=lambda: RewardOutput.unscored(Status.ERROR, "the verifier did not run")
    )
    done: Finished = field(default=Finished(0, "", 0.0))
    failed_commands: tuple[str, ...] = ()
    left: bytes = b""

    def prepare(self, workspace: Workspace) -> None:
        """Put the files of a step into the agent's workspace, without the tests and rewards of the step before it."""
        config = self.runner.image.config
        if self.task.outer is None:
            return
        self._empty(workspace)
        if (self.task.folder / "workdir").is_dir():
            workspace.put(pack({config.workdir.strip("/") or ".": self.task.folder / "workdir"}), "/")
        if (self.task.folder / "workdir" / "setup.sh").is_file():
            done = workspace.run("bash setup.sh", cwd=config.workdir, env=config.env, seconds=SETUP_S)
            if done.code or done.timed_out:
                raise SandboxError(f"setup.sh of step {self.task.name} ended with {done.code}: {done.output[-200:]}")

    def goes_on(self) -> bool:
        """Whether the next step is run: this one has a reward, and no less than its `min_reward`."""
        least = self.task.tables.get("min_reward")
        wanted = least if isinstance(least, dict) else {} if least is None else {self.runner.key: least}
        earned = rewards_of(self.output, self.runner.key)
        missed = [name for name, number in wanted.items() if earned.get(name, -math.inf) < number]
        if missed:
            self.notes.append(f"ended after step {self.task.name}: {', '.join(missed)} is below min_reward")
        return self.output.ok and not missed

    def _empty(self, workspace: Workspace) -> None:
        workspace.put(pack({}), "/tests", empties=True)
        workspace.put(pack({}), VERIFIER, empties=True, mode=0o777)

    def run_separate(self, artifacts: bytes) -> None:
        """In a fresh workspace with the agent's files."""
        task, workdir = self.task, self.runner.image.config.workdir
        with self.runner.verifier_image.workspace() as workspace:
            if workdir != "/":
                empties = not (task.artifacts and task.mode == "separate")
                workspace.put(pack({}), workdir, empties=empties)
            workspace.put(artifacts, "/")
            workspace.put(pack({}), workdir)  # it is a folder, whatever the agent put in its place
            workspace.put(pack({}), VERIFIER, empties=True, mode=0o777)
            self._run(workspace, "/tests/test.sh")

    def run_shared(self, workspace: Workspace) -> None:
        """As Harbor 0.25: only the reward files are removed, and the shell writes the log where the agent could."""
        self.notes.append("shared mode: the agent's processes and files were there while the verifier ran")
        if self.task.outer is not None:  # Harbor empties both folders before each step is verified
            self._empty(workspace)
        workspace.run(f"rm -f {' '.join(f'{VERIFIER}/{name}' for name in REWARD_FILES)}", seconds=60)
        self._run(workspace, f"(/tests/test.sh) > {VERIFIER}/test-stdout.txt 2>&1")
        _, data = workspace.read(f"{VERIFIER}/test-stdout.txt")
        self.done = replace(self.done, output=self.done.output + data.decode(errors="replace"))

    def _run(self, workspace: Workspace, command: str) -> None:
        task, config = self.task, self.runner.verifier_image.config
        bundled = self.runner.verifier_image is not self.runner.image and self.tests is None
        if not bundled:
            for folder in [self.tests] if self.tests else task.tests:
                workspace.put(pack({"tests": folder}), "/")
            workspace.run("chmod +x /tests/test.sh")
        limit = min(self.runner.most_s, task.seconds("verifier", 600.0))
        env = {**config.env, **task.env("verifier")}
        if self.observes:
            workspace.put(pack({TRACE.lstrip("/"): TRACING.encode()}), "/")
            env["BASH_ENV"] = TRACE
        user = task.user("verifier") or config.user
        self.done = workspace.run(
            command, cwd=config.workdir, env=env, user=user, seconds=limit, observes=self.observes
        )
        if self.observes:
            lines = workspace.read(f"{TRACE}.failed")[1].decode(errors="replace").splitlines()
            lines += [path for _, _, use, path, _ in self.done.events if use == "fail"]
            self.failed_commands = tuple(dict.fromkeys(lines))
            workspace.run(f"rm -f {TRACE} {TRACE}.failed")
            places = [config.workdir] if config.workdir != "/" else []
            self.left, _ = workspace.get([*places, "/tmp", "/var/tmp"], with_changes=True, most=1 << 24)
        if self.done.timed_out:
            self.output = RewardOutput.unscored(Status.TIMEOUT, f"the verifier took more than {limit:g} s")
            return
        self.output = read_rewards(lambda name, most: workspace.read(f"{VERIFIER}/{name}", most), self.runner.key)
        if not self.output.ok and self.done.code:
            last = (printable(self.done.output).strip().splitlines() or [""])[-1]
            self.notes.append(f"the verifier ended with {self.done.code}: {last[:200]}")


def combine_steps(task: Task, key: str, outputs: list[RewardOutput]) -> RewardOutput:
    """The reward of the steps that ran, as Harbor has it: the mean of each key, or the last step's."""
    unscored = next((each for each in outputs if not each.ok), None)
    if len(outputs) == 1 or unscored or task.tables.get("multi_step_reward_strategy") == "final":
        return unscored or outputs[-1]
    earned = [rewards_of(each, key) for each in outputs]
    names = dict.fromkeys(name for each in earned for name in each)
    means = {name: sum(each.get(name, 0.0) for each in earned) / len(earned) for name in names}
    return read_named_rewards(means, key, "")


def rewards_of(output: RewardOutput, key: str) -> dict[str, float]:
    """The named numbers of a scored output."""
    parts = {name: part.reward for name, part in output.components.items()}
    return {name: number for name, number in {key: output.reward, **parts}.items() if number is not None}


def printable(text: str) -> str:
    """A program's output without control characters, which would reach the user's terminal."""
    return _CONTROL.sub("?", text)


def run_task(
    task: Task,
    solution: str,
    runtime: Runtime,
    *,
    mode: str | None = None,
    key: str = "reward",
    tests: Path | None = None,
) -> Trial:
    """Run a task once; if it cannot be run, the trial has the reason."""
    try:
        chosen = solution_of(solution, task)
        with TaskRunner(task, runtime, mode, key) as runner:
            return runner.run(chosen, tests)
    except SandboxError as error:
        output = RewardOutput.unscored(Status.SKIPPED, f"cannot run: {error}")
        return Trial(task.name, solution, mode or task.mode, output, can_run=False)
