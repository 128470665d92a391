"""Each line that the documentation lists as not covered is true: this is what a program can still do."""

import pytest
from test_harms import documented

from plaudit.sandbox import Ending, RunLimits, Sandbox, Tier

STAT_BY_HAND = """
import ctypes, os
def size(path):
    libc = ctypes.CDLL(None)
    buffer = ctypes.create_string_buffer(256)
    number = {"x86_64": 262, "aarch64": 79}[os.uname().machine]
    if libc.syscall(number, -100, path.encode(), buffer, 0x1000) != 0:
        return None
    return int.from_bytes(buffer.raw[48:56], "little")
"""


@pytest.fixture(scope="module")
def sandbox():
    with Sandbox() as sandbox:
        yield sandbox


def what_it_can_do_is_return_any_value(sandbox):
    with sandbox.open() as program:
        program.load("def f(): return 'forged'")
        assert program.call("f").value == "forged"


def it_can_read_the_clock_and_the_name_of_the_machine(sandbox):
    with sandbox.open() as program:
        program.load("import os, time\ndef f(): return time.time() > 0 and len(os.uname().release) > 0")
        assert program.call("f").value is True


def each_call_has_its_whole_budget(sandbox):
    with sandbox.open(RunLimits(cpu_s=0.3)) as program:
        program.load(
            "import time\ndef f():\n    end = time.process_time() + 0.2\n    while time.process_time() < end: pass"
        )
        assert [program.call("f").ending for _ in range(3)] == [Ending.RETURNED] * 3


def files_can_be_asked_about_by_hand(sandbox):
    with Sandbox(at_most=Tier.LANDLOCK) as weaker, weaker.open() as program:
        program.load(STAT_BY_HAND)
        assert program.call("size", ["/etc/passwd"]).value > 0
    with sandbox.open() as program:
        program.load(STAT_BY_HAND)
        expected = None if sandbox.protections.tier is Tier.NAMESPACES else int
        assert program.call("size", ["/etc/passwd"]).value is expected or expected is int

    with weaker_with_scratch() as weaker, weaker.open() as program:
        program.load("import os\ndef size(path): return os.stat(path).st_size")
        assert program.call("size", ["/etc/passwd"]).value > 0


def weaker_with_scratch():
    return Sandbox(at_most=Tier.LANDLOCK, limits=RunLimits(scratch_mb=1))


def more_can_be_written_for_a_moment(_):
    source = "def f():\n    for name in 'abcd': open(name, 'wb').write(bytes(1 << 20))\n    return True"
    with weaker_with_scratch() as weaker:
        assert any(wrote(weaker, source) for _ in range(50))


def wrote(sandbox, source):
    with sandbox.open() as program:
        program.load(source)
        return program.call("f").value


def some_modules_are_missing(sandbox):
    with sandbox.open() as program:
        assert program.load("import sqlite3").error.name == "ModuleNotFoundError"


DEEDS = [
    what_it_can_do_is_return_any_value,
    it_can_read_the_clock_and_the_name_of_the_machine,
    each_call_has_its_whole_budget,
    files_can_be_asked_about_by_hand,
    more_can_be_written_for_a_moment,
    some_modules_are_missing,
]
STARTS = [
    "values",
    "the clock",
    "time over many calls",
    "whether a file exists",
    "more than scratch",
    "modules with large",
]


def test_the_documentation_lists_what_is_not_covered_and_no_more():
    lines = documented("Not covered")
    assert len(lines) == len(STARTS)
    assert all(line.startswith(start) for line, start in zip(lines, STARTS, strict=True))


@pytest.mark.parametrize("deed", DEEDS, ids=STARTS)
def test_what_is_listed_as_not_covered_can_be_done(deed, sandbox):
    deed(sandbox)
