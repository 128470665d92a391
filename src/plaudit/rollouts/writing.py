"""Write rollouts; a crash loses at most the line that is being written.

Whole lines go out in single writes, at the latest half a second after the last one went. What an earlier crash left
at the end of a file is repaired before anything is added to it.

Only an incomplete last line is removed. A last line that is invalid in another way is an error, because it may be data.
"""

import gzip
import os
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Literal, TypeAlias

from plaudit import jsonline
from plaudit.errors import RolloutsError, did_you_mean, require
from plaudit.rollouts.csv_format import write_csv
from plaudit.rollouts.parquet import write_parquet
from plaudit.rollouts.rollout import Rollout
from plaudit.rollouts.sources import CHUNK, LineSource, by_suffix, is_torn

Mode: TypeAlias = Literal["new", "append", "resume"]
Convert: TypeAlias = Callable[[Callable[[], Iterator[dict[str, Any]]], str], None]
FLUSH_BYTES = 1 << 16
FLUSH_SECONDS = 0.5


class RolloutsWriter:
    """Writes rollouts to a `.jsonl`, `.jsonl.gz`, `.parquet` or `.csv` file; use it as a context manager.

    `new` refuses to replace a file unless `overwrite`; `append` and `resume` repair the end of a `.jsonl` file and
    continue after it. A rollout that cannot be written raises before anything of it is written; the next one can be.
    """

    def __init__(self, path: str | os.PathLike[str], *, mode: Mode = "new", overwrite: bool = False) -> None:
        if mode not in ("new", "append", "resume"):
            known = ("new", "append", "resume")
            raise RolloutsError(f"no mode {mode!r}{did_you_mean(mode, known)} (there are {', '.join(known)})")
        self.path = Path(path)
        self.written = 0
        self._sink = by_suffix(self.path, _SINKS)(self.path, mode, overwrite)

    def write(self, rollout: Rollout) -> None:
        """Take one rollout; it is on its way to the disk within 64 KiB or at the first write after half a second."""
        self._sink.put(rollout.to_line())
        self.written += 1

    def flush(self) -> None:
        """Hand everything written so far to the operating system."""
        self._sink.flush()

    def close(self, *, complete: bool = True) -> None:
        """Finish the file. One that is not plain `.jsonl` appears only when it is `complete`."""
        self._sink.close(complete=complete)

    def __enter__(self) -> "RolloutsWriter":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        self.close(complete=error is None)


class _LineSink:
    """Lines to a file, many in one write."""

    def __init__(self, path: Path, file: BinaryIO) -> None:
        self._path = path
        self._file = file
        self._lines = bytearray()
        self._leaving = b""
        self._sent: list[int] = []
        self._flushed_at = time.monotonic()

    def put(self, line: bytes) -> None:
        self._lines += line
        if len(self._lines) >= FLUSH_BYTES or time.monotonic() - self._flushed_at >= FLUSH_SECONDS:
            self.flush()

    def flush(self) -> None:
        self._send()
        if self._lines:
            self._leaving, self._lines = bytes(self._lines), bytearray()
            self._send()
        self._flushed_at = time.monotonic()

    def close(self, *, complete: bool) -> None:
        try:
            self.flush()
        finally:
            self._file.close()

    def _send(self) -> None:
        """Write what is leaving; after a full disk or Ctrl-C the next call continues at the very byte."""
        try:
            while (done := sum(self._sent)) < len(self._leaving):
                # One call into C both writes and notes how much: Ctrl-C cannot fall between the two.
                self._sent.extend(map(self._file.write, (memoryview(self._leaving)[done:],)))
        except OSError as error:
            raise RolloutsError(f"cannot write {self._path}: {error.strerror}; the lines before are safe") from error
        self._leaving, self._sent = b"", []


class _ConvertedSink:
    """Lines to a temporary file, which is converted to the format of the target when it is complete."""

    def __init__(self, path: Path, convert: Convert) -> None:
        self._path, self._convert = path, convert
        self._spool = path.with_name(f"{path.name}.partial.jsonl")
        self._lines = _LineSink(self._spool, _open(self._spool, "wb"))

    def put(self, line: bytes) -> None:
        self._lines.put(line)

    def flush(self) -> None:
        self._lines.flush()

    def close(self, *, complete: bool) -> None:
        self._lines.close(complete=complete)
        if complete and self._spool.exists():  # a second call does nothing
            partial = self._path.with_name(f"{self._path.name}.partial")
            self._convert(self._rows, str(partial))
            os.replace(partial, self._path)
            self._spool.unlink()

    def _rows(self) -> Iterator[dict[str, Any]]:
        return (jsonline.decode(line) for _, line in LineSource.of_file(self._spool).raw_rows())


_Sink: TypeAlias = _LineSink | _ConvertedSink


def _plain_sink(path: Path, mode: Mode, overwrite: bool) -> _Sink:
    return _LineSink(path, _open_output(path, mode, overwrite))


def _converted_sink(convert: Convert, path: Path, mode: Mode, overwrite: bool) -> _Sink:
    if convert is write_parquet:
        require("pyarrow", extra="parquet", purpose="writing Parquet")
    if mode != "new":
        raise RolloutsError(
            f"{path}: such a file is written only when it is complete, so nothing can be added to it; "
            f"write {path.name.partition('.')[0]}.jsonl, which can be continued"
        )
    if not overwrite:
        _refuse_existing(path)
    return _ConvertedSink(path, convert)


def _write_gzip(rows: Callable[[], Iterator[dict[str, Any]]], path: str) -> None:
    with open(path, "wb") as raw, gzip.GzipFile(filename="", fileobj=raw, mode="wb", compresslevel=6, mtime=0) as file:
        for row in rows():
            file.write(jsonline.encode(row) + b"\n")


_SINKS: dict[str, Callable[[Path, Mode, bool], _Sink]] = {
    ".jsonl": _plain_sink,
    ".gz": partial(_converted_sink, _write_gzip),
    ".parquet": partial(_converted_sink, write_parquet),
    ".csv": partial(_converted_sink, write_csv),
}


def _open_output(path: Path, mode: Mode, overwrite: bool) -> BinaryIO:
    if mode == "new":
        if not overwrite:
            _refuse_existing(path)
        return _open(path, "wb" if overwrite else "xb")
    try:
        repair_lines(path)
    except FileNotFoundError:
        pass  # the first run of many: there is nothing to continue from
    except OSError as error:
        raise RolloutsError(f"cannot write {path}: {error.strerror}") from error
    return _open(path, "ab")


def _refuse_existing(path: Path) -> None:
    if path.is_file():
        raise RolloutsError(
            f"{path} exists already; --overwrite replaces it (overwrite=True), "
            "--resume continues at its end (mode='resume')"
        )


def _open(path: Path, mode: str) -> BinaryIO:
    if not path.parent.is_dir():
        raise RolloutsError(f"cannot write {path}: there is no folder {path.parent}; create it first")
    try:
        return open(path, mode, buffering=0)  # type: ignore[return-value]  # unbuffered: one write is one write
    except OSError as error:
        raise RolloutsError(f"cannot write {path}: {error.strerror}") from error


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
            "correct that line or write to another file"
        ) from None


def write_atomically(path: Path, data: bytes) -> None:
    """Write a temporary file in the same folder, then rename it; an OSError leaves no partial file."""
    partial = path.with_name(f"{path.name}.partial")
    try:
        partial.write_bytes(data)
        os.replace(partial, path)
    except OSError:
        partial.unlink(missing_ok=True)
        raise
