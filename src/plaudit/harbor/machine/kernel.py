"""System calls that the standard library lacks: namespaces, mounts, capabilities and a system-call filter."""

import contextlib
import ctypes
import os
import struct
from collections.abc import Iterable
from fcntl import ioctl
from pathlib import Path

CLONE_NEWNS, CLONE_NEWUTS, CLONE_NEWIPC = 0x20000, 0x4000000, 0x8000000
CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNET = 0x10000000, 0x20000000, 0x40000000
MS_NOSUID, MS_NODEV, MS_NOEXEC = 2, 4, 8
MS_BIND, MS_REC, MS_PRIVATE = 0x1000, 0x4000, 0x40000
MNT_DETACH = 2
PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_SECCOMP, PR_CAPBSET_DROP, PR_SET_SECUREBITS = 1, 4, 22, 24, 28
NO_SETUID_FIXUP = 4
OPEN_TREE, MOVE_MOUNT, MOUNT_SETATTR = 428, 429, 442  # the same numbers on every architecture
AT_FDCWD, AT_EMPTY_PATH, CLONE_TREE, MOVE_FROM_FD = -100, 0x1000, 0x80001, 4
ATTR_RDONLY, ATTR_NODEV, ATTR_IDMAP = 1, 4, 0x100000
# What a container engine leaves to root by default: chown, dac_override, fowner, fsetid, kill, setgid, setuid, setpcap,
# net_bind_service, net_raw, sys_chroot, audit_write, setfcap.
KEPT_CAPABILITIES = frozenset((0, 1, 3, 4, 5, 6, 7, 8, 10, 13, 18, 29, 31))
LAST_CAPABILITY = 40

_libc = ctypes.CDLL(None, use_errno=True)


def _check(result: int, what: str) -> int:
    if result == -1:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
    return result


def _syscall(number: int, what: str, *arguments: object) -> int:
    return _check(_libc.syscall(ctypes.c_long(number), *arguments), what)


def unshare(flags: int) -> None:
    """Move this process, or its future children, into new namespaces."""
    _check(_libc.unshare(flags), "new namespaces")


def become_root(user: int, group: int) -> None:
    """Enter a new user namespace, in which a user and a group of this one are root."""
    unshare(CLONE_NEWUSER)
    for name, text in {"setgroups": "deny", "uid_map": f"0 {user} 1", "gid_map": f"0 {group} 1"}.items():
        Path(f"/proc/self/{name}").write_text(text)


def become_user_with_rights(user: int) -> None:
    """Become another user and keep the capabilities of root."""
    _check(_libc.prctl(PR_SET_SECUREBITS, NO_SETUID_FIXUP, 0, 0, 0), "keep capabilities")
    os.setresuid(user, user, user)


def setns(descriptor: int, kind: int) -> None:
    """Enter a namespace."""
    _check(_libc.setns(descriptor, kind), "enter a namespace")


def mount(source: str, target: str, kind: str = "", flags: int = 0, options: str = "") -> None:
    """Mount a file system, or change a mount."""
    texts = [text.encode() or None for text in (source, target, kind)]
    _check(_libc.mount(*texts, ctypes.c_ulong(flags), options.encode() or None), f"mount {kind or source} on {target}")


def detach(target: str) -> None:
    """Remove a mount and everything below it from view."""
    _check(_libc.umount2(target.encode(), MNT_DETACH), f"unmount {target}")


def pivot_root(new: str, old: str) -> None:
    """Make `new` the root; the former root is at `old`."""
    _check(_libc.pivot_root(new.encode(), old.encode()), "pivot_root")


def clone_tree(path: str, user_namespace: int | None) -> int:
    """A read-only copy of the mount at `path`, not yet attached; the owners of its files as a namespace maps them."""
    descriptor = _syscall(OPEN_TREE, f"open {path}", AT_FDCWD, path.encode(), CLONE_TREE)
    flags = ATTR_RDONLY | ATTR_NODEV | (ATTR_IDMAP if user_namespace is not None else 0)
    attributes = struct.pack("=QQQQ", flags, 0, 0, user_namespace or 0)
    _syscall(MOUNT_SETATTR, f"map {path}", descriptor, b"", AT_EMPTY_PATH, attributes, ctypes.c_size_t(len(attributes)))
    return descriptor


def attach_tree(descriptor: int, target: str) -> None:
    """Attach what `clone_tree` gave."""
    _syscall(MOVE_MOUNT, f"mount on {target}", descriptor, b"", AT_FDCWD, target.encode(), MOVE_FROM_FD)
    os.close(descriptor)


def die_with_parent() -> None:
    """Be killed when the process that started this one ends."""
    _check(_libc.prctl(PR_SET_PDEATHSIG, 9, 0, 0, 0), "end with the parent")


