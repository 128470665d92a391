"""Repair the end of a rollouts file after an interrupted write, before anything is appended.

Only an incomplete last line is removed. A last line that is invalid in another way is an error, because it may be data.
"""

import gzip
import os
import shutil
from collections.abc import Iterator
from functools import reduce
from pathlib import Path
from typing import BinaryIO

from plaudit import jsonline
from plaudit.errors import RolloutsError
from plaudit.rollouts.sources import CHUNK, LineSource, is_torn

__all__ = ["repair_gzip", "repair_lines"]


def repair_lines(path: Path) -> None:
    """Cut off half a last line; give a whole last line its newline."""
    with open(path, "r+b") as file:
        tail = _tail(file)
        if not tail:
            return
        if is_torn(tail):
            file.truncate(file.seek(0, os.SEEK_END) - len(tail))
            return
        _check_whole(tail, path)
        file.seek(0, os.SEEK_END)
        file.write(b"\n")


def repair_gzip(path: Path) -> None:
    """Keep every whole line of a file that ends in half a member or half a line, in members that are whole."""
    path.stat()  # no file, nothing to repair: the caller knows FileNotFoundError
    source = LineSource.of_gzip(path)
    _, last = reduce(lambda _, row: row, source.raw_rows(), (0, b"\n"))
    if not source.torn and last.endswith(b"\n"):
        return
    if not last.endswith(b"\n"):
        _check_whole(last, path)
    partial = path.with_name(f"{path.name}.partial")
    with open(partial, "wb") as file:
        for run in _runs(source):
            file.write(gzip.compress(run, mtime=0))
        file.flush()
        os.fsync(file.fileno())
    shutil.copymode(path, partial)
    os.replace(partial, path)


def _tail(file: BinaryIO) -> bytes:
    """The bytes after the last newline."""
    tail = b""
    offset = file.seek(0, os.SEEK_END)
    while offset > 0:
        size = min(CHUNK, offset)
        offset -= size
        file.seek(offset)
        _, newline, behind = file.read(size).rpartition(b"\n")
        tail = behind + tail
        if newline:
            break
    return tail


def _check_whole(line: bytes, path: Path) -> None:
    try:
        if not line.isspace():
            jsonline.decode(line)
    except jsonline.InvalidJSON as error:
        raise RolloutsError(
            f"{path}: the last line is not what an interrupted write leaves ({error}), so nothing is added to it; "
            "mend that line or write to another file"
        ) from None


def _runs(source: LineSource) -> Iterator[bytes]:
    run = bytearray()
    for _, line in source.raw_rows():
        run += line if line.endswith(b"\n") else line + b"\n"
        if len(run) >= CHUNK:
            yield bytes(run)
            run.clear()
    yield bytes(run)
