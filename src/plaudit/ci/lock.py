"""`reward.lock`: the content key of each reward of a project, what the key consists of, hashes of its data, and a card.

The key is that of the cache. Paths are relative to the folder of the lock, and line ends of text files do not count, so
the lock is the same in every checkout.
"""

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import msgspec

from plaudit.ci.commands import run_command
from plaudit.ci.project import Project
from plaudit.contract.function import RewardFunction
from plaudit.engine.caching.identity import NotIdentified, reward_contents
from plaudit.errors import InvalidSettings

LOCK = "reward.lock"
VERSION = 1
BINARY = (".parquet", ".gz")
REMEDY = "undo the change, or run `plaudit lock` to accept it"


def write_lock(project: Project) -> Path:
    """Write the lock of a project; raises InvalidSettings for a reward that cannot be loaded."""
    rewards = {name: lock_entry(project, name) for name in project.settings.rewards}
    path = project.path(LOCK)
    plain = msgspec.json.encode({"version": VERSION, "rewards": rewards}, order="deterministic")
    path.write_bytes(msgspec.json.format(plain, indent=2) + b"\n")
    return path


def lock_entry(project: Project, name: str) -> dict[str, Any]:
    """The entry of a lock for the current version of a reward."""
    entry = project.settings.rewards[name]
    done = run_command(["rewards", "--json", "--", entry.reward], project.folder, project.settings.seconds)
    if done.code != 0 or "contents" not in done.value:
        reason = done.message or "its code is in no file"
        raise InvalidSettings(f"the reward {name} cannot be locked: {reason}")
    described, contents = done.value, done.value["contents"]
    card = {part: described[part] for part in ("name", "doc", "parts", "promises", "card") if described.get(part)}
    return {
        "reward": entry.reward,
        **contents,
        "files": _relative(contents["files"], project.folder),
        "data": {file: hash_file(project.path(file)) for file in entry.files},
        "card": card,
    }


def read_lock(path: Path) -> dict[str, dict[str, Any]]:
    """The rewards of a lock by name; raises InvalidSettings."""
    try:
        plain = msgspec.json.decode(path.read_bytes())
    except FileNotFoundError:
        raise InvalidSettings(f"no {path}; `plaudit lock` writes it") from None
    except (OSError, ValueError) as error:
        raise InvalidSettings(f"{path} cannot be read: {error}; write it again with `plaudit lock`") from None
    rewards = plain.get("rewards") if isinstance(plain, dict) and plain.get("version") == VERSION else None
    if not isinstance(rewards, dict) or not all(isinstance(each, dict) and "key" in each for each in rewards.values()):
        raise InvalidSettings(f"{path} is not a lock of this version; write it again with `plaudit lock`")
    return rewards


def compare_lock(locked: Mapping[str, Any], current: Mapping[str, Any]) -> list[str]:
    """The differences, a line for each; empty if the key and all data are the same."""
    changes = [
        *_changed("Python", {"": locked.get("python")}, {"": current["python"]}),
        *_changed("plaudit", {"": locked.get("plaudit")}, {"": current["plaudit"]}),
        *_changed("package", locked.get("packages", {}), current["packages"]),
        *_changed("file", locked.get("files", {}), current["files"], show=False),
        *_changed("data", locked.get("data", {}), current["data"], show=False),
    ]
    if not changes and locked.get("settings") != current["settings"]:
        changes.append(f"the settings of the reward (locked as {locked.get('reward')}, now {current['reward']})")
    return changes or ([] if locked["key"] == current["key"] else ["the content key"])


def require_lock(path: str | Path, reward: RewardFunction, data: str | None = None) -> None:
    """Raise InvalidSettings, with what changed, unless a lock holds this reward, and the data file if there is one."""
    file = Path(path)
    locked = read_lock(file)
    try:
        contents = asdict(reward_contents(reward))
    except NotIdentified as error:
        raise InvalidSettings(f"{reward.name} cannot be compared with {file}: {error}") from None
    contents["files"] = _relative(contents["files"], file.resolve().parent)
    name = _closest(locked, reward.name, contents)
    if name is None:
        raise InvalidSettings(
            f"{file} has no reward like {reward.name} (it has {', '.join(locked) or 'none'}); declare it in "
            "[tool.plaudit.ci.rewards] of pyproject.toml and run `plaudit lock`"
        )
    entry = locked[name]
    changes = compare_lock(entry, {**contents, "reward": repr(reward), "data": entry.get("data", {})})
    if changes:
        raise InvalidSettings(
            f"the reward differs from {name} in {file}: {'; '.join(changes)}; undo the change, or check the reward "
            "(`plaudit ci`) and run `plaudit lock`"
        )
    if data is not None and hash_file(Path(data)) not in entry.get("data", {}).values():
        raise InvalidSettings(
            f"{file} has no data with the content of {data} under {name}: undo the change, or put the file into `data` "
            f"of [tool.plaudit.ci.rewards.{name}] in pyproject.toml and run `plaudit lock`"
        )


def hash_file(path: Path) -> str:
    """The SHA-256 of a file; of text files, with line ends as `\\n`."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise InvalidSettings(f"{path} cannot be read: {error.strerror}") from None
    if path.suffix not in BINARY:
        content = content.replace(b"\r\n", b"\n")
    return f"sha256:{hashlib.sha256(content).hexdigest()}"


def _relative(files: Mapping[str, str], folder: Path) -> dict[str, str]:
    """The files by their paths in a folder; those outside it by their names."""
    return {
        Path(file).relative_to(folder).as_posix() if Path(file).is_relative_to(folder) else Path(file).name: text
        for file, text in files.items()
    }


def _closest(locked: Mapping[str, Mapping[str, Any]], name: str, contents: Mapping[str, Any]) -> str | None:
    """The locked reward with this key, or else of this name, or else with files of the same names; None if none is."""

    def likeness(entry: Mapping[str, Any]) -> tuple[bool, bool, int]:
        shared = entry.get("files", {}).keys() & contents["files"].keys()
        return entry["key"] == contents["key"], entry.get("card", {}).get("name") == name, len(shared)

    closest = max(locked, key=lambda each: likeness(locked[each]), default=None)
    return closest if closest is not None and any(likeness(locked[closest])) else None


def _changed(what: str, old: Mapping[str, Any], new: Mapping[str, Any], *, show: bool = True) -> Iterator[str]:
    for name in sorted(old.keys() | new.keys()):
        before, after = old.get(name), new.get(name)
        if before != after:
            verb = "is new" if before is None else "is gone" if after is None else "changed"
            yield f"{what} {name} {before} → {after}".replace("  ", " ") if show else f"{what} {name} {verb}"
