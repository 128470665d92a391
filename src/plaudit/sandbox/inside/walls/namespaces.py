"""Namespaces of the server's own: no network, no other processes, an empty read-only root.

Entered once per server, not per child. Whether they can be had is found out by a process that tries all of it and is
thrown away, since half of them (a user namespace without a mapping) would be worse than none.
"""

import os
import select
import socket
from collections.abc import Callable

from plaudit.sandbox.inside.walls.kernel import Kernel
from plaudit.sandbox.inside.walls.scratch import MAX_FILES, MOUNTED

__all__ = ["become_first_process", "become_root", "close_files_off", "enter", "trial"]

NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET = (
    0x00020000, 0x02000000, 0x04000000, 0x08000000, 0x10000000, 0x20000000, 0x40000000,
)  # fmt: skip
ALL = NEWNS | NEWCGROUP | NEWUTS | NEWIPC | NEWPID | NEWNET
NOSUID, NODEV, NOEXEC, READ_ONLY, REMOUNT, PRIVATE, DETACH = 2, 4, 8, 1, 32, (1 << 18) | (1 << 14), 2
PARENT_CHECK_MS = 5_000
PLACES = ("/tmp", "/mnt", "/var", "/usr")  # somewhere to mount the new root; what is below it is not touched


def trial(kernel: Kernel) -> str:
    """Why namespaces cannot be had here; empty when a throw-away process had them all."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        _tell(writing, lambda: _try_all(kernel, writing))
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


def become_first_process(kernel: Kernel) -> None:
    """Go on as process 1 of the new namespace; the process that was here only waits, and ends with it."""
    pid = os.fork()
    if pid == 0:
        kernel.die_with_parent()
        return
    os.closerange(0, 1 << 16)
    owner, ending = os.getppid(), select.poll()
    ending.register(os.pidfd_open(pid), select.POLLIN)
    while not ending.poll(PARENT_CHECK_MS):
        if os.getppid() != owner:
            os._exit(1)  # and the new process goes with this one
    _, status = os.waitpid(pid, 0)
    os._exit(os.waitstatus_to_exitcode(status) & 0xFF)


def become_root(kernel: Kernel) -> None:
    """Make the current directory, which is a mount of its own, the root."""
    try:
        kernel.pivot_root(".", ".")
        kernel.unmount(".", DETACH)
    except OSError:  # a root that is the kernel's first file system cannot be put away, but can be left
        os.chroot(".")
    os.chdir("/")


def close_files_off(kernel: Kernel, scratch_mb: int = 0) -> None:
    """Make an empty, read-only directory the root; scratch space is the one thing in it, where it is asked for."""
    place = next(place for place in PLACES if os.path.isdir(place))
    kernel.mount("none", "/", "none", PRIVATE)
    kernel.mount("plaudit", place, "tmpfs", NOSUID | NODEV | NOEXEC, "size=4k,nr_inodes=8,mode=555")
    os.chdir(place)
    become_root(kernel)
    if scratch_mb:
        os.mkdir(MOUNTED)
        bounds = f"size={scratch_mb}m,nr_inodes={MAX_FILES},mode=700"
        kernel.mount("plaudit", MOUNTED, "tmpfs", NOSUID | NODEV | NOEXEC, bounds)
    kernel.mount("none", "/", "none", REMOUNT | READ_ONLY | NOSUID | NODEV | NOEXEC)


def _try_all(kernel: Kernel, descriptor: int) -> None:
    enter(kernel)
    pid = os.fork()
    if pid == 0:
        _tell(descriptor, lambda: _see_nothing(kernel))
    _, status = os.waitpid(pid, 0)
    if status:
        raise OSError("")  # the child has told why


def _see_nothing(kernel: Kernel) -> None:
    if os.getpid() != 1:
        raise OSError(f"is process {os.getpid()} in a new process namespace")
    close_files_off(kernel)
    if os.listdir("/"):
        raise OSError("the new root is not empty")
    if len(socket.if_nameindex()) > 1:
        raise OSError("sees the network interfaces of others")


def _tell(descriptor: int, run: Callable[[], object]) -> None:
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
