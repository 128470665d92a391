"""What travels to a judge process: a program and the tests to judge it by."""

import msgspec

from plaudit.sandbox.confined_process import RunLimits
from plaudit.sandbox.judging.suites import Suite

__all__ = ["Briefing", "Job"]


class Job(msgspec.Struct, frozen=True):
    """One program and the tests to judge it by.

    `stop_early` ends at the first failure; `in_process` runs the tests inside the program's process, where they can be
    forged; `fuzz` is how many inputs to make up and compare with `reference`. A `language` other than Python is judged
    by standard input and output; where the program chose it (`own_language`), that it cannot be run is its failure.
    """

    source: str
    suites: list[Suite]
    limits: RunLimits = RunLimits()
    stop_early: bool = True
    in_process: bool = False
    reference: str = ""
    fuzz: int = 0
    judge_cpu_s: float = 10.0
    language: str = "python"
    own_language: bool = False
    wall_s: float = 60.0  # for the whole verdict, more only for what the program computes


class Briefing(msgspec.Struct, frozen=True):
    """What a judge is told besides its job: the walls around the program, and where random numbers start."""

    tier: int
    seed: int
