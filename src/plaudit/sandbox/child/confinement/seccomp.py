"""The system-call filter: the calls that a profile grants, as a BPF program.

The calls are found by a binary search, since the kernel evaluates a new filter once for every call number when it is
installed, and a linear list made that the most expensive part of confining a child. The process number that `kill` and
`tgkill` may name is filled in per child.
"""

import ctypes
import errno
import os
import struct

from plaudit.sandbox.child.confinement import syscalls
from plaudit.sandbox.child.confinement.profiles import Profile

Code = list[tuple[int, int, int, int]]  # operation, jump if true, jump if false, operand

LOAD, EQUAL, AT_LEAST, ANY_BIT, AND, RETURN = 0x20, 0x15, 0x35, 0x45, 0x54, 0x06
ALLOW, KILL = 0x7FFF0000, 0x80000000
NUMBER, ARCH = 0, 4  # offsets in struct seccomp_data
X32 = 0x40000000
OWN_PID = 0xFEED_FACE  # replaced per child

# What a thread shares: memory, the working directory, descriptors, signal handlers.
THREAD, CLONE_NEW = 0x00010000 | 0x00000100 | 0x00000200 | 0x00000400 | 0x00000800, 0x7E020080
AF_UNIX, SOCK_STREAM, AT_EMPTY_PATH, OWNER_BITS = 1, 1, 0x1000, 0o700
SHARED, ANONYMOUS, CLOSE_ON_EXEC = 0x01, 0x20, 4
FCNTL = (0, 1, 2, 3, 4, 1030)  # F_DUPFD, F_GETFD … F_SETFL, F_DUPFD_CLOEXEC; not F_SETOWN, which sends signals
ADD_SEALS, LOCKS = 1033, (5, 6, 7)
TERMINAL = (0x5401, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451)  # is a terminal, size, bytes waiting, blocking, inherit
NAMES = (15, 16, 0x53564D41)  # prctl: set or get the name of a thread, name a mapping


class Filter:
    """A filter in memory as the kernel takes it, once it has the child's process number."""

    def __init__(self, code: Code) -> None:
        self.code = code
        # Made here, in the server: a child that makes ctypes objects pays for more pages than the filter costs.
        self._code = ctypes.create_string_buffer(b"".join(struct.pack("=HBBI", *line) for line in code))
        self._program = ctypes.create_string_buffer(struct.pack("=HxxxxxxQ", len(code), ctypes.addressof(self._code)))
        self.address = ctypes.addressof(self._program)
        # The operands, and which of them are the number of the only process that may be sent signals.
        self.words = memoryview(self._code).cast("B")[: 8 * len(code)].cast("I")
        self.own_pid = [2 * index + 1 for index, (*_, operand) in enumerate(code) if operand == OWN_PID]


def build_filter(profile: Profile, *, paths: bool = False, machine: str = "") -> Filter:
    """The filter of a profile; KeyError for an architecture without a table.

    `paths` says that Landlock decides which paths can be opened, so that calls that name a path may be allowed.
    """
    machine = machine or os.uname().machine
    arch = syscalls.AUDIT_ARCH[machine]
    search = _search(_leaves(_rules(profile, paths), list(syscalls.AUDIT_ARCH).index(machine)))
    head: Code = [(LOAD, 0, 0, ARCH), (EQUAL, 1, 0, arch), (RETURN, 0, 0, KILL), (LOAD, 0, 0, NUMBER)]
    return Filter([*head, (AT_LEAST, 0, 1, X32), (RETURN, 0, 0, KILL), *search])


def _rules(profile: Profile, paths: bool) -> dict[str, Code]:
    """The action for each system call."""
    rules: dict[str, Code] = dict.fromkeys(syscalls.ALLOWED, _answer(ALLOW))
    rules |= {name: _refuse(number) for name, number in (syscalls.HIDDEN | syscalls.ABSENT).items()}
    rules |= _conditional(profile)
    if profile.receives_descriptors:
        rules["recvmsg"] = _answer(ALLOW)
    if profile.executes:
        rules |= dict.fromkeys(syscalls.EXECUTING, _answer(ALLOW))
        rules |= dict.fromkeys(["openat2", "io_uring_setup", "pkey_alloc"], _refuse(errno.ENOSYS))
        rules |= {"prctl": _allow_one_of(0, NAMES), "mmap": _refuse_shared_memory()}
        rules |= dict.fromkeys(syscalls.LOOKING if paths else (), _answer(ALLOW))
    if profile.compiles:
        rules |= dict.fromkeys([*syscalls.CHANGING, *syscalls.PROCESSES], _answer(ALLOW)) | {"clone": _no_namespaces()}
        del rules["kill"], rules["tgkill"]
    elif profile.changes_folder:
        rules |= dict.fromkeys(syscalls.FOLDER, _answer(ALLOW)) | {
            name: _refuse(n) for name, n in syscalls.PRETENDED.items()
        }
        rules |= {"openat2": _refuse(errno.ENOSYS), "mkdir": _allow_folder(1), "mkdirat": _allow_folder(2)}
    return rules


