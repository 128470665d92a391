"""The first process of a workspace: it mounts the file system, runs commands and moves files, until its socket closes.

When it ends, the kernel ends every process of the workspace and drops its mounts. Programs in the workspace run with
fewer rights than this process, so none can stop it, trace it or limit it.
"""

import contextlib
import io
import os
import resource
import select
import shutil
import signal
import socket
import stat
import struct
import tarfile
import time
import traceback
from dataclasses import dataclass
from fcntl import ioctl
from pathlib import Path
from typing import Any, TypeAlias

from plaudit.harbor.machine import kernel
from plaudit.harbor.machine.observer import Observer, observe_this_process
from plaudit.harbor.machine.packing import UNCROSSED, Packer
from plaudit.harbor.machine.wire import Lost, receive, send

User: TypeAlias = str | int | None
Account: TypeAlias = tuple[int, int, list[int], str]
"""The numbers, the groups and the home of a user."""
FILES_PER_MB = 128  # one for 8 KiB
DEVICES = ("null", "zero", "full", "random", "urandom", "tty")
MOST_PROCESSES, MOST_TERMINALS, SHARED_MB = 512, 256, 64
PER_NAMESPACE_LIMIT = (6, 14)  # since this kernel, kernel.pid_max belongs to a process namespace


@dataclass(frozen=True)
class Layer:
    """A part of the file system: where it is mounted, its base, what the image changed, and overlay's work folder."""

    at: str
    base: str
    image: str
    work: str


@dataclass(frozen=True)
class Setup:
    """The contents and settings of a workspace."""

    stage: str
    layers: list[Layer]
    user_namespace: int | None
    tmpfs_owner: str
    network: bool
    is_build: bool
    storage_mb: int


def limits_of(megabytes: int) -> str:
    """The limits of a file system in memory: bytes, and files, since a file takes memory even when it is empty."""
    return f"size={megabytes}m,nr_inodes={megabytes * FILES_PER_MB}"


def serve(channel: socket.socket, setup: Setup) -> None:
    """Set up the workspace, answer requests, and never return."""
    try:
        server = _Server(channel, _enter(setup))
        send(channel, {})
        while True:
            head, body = receive(channel)
            send(channel, *server.answer(head, body))
    except ConnectionError:
        os._exit(0)
    except BaseException:  # noqa: BLE001 - the first process reports whatever happened, and ends
        with contextlib.suppress(Exception):
            send(channel, {"error": traceback.format_exc(limit=-1).strip().splitlines()[-1]})
        os._exit(1)


def _enter(setup: Setup) -> int:
    """Mount and enter the workspace's file system and user namespace; a descriptor of the changed files."""
    root = f"{setup.stage}/root"
    top = f"{setup.stage}/top"
    os.makedirs(root, exist_ok=True)
    os.makedirs(top, exist_ok=True)
    kernel.mount("tmpfs", top, "tmpfs", kernel.MS_NODEV, f"mode=755,{limits_of(setup.storage_mb)}{setup.tmpfs_owner}")
    extended = "" if setup.user_namespace is not None else ",userxattr"
    for index, layer in enumerate(setup.layers):
        upper, work, lower = layer.image, layer.work, layer.base
        if not setup.is_build:
            upper, work, lower = f"{top}/{index}", f"{top}/work{index}", f"{layer.image}:{layer.base}"
            os.makedirs(work)
            os.makedirs(upper)
            state = os.stat(layer.image)
            os.chown(upper, state.st_uid, state.st_gid)
            os.chmod(upper, state.st_mode)
        options = f"lowerdir={lower},upperdir={upper},workdir={work}{extended}"
        kernel.mount("overlay", f"{root}/{layer.at}", "overlay", kernel.MS_NODEV, options)
    changes = os.open(
        setup.layers[0].image if setup.is_build else f"{top}/0", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC
    )
    _mount_devices(root, setup.tmpfs_owner)
    kernel.mount("proc", f"{root}/proc", "proc", kernel.MS_NOSUID | kernel.MS_NODEV | kernel.MS_NOEXEC)
    _set_limits(root, setup)
    os.chdir(root)
    kernel.pivot_root(".", ".")
    kernel.detach(".")
    os.chdir("/")
    if setup.user_namespace is not None:
        kernel.setns(setup.user_namespace, kernel.CLONE_NEWUSER)
        os.setgroups([])
        os.setresgid(0, 0, 0)
        os.setresuid(0, 0, 0)
    else:
        kernel.become_root(0, 0)
    Path("/proc/sys/user/max_user_namespaces").write_text("0")
    kernel.die_with_parent()  # anew: a change of user cancels it
    kernel.forbid_inspection()
    return changes


