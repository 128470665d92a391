"""Calls to the kernel that Python has no name for.

Errors are raised as OSError. Loaded once, in the server, so that children only call.
"""

import ctypes
import os
import struct
from collections.abc import Callable
from functools import partial

PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_SECCOMP, PR_CAPBSET_DROP, PR_SET_NO_NEW_PRIVS = 1, 4, 22, 24, 38
PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL = 47, 4
SECCOMP_MODE_FILTER = 2
CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446
PIVOT_ROOT, CAPSET = {"x86_64": 155, "aarch64": 41}, {"x86_64": 126, "aarch64": 91}
CAPABILITY_VERSION = 0x20080522
# Landlock: what each version of it can deny of files, and since when it knows of TCP and of scopes.
FILES = {1: 0x1FFF, 2: 0x3FFF, 3: 0x7FFF, 5: 0xFFFF}
TCP_SINCE, SCOPES_SINCE = 4, 6
PATH_BENEATH = 1


class Kernel:
    """prctl, Landlock, mounts and namespaces."""

    def __init__(self) -> None:
        self._c = ctypes.CDLL(None, use_errno=True)
        self._bare = ctypes.PyDLL(None)  # keeps the interpreter's lock and looks at no error number
        self._c.syscall.restype = ctypes.c_long
        self._c.syscall.argtypes = [ctypes.c_long] * 6
        self._c.prctl.argtypes = [ctypes.c_int, ctypes.c_ulong, ctypes.c_ulong, ctypes.c_ulong, ctypes.c_ulong]
        self._c.mount.argtypes = [ctypes.c_char_p, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_ulong, ctypes.c_char_p]

    def prctl(self, option: int, *arguments: int) -> None:
        """Change something about this process."""
        self._check(self._c.prctl(option, *arguments, *(0,) * (4 - len(arguments))), "prctl")

    def ready(self, name: str, *arguments: int) -> Callable[[], int]:
        """A prepared call of the C library; to build it in a child would copy pages."""
        return partial(getattr(self._bare, name), *map(ctypes.c_ulong, arguments))

    def fork(self) -> Callable[[], int]:
        """A fork without Python's own preparations: they are for threads, of which a server has none.

        They cost a child some 200 page faults, and would give each program another random seed.
        """
        return self.ready("fork")

    def death_with_parent(self) -> Callable[[], int]:
        """A call after which this process is killed when the process that forked it is gone."""
        return self.ready("prctl", PR_SET_PDEATHSIG, 9, 0, 0, 0)

    def seccomp(self, program: int) -> Callable[[], int]:
        """A function that installs the filter at an address, irreversibly."""
        return self.ready("prctl", PR_SET_SECCOMP, SECCOMP_MODE_FILTER, program, 0, 0)

    def landlock(self, ruleset: int) -> Callable[[], int]:
        """A function that enforces a ruleset, irreversibly."""
        return self.ready("syscall", RESTRICT_SELF, ruleset, 0)

    def landlock_ruleset(self) -> int:
        """A descriptor of a ruleset that denies every file, TCP, and signals and sockets beyond the own process."""
        version = self._syscall(CREATE_RULESET, 0, 0, 1)
        files = FILES[max(known for known in FILES if known <= version)]
        tcp, scopes = (3 if version >= TCP_SINCE else 0), (3 if version >= SCOPES_SINCE else 0)
        size = 8 * (1 + (version >= TCP_SINCE) + (version >= SCOPES_SINCE))
        attributes = ctypes.create_string_buffer(struct.pack("=QQQ", files, tcp, scopes))
        return self._syscall(CREATE_RULESET, ctypes.addressof(attributes), size, 0)

    def landlock_allow(self, ruleset: int, folder: int, rights: int) -> None:
        """Except an open folder, and what is below it, from a ruleset; rights that this kernel cannot deny are left."""
        version = self._syscall(CREATE_RULESET, 0, 0, 1)
        files = FILES[max(known for known in FILES if known <= version)]
        rule = ctypes.create_string_buffer(struct.pack("=Qi", rights & files, folder))
        self._syscall(ADD_RULE, ruleset, PATH_BENEATH, ctypes.addressof(rule), 0)

    def unshare(self, flags: int) -> None:
        """Leave the namespaces of the parent."""
        self._check(self._c.unshare(flags), "unshare")

    def mount(self, source: str, target: str, kind: str, flags: int, data: str = "") -> None:
        """Mount a file system."""
        done = self._c.mount(source.encode(), target.encode(), kind.encode(), flags, data.encode())
        self._check(done, f"mount {target}")

    def unmount(self, target: str, flags: int) -> None:
        """Unmount a file system."""
        self._check(self._c.umount2(target.encode(), flags), f"umount {target}")

    def pivot_root(self, new: str, old: str) -> None:
        """Make `new` the root and put the old one at `old`."""
        first, second = ctypes.create_string_buffer(new.encode()), ctypes.create_string_buffer(old.encode())
        self._syscall(PIVOT_ROOT[os.uname().machine], ctypes.addressof(first), ctypes.addressof(second))

    def drop_capabilities(self) -> None:
        """Give up every capability there is, also those a program started later could gain."""
        for capability in range(64):
            if self._c.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) != 0:
                break
        self._c.prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)
        header = ctypes.create_string_buffer(struct.pack("=Ii", CAPABILITY_VERSION, 0))
        nothing = ctypes.create_string_buffer(24)
        self._syscall(CAPSET[os.uname().machine], ctypes.addressof(header), ctypes.addressof(nothing))

    def _syscall(self, number: int, *arguments: int) -> int:
        result: int = self._c.syscall(number, *arguments, *(0,) * (5 - len(arguments)))
        self._check(result, f"system call {number}")
        return result

    def _check(self, result: int, what: str) -> None:
        if result < 0:
            number = ctypes.get_errno()
            raise OSError(number, f"{what}: {os.strerror(number)}")
