"""The filter, run by a small interpreter of its own, does for each call what the lists say, on both architectures."""

import errno
import functools

import pytest

from plaudit.sandbox.child.confinement.profiles import PROGRAM, Profile
from plaudit.sandbox.child.confinement.seccomp import OWN_PID, build_filter
from plaudit.sandbox.child.confinement.syscalls import (
    ABSENT,
    ALLOWED,
    AUDIT_ARCH,
    CHANGING,
    EXECUTING,
    FOLDER,
    HIDDEN,
    LOOKING,
    NUMBERS,
    PRETENDED,
    PROCESSES,
)

ALLOW, KILL = 0x7FFF0000, 0x80000000
MACHINES = list(AUDIT_ARCH)


@functools.cache
def filter_code(machine, profile, *, paths):
    return build_filter(profile, paths=paths, machine=machine).code


SCRATCH, JUDGE = Profile(folder_mb=1), Profile(receives_descriptors=True)
COMMAND, COMPILER = Profile(executes=True), Profile(executes=True, compiles=True, folder_mb=1)


def run(machine, number, *arguments, arch=None, profile=PROGRAM, paths=True):
    words = {0: number & 0xFFFFFFFF, 4: arch or AUDIT_ARCH[machine]}
    for place, argument in enumerate((*arguments, *(0,) * (6 - len(arguments)))):
        words[16 + 8 * place], words[20 + 8 * place] = argument & 0xFFFFFFFF, (argument >> 32) & 0xFFFFFFFF
    code, place, register = filter_code(machine, profile, paths=paths), 0, 0
    while True:
        operation, if_true, if_false, operand = code[place]
        place += 1
        if operation == 0x06:
            return operand
        if operation == 0x20:
            register = words[operand]
        elif operation == 0x54:
            register &= operand
        else:
            holds = {0x15: register == operand, 0x35: register >= operand, 0x45: bool(register & operand)}[operation]
            place += if_true if holds else if_false


def refused(number=errno.EPERM):
    return 0x00050000 | number


def number_of(name, machine):
    return NUMBERS[name][MACHINES.index(machine)]


CONDITIONAL = {
    "clone",
    "kill",
    "tgkill",
    "prlimit64",
    "newfstatat",
    "fcntl",
    "ioctl",
    "socketpair",
    "sendto",
    "close_range",
}
LOOKED_AT = {"openat2", "mkdir", "mkdirat"}


@pytest.mark.parametrize("machine", MACHINES)
def test_every_call_that_is_not_listed_is_refused(machine):
    expected = {number_of(name, machine): ALLOW for name in ALLOWED}
    expected |= {number_of(name, machine): refused(code) for name, code in (HIDDEN | ABSENT).items()}
    depends = {number_of(name, machine) for name in CONDITIONAL}
    for number in range(1100):
        if number not in depends:
            assert run(machine, number) == expected.get(number, refused()), number


@pytest.mark.parametrize("machine", MACHINES)
def test_scratch_space_adds_the_calls_that_are_listed_for_it_and_no_others(machine):
    added = dict.fromkeys(FOLDER, ALLOW) | {name: refused(code) for name, code in PRETENDED.items()}
    expected = {number_of(name, machine): verdict for name, verdict in added.items()}
    depends = {number_of(name, machine) for name in (CONDITIONAL | LOOKED_AT) - set(FOLDER)}
    for number in range(1100):
        if number not in depends:
            without = run(machine, number)
            assert run(machine, number, profile=SCRATCH) == expected.get(number, without), number


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize(
    ("name", "arguments", "verdict"),
    [
        ("openat", [-100, 0, 0o101, 0o666], ALLOW),
        ("openat2", [], refused(errno.ENOSYS)),
        ("mkdirat", [-100, 0, 0o777], ALLOW),
        ("mkdirat", [-100, 0, 0o077], refused()),
        ("kill", [OWN_PID, 9], ALLOW),
        ("kill", [1, 9], refused()),
        ("uname", [], refused()),
    ],
)
def test_with_scratch_space_these_calls_depend_on_their_arguments(machine, name, arguments, verdict):
    assert run(machine, number_of(name, machine), *arguments, profile=SCRATCH) == verdict


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize(
    ("name", "arguments", "verdict"),
    [
        ("clone", [0x3D0F00], ALLOW),  # what glibc asks for a thread
        ("clone", [17], refused()),
        ("clone", [0x100 | 0x4000 | 17], refused()),
        ("clone", [0x3D0F00 | 0x10000000], refused()),
        ("clone", [0x10000], refused()),
        ("clone", [0x3D0F00 & ~0x400], refused()),  # a thread with descriptors of its own
        ("close_range", [3, 10, 0], ALLOW),
        ("close_range", [3, 10, 2], refused()),
        ("kill", [OWN_PID, 9], ALLOW),
        ("kill", [0, 9], refused()),
        ("kill", [-1, 9], refused()),
        ("tgkill", [OWN_PID, 5, 9], ALLOW),
        ("tgkill", [OWN_PID + 1, 5, 9], refused()),
        ("prlimit64", [0, 7], ALLOW),
        ("prlimit64", [1, 7], refused()),
        ("newfstatat", [1, 0, 0, 0x1000], ALLOW),
        ("newfstatat", [1, 0, 0, 0], refused(errno.ENOENT)),
        ("fcntl", [1, 1030], ALLOW),
        ("fcntl", [1, 8, 1], refused()),
        ("fcntl", [1, 1033], refused()),
        ("ioctl", [1, 0x5401], ALLOW),
        ("ioctl", [1, 0x5412], refused(errno.ENOTTY)),
        ("socketpair", [1, 1 | 0o2000000], ALLOW),
        ("socketpair", [1, 2], refused()),
        ("socketpair", [2, 1], refused()),
        ("sendto", [4, 0, 0, 0, 0], ALLOW),
        ("sendto", [4, 0, 0, 0, 1 << 40], refused()),
        ("sendto", [4, 0, 0, 0, 8], refused()),
    ],
)
def test_some_calls_depend_on_their_arguments(machine, name, arguments, verdict):
    assert run(machine, number_of(name, machine), *arguments) == verdict


