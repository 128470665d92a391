"""Where rollouts come from: a file of JSON lines, plain or gzip, a stream, or Parquet; the suffix decides.

A source gives raw rows with their numbers and decodes them on demand, so that one broken row stops nobody else.
"""

import io
import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, Protocol, TypeVar

from plaudit import jsonline
from plaudit.errors import RolloutsError, did_you_mean
from plaudit.rollouts.lines import CHUNK, GzipMembers, Lines
from plaudit.rollouts.parquet import ParquetSource

__all__ = ["LineSource", "Source", "by_suffix", "source_of"]

T = TypeVar("T")


class Source(Protocol):
    """Rows with their numbers, from 1; `torn` is known after the last one."""

    name: str
    torn: bool

    def raw_rows(self) -> Iterator[tuple[int, Any]]: ...
    def decode(self, raw: Any) -> Any: ...


class LineSource:
    """JSON lines from wherever `opening` gets them."""

    def __init__(self, name: str, opening: Callable[[], AbstractContextManager[Lines]]) -> None:
        self.name = name
        self.torn = False
        self._opening = opening

    @classmethod
    def of_file(cls, path: Path) -> "LineSource":
        return cls(str(path), partial(_plain_lines, path))

    @classmethod
    def of_gzip(cls, path: Path) -> "LineSource":
        return cls(str(path), partial(_gzip_lines, path))

    @classmethod
    def of_stream(cls, stream: BinaryIO) -> "LineSource":
        """From an open binary stream, such as `sys.stdin.buffer`; it is left open."""
        name = str(getattr(stream, "name", "<stream>"))
        return cls(name, lambda: nullcontext(Lines(stream, name)))

    def raw_rows(self) -> Iterator[tuple[int, bytes]]:
        with self._opening() as lines:
            yield from lines
        self.torn = lines.torn

    def decode(self, raw: bytes) -> Any:
        return jsonline.decode(raw.rstrip(b"\r\n"))


@contextmanager
def _plain_lines(path: Path) -> Iterator[Lines]:
    with _opened(path) as file:
        yield Lines(file, str(path))


@contextmanager
def _gzip_lines(path: Path) -> Iterator[Lines]:
    with _opened(path) as file:
        members = GzipMembers(file)
        lines = Lines(io.BufferedReader(members, CHUNK), str(path))
        yield lines
        lines.torn = lines.torn or members.torn


def _opened(path: Path) -> BinaryIO:
    try:
        return open(path, "rb")
    except OSError as error:
        raise RolloutsError(f"cannot read {path}: {error.strerror}") from error


_SOURCES: dict[str, Callable[[Path], Source]] = {
    ".jsonl": LineSource.of_file,
    ".gz": LineSource.of_gzip,
    ".parquet": ParquetSource,
}


def source_of(path: str | os.PathLike[str] | BinaryIO) -> Source:
    """The source behind a path or an open binary stream."""
    if not isinstance(path, str | os.PathLike):
        return LineSource.of_stream(path)
    place = Path(path)
    if place.is_dir():
        raise RolloutsError(f"{place} is a folder; name one file in it{_example_in(place)}")
    if not place.exists():
        raise RolloutsError(f"no file {place}{did_you_mean(place.name, _files_beside(place))}")
    if not place.is_file():  # a pipe or a device, as `<(command)` gives: it has no suffix to go by
        return LineSource.of_file(place)
    return by_suffix(place, _SOURCES)(place)


def by_suffix(path: Path, table: dict[str, T]) -> T:
    """What the table holds for a path's suffix."""
    suffix = path.suffix.lower()
    if suffix not in table:
        raise RolloutsError(
            f"{path}: {f'the suffix {suffix!r}' if suffix else 'no suffix'} says no known format"
            f"{did_you_mean(suffix, table)} (rollouts files end in .jsonl, .jsonl.gz or .parquet)"
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
