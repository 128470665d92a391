"""An SQLite file of outputs by key, for several processes and threads at once.

The oldest rows are deleted when the file is full. SQLite errors disable the cache once it is open; `note` holds the
reason, and scoring continues without it.
"""

import os
import sqlite3
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import TypeAlias, TypeVar

import msgspec

from plaudit.contract.output import RewardOutput, Status
from plaudit.errors import CacheError

APPLICATION = 0x504C4432  # marks our files, in this layout
Outputs: TypeAlias = Sequence[RewardOutput]
T = TypeVar("T")
_SCHEMA = "CREATE TABLE scores (id INTEGER PRIMARY KEY, key BLOB NOT NULL UNIQUE, value BLOB NOT NULL)"
_SELECT = "SELECT value FROM scores WHERE key = ?"
_EVICT = "DELETE FROM scores WHERE id <= (SELECT min(id) + (max(id) - min(id)) / 16 FROM scores)"
_UNFIT = {sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY}
_CACHEABLE = {Status.OK, Status.UNPARSED, Status.SKIPPED}
_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(list[RewardOutput])


class Cache:
    """Outputs of samples or whole groups by key: `Cache("scores.sqlite", max_mb=100)`.

    Errors, timeouts and lacks of memory are never stored, nor outputs that would not be read back equal.
    """

    def __init__(self, path: str | Path, *, max_mb: int = 1024, busy_s: float = 10.0) -> None:
        if max_mb < 1:
            raise CacheError(f"a cache needs max_mb >= 1, got {max_mb}")
        self.path, self.note = Path(path), ""
        self._max_bytes, self._busy_s = max_mb << 20, busy_s
        self._lock, self._pid = threading.Lock(), os.getpid()
        self._inherited: list[sqlite3.Connection | None] = []
        self._connection: sqlite3.Connection | None = None
        self._connect()

    def get_many(self, keys: Iterable[bytes]) -> dict[bytes, list[RewardOutput]]:
        """The outputs that are stored, by key."""
        rows: list[tuple[bytes, bytes]] = self._run(lambda connection: _select(connection, keys), [])
        decoded = ((key, _decode(value)) for key, value in rows)
        return {key: outputs for key, outputs in decoded if outputs is not None}

    def put_many(self, outputs: Mapping[bytes, Outputs]) -> None:
        """Store the outputs that can be stored, and delete the oldest ones if the file is too large."""
        encoded = ((key, _encode(several)) for key, several in outputs.items())
        rows = [(key, value) for key, value in encoded if value is not None]
        if rows:
            self._run(lambda connection: self._insert(connection, rows), None)

    def close(self) -> None:
        """Close the file; a closed cache finds and stores nothing."""
        with self._lock:
            if self._connection is not None and self._pid == os.getpid():
                self._connection.close()
                self._connection = None

    def __enter__(self) -> "Cache":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        self.close()

    def _connect(self) -> None:
        with suppress(OSError):  # SQLite reports what is wrong with the path
            self.path.parent.mkdir(parents=True, exist_ok=True)
        try:
            self._connection = sqlite3.connect(
                self.path, timeout=self._busy_s, isolation_level=None, check_same_thread=False
            )
            _prepare(self._connection)
        except sqlite3.Error as error:
            self._disable(error)
            if getattr(error, "sqlite_errorcode", sqlite3.SQLITE_NOTADB) & 0xFF in _UNFIT:
                raise CacheError(f"{self.path} is not a cache: {error}; delete it, or name another file") from error

    def _run(self, work: Callable[[sqlite3.Connection], T], default: T) -> T:
        """The result of `work`, or the default if the cache is closed or disabled."""
        if self._pid != os.getpid():
            self._connect_after_fork()
        with self._lock:
            if self._connection is None:
                return default
            try:
                return work(self._connection)
            except sqlite3.Error as error:
                self._disable(error)
                return default

    def _connect_after_fork(self) -> None:
        """Open the file again; the parent's connection must be neither used nor closed here."""
        self._lock, self._pid = threading.Lock(), os.getpid()
        if self._connection is not None:
            self._inherited.append(self._connection)
            self._connect()

    def _disable(self, error: sqlite3.Error) -> None:
        self.note = f"the cache {self.path} is disabled: {error}"
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _insert(self, connection: sqlite3.Connection, rows: Sequence[tuple[bytes, bytes]]) -> None:
        with connection:
            connection.execute("BEGIN IMMEDIATE")
            connection.executemany("INSERT OR IGNORE INTO scores (key, value) VALUES (?, ?)", rows)
            while _size_of(connection) > self._max_bytes and connection.execute(_EVICT).rowcount:
                pass


def _prepare(connection: sqlite3.Connection) -> None:
    """Create the table in a new file; raises for the file of another program or of another layout."""
    connection.execute("PRAGMA synchronous = NORMAL")  # enough for a kill; a power cut may lose the last writes
    with connection:
        connection.execute("BEGIN IMMEDIATE")  # another process may be creating it now
        if _pragma(connection, "application_id") == APPLICATION:
            return
        if connection.execute("SELECT count(*) FROM sqlite_master").fetchone() != (0,):
            raise sqlite3.DatabaseError("it belongs to another program or to another version of plaudit")
        connection.execute(_SCHEMA)
        connection.execute(f"PRAGMA application_id = {APPLICATION}")


def _select(connection: sqlite3.Connection, keys: Iterable[bytes]) -> list[tuple[bytes, bytes]]:
    with connection:
        connection.execute("BEGIN")
        rows = ((key, connection.execute(_SELECT, (key,)).fetchone()) for key in keys)
        return [(key, row[0]) for key, row in rows if row is not None]


def _size_of(connection: sqlite3.Connection) -> int:
    """The bytes in use; SQLite reuses free pages before the file grows."""
    pages, free, size = (_pragma(connection, name) for name in ("page_count", "freelist_count", "page_size"))
    return (pages - free) * size


def _pragma(connection: sqlite3.Connection, name: str) -> int:
    return int(connection.execute(f"PRAGMA {name}").fetchone()[0])


def _encode(outputs: Outputs) -> bytes | None:
    """The outputs as bytes; None for failures, and for outputs that would not be read back equal."""
    if not all(map(_is_cacheable, outputs)):
        return None
    try:
        value = _encoder.encode(outputs)
    except (TypeError, OverflowError, ValueError, RecursionError):
        return None
    return value if _decode(value) == list(outputs) else None


def _decode(value: bytes) -> list[RewardOutput] | None:
    try:
        return _decoder.decode(value)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def _is_cacheable(output: RewardOutput) -> bool:
    return output.status in _CACHEABLE and all(map(_is_cacheable, output.components.values()))