def _mount_devices(root: str, owner: str) -> None:
    kernel.mount("tmpfs", f"{root}/dev", "tmpfs", kernel.MS_NOSUID, f"mode=755,{limits_of(1)}{owner}")
    for name in DEVICES:
        Path(f"{root}/dev/{name}").touch()
        kernel.mount(f"/dev/{name}", f"{root}/dev/{name}", "", kernel.MS_BIND)
    for name, number in {"fd": "", "stdin": "/0", "stdout": "/1", "stderr": "/2"}.items():
        os.symlink(f"/proc/self/fd{number}", f"{root}/dev/{name}")
    os.symlink("pts/ptmx", f"{root}/dev/ptmx")
    for name in ("shm", "pts"):
        os.mkdir(f"{root}/dev/{name}")
    shared = f"mode=1777,{limits_of(SHARED_MB)}{owner}"
    kernel.mount("tmpfs", f"{root}/dev/shm", "tmpfs", kernel.MS_NOSUID | kernel.MS_NODEV, shared)
    terminals = f"newinstance,ptmxmode=0666,mode=620,max={MOST_TERMINALS}"
    kernel.mount("devpts", f"{root}/dev/pts", "devpts", kernel.MS_NOSUID, terminals)


def _set_limits(root: str, setup: Setup) -> None:
    """Limits of the whole workspace, set while this process still may."""
    Path(f"{root}/proc/self/oom_score_adj").write_text("1000")
    release = os.uname().release.split(".")
    version = tuple(int("".join(filter(str.isdigit, part))[:4] or 0) for part in release[:2])
    if version >= PER_NAMESPACE_LIMIT and setup.user_namespace is not None:
        Path(f"{root}/proc/sys/kernel/pid_max").write_text(str(MOST_PROCESSES))
    if not setup.network:
        Path(f"{root}/proc/sys/net/ipv4/ip_unprivileged_port_start").write_text("0")
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as configuring:
            ioctl(configuring, 0x8914, struct.pack("16sh22x", b"lo", 0x41))  # SIOCSIFFLAGS: up, running
    socket.sethostname("workspace")


class _Server:
    """Answers the requests of the owner of the workspace."""

    def __init__(self, channel: socket.socket, changes: int) -> None:
        self.channel, self.changes = channel, changes
        reader, writer = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # as for the first process of a namespace: it is not delivered
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
        self.wakeups = reader

    def answer(self, head: dict[str, Any], body: bytes) -> tuple[dict[str, Any], bytes]:
        try:
            content = {"body": body} if body else {}
            answer: tuple[dict[str, Any], bytes] = getattr(self, f"do_{head.pop('do')}")(**content, **head)
            return answer
        except Lost:
            raise
        except (OSError, ValueError, KeyError, tarfile.TarError) as error:
            return {"error": f"{type(error).__name__}: {error}"}, b""

    def do_run(
        self, *, command: str, cwd: str, env: dict[str, str], user: User, seconds: float, keeps: int, observes: bool
    ) -> tuple[dict[str, Any], bytes]:
        """Run a command with a deadline; its last `keeps` bytes of output, and which files it used."""
        account = _account(user)
        ours, theirs = socket.socketpair() if observes else (None, None)
        observer: Observer | None = None
        start, output = time.monotonic(), bytearray()
        reader, writer = os.pipe2(os.O_CLOEXEC)
        os.set_blocking(reader, False)
        child = os.fork()
        if child == 0:
            _execute(command, cwd, env, account, writer, theirs)
        os.close(writer)
        if ours is not None and theirs is not None:
            theirs.close()
            with ours:
                _, [listener], *_ = socket.recv_fds(ours, 1, 1)
            observer = Observer(listener)
        code, timed_out = None, False
        try:
            while code is None:
                left = start + seconds - time.monotonic()
                if left <= 0:
                    timed_out = True
                    os.killpg(child, signal.SIGKILL)
                waited = [self.channel.fileno(), reader, self.wakeups, *([observer.listener] if observer else [])]
                ready, *_ = select.select(waited, [], [], max(left, 0.05))
                if self.channel.fileno() in ready:
                    raise Lost("the owner is gone")
                if observer is not None and observer.listener in ready:
                    observer.note()
                _read_output(reader, output, keeps)
                code = self._reap(child)
            _read_output(reader, output, keeps)
        finally:
            os.close(reader)
            if observer is not None:
                os.close(observer.listener)
        events = [] if observer is None else observer.events
        seconds = time.monotonic() - start
        return {"code": code, "timed_out": timed_out, "seconds": seconds, "events": events}, bytes(output)

    def _reap(self, child: int) -> int | None:
        """The exit code of the child once it has ended; orphans that ended are removed too."""
        with contextlib.suppress(BlockingIOError):
            os.read(self.wakeups, 4096)
        code = None
        with contextlib.suppress(ChildProcessError):
            while (ended := os.waitpid(-1, os.WNOHANG))[0]:
                if ended[0] == child:
                    code = os.waitstatus_to_exitcode(ended[1])
        return code

    def do_end_processes(self) -> tuple[dict[str, Any], bytes]:
        """Kill every process of the workspace but this one."""
        while True:
            with contextlib.suppress(ProcessLookupError):
                os.kill(-1, signal.SIGKILL)
            try:
                os.waitpid(-1, 0)
            except ChildProcessError:
                return {}, b""

    def do_put(self, *, body: bytes, path: str, empties: bool, mode: int | None) -> tuple[dict[str, Any], bytes]:
        """Unpack an archive into a folder."""
        _make_room(path, for_folder=True)
        os.makedirs(path, exist_ok=True)
        if empties:
            for entry in os.scandir(path):
                shutil.rmtree(entry.path) if entry.is_dir(follow_symlinks=False) else os.unlink(entry.path)
        with tarfile.open(fileobj=io.BytesIO(body)) as archive:
            archive.extraction_filter = _replace_others  # archives are made by our own code
            archive.extractall(path, numeric_owner=True)
        if mode is not None:
            os.chmod(path, mode)
        return {}, b""

    def do_read(self, *, path: str, most: int) -> tuple[dict[str, Any], bytes]:
        """A regular file of limited size; `kind` says why not: missing, link, folder, other or large."""
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        except OSError as error:
            link = os.path.islink(path)
            return {"kind": "link" if link else "missing" if isinstance(error, FileNotFoundError) else "other"}, b""
        mode = os.fstat(descriptor).st_mode
        if not stat.S_ISREG(mode):
            os.close(descriptor)
            return {"kind": "folder" if stat.S_ISDIR(mode) else "other"}, b""
        with open(descriptor, "rb") as file:
            data = file.read(most + 1)
        return {"kind": "large" if len(data) > most else "file"}, data[:most]

    def do_get(self, *, paths: list[str], with_changes: bool, most: int) -> tuple[dict[str, Any], bytes]:
        """An archive of files and folders, and of changed files elsewhere; what may not cross is left out and named."""
        packer = Packer(most)
        for path in paths:
            packer.add(path, path)
        if with_changes:
            top = f"/proc/self/fd/{self.changes}"
            for name in sorted(
                set(os.listdir(top)) - set(UNCROSSED) - {Path(path).parts[1] for path in paths if path != "/"}
            ):
                packer.add(f"{top}/{name}", f"/{name}")
        return {"left_out": packer.left_out}, packer.finish()


