"""Where rollouts come from: a file of JSON lines, plain or gzip, a stream, Parquet or CSV; the suffix decides.

A source gives raw rows with their numbers and decodes them on demand, so that one invalid row does not affect others.
An incomplete last line of a file is not an error: it is kept back and recorded as `torn`.
"""

import gzip
import os
import zlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, Protocol, TypeVar

from plaudit import jsonline
from plaudit.errors import RolloutsError, did_you_mean
from plaudit.rollouts.csv_format import CsvSource
from plaudit.rollouts.parquet import ParquetSource

BOM = b"\xef\xbb\xbf"
UTF16 = (b"\xff\xfe", b"\xfe\xff")
CHUNK = 1 << 16

T = TypeVar("T")


class Source(Protocol):
    """Rows with their numbers, from 1; `torn` is known after the last one."""

    name: str
    torn: bool

    def raw_rows(self) -> Iterator[tuple[int, Any]]: ...
    def decode(self, raw: Any) -> Any: ...


class LineSource:
    """JSON lines that are not blank, from wherever `opening` gets them; `torn` once half a line was met at the end."""

    def __init__(self, name: str, opening: Callable[[], AbstractContextManager[BinaryIO]]) -> None:
        self.name = name
        self.torn = False
        self._opening = opening

    @classmethod
    def of_file(cls, path: Path) -> "LineSource":
        return cls(str(path), partial(_open, path, open))

    @classmethod
    def of_gzip(cls, path: Path) -> "LineSource":
        return cls(str(path), partial(_open, path, gzip.open))

    @classmethod
    def of_stream(cls, stream: BinaryIO) -> "LineSource":
        """From an open binary stream, such as `sys.stdin.buffer`; it is left open."""
        return cls(str(getattr(stream, "name", "<stream>")), lambda: nullcontext(stream))

    def raw_rows(self) -> Iterator[tuple[int, bytes]]:
        self.torn = False
        for number, line in enumerate(self._lines(), 1):
            if number == 1:
                if line.startswith(UTF16):
                    raise RolloutsError(f"{self.name}:1: not UTF-8 but UTF-16; save the file as UTF-8")
                line = line.removeprefix(BOM)
            if not line.endswith(b"\n") and is_torn(line):
                self.torn = True
            elif line and not line.isspace():
                yield number, line

    def decode(self, raw: bytes) -> Any:
        return jsonline.decode(raw.rstrip(b"\r\n"))

    def _lines(self) -> Iterator[bytes]:
        number = 0
        with self._opening() as stream:
            try:
                for number, line in enumerate(stream, 1):  # noqa: B007 - the message says how far it came
                    yield line
            except (EOFError, zlib.error, gzip.BadGzipFile) as error:
                raise RolloutsError(f"{self.name}: the gzip data is broken after line {number} ({error})") from None
            except OSError as error:
                raise RolloutsError(f"cannot read {self.name}: {error.strerror}") from error


def _open(path: Path, opening: Callable[..., Any]) -> Any:
    try:
        return opening(path, "rb")
    except OSError as error:
        raise RolloutsError(f"cannot read {path}: {error.strerror}") from error


_SOURCES: dict[str, Callable[[Path], Source]] = {
    ".jsonl": LineSource.of_file,
    ".gz": LineSource.of_gzip,
    ".parquet": ParquetSource,
    ".csv": CsvSource,
}


def source_of(path: str | os.PathLike[str] | BinaryIO) -> Source:
    """The source for a path or an open binary stream."""
    if not isinstance(path, str | os.PathLike):
        return LineSource.of_stream(path)
    file = Path(path)
    if file.is_dir():
        raise RolloutsError(f"{file} is a folder; name one file in it{_example_in(file)}")
    if not file.exists():
        alike = [name for name in _files_beside(file) if did_you_mean(file.stem, [Path(name).stem])]
        raise RolloutsError(f"no file {file}{did_you_mean(file.name, alike)}")
    if not file.is_file():  # a pipe or a device, as `<(command)` gives: it has no suffix to go by
        return LineSource.of_file(file)
    return by_suffix(file, _SOURCES)(file)


def by_suffix(path: Path, table: dict[str, T]) -> T:
    """The table's entry for a path's suffix."""
    suffix = path.suffix.lower()
    if suffix not in table:
        problem = f"the suffix {suffix!r} is not a known format" if suffix else "it has no suffix that names a format"
        raise RolloutsError(
            f"{path}: {problem}{did_you_mean(suffix, table)} "
            "(data and rollouts files end in .jsonl, .jsonl.gz, .parquet or .csv)"
        )
    return table[suffix]


def _files_beside(path: Path) -> list[str]:
    try:
        return [entry.name for entry in path.parent.iterdir() if entry.is_file()]
    except OSError:
        return []


def _example_in(folder: Path) -> str:
    names = sorted(entry.name for entry in folder.iterdir() if entry.suffix.lower() in _SOURCES)
    return f", such as {folder / names[0]}" if names else ""


def is_torn(line: bytes) -> bool:
    """Whether a last line without newline is the beginning of a JSON object: what an interrupted write leaves."""
    if not line.removeprefix(BOM).lstrip().startswith(b"{"):
        return False
    try:
        jsonline.decode(line)
    except jsonline.TruncatedJSON:
        return True
    except jsonline.InvalidJSON:
        return False
    return False
