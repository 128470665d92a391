"""Cache of compiled programs on disk, keyed by their source, for all processes of one user.

An entry is written to a new name and renamed, so no process reads a partial one; a lock per entry ensures that each
program is compiled once. Above `most_bytes` the least recently used entries are deleted.
"""

import contextlib
import fcntl
import hashlib
import os
import stat
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

__all__ = ["BinaryCache"]

MOST_BYTES = 1 << 30


class BinaryCache:
    """A folder of compiled programs; where it cannot be used, everything is compiled anew."""

    def __init__(self, folder: Path | None = None, most_bytes: int = MOST_BYTES) -> None:
        self.folder = folder or Path(tempfile.gettempdir()) / f"plaudit-binaries-{os.getuid()}"
        self.most_bytes = most_bytes

    def get(self, key: bytes, make: Callable[[], bytes]) -> bytes:
        """The entry of a key, made if there is none. Errors of `make` are not cached."""
        if not self._is_usable():
            return make()
        path = self.folder / hashlib.sha256(key).hexdigest()
        binary = _read(path)
        if binary is not None:
            return binary
        with _lock(path.with_suffix(".lock")):
            binary = _read(path)  # another process may have made it meanwhile
            if binary is None:
                binary = make()
                self._keep(path, binary)
        return binary

    def _is_usable(self) -> bool:
        """Whether only this user can write to the folder: one of another user could contain other programs."""
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            seen = self.folder.lstat()
        except OSError:
            return False
        return stat.S_ISDIR(seen.st_mode) and seen.st_uid == os.getuid() and not seen.st_mode & 0o077

    def _keep(self, path: Path, content: bytes) -> None:
        with contextlib.suppress(OSError):  # a full disk costs the next one a compilation
            descriptor, name = tempfile.mkstemp(dir=self.folder, suffix=".new")
            try:
                with os.fdopen(descriptor, "wb") as file:
                    file.write(hashlib.sha256(content).digest() + content)
                os.replace(name, path)
            except OSError:
                os.unlink(name)
                raise
            self._drop_oldest()

    def _drop_oldest(self) -> None:
        with _lock(self.folder / "all.lock"):
            seen = sorted((entry.stat().st_mtime, entry.stat().st_size, entry.path) for entry in _entries(self.folder))
            over = sum(size for _, size, _ in seen) - self.most_bytes
            for _, size, name in seen:
                if over <= 0:
                    return
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(name)
                over -= size


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    with os.scandir(folder) as entries:
        return [entry for entry in entries if "." not in entry.name]


def _read(path: Path) -> bytes | None:
    """A whole entry, marked as used now; None if there is none, or where it was damaged."""
    try:
        content = path.read_bytes()
        os.utime(path)
    except OSError:
        return None
    digest, content = content[:32], content[32:]
    return content if hashlib.sha256(content).digest() == digest else None


@contextlib.contextmanager
def _lock(path: Path) -> Iterator[None]:
    descriptor = os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)  # who waits for it looks for the entry first
        os.close(descriptor)
