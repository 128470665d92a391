"""The rewards of a project, as the table `[tool.plaudit.ci]` of its pyproject.toml declares them.

A reward is known by its name in the table, so its file and function may be renamed between two versions.
"""

import tomllib
from dataclasses import dataclass
from pathlib import Path

import msgspec

from plaudit.errors import InvalidSettings
from plaudit.settings import Count, NonNegativeInt, Positive, Share, read_settings

__all__ = ["CiSettings", "Project", "RewardEntry", "read_project"]

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
    """The project in a folder; InvalidSettings says what is missing or wrong."""
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