def forbid_inspection() -> None:
    """Let no other process of this user read this process's memory and descriptors."""
    _check(_libc.prctl(PR_SET_DUMPABLE, 0, 0, 0, 0), "forbid inspection")


def drop_capabilities() -> None:
    """Give up, for the next program, what root of a container does not have."""
    for capability in range(LAST_CAPABILITY + 1):
        if capability not in KEPT_CAPABILITIES:
            _check(_libc.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0), "drop a capability")


# Refused calls on x86_64 and arm64: what reaches kernel state that namespaces do not divide.
_REFUSED = {
    "keyctl": (250, 219), "add_key": (248, 217), "request_key": (249, 218), "bpf": (321, 280),
    "perf_event_open": (298, 241), "userfaultfd": (323, 282), "io_uring_setup": (425, 425), "kexec_load": (246, 104),
    "init_module": (175, 105), "finit_module": (313, 273), "open_by_handle_at": (304, 265), "swapon": (167, 224),
}  # fmt: skip
_ARCHITECTURES = {"x86_64": (0xC000003E, 0), "aarch64": (0xC00000B7, 1)}
_SOCKET, _PRLIMIT = (41, 198), (302, 261)
_FAMILIES = (38, 40)  # AF_ALG, AF_VSOCK: not divided by network namespaces
_LOAD, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
_ALLOW, _KILL, _EPERM = 0x7FFF0000, 0x80000000, 0x50001


def filter_calls() -> None:
    """Refuse `_REFUSED`, sockets that leave the namespaces, and limits on other processes (pid 1 is ours)."""
    machine = os.uname().machine
    if machine not in _ARCHITECTURES:
        raise OSError(f"no system-call filter for {machine}: workspaces run on x86_64 and arm64")
    arch, column = _ARCHITECTURES[machine]
    code = [(_LOAD, 0, 0, 4), (_EQUAL, 1, 0, arch), (_RETURN, 0, 0, _KILL), (_LOAD, 0, 0, 0)]
    code += [(_AT_LEAST, 0, 1, 0x40000000), (_RETURN, 0, 0, _KILL)]
    for numbers in _REFUSED.values():
        code += [(_EQUAL, 0, 1, numbers[column]), (_RETURN, 0, 0, _EPERM)]
    code += [(_EQUAL, 0, 4, _PRLIMIT[column]), (_LOAD, 0, 0, 16), (_EQUAL, 1, 0, 0), (_RETURN, 0, 0, _EPERM)]
    code += [(_RETURN, 0, 0, _ALLOW), (_EQUAL, 0, 1 + len(_FAMILIES), _SOCKET[column]), (_LOAD, 0, 0, 16)]
    code += [(_EQUAL, len(_FAMILIES) - index, 0, family) for index, family in enumerate(_FAMILIES)]
    code += [(_RETURN, 0, 0, _ALLOW), (_RETURN, 0, 0, _EPERM)]
    _install(code, 0)


def _install(code: list[tuple[int, int, int, int]], flags: int) -> int:
    lines = ctypes.create_string_buffer(b"".join(struct.pack("=HBBI", *line) for line in code))
    program = struct.pack("=HxxxxxxQ", len(code), ctypes.addressof(lines))
    number = 317 if os.uname().machine == "x86_64" else 277
    return _syscall(number, "filter system calls", 1, ctypes.c_long(flags), ctypes.c_char_p(program))


NOTIFY, NEW_LISTENER = 0x7FC00000, 8
RECEIVE_CALL, ANSWER_CALL = 0xC0502100, 0xC0182101


def observe_calls(numbers: Iterable[int]) -> int:
    """Suspend these system calls of this process and its children until the returned descriptor answers them."""
    code = [(_LOAD, 0, 0, 0)]
    for number in numbers:
        code += [(_EQUAL, 0, 1, number), (_RETURN, 0, 0, NOTIFY)]
    return _install([*code, (_RETURN, 0, 0, _ALLOW)], NEW_LISTENER)


def next_call(listener: int) -> tuple[int, int, tuple[int, ...]]:
    """The thread, number and arguments of a waiting call, which continues when `answer_call` is called."""
    data = bytearray(80)
    ioctl(listener, RECEIVE_CALL, data)
    call, thread, _, number, _, _, *arguments = struct.unpack("=QIIiIQ6Q", data)
    return thread, number, (call, *arguments)


def answer_call(listener: int, call: int) -> None:
    """Let a waiting call continue unchanged."""
    with contextlib.suppress(FileNotFoundError):  # its process was killed
        ioctl(listener, ANSWER_CALL, struct.pack("=QqiI", call, 0, 0, 1))
