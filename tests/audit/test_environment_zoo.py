"""The zoo of environments: every planted bug is found by a family that names it, and nothing is found in sound ones."""

import pytest

from plaudit.audit import audit_environment
from plaudit.loading import load_agent
from tests.audit.environment_zoo.roster import CHANCE, FLAWED, LEAK, SECOND_FLAWED, SECOND_SOUND, SOUND, Entry
from tests.parts import part

DEADLINE_S = 3.0
IN_PROCESSES = {"contract", LEAK, CHANCE}
"""Bugs that show, or are told apart, only where environments run in processes; the others are quicker in this one."""


def audit(entry: Entry):
    environment = entry.spec if entry.families & IN_PROCESSES else load_agent(entry.spec).environment
    return audit_environment(environment, entry.examples, deadline_s=DEADLINE_S)


def quick(entries: dict[str, Entry]) -> list[str]:
    """A part of the entries that are audited in this process, and the first of each family that needs processes.

    `benchmarks/audit_environments.py` audits all of them, in processes.
    """
    kept: dict[str, str] = {}
    for name, entry in entries.items():
        families = sorted(entry.families & IN_PROCESSES)
        if families or part([name], 3):
            kept.setdefault(families[0] if families else name, name)
    return list(kept.values())


# Bugs that each stand for a rule, and a sound one with much that looks odd; the others of the second set take minutes.
SECOND = {name: SECOND_FLAWED[name] for name in ("OrderOfASet", "TellsTheAnswer", "StatusTool", "ObeysTheDirectory")}
SECOND |= {name: SECOND_FLAWED[name] for name in ("GymGoalAgain", "CachingWorld")}


@pytest.mark.parametrize("name", [*quick(FLAWED), *SECOND])
def test_a_planted_bug_is_found(name):
    entry = {**FLAWED, **SECOND}[name]
    report = audit(entry)
    families = {finding.family for finding in report.findings}
    assert families & entry.families, [finding.message for finding in report.findings]


@pytest.mark.parametrize("name", [*part(SOUND, 3), "Storeroom", "HigherLower", "GymMaze"])
def test_nothing_is_found_in_a_sound_environment(name):
    report = audit({**SOUND, **SECOND_SOUND}[name])
    assert [finding.message for finding in report.findings] == []
    assert report.searched


def test_the_zoo_is_large_enough():
    assert len(FLAWED) >= 20
    assert len(SOUND) >= 10
