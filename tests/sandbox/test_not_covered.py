"""Each line that the documentation lists as not covered is true: this is what a program can still do."""

import pytest

from plaudit.sandbox import CallStatus, RunLimits, Sandbox, Tier
from tests.sandbox.test_harms import documented

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


def any_value_can_be_returned(sandbox):
    with sandbox.open() as program:
        program.load("def f(): return 'forged'")
        return program.call("f").value == "forged"


def the_clock_can_be_read(sandbox):
    with sandbox.open() as program:
        program.load("import time\ndef f(): return time.time() > 0")
        return program.call("f").value is True


def each_call_has_its_whole_budget(sandbox):
    with sandbox.open(RunLimits(cpu_s=0.3)) as program:
        program.load(
            "import time\ndef f():\n    end = time.process_time() + 0.2\n    while time.process_time() < end: pass"
        )
        return [program.call("f").status for _ in range(3)] == [CallStatus.RETURNED] * 3


def files_can_be_asked_about_without_namespaces(sandbox):
    with Sandbox(at_most=Tier.LANDLOCK) as weaker:
        visible = size_of_passwd(weaker)
    hidden = size_of_passwd(sandbox) is None
    return visible and hidden is (sandbox.protections.tier is Tier.NAMESPACES)


def size_of_passwd(sandbox):
    with sandbox.open() as program:
        program.load(STAT_BY_HAND)
        return program.call("size", ["/etc/passwd"]).value


def some_modules_are_missing(sandbox):
    with sandbox.open() as program:
        return program.load("import ssl").error.name == "ModuleNotFoundError"


CLAIMS = {
    "values": any_value_can_be_returned,
    "the clock": the_clock_can_be_read,
    "time over many calls": each_call_has_its_whole_budget,
    "whether a file exists": files_can_be_asked_about_without_namespaces,
    "modules of the standard library": some_modules_are_missing,
}


def test_the_documentation_lists_what_is_not_covered_and_no_more():
    lines = documented("Not covered")
    assert len(lines) == len(CLAIMS)
    assert all(line.startswith(start) for line, start in zip(lines, CLAIMS, strict=True))


@pytest.mark.parametrize("is_true", CLAIMS.values(), ids=CLAIMS)
def test_actions_listed_as_not_covered_succeed(is_true, sandbox):
    assert is_true(sandbox)
