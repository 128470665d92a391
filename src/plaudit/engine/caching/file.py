"""The file behind the cache: an SQLite database that is marked as ours.

Whatever else lies at the path is left alone and is an error; so is a cache of another version of this layout.
"""

import sqlite3
import time
from contextlib import suppress
from pathlib import Path

__all__ = ["connect", "is_unfit", "size_of"]

APPLICATION = 0x504C4454
VERSION = 1
RETRY_S = 0.05
PAGE_CACHE_KB = 32 * 1024  # a third faster than SQLite's own 2 MB when keys come in any order
_SCHEMA = "CREATE TABLE scores (place INTEGER PRIMARY KEY, key BLOB NOT NULL UNIQUE, value BLOB NOT NULL)"
_UNFIT = {sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY}


def connect(path: Path, busy_s: float) -> sqlite3.Connection:
    """A connection to the cache at `path`, made where there is none; raises sqlite3.Error."""
    with suppress(OSError):  # SQLite says what is wrong with the path
        path.parent.mkdir(parents=True, exist_ok=True)
    connection = sqlite3.connect(path, timeout=busy_s, isolation_level=None, check_same_thread=False)
    try:
        _make(connection)
        _log_ahead(connection, tries=max(1, int(busy_s / RETRY_S)))
        connection.execute(f"PRAGMA cache_size = -{PAGE_CACHE_KB}")
        connection.execute("PRAGMA synchronous = NORMAL")  # enough for a kill; a power cut may cost the last writes
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def is_unfit(error: sqlite3.Error) -> bool:
    """Whether the file itself is wrong, rather than busy or the disk full."""
    return getattr(error, "sqlite_errorcode", sqlite3.SQLITE_NOTADB) & 0xFF in _UNFIT


def size_of(connection: sqlite3.Connection) -> int:
    """The bytes in use; pages that were freed are used again before the file grows."""
    pages, free, size = (_pragma(connection, name) for name in ("page_count", "freelist_count", "page_size"))
    return (pages - free) * size


def _make(connection: sqlite3.Connection) -> None:
    if _mark(connection) == (APPLICATION, VERSION):
        return
    with connection:
        connection.execute("BEGIN IMMEDIATE")  # what lies there is judged under the lock: others may be making it now
        if _is_empty(connection):
            connection.execute(_SCHEMA)
            connection.execute(f"PRAGMA application_id = {APPLICATION}")
            connection.execute(f"PRAGMA user_version = {VERSION}")


def _is_empty(connection: sqlite3.Connection) -> bool:
    """False for a cache; raises for the file of somebody else."""
    application, version = _mark(connection)
    if application == APPLICATION and version != VERSION:
        raise sqlite3.DatabaseError(f"it has layout {version}, this plaudit writes layout {VERSION}")
    tables = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    if application != APPLICATION and tables != (0,):
        raise sqlite3.DatabaseError("it is the database of another program")
    return application != APPLICATION


def _mark(connection: sqlite3.Connection) -> tuple[int, int]:
    return _pragma(connection, "application_id"), _pragma(connection, "user_version")


def _log_ahead(connection: sqlite3.Connection, tries: int) -> None:
    """Switch to WAL mode; SQLite does not wait here when another process is just doing the same."""
    for left in range(tries, 0, -1):
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if left == 1 or is_unfit(error):
                raise
            time.sleep(RETRY_S)


def _pragma(connection: sqlite3.Connection, name: str) -> int:
    (value,) = connection.execute(f"PRAGMA {name}").fetchone()
    return int(value)