@pytest.mark.parametrize("machine", MACHINES)
def test_calls_of_other_architectures_kill(machine):
    assert run(machine, 1, arch=0x40000003) == KILL
    assert run(machine, 0x40000000) == KILL
    assert run(machine, 0xFFFFFFFF) == KILL


def test_no_call_is_in_two_lists():
    assert not set(ALLOWED) & (set(HIDDEN) | set(ABSENT))
    assert len(set(ALLOWED)) == len(ALLOWED)


@pytest.mark.parametrize("machine", MACHINES)
def test_a_judge_may_also_receive_descriptors_and_seal_them_and_nothing_more(machine):
    added = {number_of(name, machine) for name in ("recvmsg", "fcntl")}
    for number in range(1100):
        if number not in added:
            assert run(machine, number, profile=JUDGE) == run(machine, number), number
    assert run(machine, number_of("recvmsg", machine), profile=JUDGE) == ALLOW
    assert run(machine, number_of("fcntl", machine), 1, 1033, profile=JUDGE) == ALLOW
    assert run(machine, number_of("fcntl", machine), 1, 8, profile=JUDGE) == refused()


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize(
    ("profile", "name", "arguments", "verdict"),
    [
        (COMMAND, "mmap", [0, 4096, 3, 0x22, -1], ALLOW),
        (COMMAND, "mmap", [0, 4096, 3, 0x21, -1], refused()),  # no limit counts shared memory
        (COMMAND, "prctl", [15], ALLOW),
        (COMMAND, "prctl", [22], refused()),
        (COMMAND, "clone", [17], refused()),
        (COMMAND, "kill", [1, 9], refused()),
        (COMMAND, "io_uring_setup", [], refused(errno.ENOSYS)),
        (COMPILER, "clone", [17], ALLOW),
        (COMPILER, "clone", [0x10000000 | 17], refused()),
        (COMPILER, "kill", [OWN_PID, 9], refused()),
        (COMPILER, "fcntl", [1, 6], ALLOW),
    ],
)
def test_for_commands_these_calls_depend_on_their_arguments(machine, profile, name, arguments, verdict):
    assert run(machine, number_of(name, machine), *arguments, profile=profile) == verdict


@pytest.mark.parametrize("machine", MACHINES)
def test_a_command_may_name_paths_only_where_landlock_decides_about_them(machine):
    for name in LOOKING:
        number = number_of(name, machine)
        assert number < 0 or run(machine, number, profile=COMMAND) == ALLOW
        assert number < 0 or run(machine, number, profile=COMMAND, paths=False) != ALLOW


@pytest.mark.parametrize("machine", MACHINES)
def test_commands_have_the_calls_that_are_listed_for_them_and_no_others(machine):
    added = {number_of(name, machine) for name in (*EXECUTING, *LOOKING, *CONDITIONAL, "mmap", "prctl")}
    compilers = added | {number_of(name, machine) for name in (*CHANGING, *PROCESSES)}
    for number in range(1100):
        if run(machine, number, profile=COMMAND) == ALLOW:
            assert number in added or run(machine, number) == ALLOW
        if run(machine, number, profile=COMPILER) == ALLOW:
            assert number in compilers or run(machine, number) == ALLOW
