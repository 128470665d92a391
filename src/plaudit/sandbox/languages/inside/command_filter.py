"""System-call filters for commands: a program that is executed, and a compiler with the processes it starts.

Both may name paths, since Landlock says which of them can be opened; without Landlock a program may name none. Memory
that is shared and belongs to no file is refused, as no limit counts it.
"""

import errno
import platform

from plaudit.sandbox.inside.walls.seccomp import (
    ALLOW,
    AND,
    ANY_BIT,
    EQUAL,
    OWN_PID,
    Code,
    Filter,
    allow_one_of,
    answer,
    assemble,
    load_high,
    load_low,
    refuse,
)
from plaudit.sandbox.inside.walls.syscalls import ALLOWED, HIDDEN, NUMBERS

__all__ = ["compiler_filter", "program_filter"]

# x86_64, aarch64; -1 where the architecture does not have the call.
MORE_NUMBERS: dict[str, tuple[int, int]] = {
    "rt_sigqueueinfo": (129, 138),
    "vfork": (58, -1),
    "fork": (57, -1),
    "execve": (59, 221),
    "wait4": (61, 260),
    "flock": (73, 32),
    "truncate": (76, 45),
    "umask": (95, 166),
    "sysinfo": (99, 179),
    "getpgid": (121, 155),
    "fstatfs": (138, 44),
    "statfs": (137, 43),
    "sched_getparam": (143, 121),
    "sched_getscheduler": (145, 120),
    "prctl": (157, 167),
    "arch_prctl": (158, -1),
    "set_tid_address": (218, 96),
    "fadvise64": (221, 223),
    "epoll_create": (213, -1),
    "waitid": (247, 95),
    "fallocate": (285, 47),
    "eventfd2": (290, 19),
    "execveat": (322, 281),
    "membarrier": (324, 283),
    "copy_file_range": (326, 285),
    "pkey_alloc": (330, 289),
    "io_uring_setup": (425, 425),
}
STARTING = [
    "execve", "execveat", "arch_prctl", "set_tid_address", "sysinfo", "sched_getparam", "sched_getscheduler",
    "epoll_create", "eventfd2", "membarrier",
]  # fmt: skip
LOOKING = [
    "open", "openat", "stat", "lstat", "newfstatat", "access", "faccessat", "faccessat2", "readlink", "readlinkat",
    "getdents64", "statfs", "fstatfs", "fadvise64",
]  # fmt: skip
WRITING = [
    "rmdir", "unlink", "unlinkat", "rename", "renameat", "ftruncate", "fdatasync", "chdir", "fchdir", "mkdir",
    "mkdirat", "chmod", "fchmod", "fchmodat", "umask", "utimensat", "flock", "fallocate", "creat", "copy_file_range",
]  # fmt: skip
PROCESSES = ["fork", "vfork", "wait4", "waitid", "getpgid"]
ABSENT = ["clone3", "statx", "openat2", "io_uring_setup", "pkey_alloc"]  # libraries then take the older call

# A thread shares memory, the working directory, descriptors and signal handlers; no new namespaces.
THREAD, NEW_NAMESPACES = 0x00010000 | 0x00000100 | 0x00000200 | 0x00000400 | 0x00000800, 0x7E020080
SHARED, ANONYMOUS, CLOSE_ON_EXEC = 0x01, 0x20, 4
AF_UNIX, SOCK_STREAM = 1, 1
NAMES = (15, 16, 0x53564D41)  # prctl: set or get the name of a thread, name a mapping
DESCRIPTOR_CALLS = (0, 1, 2, 3, 4, 1030)  # fcntl: duplicate, get and set flags; not F_SETOWN, which sends signals
LOCKS = (5, 6, 7)
TERMINAL_CALLS = (0x5401, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451)


def program_filter(*, paths: bool, machine: str = platform.machine()) -> Filter:
    """For a program: threads but no processes, and paths only where Landlock looks at them."""
    rules = _base() | {"clone": _threads_only(), "fcntl": allow_one_of(1, DESCRIPTOR_CALLS)}
    rules |= {name: allow_one_of(0, (OWN_PID,)) for name in ("kill", "tgkill")}
    rules |= dict.fromkeys(LOOKING, answer(ALLOW)) if paths else {name: refuse(code) for name, code in HIDDEN.items()}
    if not paths:
        rules["newfstatat"] = allow_one_of(3, (0x1000,), errno.ENOENT)  # an open file, as glibc asks about it
    return assemble(rules, NUMBERS | MORE_NUMBERS, machine)


def compiler_filter(machine: str = platform.machine()) -> Filter:
    """For a compiler: also processes, which stay in its group, and changes to files where Landlock allows them."""
    rules = _base() | dict.fromkeys([*LOOKING, *WRITING, *PROCESSES], answer(ALLOW))
    rules |= {"clone": _no_namespaces(), "fcntl": allow_one_of(1, DESCRIPTOR_CALLS + LOCKS)}
    return assemble(rules, NUMBERS | MORE_NUMBERS, machine)


def _base() -> dict[str, Code]:
    rules = dict.fromkeys([*ALLOWED, *STARTING], answer(ALLOW)) | dict.fromkeys(ABSENT, refuse(errno.ENOSYS))
    return rules | {
        "mmap": [
            load_low(3),
            (AND, 0, 0, SHARED | ANONYMOUS),
            (EQUAL, 0, 1, SHARED | ANONYMOUS),
            *refuse(errno.EPERM),
            *answer(ALLOW),
        ],
        "close_range": allow_one_of(2, (0, CLOSE_ON_EXEC)),
        "prctl": allow_one_of(0, NAMES),
        "prlimit64": allow_one_of(0, (0,)),
        "ioctl": allow_one_of(1, TERMINAL_CALLS, errno.ENOTTY),
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


def _threads_only() -> Code:
    refused = refuse(errno.EPERM)
    return [
        load_low(0),
        (ANY_BIT, 3, 0, NEW_NAMESPACES),
        (AND, 0, 0, THREAD),
        (EQUAL, 0, 1, THREAD),
        *answer(ALLOW),
        *refused,
    ]


def _no_namespaces() -> Code:
    return [load_low(0), (ANY_BIT, 0, 1, NEW_NAMESPACES & ~0xFF), *refuse(errno.EPERM), *answer(ALLOW)]
