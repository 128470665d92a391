"""The system-call filter: a list of allowed calls as a BPF program.

The calls are found by a binary search, since the kernel runs a new filter once for every call there is when it takes
it, and a plain list made that the dearest part of locking a child down. The process number that `kill` and `tgkill`
may name is filled in per child.
"""

import ctypes
import errno
import platform
import struct

from plaudit.sandbox.inside.syscalls import ALLOWED, AUDIT_ARCH, HIDDEN, MISSING, NUMBERS

__all__ = ["Filter", "build_filter"]

Code = list[tuple[int, int, int, int]]  # operation, jump if true, jump if false, operand

LOAD, EQUAL, AT_LEAST, ANY_BIT, AND, RETURN = 0x20, 0x15, 0x35, 0x45, 0x54, 0x06
ALLOW, KILL = 0x7FFF0000, 0x80000000
NUMBER, ARCH = 0, 4  # offsets in struct seccomp_data
X32 = 0x40000000
OWN_PID = 0xFEED_FACE  # replaced per child

CLONE_THREAD, CLONE_VM, CLONE_NEW = 0x00010000, 0x00000100, 0x7E020080
AF_UNIX, SOCK_STREAM, AT_EMPTY_PATH = 1, 1, 0x1000
DUPLICATE, GET_SET_FLAGS = (0, 1030), (1, 2, 3, 4)  # F_DUPFD, F_DUPFD_CLOEXEC; F_GETFD … F_SETFL
TERMINAL_SIZE, IS_TERMINAL, BYTES_WAITING, NON_BLOCKING, INHERIT, NOT_INHERIT = (
    0x5413,
    0x5401,
    0x541B,
    0x5421,
    0x5450,
    0x5451,
)


class Filter:
    """A filter in memory as the kernel takes it, once it knows the child's process number."""

    def __init__(self, code: Code) -> None:
        self.code = code
        # Made here, in the server: a child that makes ctypes objects pays for more pages than the filter costs.
        self._code = ctypes.create_string_buffer(b"".join(struct.pack("=HBBI", *line) for line in code))
        self._program = ctypes.create_string_buffer(struct.pack("=HxxxxxxQ", len(code), ctypes.addressof(self._code)))
        self.address = ctypes.addressof(self._program)
        # The operands, and which of them are the number of the only process that may be sent signals.
        self.words = memoryview(self._code).cast("B")[: 8 * len(code)].cast("I")
        self.own_pid = [2 * place + 1 for place, (*_, operand) in enumerate(code) if operand == OWN_PID]


def build_filter(machine: str = platform.machine()) -> Filter:
    """The filter for this machine; KeyError for an architecture without a table."""
    arch = AUDIT_ARCH[machine]
    leaves = _leaves(list(AUDIT_ARCH).index(machine))
    search = _search(leaves)
    head: Code = [(LOAD, 0, 0, ARCH), (EQUAL, 1, 0, arch), (RETURN, 0, 0, KILL), (LOAD, 0, 0, NUMBER)]
    return Filter([*head, (AT_LEAST, 0, 1, X32), (RETURN, 0, 0, KILL), *search])


def _leaves(column: int) -> list[tuple[int, Code]]:
    """(first number, what to do from there on), in order; neighbours that do the same are one."""
    rules: dict[str, Code] = dict.fromkeys(ALLOWED, _answer(ALLOW))
    rules |= {name: _refuse(number) for name, number in (HIDDEN | MISSING).items()}
    rules |= _conditional()
    by_number = {NUMBERS[name][column]: rule for name, rule in rules.items() if NUMBERS[name][column] >= 0}
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


def _conditional() -> dict[str, Code]:
    """Calls that are allowed for some arguments only."""
    thread = CLONE_THREAD | CLONE_VM
    return {
        "clone": [
            _low(0),
            (ANY_BIT, 3, 0, CLONE_NEW),
            (AND, 0, 0, thread),
            (EQUAL, 0, 1, thread),
            *_answer(ALLOW),
            *_refuse(errno.EPERM),
        ],
        "kill": _one_of(0, (OWN_PID,)),
        "tgkill": _one_of(0, (OWN_PID,)),
        "prlimit64": _one_of(0, (0,)),
        "newfstatat": _one_of(3, (AT_EMPTY_PATH,), errno.ENOENT),  # how glibc asks about an open file
        "fcntl": _one_of(1, DUPLICATE + GET_SET_FLAGS),  # not F_SETOWN, which sends signals
        "ioctl": _one_of(
            1, (TERMINAL_SIZE, IS_TERMINAL, BYTES_WAITING, NON_BLOCKING, INHERIT, NOT_INHERIT), errno.ENOTTY
        ),
        # A pair that only talks to itself, as asyncio needs; not a datagram socket, which can address any other.
        "socketpair": [
            _low(0),
            (EQUAL, 0, 4, AF_UNIX),
            _low(1),
            (AND, 0, 0, 0xF),
            (EQUAL, 0, 1, SOCK_STREAM),
            *_answer(ALLOW),
            *_refuse(errno.EPERM),
        ],
        "sendto": [_low(4), (EQUAL, 0, 3, 0), _high(4), (EQUAL, 0, 1, 0), *_answer(ALLOW), *_refuse(errno.EPERM)],
    }


def _one_of(argument: int, values: tuple[int, ...], otherwise: int = errno.EPERM) -> Code:
    last = len(values) - 1
    tests: Code = [(EQUAL, last - place + 1, 0, value) for place, value in enumerate(values)]
    return [_low(argument), *tests, *_refuse(otherwise), *_answer(ALLOW)]


def _low(argument: int) -> tuple[int, int, int, int]:
    return (LOAD, 0, 0, 16 + 8 * argument)


def _high(argument: int) -> tuple[int, int, int, int]:
    return (LOAD, 0, 0, 20 + 8 * argument)


def _answer(action: int) -> Code:
    return [(RETURN, 0, 0, action)]


def _refuse(number: int) -> Code:
    return [(RETURN, 0, 0, 0x00050000 | number)]
