"""Images and workspaces: a file system and processes that an untrusted program may do anything with.

An `Image` is a process that holds a base and the changes of a Dockerfile; a `Workspace` is started from it in
milliseconds, with namespaces of its own and a copy-on-write view of the image in memory. Nothing is written to disk.
Both end with the process that made them, however it ends.
"""

import io
import json
import shutil
import socket
import subprocess
import sys
import tarfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from plaudit.errors import SandboxError
from plaudit.harbor.machine.observer import Event
from plaudit.harbor.machine.wire import receive, send

PACKAGE = Path(__file__).resolve().parents[1]
# The packages are named without running their __init__, as the process needs nothing of plaudit but these modules.
BOOT = """
import sys
for name, folder in (("plaudit", ""), ("plaudit.harbor", "/harbor"), ("plaudit.harbor.machine", "/harbor/machine")):
    sys.modules[name] = type(sys)(name)
    sys.modules[name].__path__ = [sys.argv[2] + folder]
from plaudit.harbor.machine.template import main
main(int(sys.argv[1]))
"""
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
KEPT_OUTPUT = 1 << 16
MOST_FILES = 512 << 20
NEEDED = (
    "workspaces need root or unprivileged user namespaces, and Linux 5.19 or newer; run as root, or enable "
    "kernel.unprivileged_userns_clone and user.max_user_namespaces"
)


class Closing:
    """Something that ends with the `with` statement that holds it."""

    def close(self) -> None:
        raise NotImplementedError

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


@dataclass(frozen=True, slots=True)
class Finished:
    """How a command ended: its exit code, the end of its output, and its time."""

    code: int
    output: str
    seconds: float
    timed_out: bool = False
    events: tuple[Event, ...] = ()
    """Which files its processes used, where that was asked for."""


@dataclass(frozen=True, slots=True)
class Entry:
    """What is at a path: a file, or a link."""

    content: bytes = b""
    mode: int = 0o755
    link: str = ""


class HostImage(Closing):
    """An image above the machine's own system folders, or above a root file system in a folder."""

    def __init__(self, base: Path | None = None, *, image_mb: int = 4096) -> None:
        if sys.platform != "linux":
            raise SandboxError(f"workspaces run on Linux only; this is {sys.platform}")
        if base is not None and not (base / "usr").is_dir():
            raise SandboxError(f"{base} is no root file system: it has no folder usr")
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-S", "-c", BOOT, str(theirs.fileno()), str(PACKAGE)],
                pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL, env={}, start_new_session=True,
            )  # fmt: skip
        # /usr/local belongs to the machine's owner; it is shown only where the machine's Python is in it.
        hides_local = not (shutil.which("python3", path=PATH) or "").startswith("/usr/local/")
        path = None if base is None else str(base.resolve())
        self._control.send(json.dumps({"base": path, "image_mb": image_mb, "hides_local": hides_local}).encode())
        answer = json.loads(self._control.recv(1 << 16) or b'{"error": "its process ended"}')
        if "error" in answer:
            self.close()
            raise SandboxError(f"a workspace cannot be made here: {answer['error']} ({NEEDED})")

    def workspace(self, *, network: bool = False, is_build: bool = False, storage_mb: int = 2048) -> "Workspace":
        """Start a workspace; a build changes the image itself."""
        ours, theirs = socket.socketpair()
        request = {"network": network, "is_build": is_build, "storage_mb": storage_mb}
        with theirs:
            try:
                socket.send_fds(self._control, [json.dumps(request).encode()], [theirs.fileno()])
            except OSError as error:
                ours.close()
                raise SandboxError(f"the process of the image is gone: {error}") from error
        return Workspace(ours)

    def close(self) -> None:
        """End the image and every workspace of it."""
        self._control.close()
        self._process.kill()
        self._process.wait()


class Workspace(Closing):
    """A running workspace; `close()` ends its processes and forgets its files."""

    def __init__(self, channel: socket.socket) -> None:
        self._channel = channel
        try:
            self._ask()
        except BaseException:
            self.close()
            raise

    def run(
        self,
        command: str,
        *,
        cwd: str = "/",
        env: Mapping[str, str] | None = None,
        user: str | int | None = None,
        seconds: float = 600.0,
        observes: bool = False,
    ) -> Finished:
        """Run a shell command; processes that it starts in the background go on, unless they are observed."""
        everything = {"PATH": PATH, "LANG": "C.UTF-8", **(env or {})}
        limits: dict[str, Any] = {"seconds": seconds, "keeps": KEPT_OUTPUT, "observes": observes}
        head, output = self._ask("run", command=command, cwd=cwd, env=everything, user=user, **limits)
        events = tuple((*each,) for each in head["events"])
        return Finished(head["code"], output.decode(errors="replace"), head["seconds"], head["timed_out"], events)

    def put(self, archive: bytes, path: str, *, empties: bool = False, mode: int | None = None) -> None:
        """Unpack an archive that `pack` or `get` made into a folder, which is made if it is missing."""
        self._ask("put", archive, path=path, empties=empties, mode=mode)

    def get(
        self, paths: Iterable[str], *, with_changes: bool = False, most: int = MOST_FILES
    ) -> tuple[bytes, list[str]]:
        """An archive of files and folders by their full paths, and what was left out of it.

        Links that leave their top folder, devices, sockets and rights such as setuid never cross. `with_changes` adds
        what was changed outside these paths, the system's folders and Harbor's.
        """
        head, archive = self._ask("get", paths=list(paths), with_changes=with_changes, most=most)
        return archive, head["left_out"]

    def read(self, path: str, most: int = 1 << 20) -> tuple[str, bytes]:
        """What is at a path (file, missing, link, folder, other or large), and the content of a file."""
        head, data = self._ask("read", path=path, most=most)
        return head["kind"], data

    def end_processes(self) -> None:
        """Kill every process that runs in the workspace."""
        self._ask("end_processes")

    def close(self) -> None:
        self._channel.close()

    def _ask(self, request: str = "", body: bytes = b"", **options: object) -> tuple[dict[str, Any], bytes]:
        """The answer to a request; without one, the first message of the workspace."""
        try:
            if request:
                send(self._channel, {"do": request, **options}, body)
            head, answer = receive(self._channel)
        except OSError as error:
            raise SandboxError(f"the workspace is gone: {error}") from error
        if "error" in head:
            raise SandboxError(f"in the workspace: {head['error']}")
        return head, answer


def pack(files: Mapping[str, bytes | Path | Entry], *, owner: tuple[int, int] = (0, 0)) -> bytes:
    """An archive of texts and of files of this machine, by their paths in it; folders with their contents."""
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w") as archive:
        for name, source in files.items():
            _pack_one(archive, name, source, owner)
    return data.getvalue()


def _pack_one(archive: tarfile.TarFile, name: str, source: bytes | Path | Entry, owner: tuple[int, int]) -> None:
    if isinstance(source, bytes):
        source = Entry(source)
    if isinstance(source, Entry):
        entry = tarfile.TarInfo(name)
        entry.size, entry.mode = len(source.content), source.mode
        entry.uid, entry.gid = owner
        if source.link:
            entry.type, entry.linkname = tarfile.SYMTYPE, source.link
        archive.addfile(entry, io.BytesIO(source.content))
        return

    def give_owner(entry: tarfile.TarInfo) -> tarfile.TarInfo:
        entry.uid, entry.gid = owner
        entry.uname = entry.gname = ""
        return entry

    archive.add(source, name, filter=give_owner)