def _leaves(rules: dict[str, Code], column: int) -> list[tuple[int, Code]]:
    """(first number, what to do from there on), in order; neighbours that do the same are one."""
    by_number = {
        syscalls.NUMBERS[name][column]: rule for name, rule in rules.items() if syscalls.NUMBERS[name][column] >= 0
    }
    refused = _refuse(errno.EPERM)
    leaves: list[tuple[int, Code]] = [(0, by_number.get(0, refused))]
    for number in range(1, max(by_number) + 2):
        rule = by_number.get(number, refused)
        if rule != leaves[-1][1]:
            leaves.append((number, rule))
    return leaves


def _search(leaves: list[tuple[int, Code]]) -> Code:
    if len(leaves) == 1:
        return leaves[0][1]
    middle = len(leaves) // 2
    low, high = _search(leaves[:middle]), _search(leaves[middle:])
    if len(low) > 255:
        raise ValueError("the filter has grown too long for its jumps")
    return [(AT_LEAST, len(low), 0, leaves[middle][0]), *low, *high]


def _conditional(profile: Profile) -> dict[str, Code]:
    """Calls that every profile allows, for some arguments only."""
    seals = (ADD_SEALS,) if profile.receives_descriptors else ()
    locks = LOCKS if profile.compiles else ()
    return {
        "clone": _if_masked(0, THREAD | CLONE_NEW, THREAD),
        "kill": _allow_one_of(0, (OWN_PID,)),
        "tgkill": _allow_one_of(0, (OWN_PID,)),
        "prlimit64": _allow_one_of(0, (0,)),
        # A descriptor table of its own would give a thread a limit of its own.
        "close_range": _allow_one_of(2, (0, CLOSE_ON_EXEC) if profile.executes else (0,)),
        "newfstatat": _allow_one_of(3, (AT_EMPTY_PATH,), errno.ENOENT),  # how the C library asks about an open file
        "fcntl": _allow_one_of(1, FCNTL + seals + locks),
        "ioctl": _allow_one_of(1, TERMINAL, errno.ENOTTY),
        # A pair of streams, as asyncio needs; not a datagram socket, which can address any other.
        "socketpair": [_low(0), (EQUAL, 0, 4, AF_UNIX), *_if_masked(1, 0xF, SOCK_STREAM)],
        "sendto": [_low(4), (EQUAL, 0, 3, 0), _high(4), (EQUAL, 0, 1, 0), *_answer(ALLOW), *_refuse(errno.EPERM)],
    }


def _if_masked(argument: int, mask: int, value: int) -> Code:
    """Allow the call where these bits of an argument have this value."""
    return [_low(argument), (AND, 0, 0, mask), (EQUAL, 0, 1, value), *_answer(ALLOW), *_refuse(errno.EPERM)]


def _allow_folder(mode: int) -> Code:
    """Make a folder, but none whose owner could not empty it."""
    return _if_masked(mode, OWNER_BITS, OWNER_BITS)


def _refuse_shared_memory() -> Code:
    """Map memory, but none that is shared and belongs to no file: `RLIMIT_DATA` does not count it."""
    both = SHARED | ANONYMOUS
    return [_low(3), (AND, 0, 0, both), (EQUAL, 0, 1, both), *_refuse(errno.EPERM), *_answer(ALLOW)]


def _no_namespaces() -> Code:
    return [_low(0), (ANY_BIT, 0, 1, CLONE_NEW & ~0xFF), *_refuse(errno.EPERM), *_answer(ALLOW)]


def _allow_one_of(argument: int, values: tuple[int, ...], otherwise: int = errno.EPERM) -> Code:
    """Allow the call where the low half of an argument is one of these values."""
    last = len(values) - 1
    tests: Code = [(EQUAL, last - index + 1, 0, value) for index, value in enumerate(values)]
    return [_low(argument), *tests, *_refuse(otherwise), *_answer(ALLOW)]


def _low(argument: int) -> tuple[int, int, int, int]:
    """Load the low 32 bits of an argument."""
    return (LOAD, 0, 0, 16 + 8 * argument)


def _high(argument: int) -> tuple[int, int, int, int]:
    """Load the high 32 bits of an argument."""
    return (LOAD, 0, 0, 20 + 8 * argument)


def _answer(action: int) -> Code:
    """End the filter with an action."""
    return [(RETURN, 0, 0, action)]


def _refuse(number: int) -> Code:
    """End the filter with an error number for the caller."""
    return [(RETURN, 0, 0, 0x00050000 | number)]
