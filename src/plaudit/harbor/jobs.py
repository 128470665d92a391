"""Read what Harbor wrote about its trials as rollouts, and verify recorded files again with other tests."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from plaudit.contract.output import RewardOutput, Status
from plaudit.errors import RolloutsError, SandboxError
from plaudit.harbor.images import Runtime
from plaudit.harbor.reward_files import read_rewards
from plaudit.harbor.task import Task
from plaudit.harbor.trial import TaskRunner
from plaudit.harbor.workspace import pack
from plaudit.rollouts import Rollout
from plaudit.trajectory import Step, Trajectory

_STATUS = {"VerifierTimeoutError": Status.TIMEOUT, "AgentTimeoutError": Status.TIMEOUT}


@dataclass(frozen=True, slots=True)
class RecordedTrial:
    """One trial folder: `result.json`, and what agent and verifier left beside it."""

    folder: Path
    result: dict[str, Any]

    @property
    def name(self) -> str:
        return str(self.result.get("trial_name") or self.folder.name)

    @property
    def task_name(self) -> str:
        return str(self.result.get("task_name") or self.folder.name.rpartition("__")[0])

    @property
    def output(self) -> RewardOutput:
        """The recorded reward; without one, the recorded exception is the reason."""
        verified = self.result.get("verifier_result") or {}
        rewards = verified.get("rewards") if isinstance(verified, dict) else None
        failure = self.result.get("exception_info") or {}
        if rewards:
            data = json.dumps(rewards).encode()
            return read_rewards(lambda name, _: ("file", data) if name == "reward.json" else ("missing", b""))
        kind, message = failure.get("exception_type", "no reward"), failure.get("exception_message", "")
        return RewardOutput.unscored(_STATUS.get(kind, Status.ERROR), f"{kind}: {message}".strip(": \n")[:500])

    @property
    def rollout(self) -> Rollout:
        """The trial as a rollout: the trajectory that the agent recorded, and its reward."""
        prompt, response, steps = self._conversation()
        agent = (self.result.get("agent_info") or {}).get("name")
        columns = {"agent": agent, "mode": self.result.get("verifier_environment_mode")}
        trajectory = Trajectory(
            prompt, response, id=self.name, group=self.task_name, steps=steps,
            columns={name: value for name, value in columns.items() if value is not None},
        )  # fmt: skip
        return Rollout(trajectory, self.output)

    def _conversation(self) -> tuple[str, str, list[Step]]:
        """Prompt, last message of the agent, and steps, from the recorded trajectory (ATIF)."""
        file = self.folder / "agent" / "trajectory.json"
        if not file.is_file():
            return self._instruction(), "", []
        entries = [each for each in _read_json(file).get("steps", []) if isinstance(each, dict)]
        prompt = next((_text(each.get("message")) for each in entries if each.get("source") == "user"), "")
        messages = [each for each in entries if each.get("source") == "agent"]
        steps, seen = [], ""
        for each in messages:
            calls = "\n".join(json.dumps(call) for call in each.get("tool_calls") or [])
            steps.append(Step(seen, "\n".join(filter(None, (_text(each.get("message")), calls)))))
            results = (each.get("observation") or {}).get("results", [])
            seen = "\n".join(_text(result.get("content")) for result in results)
        return prompt or self._instruction(), _text(messages[-1].get("message")) if messages else "", steps

    def _instruction(self) -> str:
        config = _read_json(self.folder / "config.json") if (self.folder / "config.json").is_file() else {}
        path = (config.get("task") or {}).get("path")
        file = Path(path) / "instruction.md" if path else None
        return file.read_text(encoding="utf-8") if file is not None and file.is_file() else self.task_name

    def recorded_files(self) -> dict[str, bytes | Path]:
        """The files that Harbor kept of the agent's workspace, by their paths there."""
        folder = self.folder / "artifacts"
        manifest = _read_json(folder / "manifest.json") if (folder / "manifest.json").is_file() else []
        entries = manifest.get("artifacts", manifest) if isinstance(manifest, dict) else manifest
        files: dict[str, bytes | Path] = {}
        for entry in entries if isinstance(entries, list) else []:
            kept = self.folder / str(entry.get("destination", "")).removeprefix("/")
            kept = kept if kept.exists() else folder / str(entry.get("destination", "")).removeprefix("artifacts/")
            source = str(entry.get("source", "")).rstrip("/")
            if source.startswith("/") and kept.exists() and kept.resolve().is_relative_to(self.folder.resolve()):
                files[source.lstrip("/")] = kept
        return files


def read_trials(path: Path) -> Iterator[RecordedTrial]:
    """The trials of a job folder, of a folder of jobs, or of one trial folder."""
    results = sorted(file for file in path.rglob("result.json") if "trial_name" in _read_json(file))
    if not results:
        raise RolloutsError(f"{path} holds no trials of Harbor: there is no result.json with a trial_name")
    for file in results:
        yield RecordedTrial(file.parent, _read_json(file))


def verify_job(
    path: Path, tasks: list[Task], runtime: Runtime, tests: Path | None = None, key: str = "reward"
) -> list[Rollout]:
    """The trials of a job with the rewards of their recorded files under the tasks' tests, or under other ones."""
    by_name = {name: task for task in tasks for name in (task.name, str(task.table("task").get("name", "")))}
    groups: dict[str, list[RecordedTrial]] = {}
    for trial in read_trials(path):
        groups.setdefault(trial.task_name, []).append(trial)
    rollouts = []
    for name, trials in groups.items():
        try:
            if name not in by_name:
                raise SandboxError(f"no task {name} among --tasks")
            with TaskRunner(by_name[name], runtime, "separate", key) as runner:
                outputs = [_verify(trial, runner, tests) for trial in trials]
        except SandboxError as error:
            outputs = [RewardOutput.unscored(Status.SKIPPED, f"cannot run: {error}")] * len(trials)
        rollouts += [trial.rollout._replace(output=output) for trial, output in zip(trials, outputs, strict=True)]
    return rollouts


def _verify(trial: RecordedTrial, runner: TaskRunner, tests: Path | None) -> RewardOutput:
    files = trial.recorded_files()
    if not files:
        reason = "Harbor kept no files of the agent: declare artifacts in task.toml before running it"
        return RewardOutput.unscored(Status.SKIPPED, reason)
    return runner.verify(pack(files), tests)


def _read_json(file: Path) -> Any:
    try:
        return json.loads(file.read_text(encoding="utf-8"))
    except (ValueError, OSError) as error:
        raise RolloutsError(f"{file}: {error}") from None


def _text(message: Any) -> str:
    """A message as text: a string, or the text parts of a list."""
    if isinstance(message, str):
        return message
    parts = message if isinstance(message, list) else []
    return "\n".join(str(part.get("text", "")) for part in parts if isinstance(part, dict))
