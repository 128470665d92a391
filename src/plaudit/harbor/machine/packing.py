"""Pack what crosses from one workspace to another: plain files, folders, and links that stay within them."""

import io
import os
import stat
import tarfile
from pathlib import Path

BYTES_PER_ENTRY, MOST_DEPTH = 4096, 100
MOST_NAMED, MOST_SHOWN = 100, 200
PROTECTED = ("/tests", "/solution", "/logs/verifier")
"""The paths that are never copied, whatever a task declares."""
UNCROSSED = (
    "bin", "boot", "dev", "etc", "home", "lib", "lib32", "lib64", "libx32", "logs", "opt", "proc", "root", "run",
    "sbin", "solution", "sys", "tests", "usr", "var",
)  # fmt: skip
"""Folders of the system and of Harbor: what an agent changes in them stays behind, unless its WORKDIR is there."""


class Packer:
    """An archive of plain files, folders and inner links; nothing with rights, no devices, nothing over the limit."""

    def __init__(self, most: int) -> None:
        self.most, self.left_out = most, list[str]()
        self._most_entries = most // BYTES_PER_ENTRY
        self._bytes = io.BytesIO()
        self._archive = tarfile.TarFile(fileobj=self._bytes, mode="w", format=tarfile.PAX_FORMAT)
        self._size = self._count = 0

    def add(self, source: str, name: str) -> None:
        """Add a tree under its path in the workspace."""
        if name in PROTECTED:
            self._leave_out(name, "belongs to the verifier")
            return
        try:
            self._add(source, name, os.lstat(source))
        except OSError as error:
            self._leave_out(name, str(error.strerror))

    def _add(self, source: str, name: str, state: os.stat_result) -> None:
        if stat.S_ISLNK(state.st_mode):
            target = os.path.normpath(os.path.join(os.path.dirname(name), os.readlink(source)))
            if os.path.isabs(os.readlink(source)) or Path(target).parts[1:2] != Path(name).parts[1:2]:
                self._leave_out(name, "a link that leaves its folder")
                return
        elif not (stat.S_ISREG(state.st_mode) or stat.S_ISDIR(state.st_mode)):
            if not (stat.S_ISCHR(state.st_mode) and state.st_rdev == 0):  # that is how overlay marks a removed file
                self._leave_out(name, "neither a file nor a folder")
            return
        if self._size + state.st_size > self.most or self._count > self._most_entries or name.count("/") > MOST_DEPTH:
            self._leave_out(name, "too large, too many or too deep")
            return
        self._size += state.st_size
        self._count += 1
        entry = tarfile.TarInfo(name.lstrip("/") or ".")
        entry.mode, entry.mtime = state.st_mode & 0o777, state.st_mtime
        entry.uid, entry.gid = state.st_uid, state.st_gid
        if stat.S_ISDIR(state.st_mode):
            entry.type = tarfile.DIRTYPE
            self._archive.addfile(entry)
            for child in sorted(os.listdir(source)):
                self.add(f"{source}/{child}", f"{name.rstrip('/')}/{child}")
        elif stat.S_ISLNK(state.st_mode):
            entry.type, entry.linkname = tarfile.SYMTYPE, os.readlink(source)
            self._archive.addfile(entry)
        else:
            with open(os.open(source, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb") as file:
                content = file.read(state.st_size)  # whole before it is added: it may shrink in shared mode
            entry.size = len(content)
            self._archive.addfile(entry, io.BytesIO(content))

    def _leave_out(self, name: str, reason: str) -> None:
        if len(self.left_out) < MOST_NAMED:
            self.left_out.append(f"{repr(name)[1:-1][:MOST_SHOWN]}: {reason}")  # names may have any characters

    def finish(self) -> bytes:
        self._archive.close()
        return self._bytes.getvalue()
