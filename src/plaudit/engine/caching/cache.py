"""Scores kept on disk by content, for several processes and threads at once.

It stands on the standard library's sqlite3: in WAL mode readers do not wait for writers, a kill in the middle of a
write loses that write alone, and no dependency is added. (diskcache pickles its values; LMDB evicts nothing.) Rows lie
in the order of use: the first are evicted first, and a hit in the older half of a cache that is half full moves to the
end. Trouble with the file never stops scoring once it is open: the cache steps aside, and `note` says why.
"""

import functools
import os
import sqlite3
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import TypeAlias, TypeVar

import msgspec

from plaudit.contract.output import RewardOutput, Status
from plaudit.engine.caching.file import connect, is_unfit, size_of
from plaudit.engine.caching.keys import is_plain
from plaudit.errors import CacheError

__all__ = ["Cache", "CacheStats", "decode_output", "encode_output"]

CHUNK = 512
MEGABYTE = 1 << 20
ROW_OVERHEAD = 96
"""Bytes a row takes beside its value: the key, the key again in the index, and the slack of pages half full."""

Row: TypeAlias = tuple[bytes, bytes]
T = TypeVar("T")
_LASTING = frozenset({Status.OK, Status.UNPARSED, Status.SKIPPED})
_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(RewardOutput)


@dataclass(frozen=True, slots=True)
class CacheStats:
    """What was asked of a cache since it was opened here, and its size; `unkept` outputs failed or are not plain."""

    hits: int = 0
    misses: int = 0
    stored: int = 0
    unkept: int = 0
    evicted: int = 0
    bytes: int = 0


class Cache:
    """Outputs by key: `Cache("scores.sqlite", max_mb=100)`; the file stays below `max_mb`, its log adds a few MB.

    Only outcomes that would come again are kept (ok, unparsed, skipped): never an error, a timeout or a lack of memory.
    """

    def __init__(self, path: str | Path, *, max_mb: int = 1024, busy_s: float = 5.0) -> None:
        if max_mb < 1:
            raise CacheError(f"a cache needs max_mb >= 1, got {max_mb}")
        self.path, self.note = Path(path), ""
        self._max, self._busy_s = max_mb * MEGABYTE, busy_s
        self._counts = CacheStats()
        self._older_half = 0
        self._inherited: list[sqlite3.Connection] = []
        self._lock, self._pid = threading.Lock(), os.getpid()
        self._connection: sqlite3.Connection | None = None
        try:
            self._connect()
        except sqlite3.Error as error:
            if is_unfit(error):
                raise CacheError(f"{path} cannot serve as a cache: {error}; delete it, or name another file") from error
            self._step_aside(error)

    def get_many(self, keys: Iterable[bytes]) -> dict[bytes, RewardOutput]:
        """The outputs that are known, by key."""
        asked = list(dict.fromkeys(keys))
        rows: list[Row] = self._attempt(functools.partial(self._read, asked), [])
        found = {key: output for key, value in rows if (output := decode_output(value)) is not None}
        self._count(hits=len(found), misses=len(asked) - len(found))
        return found

    def put_many(self, outputs: Mapping[bytes, RewardOutput]) -> None:
        """Keep what can be kept."""
        portion = self._max // 16
        pairs = ((key, encode_output(output)) for key, output in outputs.items())
        rows = [(key, value) for key, value in pairs if value is not None and len(value) <= portion]
        self._count(unkept=len(outputs) - len(rows))
        for part in _portions(rows, portion):
            stored, evicted = self._attempt(functools.partial(self._write, part), (0, 0))
            self._count(stored=stored, evicted=evicted)

    @property
    def stats(self) -> CacheStats:
        """The counts so far, and the size of what is kept."""
        return replace(self._counts, bytes=self._attempt(size_of, 0))

    def clear(self) -> None:
        """Forget everything and give the space back."""
        self._attempt(_empty, None)

    def close(self) -> None:
        """Close the file; a closed cache finds nothing and keeps nothing."""
        with self._lock:
            if self._connection is not None and self._pid == os.getpid():
                self._connection.close()
                self._connection = None

    def __enter__(self) -> "Cache":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        self.close()

    def _connect(self) -> None:
        self._connection = connect(self.path, self._busy_s)
        self._older_half = _middle(self._connection) if size_of(self._connection) > self._max // 2 else 0

    def _attempt(self, work: Callable[[sqlite3.Connection], T], otherwise: T) -> T:
        """What `work` gives, or `otherwise` once the cache is closed or has stepped aside."""
        if self._pid != os.getpid():
            self._start_anew()
        with self._lock:
            if self._connection is None:
                return otherwise
            try:
                return work(self._connection)
            except sqlite3.Error as error:
                self._step_aside(error)
                return otherwise

    def _start_anew(self) -> None:
        """After a fork: the connection belongs to the parent and must be neither used nor closed here."""
        self._lock, self._pid = threading.Lock(), os.getpid()
        if self._connection is None:
            return
        self._inherited.append(self._connection)
        self._connection = None
        try:
            self._connect()
        except sqlite3.Error as error:
            self._step_aside(error)

    def _step_aside(self, error: sqlite3.Error) -> None:
        self.note = f"the cache {self.path} is not used any more: {error}"
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _count(self, **more: int) -> None:
        with self._lock:
            now = {name: getattr(self._counts, name) + count for name, count in more.items()}
            self._counts = replace(self._counts, **now)

    def _read(self, keys: Sequence[bytes], connection: sqlite3.Connection) -> list[Row]:
        found: list[tuple[int, bytes, bytes]] = []
        for start in range(0, len(keys), CHUNK):
            chunk = keys[start : start + CHUNK]
            found += connection.execute(_select(len(chunk)), chunk).fetchall()
        if old := [(place,) for place, _, _ in found if place < self._older_half]:
            with connection:
                connection.execute("BEGIN IMMEDIATE")
                connection.executemany(_MOVE, old)
        return [(key, value) for _, key, value in found]

    def _write(self, rows: Sequence[Row], connection: sqlite3.Connection) -> tuple[int, int]:
        """How many rows are new, and how many had to go for them."""
        with connection:
            connection.execute("BEGIN IMMEDIATE")
            evicted = self._make_room(connection, sum(map(_row_size, rows)))
            stored = connection.executemany("INSERT OR IGNORE INTO scores (key, value) VALUES (?, ?)", rows).rowcount
        return stored, evicted

    def _make_room(self, connection: sqlite3.Connection, needed: int) -> int:
        evicted = 0
        size = size_of(connection)
        while size + needed > self._max and (last := _last(connection)):
            first = _first(connection)
            share = min(1.0, max(needed / size, 1 / 64))
            end = first + max(1, int((last - first + 1) * share))
            evicted += connection.execute("DELETE FROM scores WHERE place < ?", (end,)).rowcount
            size = size_of(connection)
        self._older_half = _middle(connection) if size > self._max // 2 else 0
        return evicted