def _replace_others(member: tarfile.TarInfo, folder: str) -> tarfile.TarInfo:
    _make_room(os.path.join(folder, member.name), for_folder=member.isdir())
    return member


def _make_room(path: str, *, for_folder: bool) -> None:
    """Remove what is no folder above a path, and at it what is of another kind; nothing is written through a link."""
    for each in [*reversed(Path(path).parents), *([Path(path)] if for_folder else [])]:
        if os.path.lexists(each) and not each.is_dir():
            each.unlink()
    if not for_folder and os.path.lexists(path):
        is_folder = os.path.isdir(path) and not os.path.islink(path)
        shutil.rmtree(path) if is_folder else os.unlink(path)


def _account(user: User) -> Account:
    """Numbers, groups and home of a user of the workspace."""
    name = str(user if user not in (None, "") else 0).partition(":")[0]
    for fields in _read_table("/etc/passwd"):
        if len(fields) > 5 and name in (fields[0], fields[2]):
            groups = [
                int(each[2]) for each in _read_table("/etc/group") if len(each) > 3 and fields[0] in each[3].split(",")
            ]
            return int(fields[2]), int(fields[3]), groups, fields[5]
    if name.isdecimal():
        return int(name), int(name), [], "/"
    raise ValueError(f"no user {name!r} in the image")


def _read_table(path: str) -> list[list[str]]:
    """The lines of a file such as /etc/passwd; an image without it knows its users by their numbers."""
    with contextlib.suppress(FileNotFoundError):
        return [line.split(":") for line in Path(path).read_text(errors="replace").splitlines()]
    return []


def _execute(
    command: str, cwd: str, env: dict[str, str], account: Account, output: int, observing: socket.socket | None
) -> None:
    """In a new process: become the user, with a container's rights, and run the command."""
    try:
        user, group, groups, home = account
        os.setsid()
        signal.set_wakeup_fd(-1)
        for changed in (signal.SIGCHLD, signal.SIGPIPE, signal.SIGXFSZ):  # by Python
            signal.signal(changed, signal.SIG_DFL)
        silent = os.open("/dev/null", os.O_RDONLY)
        for number, source in enumerate((silent, output, output)):
            os.dup2(source, number)
        if observing is not None:
            listener = observe_this_process()
            socket.send_fds(observing, [b"1"], [listener])
        os.closerange(3, 1 << 16)
        resource.setrlimit(resource.RLIMIT_NPROC, (MOST_PROCESSES, MOST_PROCESSES))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        kernel.filter_calls()
        kernel.drop_capabilities()
        if user or group or groups:
            os.setgroups(groups)
            os.setresgid(group, group, group)
            os.setresuid(user, user, user)
        os.umask(0o022)
        os.chdir(cwd)
        shell = "/bin/bash" if os.path.exists("/bin/bash") else "/bin/sh"
        os.execve(shell, [shell, "-c", command], {"HOME": home, "HOSTNAME": "workspace", **env})
    except BaseException as error:  # noqa: BLE001 - a child of this process must never return
        os.write(1, f"workspace: {error}\n".encode())
    os._exit(127)


def _read_output(reader: int, output: bytearray, keeps: int) -> None:
    with contextlib.suppress(BlockingIOError):
        while data := os.read(reader, 1 << 16):
            output += data
            del output[:-keeps]
