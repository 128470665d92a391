"""A Harbor task folder: `task.toml`, instruction, environment, tests and solution.

Reading is tolerant, as Harbor's is: unknown keys and wrong types become `problems`, which `plaudit harbor check`
reports. `obstacle` says why a task cannot be run in a workspace of ours.
"""

import os
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

from plaudit.errors import InvalidSettings, did_you_mean

_Kinds: TypeAlias = tuple[type, ...]
_NUMBER: _Kinds = (int, float)
_TEXT: _Kinds = (str,)
_TABLE: _Kinds = (dict,)
_LIST: _Kinds = (list,)
_USER: _Kinds = (str, int)
_NETWORK: dict[str, _Kinds] = {"network_mode": _TEXT, "allowed_hosts": _LIST}
_Keys: TypeAlias = dict[str, tuple[type, ...]]
_ENVIRONMENT: _Keys = {
    "build_timeout_sec": _NUMBER, "docker_image": _TEXT, "os": _TEXT, "cpus": _NUMBER, "memory_mb": _NUMBER,
    "storage_mb": _NUMBER, "memory": _TEXT, "storage": _TEXT, "gpus": _NUMBER, "gpu_types": _LIST, "tpu": _TABLE,
    "env": _TABLE, "workdir": _TEXT, "skills_dir": _TEXT, "allow_internet": (bool,), "healthcheck": _TABLE,
    "mcp_servers": _LIST, **_NETWORK,
}  # fmt: skip
_AGENT: _Keys = {"timeout_sec": _NUMBER, "user": _USER, **_NETWORK}
_VERIFIER: _Keys = {
    "timeout_sec": _NUMBER, "env": _TABLE, "user": _USER, "environment_mode": _TEXT, "environment": _TABLE,
    "collect": _LIST, **_NETWORK,
}  # fmt: skip
KEYS: dict[str, _Keys] = {
    "": {
        "schema_version": _TEXT, "version": _TEXT, "source": _TEXT, "artifacts": _LIST, "task": _TABLE,
        "metadata": _TABLE, "agent": _TABLE, "verifier": _TABLE, "environment": _TABLE, "solution": _TABLE,
        "steps": _LIST, "multi_step_reward_strategy": _TEXT,
    },
    "task": {"name": _TEXT, "version": _TEXT, "description": _TEXT, "authors": _LIST, "keywords": _LIST},
    "agent": _AGENT,
    "verifier": _VERIFIER,
    "environment": _ENVIRONMENT,
    "verifier.environment": _ENVIRONMENT,
    "solution": {"env": _TABLE},
}  # fmt: skip
"""Every key of `task.toml` and the types of its value, by table."""
MODES = ("shared", "separate")
_VARIABLE = re.compile(r"\$\{(\w+)(?::-([^}]*))?\}")
_CANARY = re.compile(r"\A(?:\s*(?:<!--.*?-->|#[^\n]*canary[^\n]*)\n?)+", re.IGNORECASE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Task:
    """One task folder, read; tables are those of `task.toml`, empty where it has none."""

    folder: Path
    tables: dict[str, Any]
    problems: tuple[str, ...]
    outer: Path | None = None
    """The folder of the task, if this is a step of it."""

    @property
    def steps(self) -> tuple["Task", ...]:
        """The steps in their order, with what the task sets for all of them; a task without steps is its only step."""
        listed = [each for each in self.tables.get("steps", []) if isinstance(each, dict)]
        return tuple(
            replace(
                self,
                folder=self.folder / "steps" / str(each.get("name")),
                tables={
                    **{name: value for name, value in self.tables.items() if name != "steps"},
                    **{name: {**self.table(name), **each.get(name, {})} for name in ("agent", "verifier")},
                    "artifacts": [*self.tables.get("artifacts", []), *each.get("artifacts", [])],
                    "min_reward": each.get("min_reward"),
                },
                outer=self.folder,
            )
            for each in listed
        ) or (self,)

    @property
    def tests(self) -> list[Path]:
        """The folders of the tests; the files of a later one replace those of an earlier one."""
        folders = [self.folder / "tests"] if self.outer is None else [self.outer / "tests", self.folder / "tests"]
        return [each for each in folders if each.is_dir()]

    @property
    def name(self) -> str:
        return self.folder.name

    @property
    def instruction(self) -> str:
        """The instruction without leading canary lines."""
        file = self.folder / "instruction.md"
        text = file.read_text(encoding="utf-8") if file.is_file() else ""
        return _CANARY.sub("", text).lstrip() if "canary" in text.lower() else text

    @property
    def mode(self) -> str:
        """The place of the verifier: the agent's live workspace (shared, Harbor's default) or a fresh one."""
        verifier = self.table("verifier")
        declared = verifier.get("environment_mode")
        separate = "environment" in verifier or any((each / "Dockerfile").exists() for each in self.tests)
        return declared if declared in MODES else "separate" if separate else "shared"

    @property
    def artifacts(self) -> list[str]:
        """The declared paths that cross to a separate verifier."""
        listed = [each["source"] if isinstance(each, dict) else each for each in self.tables.get("artifacts", [])]
        return [str(path).rstrip("/") for path in listed if str(path).startswith("/")]

    def table(self, name: str) -> dict[str, Any]:
        table = self.tables.get(name)
        return table if isinstance(table, dict) else {}

    def seconds(self, table: str, default: float) -> float:
        """The time limit of a phase."""
        value = self.table(table).get("timeout_sec")
        return float(value) if isinstance(value, int | float) and value > 0 else default

    def user(self, table: str) -> str | int | None:
        user: str | int | None = self.table(table).get("user")
        return user

    def env(self, table: str) -> dict[str, str]:
        """Variables of a phase, with `${NAME}` taken from this process's environment."""
        variables: Mapping[str, Any] = self.table(table).get("env", {})
        return {name: _VARIABLE.sub(_from_host, str(value)) for name, value in variables.items()}

    def obstacle(self, *, takes_images: bool = False) -> str:
        """The reason why the task cannot be run; empty if none is known. With `takes_images`, prebuilt images are
        possible.
        """
        environment = self.table("environment")
        dockerfile = (self.folder / "environment" / "Dockerfile").is_file()
        compose = any((self.folder / "environment").glob("docker-compose.y*ml"))
        reasons = {
            "it is for Windows": environment.get("os") == "windows",
            "it needs a GPU": bool(environment.get("gpus") or environment.get("tpu")),
            "its docker-compose.yaml has services beside the workspace": compose,
            f"its image {environment.get('docker_image')} is prebuilt, and there is no Dockerfile": not dockerfile
            and "docker_image" in environment
            and not takes_images,
            "there is no environment/Dockerfile": not dockerfile and "docker_image" not in environment,
            "there is no tests/test.sh": not all(
                any((tests / "test.sh").is_file() for tests in step.tests) for step in self.steps
            ),
            "a step has a verifier image or an environment_mode of its own": any(
                (step.folder / "tests" / "Dockerfile").exists() or step.mode != self.mode
                for step in self.steps
                if step.outer
            ),
            "task.toml cannot be read": not self.tables and bool(self.problems),
        }
        return next((reason for reason, holds in reasons.items() if holds), "")


def find_tasks(paths: list[Path]) -> list[Task]:
    """The tasks in folders: a task folder itself, or all task folders directly in it."""
    folders = []
    for path in paths:
        if (path / "task.toml").is_file():
            folders.append(path)
            continue
        inner = sorted(each.parent for each in path.glob("*/task.toml")) if path.is_dir() else []
        if not inner:
            raise InvalidSettings(f"{path} is no task and holds none: there is no task.toml")
        folders += inner
    return [read_task(folder) for folder in folders]


def read_task(folder: Path) -> Task:
    """The task in a folder."""
    try:
        tables = tomllib.loads((folder / "task.toml").read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InvalidSettings(f"{folder} is no task: there is no task.toml") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        return Task(folder.resolve(), {}, (f"task.toml: {error}",))
    return Task(folder.resolve(), tables, tuple(_problems(tables)))


def _problems(tables: dict[str, Any]) -> Iterator[str]:
    for name, keys in KEYS.items():
        table: Any = tables
        for part in filter(None, name.split(".")):
            table = table.get(part, {}) if isinstance(table, dict) else {}
        if not isinstance(table, dict):
            continue
        for key, value in table.items():
            written = f"{name}.{key}".lstrip(".")
            if key not in keys:
                yield f"task.toml: unknown key {written}{did_you_mean(key, keys)}"
            elif not isinstance(value, keys[key]) or (isinstance(value, bool) and bool not in keys[key]):
                yield f"task.toml: {written} must be {_kinds(keys[key])}, got {value!r:.60}"
    if "task" in tables and "/" not in str(tables["task"].get("name", "")):
        yield "task.toml: task.name must have the form org/name"
    mode = tables.get("verifier", {}).get("environment_mode")
    if mode is not None and mode not in MODES:
        yield f"task.toml: verifier.environment_mode must be shared or separate, got {mode!r}"


def _kinds(kinds: tuple[type, ...]) -> str:
    words = {int: "a number", float: "a number", str: "text", dict: "a table", list: "a list", bool: "true or false"}
    return " or ".join(dict.fromkeys(words[kind] for kind in kinds))


def _from_host(match: re.Match[str]) -> str:
    value = os.environ.get(match[1], match[2])
    if value is None:
        raise InvalidSettings(f"task.toml takes {match[1]} from the environment, and it is not set")
    return value
