"""The message to a judge process: a program and its tests."""

import msgspec

from plaudit.sandbox.confined_process import RunLimits
from plaudit.sandbox.judging.suites import Suite


class Job(msgspec.Struct, frozen=True):
    """One program and the tests to judge it by.

    `stop_early` ends at the first failure; `trusts_objects` lets objects of the program answer comparisons. A
    `language` other than Python is judged by standard input and output; where the program chose it (`own_language`),
    that it cannot be run is its failure.
    """

    source: str
    suites: list[Suite]
    limits: RunLimits = RunLimits()
    stop_early: bool = True
    trusts_objects: bool = False
    judge_cpu_s: float = 10.0
    language: str = "python"
    own_language: bool = False
    wall_s: float = 60.0  # for the whole verdict, more only for what the program computes
