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
from typing import Any

from plaudit.errors import SandboxError
from plaudit.harbor.machine.observer import Event
from plaudit.harbor.machine.wire import Lost, receive, send

__all__ = ["Finished", "HostImage", "Entry", "Workspace", "pack"]

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


@dataclass(frozen=True, slots=True)
class Finished:
    """The result of a command: its exit code, the end of its output, and its time."""

    code: int
    output: str
    seconds: float
    timed_out: bool = False
    events: tuple[Event, ...] = ()
    """The files that its processes used, if this was recorded."""


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry of a folder: a file, or a link."""

    content: bytes = b""
    mode: int = 0o755
    link: str = ""


class HostImage:
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
        settings = {
            "base": None if base is None else str(base.resolve()),
            "image_mb": image_mb,
            "hides_local": hides_local,
        }
        self._control.send(json.dumps(settings).encode())
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

    def __enter__(self) -> "HostImage":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Workspace:
    """A running workspace; `close()` ends its processes and forgets its files."""

    def __init__(self, channel: socket.socket) -> None:
        self._channel = channel
        try:
            self._answer()
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
        head, output = self._ask(
            {
                "do": "run",
                "command": command,
                "cwd": cwd,
                "env": everything,
                "user": user,
                "seconds": seconds,
                "keeps": KEPT_OUTPUT,
                "observes": observes,
            }
        )
        events = tuple((*each,) for each in head["events"])
        return Finished(head["code"], output.decode(errors="replace"), head["seconds"], head["timed_out"], events)

    def put(self, archive: bytes, path: str, *, empties: bool = False, mode: int | None = None) -> None:
        """Unpack an archive that `pack` or `get` made into a folder, which is made if it is missing."""
        self._ask({"do": "put", "path": path, "empties": empties, "mode": mode}, archive)

    def get(
        self, paths: Iterable[str], *, with_changes: bool = False, most: int = MOST_FILES
    ) -> tuple[bytes, list[str]]:
        """An archive of files and folders by their full paths, and what was left out of it.

        Links that leave their top folder, devices, sockets and rights such as setuid never cross. `with_changes` adds
        what was changed outside these paths, the system's folders and Harbor's.
        """
        head, archive = self._ask({"do": "get", "paths": list(paths), "with_changes": with_changes, "most": most})
        return archive, head["left_out"]

    def read(self, path: str, most: int = 1 << 20) -> tuple[str, bytes]:
        """The kind of a path (file, missing, link, folder, other or large), and the content of a file."""
        head, data = self._ask({"do": "read", "path": path, "most": most})
        return head["kind"], data

    def end_processes(self) -> None:
        """Kill every process that runs in the workspace."""
        self._ask({"do": "end_processes"})

    def close(self) -> None:
        self._channel.close()

    def __enter__(self) -> "Workspace":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _ask(self, head: dict[str, Any], body: bytes = b"") -> tuple[dict[str, Any], bytes]:
        try:
            send(self._channel, head, body)
        except Lost as error:
            raise SandboxError(f"the workspace is gone: {error}") from error
        return self._answer()

    def _answer(self) -> tuple[dict[str, Any], bytes]:
        try:
            head, body = receive(self._channel)
        except Lost as error:
            raise SandboxError(f"the workspace is gone: {error}") from error
        if "error" in head:
            raise SandboxError(f"in the workspace: {head['error']}")
        return head, body


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
