"""Scratch space: one folder to write to, bounded, gone with the program; the ways out of it are in `test_harms`."""

import pytest

from plaudit.errors import SandboxError
from plaudit.sandbox import CallStatus, RunLimits, Sandbox, Tier
from plaudit.sandbox.child.confinement.namespaces import SCRATCH_FILES

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

HARD_TO_DELETE = [
    "for n in range(500): os.mkdir('d'); os.chdir('d')",
    "os.mkdir('d' * 255); open('d' * 255 + '/' + 'f' * 255, 'w')",
    "open(b'\\xff\\n\\r -rf', 'w'); os.mkdir(b'\\x80'); open('-', 'w')",
    "os.mkdir('a', 0o700); open('a/b', 'w'); os.chmod('a', 0); os.chmod('a/b', 0)",
    "for n in range(900): open(str(n), 'w')",
    "open('f', 'w').truncate(1 << 20); os.rename('f', 'g'); os.mkdir('a'); os.rename('g', 'a/g'); os.chdir('a')",
]


@pytest.fixture(scope="module")
def sandbox():
    with Sandbox(limits=LIMITS) as sandbox:
        yield sandbox


def called(sandbox, source, path, *args, limits=None):
    with sandbox.open(limits) as program:
        assert program.load(source).status is CallStatus.RETURNED
        return program.call(path, list(args))


def test_files_and_folders_work_as_anywhere(sandbox):
    outcome = called(sandbox, USE, "use")
    assert outcome.value == [["one", "two", "three"], [1], ["c.txt", "d"], ["e", "j.json"]], outcome.reason


def test_each_program_starts_with_an_empty_folder(sandbox):
    called(sandbox, USE, "use")
    assert called(sandbox, USE, "left").value == []


def test_two_programs_at_once_do_not_share_a_folder():
    with (
        Sandbox(limits=LIMITS) as first,
        Sandbox(limits=LIMITS) as second,
        first.open() as one,
        second.open() as other,
    ):
        for program in (one, other):
            program.load(USE)
        one.call("use")
        assert other.call("left").value == []


@pytest.mark.parametrize(("size", "most"), [(1 << 18, 20), (0, 2 * SCRATCH_FILES)], ids=["bytes", "files"])
def test_past_the_bounds_a_program_gets_an_error(sandbox, size, most):
    count, error = called(sandbox, FILL, "fill", size, most).value
    assert error == "ENOSPC"
    assert count * size <= LIMITS.scratch_mb << 20
    assert count < SCRATCH_FILES
    assert called(sandbox, USE, "left").value == []


@pytest.mark.parametrize("left", HARD_TO_DELETE, ids=range(len(HARD_TO_DELETE)))
def test_whatever_a_program_leaves_the_next_one_finds_nothing(sandbox, left):
    with sandbox.open() as program:
        program.load(f"import os\n{left}")
    assert called(sandbox, USE, "left").value == []
    assert not sandbox.lost


def test_a_file_longer_than_the_folder_ends_the_program(sandbox):
    assert called(sandbox, FILL, "far").status is CallStatus.SCRATCH_LIMIT


def test_printing_too_much_still_ends_a_program(sandbox):
    with sandbox.open(RunLimits(scratch_mb=2, output_bytes=1000)) as program:
        assert program.load("while True: print('x' * 1000)").status is CallStatus.OUTPUT_LIMIT


def test_each_size_and_none_has_a_server_of_its_own():
    with Sandbox() as sandbox:
        for scratch_mb in (1, 3):
            outcome = called(sandbox, FILL, "fill", 1 << 20, 9, limits=RunLimits(scratch_mb=scratch_mb))
            assert outcome.value == [scratch_mb, "ENOSPC"]
        outcome = called(sandbox, USE, "use", limits=RunLimits())
        assert (outcome.status, outcome.error.name) == (CallStatus.RAISED, "FileNotFoundError")


@pytest.mark.parametrize(("tier", "missing"), [(Tier.LANDLOCK, "namespaces"), (Tier.SECCOMP, "Landlock")])
def test_where_it_cannot_be_mounted_there_is_none_and_the_error_says_what_is_missing(tier, missing):
    with Sandbox(at_most=tier) as sandbox, pytest.raises(SandboxError, match=f"scratch_mb=2 needs {missing}"):
        sandbox.open(LIMITS)
