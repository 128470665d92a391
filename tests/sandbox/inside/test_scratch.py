"""Scratch space: one folder to write to, bounded, gone with the program; the ways out of it are in `test_harms`."""

import errno
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from plaudit.errors import SandboxError
from plaudit.sandbox import Ending, RunLimits, Sandbox, Tier
from plaudit.sandbox.inside.walls.scratch import MAX_FILES, Scratch

LIMITS = RunLimits(scratch_mb=2)
USE = """
import json, os, pathlib, shutil, tempfile
def use():
    with open("a.txt", "w") as file: file.write("one\\ntwo\\n")
    with open("a.txt", "a") as file: file.write("three")
    os.makedirs("d/e"); shutil.copy2("a.txt", "d/e/b.txt"); os.rename("a.txt", "c.txt")
    json.dump([1], open("d/j.json", "w")); pathlib.Path("d/x").write_bytes(b"x"); os.remove("d/x")
    with tempfile.TemporaryDirectory() as made, tempfile.TemporaryFile() as file:
        pathlib.Path(made, "t").write_text("t"); file.write(b"t")
    kept = pathlib.Path("d/e/b.txt").resolve().read_text().split()
    return [kept, json.load(open("d/j.json")), sorted(os.listdir()), sorted(os.listdir("d"))]
def left():
    return os.listdir()
"""
FILL = """
import errno, os
def fill(size, most):
    for number in range(most):
        try:
            with open(f"f{number}", "wb", 0) as file: file.write(bytes(size))
        except OSError as error:
            return [number, errno.errorcode[error.errno]]
    while True: pass
def far():
    try:
        with open("far", "wb", 0) as file: file.seek(1 << 40); file.write(b"x")
    except OSError as error:
        return errno.errorcode[error.errno]
"""


@pytest.fixture(scope="module", params=[Tier.NAMESPACES, Tier.LANDLOCK], ids=["mounted", "watched"])
def sandbox(request):
    with Sandbox(limits=LIMITS, at_most=request.param) as sandbox:
        yield sandbox


def called(sandbox, source, path, *args, limits=None):
    with sandbox.open(limits) as program:
        assert program.load(source).ending is Ending.RETURNED
        return program.call(path, list(args))


def folders():
    return list(Path(tempfile.gettempdir()).glob(f"plaudit-scratch-{os.getpid()}-*"))


def test_files_and_folders_work_as_anywhere(sandbox):
    outcome = called(sandbox, USE, "use")
    assert outcome.value == [["one", "two", "three"], [1], ["c.txt", "d"], ["e", "j.json"]], outcome.reason


def test_each_program_starts_with_an_empty_folder(sandbox):
    called(sandbox, USE, "use")
    assert called(sandbox, USE, "left").value == []


def test_two_programs_at_once_do_not_share_a_folder(sandbox):
    with (
        Sandbox(limits=LIMITS, at_most=sandbox.protections.tier) as first,
        Sandbox(limits=LIMITS, at_most=sandbox.protections.tier) as second,
        first.open() as one,
        second.open() as other,
    ):
        for program in (one, other):
            program.load(USE)
        one.call("use")
        assert other.call("left").value == []


@pytest.mark.parametrize(("size", "most"), [(1 << 18, 20), (0, 2 * MAX_FILES)], ids=["bytes", "files"])
def test_past_the_bounds_a_program_gets_an_error_or_is_ended(sandbox, size, most):
    outcome = called(sandbox, FILL, "fill", size, most)
    if sandbox.protections.tier is Tier.NAMESPACES:
        count, error = outcome.value
        assert error == "ENOSPC"
        assert count * size <= LIMITS.scratch_mb << 20
        assert count < MAX_FILES
    else:
        assert outcome.ending is Ending.SCRATCH_LIMIT
    assert called(sandbox, USE, "left").value == []


def test_a_file_longer_than_the_folder_is_an_error_and_not_the_end(sandbox):
    assert called(sandbox, FILL, "far").value == errno.errorcode[errno.EFBIG]


def test_a_program_without_scratch_space_has_none_on_the_same_server(sandbox):
    outcome = called(sandbox, USE, "use", limits=RunLimits())
    assert (outcome.ending, outcome.error.name) == (Ending.RAISED, "FileNotFoundError")


def test_printing_too_much_still_ends_a_program(sandbox):
    with sandbox.open(RunLimits(scratch_mb=2, output_bytes=1000)) as program:
        assert program.load("while True: print('x' * 1000)").ending is Ending.OUTPUT_LIMIT


def test_another_size_has_a_server_of_its_own():
    with Sandbox() as sandbox:
        mounted = sandbox.protections.tier is Tier.NAMESPACES
        for scratch_mb in (1, 3):
            outcome = called(sandbox, FILL, "fill", 1 << 20, 9, limits=RunLimits(scratch_mb=scratch_mb))
            assert outcome.value == ([scratch_mb, "ENOSPC"] if mounted else None)


def test_without_landlock_it_is_refused_and_says_what_is_missing():
    before = folders()
    with Sandbox(at_most=Tier.SECCOMP) as sandbox, pytest.raises(SandboxError, match="needs Landlock"):
        sandbox.open(LIMITS)
    assert folders() == before


def test_no_folder_is_left_when_a_sandbox_is_closed():
    before = folders()
    with Sandbox(limits=LIMITS, at_most=Tier.LANDLOCK) as sandbox:
        called(sandbox, USE, "use")
        assert len(folders()) == len(before) + 1
    assert folders() == before


@pytest.fixture
def shared_folder():
    """A folder as /tmp is; servers that have become another user remove what is theirs."""
    with tempfile.TemporaryDirectory(prefix="plaudit-test-") as name:
        os.chmod(name, 0o1777)
        yield Path(name)


def test_no_folder_is_left_when_the_judge_is_killed(shared_folder):
    code = (
        "import time\nfrom plaudit.sandbox import *\n"
        f"program = Sandbox(limits=RunLimits(scratch_mb=1), at_most=Tier.LANDLOCK).open()\nprogram.load({USE!r})\n"
        "program.call('use')\nprint('ready', flush=True)\ntime.sleep(100)"
    )
    judge = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, env={**os.environ, "TMPDIR": str(shared_folder)}
    )
    assert judge.stdout.readline() == b"ready\n"
    assert len(list(shared_folder.iterdir())) == 1
    judge.send_signal(signal.SIGKILL)
    judge.wait()
    judge.stdout.close()
    deadline = time.monotonic() + 20
    while list(shared_folder.iterdir()) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert list(shared_folder.iterdir()) == []


def test_a_folder_with_something_in_it_is_never_taken_as_scratch_space(tmp_path):
    (tmp_path / "mine").write_text("x")
    folder = os.open(tmp_path, os.O_RDONLY)
    try:
        with pytest.raises(FileExistsError, match="must be new"):
            Scratch(folder, 1 << 20, str(tmp_path))
    finally:
        os.close(folder)
