"""The system-call filter: a list of allowed calls as a BPF program.

The calls are found by a binary search, since the kernel runs a new filter once for every call there is when it takes
it, and a plain list made that the dearest part of locking a child down. The process number that `kill` and `tgkill`
may name is filled in per child.
"""

import ctypes
import errno
import platform
import struct

from plaudit.sandbox.inside.walls.syscalls import ALLOWED, AUDIT_ARCH, HIDDEN, MISSING, NUMBERS, PRETENDED, SCRATCH

__all__ = ["Filter", "allow_one_of", "answer", "assemble", "build_filter", "load_high", "load_low", "refuse"]

Code = list[tuple[int, int, int, int]]  # operation, jump if true, jump if false, operand

LOAD, EQUAL, AT_LEAST, ANY_BIT, AND, RETURN = 0x20, 0x15, 0x35, 0x45, 0x54, 0x06
ALLOW, KILL = 0x7FFF0000, 0x80000000
NUMBER, ARCH = 0, 4  # offsets in struct seccomp_data
X32 = 0x40000000
OWN_PID = 0xFEED_FACE  # replaced per child

SIGCONT = 18
# What a thread shares: memory, the working directory, descriptors, signal handlers.
THREAD, CLONE_NEW = 0x00010000 | 0x00000100 | 0x00000200 | 0x00000400 | 0x00000800, 0x7E020080
AF_UNIX, SOCK_STREAM, AT_EMPTY_PATH = 1, 1, 0x1000
O_CREAT, NAMELESS, SET_ID, OWNERS, ANONYMOUS = 0o100, 0o20000000, 0o6000, 0o700, 0x20  # the second: O_TMPFILE's bit
DUPLICATE, GET_SET_FLAGS, ADD_SEALS = (0, 1030), (1, 2, 3, 4), 1033  # F_DUPFD, F_DUPFD_CLOEXEC; F_GETFD … F_SETFL
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


def build_filter(machine: str = platform.machine(), *, scratch: bool = False, judge: bool = False) -> Filter:
    """The filter for this machine; KeyError for an architecture without a table.

    With `scratch` it lets through what names a path: only behind Landlock does that stay within the scratch folder. A
    `judge` may also receive descriptors, those of the programs it judges, and seal their standard input.
    """
    return assemble(_rules(scratch, judge), NUMBERS, machine)


def assemble(rules: dict[str, Code], numbers: dict[str, tuple[int, int]], machine: str = platform.machine()) -> Filter:
    """A filter that does by a call's name what the rules say, and refuses every other call."""
    arch = AUDIT_ARCH[machine]
    search = _search(_leaves(rules, numbers, list(AUDIT_ARCH).index(machine)))
    head: Code = [(LOAD, 0, 0, ARCH), (EQUAL, 1, 0, arch), (RETURN, 0, 0, KILL), (LOAD, 0, 0, NUMBER)]
    return Filter([*head, (AT_LEAST, 0, 1, X32), (RETURN, 0, 0, KILL), *search])


def _rules(scratch: bool, judge: bool) -> dict[str, Code]:
    rules: dict[str, Code] = dict.fromkeys(ALLOWED, answer(ALLOW))
    rules |= {name: refuse(number) for name, number in (HIDDEN | MISSING).items()}
    rules |= _conditional()
    if scratch:
        rules |= dict.fromkeys(SCRATCH, answer(ALLOW)) | {name: refuse(n) for name, n in PRETENDED.items()}
        rules |= {"open": _allow_opening(1), "openat": _allow_opening(2), "openat2": refuse(errno.ENOSYS)}
        rules |= {"mkdir": _allow_making(1), "mkdirat": _allow_making(2), "mmap": _allow_mapping()}
        rules |= {"kill": _allow_signals(1), "tgkill": _allow_signals(2)}
    if judge:
        rules |= {"recvmsg": answer(ALLOW), "fcntl": allow_one_of(1, (*DUPLICATE, *GET_SET_FLAGS, ADD_SEALS))}
    return rules