_MOVE = "UPDATE scores SET place = (SELECT max(place) + 1 FROM scores) WHERE place = ?"


@functools.cache
def _select(count: int) -> str:
    return f"SELECT place, key, value FROM scores WHERE key IN ({', '.join('?' * count)})"


def _row_size(row: Row) -> int:
    return len(row[1]) + ROW_OVERHEAD


def _portions(rows: Iterable[Row], limit: int) -> Iterator[list[Row]]:
    """The rows in parts that are small beside the whole cache."""
    part: list[Row] = []
    size = 0
    for row in rows:
        if part and (len(part) == CHUNK or size + _row_size(row) > limit):
            yield part
            part, size = [], 0
        part.append(row)
        size += _row_size(row)
    if part:
        yield part


def _first(connection: sqlite3.Connection) -> int:
    return int(connection.execute("SELECT min(place) FROM scores").fetchone()[0] or 0)


def _last(connection: sqlite3.Connection) -> int:
    return int(connection.execute("SELECT max(place) FROM scores").fetchone()[0] or 0)


def _middle(connection: sqlite3.Connection) -> int:
    return (_first(connection) + _last(connection)) // 2


def _empty(connection: sqlite3.Connection) -> None:
    connection.execute("DELETE FROM scores")
    connection.execute("VACUUM")
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def encode_output(output: RewardOutput) -> bytes | None:
    """The output as bytes, or None where it is not to be kept: failures, and what would not come back equal."""
    try:
        return _encoder.encode(output) if _is_lasting(output) else None
    except (OverflowError, UnicodeEncodeError, RecursionError):  # large numbers, lone surrogates, deep nesting
        return None


def decode_output(value: bytes) -> RewardOutput | None:
    """The output that was encoded; None for bytes that hold none."""
    try:
        return _decoder.decode(value)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def _is_lasting(output: RewardOutput) -> bool:
    return (
        output.status in _LASTING
        and type(output) is RewardOutput
        and type(output.reason) is str
        and (output.latency_s is None or type(output.latency_s) is float)
        and is_plain(output.metadata)
        and (not output.components or all(map(_is_lasting_part, output.components.items())))
    )


def _is_lasting_part(part: tuple[str, RewardOutput]) -> bool:
    return type(part[0]) is str and _is_lasting(part[1])
