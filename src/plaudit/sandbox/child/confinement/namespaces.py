"""Namespaces of the server's own: no network, no other processes, another host name, a root of its own.

Entered once per server, not per child. Whether they are available is found out by a process that tries all of it and
is thrown away, since a part of them (a user namespace without a mapping) would be worse than none. The root holds the
paths that the profile grants, all read-only, and the one folder of the profile, as a file system in memory.
"""

import contextlib
import os
import select
import socket
from _socket import gethostname
from collections.abc import Callable

from plaudit.sandbox.child.confinement.kernel import Kernel
from plaudit.sandbox.child.confinement.profiles import PROGRAM, Profile

NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET = (
    0x00020000, 0x02000000, 0x04000000, 0x08000000, 0x10000000, 0x20000000, 0x40000000,
)  # fmt: skip
ALL = NEWNS | NEWCGROUP | NEWUTS | NEWIPC | NEWPID | NEWNET
READ_ONLY, NOSUID, NODEV, NOEXEC, REMOUNT = 1, 2, 4, 8, 32
BIND, RECURSIVE, PRIVATE, DETACH = 1 << 12, 1 << 14, 1 << 18, 2
PARENT_CHECK_MS = 5_000
MOUNT_POINTS = ("/tmp", "/mnt", "/var", "/usr")  # where the new root may be mounted; what is below is not touched
FOLDER = "/work"
HOST_NAME = "sandbox"
SCRATCH_FILES, WORK_FILES = 1024, 1 << 14  # folders count
NULL = "/dev/null"
DEVICES = (NULL, "/dev/random", "/dev/urandom")  # without the latter Java gathers randomness for seconds
STREAMS = {"stdin": "0", "stdout": "1", "stderr": "2", "fd": ""}


def find_obstacle(kernel: Kernel) -> str:
    """The reason why namespaces are not available here; empty if a temporary process entered all of them."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        _report_error(writing, lambda: _try_all(kernel, writing))
    os.close(writing)
    with os.fdopen(reading) as answers:
        reason = answers.read()
    _, status = os.waitpid(pid, 0)
    return reason or ("" if status == 0 else f"the trial ended with status {status}")


def enter(kernel: Kernel) -> None:
    """Leave the namespaces of the parent; children forked from now on are in a process namespace of their own."""
    uid, gid = os.geteuid(), os.getegid()
    try:
        kernel.unshare(ALL)
    except PermissionError:
        kernel.unshare(ALL | NEWUSER)
        _write("/proc/self/setgroups", "deny")
        _write("/proc/self/uid_map", f"{uid} {uid} 1")
        _write("/proc/self/gid_map", f"{gid} {gid} 1")
    socket.sethostname(HOST_NAME)


def become_first_process(kernel: Kernel) -> None:
    """Continue as process 1 of the new namespace; the process that was here only waits, and ends with it."""
    pid = os.fork()
    if pid == 0:
        kernel.death_with_parent()()
        return
    os.closerange(0, 1 << 16)
    owner, ending = os.getppid(), select.poll()
    ending.register(os.pidfd_open(pid), select.POLLIN)
    while not ending.poll(PARENT_CHECK_MS):
        if os.getppid() != owner:
            os._exit(1)  # and the new process goes with this one
    _, status = os.waitpid(pid, 0)
    os._exit(os.waitstatus_to_exitcode(status) & 0xFF)


def build_root(kernel: Kernel, profile: Profile) -> None:
    """Make a new read-only root with what the profile grants, and the profile's folder in it."""
    mount_point = next(path for path in MOUNT_POINTS if os.path.isdir(path))
    kernel.mount("none", "/", "none", PRIVATE | RECURSIVE)
    shown = (*profile.reads, *filter(os.path.exists, DEVICES)) if profile.executes else ()
    sources = {path: os.open(path, os.O_PATH) for path in shown}  # before the new root covers any of them
    bounds = "size=256k,nr_inodes=2048" if profile.executes else "size=4k,nr_inodes=8"
    kernel.mount("plaudit", mount_point, "tmpfs", NOSUID | NODEV, f"{bounds},mode=755")
    for path, source in sources.items():
        _bind(kernel, f"/proc/self/fd/{source}", f"{mount_point}{path}")
        os.close(source)
    if profile.executes:
        _add_streams(kernel, mount_point)
    os.chdir(mount_point)
    if profile.folder_mb:
        files = WORK_FILES if profile.executes else SCRATCH_FILES
        bounds = f"size={profile.folder_mb}m,nr_inodes={files},mode=777"
        os.mkdir(mount_point + FOLDER)
        no_exec = 0 if profile.executes else NOEXEC
        kernel.mount("plaudit", mount_point + FOLDER, "tmpfs", NOSUID | NODEV | no_exec, bounds)
    _become_root(kernel)
    no_exec = 0 if profile.executes else NOEXEC
    kernel.mount("none", "/", "none", REMOUNT | READ_ONLY | NOSUID | NODEV | no_exec)


def _become_root(kernel: Kernel) -> None:
    """Make the current directory, which is a mount of its own, the root."""
    try:
        kernel.pivot_root(".", ".")
        kernel.unmount(".", DETACH)
    except OSError:  # a root that is the kernel's first file system cannot be unmounted, but can be left
        os.chroot(".")
    os.chdir("/")


def _bind(kernel: Kernel, source: str, target: str) -> None:
    """Show a file or folder in the new root."""
    if os.path.isdir(source):
        os.makedirs(target, exist_ok=True)
    else:
        os.makedirs(os.path.dirname(target), exist_ok=True)
        os.close(os.open(target, os.O_CREAT | os.O_WRONLY, 0o444))
    kernel.mount(source, target, "none", BIND | RECURSIVE)
    with contextlib.suppress(OSError):  # flags that the source has and that may not be removed
        flags = NOSUID if target.endswith(DEVICES) else NOSUID | NODEV | READ_ONLY
        kernel.mount("none", target, "none", REMOUNT | BIND | flags)


def _add_streams(kernel: Kernel, root: str) -> None:
    """`/dev/stdin` and its like, for programs that open them by name; a container may not allow it."""
    for name in ("dev", "proc"):
        os.makedirs(f"{root}/{name}", exist_ok=True)
    for name, number in STREAMS.items():
        os.symlink(f"/proc/self/fd/{number}", f"{root}/dev/{name}")
    with contextlib.suppress(OSError):
        kernel.mount("proc", f"{root}/proc", "proc", NOSUID | NODEV | NOEXEC)


def _try_all(kernel: Kernel, descriptor: int) -> None:
    enter(kernel)
    pid = os.fork()
    if pid == 0:
        _report_error(descriptor, lambda: _check_isolation(kernel))
    _, status = os.waitpid(pid, 0)
    if status:
        raise OSError("")  # the child has reported why


def _check_isolation(kernel: Kernel) -> None:
    if os.getpid() != 1:
        raise OSError(f"is process {os.getpid()} in a new process namespace")
    build_root(kernel, PROGRAM)
    if os.listdir("/"):
        raise OSError("the new root is not empty")
    if len(socket.if_nameindex()) > 1:
        raise OSError("sees the network interfaces of others")
    if gethostname() != HOST_NAME:
        raise OSError("sees the name of the machine")


def _report_error(descriptor: int, run: Callable[[], object]) -> None:
    try:
        run()
        os._exit(0)
    except OSError as error:
        os.write(descriptor, str(error).encode())
    finally:
        os._exit(1)


def _write(path: str, text: str) -> None:
    with open(path, "w") as file:
        file.write(text)