def _leaves(rules: dict[str, Code], numbers: dict[str, tuple[int, int]], column: int) -> list[tuple[int, Code]]:
    """(first number, what to do from there on), in order; neighbours that do the same are one."""
    by_number = {numbers[name][column]: rule for name, rule in rules.items() if numbers[name][column] >= 0}
    refused = refuse(errno.EPERM)
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
    return {
        "clone": [
            load_low(0),
            (ANY_BIT, 3, 0, CLONE_NEW),
            (AND, 0, 0, THREAD),
            (EQUAL, 0, 1, THREAD),
            *answer(ALLOW),
            *refuse(errno.EPERM),
        ],
        "kill": allow_one_of(0, (OWN_PID,)),
        "tgkill": allow_one_of(0, (OWN_PID,)),
        "prlimit64": allow_one_of(0, (0,)),
        "close_range": allow_one_of(
            2, (0,)
        ),  # a table of descriptors of its own would give a thread a limit of its own
        "newfstatat": allow_one_of(3, (AT_EMPTY_PATH,), errno.ENOENT),  # how glibc asks about an open file
        "fcntl": allow_one_of(1, DUPLICATE + GET_SET_FLAGS),  # not F_SETOWN, which sends signals
        "ioctl": allow_one_of(
            1, (TERMINAL_SIZE, IS_TERMINAL, BYTES_WAITING, NON_BLOCKING, INHERIT, NOT_INHERIT), errno.ENOTTY
        ),
        # A pair that only talks to itself, as asyncio needs; not a datagram socket, which can address any other.
        "socketpair": [
            load_low(0),
            (EQUAL, 0, 4, AF_UNIX),
            load_low(1),
            (AND, 0, 0, 0xF),
            (EQUAL, 0, 1, SOCK_STREAM),
            *answer(ALLOW),
            *refuse(errno.EPERM),
        ],
        "sendto": [load_low(4), (EQUAL, 0, 3, 0), load_high(4), (EQUAL, 0, 1, 0), *answer(ALLOW), *refuse(errno.EPERM)],
    }


def _allow_opening(flags: int) -> Code:
    """Open a file by name, the mode following the flags: no file without a name, and none that lends its owner."""
    return [
        load_low(flags),
        (ANY_BIT, 0, 1, NAMELESS),
        *refuse(errno.EOPNOTSUPP),
        (ANY_BIT, 0, 3, O_CREAT),
        load_low(flags + 1),
        (ANY_BIT, 0, 1, SET_ID),
        *refuse(errno.EPERM),
        *answer(ALLOW),
    ]


def _allow_making(mode: int) -> Code:
    """Make a folder, but none that the janitor could not look into."""
    return [load_low(mode), (AND, 0, 0, OWNERS), (EQUAL, 0, 1, OWNERS), *answer(ALLOW), *refuse(errno.EPERM)]


def _allow_signals(number: int) -> Code:
    """Signal oneself, but not to go on: the janitor stops a program while it looks."""
    return [load_low(number), (EQUAL, 0, 1, SIGCONT), *refuse(errno.EPERM), *allow_one_of(0, (OWN_PID,))]


def _allow_mapping() -> Code:
    """Map memory, but no file: a mapping keeps a deleted file alive where nobody sees it."""
    return [load_low(3), (ANY_BIT, 0, 1, ANONYMOUS), *answer(ALLOW), *refuse(errno.ENODEV)]


def allow_one_of(argument: int, values: tuple[int, ...], otherwise: int = errno.EPERM) -> Code:
    """Allow the call where the low half of an argument is one of these values."""
    last = len(values) - 1
    tests: Code = [(EQUAL, last - place + 1, 0, value) for place, value in enumerate(values)]
    return [load_low(argument), *tests, *refuse(otherwise), *answer(ALLOW)]


def load_low(argument: int) -> tuple[int, int, int, int]:
    """Load the low 32 bits of an argument."""
    return (LOAD, 0, 0, 16 + 8 * argument)


def load_high(argument: int) -> tuple[int, int, int, int]:
    """Load the high 32 bits of an argument."""
    return (LOAD, 0, 0, 20 + 8 * argument)


def answer(action: int) -> Code:
    """End the filter with an action."""
    return [(RETURN, 0, 0, action)]


def refuse(number: int) -> Code:
    """End the filter with an error number for the caller."""
    return [(RETURN, 0, 0, 0x00050000 | number)]
