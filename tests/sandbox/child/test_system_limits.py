"""A system limit that is too small is an error that names the limit and the remedy, never a crash, hang or score."""

import errno
import resource
import subprocess
import sys

import pytest

from plaudit.sandbox.child.system_limits import explain_error, find_small_limit

START = """
import resource
from plaudit.errors import SandboxError
from plaudit.sandbox import RunLimits, Sandbox
resource.setrlimit(resource.{kind}, ({value}, {value}))
try:
    Sandbox().open(RunLimits(memory_mb=512))
except SandboxError as error:
    print(error)
"""


@pytest.mark.parametrize(
    ("kind", "value", "option"),
    [
        ("RLIMIT_NOFILE", 40, "-n"),
        ("RLIMIT_AS", 700 << 20, "-v"),
        ("RLIMIT_FSIZE", 1 << 20, "-f"),
        ("RLIMIT_CPU", 2, "-t"),
    ],
)
def test_a_small_limit_is_named_with_its_remedy(kind, value, option):
    code = START.format(kind=kind, value=value)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert f"(ulimit {option}), which is too small; raise it to at least" in done.stdout
    assert f"(ulimit {option} " in done.stdout


@pytest.mark.parametrize("error", [OSError(errno.EMFILE, "x"), OSError(errno.EAGAIN, "x"), MemoryError("x")], ids=repr)
def test_an_error_that_a_limit_causes_names_the_limit(error, monkeypatch):
    monkeypatch.setattr(resource, "getrlimit", lambda kind: (7 << 10, 7 << 10))
    assert explain_error(error).startswith("x" if not isinstance(error, OSError) else f"[Errno {error.errno}] x")
    assert "ulimit" in explain_error(error)
    assert explain_error(OSError(errno.ENOENT, "x")) == "[Errno 2] x"


def test_limits_that_are_large_enough_are_not_named():
    assert find_small_limit({resource.RLIMIT_NOFILE: 1}) == ""
