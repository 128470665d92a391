"""The rewards of a project, as the table `[tool.plaudit.ci]` of its pyproject.toml declares them, and its last release.

A reward is known by its name in the table, so its file and function may be renamed between two versions. The release
is the newest tag in the history. Its files are written as git would check them out, with the line ends that the
repository asks for; the working tree and the index are not touched.
"""

import os
import subprocess
import tomllib
from dataclasses import dataclass
from pathlib import Path

import msgspec

from plaudit.errors import InvalidSettings
from plaudit.settings import Count, NonNegativeInt, Positive, Share, read_settings

FILE = "pyproject.toml"
EXAMPLE = '[tool.plaudit.ci.rewards.quality]\nreward = "reward.py:quality"\ncases = "reward.cases.yaml"'


class RewardEntry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One reward; paths are relative to the folder of pyproject.toml."""

    reward: str
    """The spec"""
    cases: str | None = None
    """A case table: for test, audit and mutation"""
    rollouts: str | None = None
    """Samples: for check, audit and diff"""
    baseline: str | None = None
    """Accepted findings of the audit, as `plaudit audit --baseline FILE --accept` writes them"""
    data: tuple[str, ...] = ()
    """Further files whose hashes reward.lock keeps, such as the prompts of a training run"""
    threshold: float = 0.5
    """From which score or reward on a sample is right"""

    @property
    def files(self) -> list[str]:
        """All files that belong to the reward, apart from its code."""
        return [file for file in (self.cases, self.rollouts, *self.data) if file is not None]


class CiSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The table `[tool.plaudit.ci]`."""

    rewards: dict[str, RewardEntry]
    tag: str = "*"
    """Which tags are releases, as `git tag --list` matches them"""
    max_flips: Share = 0.0
    """The largest share of samples that may flip"""
    max_new_exploits: NonNegativeInt = 0
    """How many findings the audit may have that the release did not have"""
    min_mutation_score: Share = 0.0
    """The smallest share of mutants that the cases must notice"""
    mutants: Count = 100
    """The most mutants of a reward that are tried"""
    audit_calls: Count = 2000
    """How many responses an audit may score"""
    deadline: Positive = 10.0
    """Seconds for one sample"""
    seconds: Positive = 600.0
    """Seconds for one step; what takes longer is stopped"""


@dataclass(frozen=True, slots=True)
class Project:
    """A folder with a pyproject.toml, and its settings."""

    folder: Path
    settings: CiSettings

    def path(self, file: str) -> Path:
        """A file of the project."""
        return self.folder / file


def read_project(folder: str | Path) -> Project:
    """The project in a folder; raises InvalidSettings with the missing or wrong setting."""
    path = Path(folder).resolve() / FILE
    try:
        plain = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InvalidSettings(f"no {path}; declare the rewards of the project there:\n{EXAMPLE}") from None
    except (OSError, ValueError) as error:
        raise InvalidSettings(f"{path} cannot be read: {error}") from None
    table = plain.get("tool", {}).get("plaudit", {}).get("ci")
    if table is None:
        raise InvalidSettings(f"{path} declares no rewards; add a table for each:\n{EXAMPLE}")
    settings = read_settings(CiSettings, table, f"{path}: tool.plaudit.ci")
    if not settings.rewards:
        raise InvalidSettings(f"{path} declares no rewards; add a table for each:\n{EXAMPLE}")
    project = Project(path.parent, settings)
    for name, entry in settings.rewards.items():
        for file in (*entry.files, *([entry.baseline] if entry.baseline else [])):
            if not project.path(file).is_file():
                raise InvalidSettings(f"{path}: tool.plaudit.ci.rewards.{name} names {file}, which is no file")
    return project


OF_HOOKS = ("GIT_DIR", "GIT_INDEX_FILE", "GIT_WORK_TREE", "GIT_PREFIX")
"""The variables that git sets for its hooks; they would replace the project's repository with another one."""


class NoRelease(Exception):
    """There is no released version to compare with; the message gives the reason."""


@dataclass(frozen=True, slots=True)
class Release:
    """A commit under the name that it was found by, and whether the working tree differs from the last commit."""

    ref: str
    commit: str
    is_dirty: bool


def find_release(folder: Path, tag: str, ref: str | None = None) -> Release:
    """`ref`, or the newest tag that matches `tag` and is an ancestor of HEAD; raises NoRelease.

    A `ref` that git does not know is an error of the caller: InvalidSettings.
    """
    _git(folder, "rev-parse", "--show-toplevel")
    if ref is None:
        newest_first = ("--sort=-version:refname", "--sort=-creatordate")
        try:
            tags = _git(folder, "tag", "--list", tag, "--merged", "HEAD", *newest_first).splitlines()
        except NoRelease:
            raise NoRelease("the repository has no commit") from None
        if not tags:
            raise NoRelease(f"no tag matches {tag!r}; in a shallow clone, fetch tags and history (fetch-depth: 0)")
        ref = tags[0]
    try:
        commit = _git(folder, "rev-parse", "--verify", "--end-of-options", f"{ref}^{{commit}}").strip()
    except NoRelease:
        raise InvalidSettings(f"git has no commit {ref!r}; name a tag, a branch or a commit") from None
    return Release(ref, commit, bool(_git(folder, "status", "--porcelain").strip()))


def check_out(release: Release, folder: Path, destination: Path) -> Path:
    """Write all files of a release below a destination; returns the folder that `folder` was there."""
    top = Path(_git(folder, "rev-parse", "--show-toplevel").rstrip("\n"))
    index = {"GIT_INDEX_FILE": str(destination / "index")}
    _git(top, "read-tree", release.commit, variables=index)
    _git(top, "checkout-index", "--all", f"--prefix={destination / 'tree'}/", variables=index)
    project = destination / "tree" / folder.resolve().relative_to(top.resolve())
    if not project.is_dir():
        raise NoRelease(f"{release.ref} has no folder {folder.resolve().relative_to(top.resolve())}")
    return project


def _git(folder: Path, *arguments: str, variables: dict[str, str] | None = None) -> str:
    environment = {name: value for name, value in os.environ.items() if name not in OF_HOOKS} | (variables or {})
    try:
        done = subprocess.run(["git", *arguments], cwd=folder, env=environment, capture_output=True, check=True)
    except FileNotFoundError:
        raise NoRelease("git is not installed") from None
    except subprocess.CalledProcessError as error:
        lines = error.stderr.decode(errors="replace").strip().splitlines() or ["git failed"]
        raise NoRelease(lines[0].removeprefix("fatal: ")) from None
    return done.stdout.decode(errors="surrogateescape")
