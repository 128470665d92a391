"""The last released version of a project: the newest tag in the history, taken out of git into a folder.

Files are written as git would check them out, with the line ends that the repository asks for; the working tree and
the index are not touched.
"""

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

from plaudit.errors import InvalidSettings

__all__ = ["NoRelease", "Release", "check_out", "find_release"]

OF_HOOKS = ("GIT_DIR", "GIT_INDEX_FILE", "GIT_WORK_TREE", "GIT_PREFIX")
"""What git sets for its hooks, and what would then be used in place of the project's repository."""


class NoRelease(Exception):
    """There is no released version to compare with; says why."""


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
        raise InvalidSettings(f"git knows no commit {ref!r}; name a tag, a branch or a commit") from None
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
