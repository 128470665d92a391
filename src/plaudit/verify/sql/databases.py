"""SQLite and DuckDB databases that queries can only read, within limits of time, memory and the size of values.

An SQLite file is opened read-only and immutable, so it stays as it is byte for byte; a database of a script is built in
memory. What a query may do is decided by SQLite's authorizer when the statement is compiled: read, and nothing else.

A DuckDB file is opened read-only, and a script is run in memory; then DuckDB has no access to files, the network and
extensions, and its configuration is locked. Every query is one SELECT statement in a transaction that cannot write.
"""

import datetime
import os
import signal
import sqlite3
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from decimal import Decimal
from typing import Any
from urllib.parse import quote

from plaudit.errors import InvalidTrajectory, require
from plaudit.verify.sql.results import Result, Row
from plaudit.verify.sql.statements import LONGEST_SQL

LONGEST_VALUE = 4 << 20  # bytes
HEAP_BYTES = 256 << 20
OPERATIONS_PER_CHECK = 100_000  # of SQLite's virtual machine, between two looks at the clock
KILL_FACTOR = 1.5  # times the time limit: the process is killed, for work that never looks at the clock
SIDE_FILES = ("-wal", "-journal")
FORBIDDEN_FUNCTIONS = frozenset({"load_extension", "fts3_tokenizer", "readfile", "writefile", "edit"})
READING = frozenset({sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE})
NEVER_IN_SCRIPTS = frozenset({sqlite3.SQLITE_ATTACH, sqlite3.SQLITE_DETACH})
SCHEMA_TABLES = ("sqlite_master", "sqlite_temp_master")


class QueryFailed(Exception):
    """A query gave no result: an error of the database, or a limit."""


class Database:
    """An SQLite file, or a database in memory made by a script."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._deadline = float("inf")
        connection.execute(f"PRAGMA hard_heap_limit = {HEAP_BYTES}")
        connection.execute("PRAGMA query_only = ON")
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LONGEST_VALUE)
        connection.setlimit(sqlite3.SQLITE_LIMIT_SQL_LENGTH, 2 * LONGEST_SQL)
        connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
        connection.set_progress_handler(self._is_overdue, OPERATIONS_PER_CHECK)
        connection.set_authorizer(_allow_reading)

    @classmethod
    def open_file(cls, path: str) -> "Database":
        """The database in a file; InvalidTrajectory where it is none."""
        for side in SIDE_FILES:
            if os.path.exists(path + side) and os.path.getsize(path + side):
                raise InvalidTrajectory(f"the database {path} has changes in {path}{side}; close or checkpoint it")
        try:
            connection = sqlite3.connect(f"file:{quote(path)}?mode=ro&immutable=1", uri=True, isolation_level=None)
            connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
            return cls(connection)
        except sqlite3.Error as error:
            raise InvalidTrajectory(f"the database {path} cannot be read: {error}") from None

    @classmethod
    def from_script(cls, script: str, time_limit_s: float) -> "Database":
        """The database that a script of SQL statements makes; InvalidTrajectory where it fails."""
        connection = sqlite3.connect(":memory:", isolation_level=None)
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, max(LONGEST_VALUE, 2 * len(script)))
        connection.execute(f"PRAGMA hard_heap_limit = {HEAP_BYTES}")
        connection.set_authorizer(_allow_building)
        deadline = time.process_time() + time_limit_s
        connection.set_progress_handler(lambda: time.process_time() > deadline, OPERATIONS_PER_CHECK)
        try:
            with killed_after(time_limit_s):
                connection.executescript(script)
        except (sqlite3.Error, sqlite3.Warning, ValueError) as error:
            raise InvalidTrajectory(f"db_script cannot be run: {error}") from None
        if connection.in_transaction:
            connection.execute("COMMIT")
        connection.set_authorizer(None)
        return cls(connection)

    def run(self, sql: str, most_rows: int, time_limit_s: float) -> Result:
        """The first rows of a query; QueryFailed where there is no result, MemoryError where memory is short.

        The time limit is CPU time; a query that goes far beyond it ends this process by SIGPROF.
        """
        try:
            return self._run(sql, most_rows, time_limit_s)
        except sqlite3.OperationalError as error:
            if "Could not decode" not in str(error):
                raise QueryFailed(self._describe(error, time_limit_s)) from None
        except (sqlite3.Error, sqlite3.Warning, ValueError, OverflowError) as error:
            raise QueryFailed(self._describe(error, time_limit_s)) from None
        self._connection.text_factory = _decode_any  # slower: only for databases with texts that are not UTF-8
        return self.run(sql, most_rows, time_limit_s)

    def close(self) -> None:
        """Release its memory."""
        self._connection.close()

    def _run(self, sql: str, most_rows: int, time_limit_s: float) -> Result:
        self._deadline = time.process_time() + time_limit_s
        with killed_after(time_limit_s):
            cursor = self._connection.execute(sql)
            rows: list[Row] = cursor.fetchmany(most_rows)
            columns = [str(column[0]) for column in cursor.description or ()]
            cursor.close()
        return Result(columns, rows)

    def _is_overdue(self) -> bool:
        return time.process_time() > self._deadline

    def _describe(self, error: Exception, time_limit_s: float) -> str:
        if "interrupted" in str(error):
            return f"the query takes longer than {time_limit_s:g} s"
        if isinstance(error, sqlite3.DatabaseError) and "not authorized" in str(error):
            return "the query does more than read"
        return f"the database says: {str(error)[:200]}"


def _allow_reading(action: int, first: str | None, second: str | None, *_: str | None) -> int:
    if action == sqlite3.SQLITE_FUNCTION and str(second).lower() in FORBIDDEN_FUNCTIONS:
        return sqlite3.SQLITE_DENY
    if action in READING:
        return sqlite3.SQLITE_OK
    # SQLite asks this for table-valued functions such as json_each; a statement cannot change these tables
    declares = action == sqlite3.SQLITE_UPDATE and first in SCHEMA_TABLES
    return sqlite3.SQLITE_OK if declares else sqlite3.SQLITE_DENY


def _allow_building(action: int, first: str | None, second: str | None, *_: str | None) -> int:
    """Scripts may do everything in their database; their PRAGMAs have no effect."""
    if action == sqlite3.SQLITE_PRAGMA:
        return sqlite3.SQLITE_IGNORE
    forbidden = action == sqlite3.SQLITE_FUNCTION and str(second).lower() in FORBIDDEN_FUNCTIONS
    return sqlite3.SQLITE_DENY if forbidden or action in NEVER_IN_SCRIPTS else sqlite3.SQLITE_OK


def _decode_any(data: bytes) -> str:
    return data.decode(errors="surrogateescape")


@contextmanager
def killed_after(time_limit_s: float) -> Iterator[None]:
    """Let the system kill this process by SIGPROF when the block takes much more CPU time than the limit."""
    signal.setitimer(signal.ITIMER_PROF, KILL_FACTOR * time_limit_s + 0.05)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


SETTINGS: Mapping[str, str] = {
    "enable_external_access": "false",
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "allow_community_extensions": "false",
    "memory_limit": "256MB",
    "temp_directory": "",
    "threads": "1",
}
READ_ONLY = "BEGIN TRANSACTION READ ONLY"


class DuckDatabase:
    """A DuckDB file, or a database in memory made by a script."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection
        connection.execute("SET lock_configuration = true")

    @classmethod
    def open_file(cls, path: str) -> "DuckDatabase":
        """The database in a file; InvalidTrajectory where it is none."""
        if os.path.exists(f"{path}.wal") and os.path.getsize(f"{path}.wal"):
            raise InvalidTrajectory(f"the database {path} has changes in {path}.wal; close or checkpoint it")
        try:
            with _memory_errors():
                return cls(duckdb().connect(path, read_only=True, config=dict(SETTINGS)))
        except duckdb().Error as error:
            raise InvalidTrajectory(f"the database {path} cannot be read: {error!s:.200}") from None

    @classmethod
    def from_script(cls, script: str, time_limit_s: float) -> "DuckDatabase":
        """The database that a script of SQL statements makes; InvalidTrajectory where it fails."""
        connection = duckdb().connect(":memory:", config=dict(SETTINGS))
        try:
            with killed_after(time_limit_s), _memory_errors():
                connection.execute(script)
        except duckdb().Error as error:
            raise InvalidTrajectory(f"db_script cannot be run: {error!s:.200}") from None
        return cls(connection)

    def run(self, sql: str, most_rows: int, time_limit_s: float) -> Result:
        """The first rows of a query; QueryFailed where there is no result, MemoryError where memory is short.

        The time limit is CPU time; a query that goes beyond it ends this process by SIGPROF.
        """
        try:
            kinds = [statement.type for statement in self._connection.extract_statements(sql)]
            if kinds != [duckdb().StatementType.SELECT]:
                raise QueryFailed("the query does more than read")
            with killed_after(time_limit_s), _memory_errors():
                return self._run(sql, most_rows)
        except (duckdb().Error, ValueError, RuntimeError) as error:
            raise QueryFailed(f"the database says: {error!s:.200}") from None

    def close(self) -> None:
        """Release its memory."""
        self._connection.close()

    def _run(self, sql: str, most_rows: int) -> Result:
        self._connection.execute(READ_ONLY)
        try:
            self._connection.execute(sql)
            rows = self._connection.fetchmany(most_rows)
            columns = [str(column[0]) for column in self._connection.description or ()]
        finally:
            self._connection.execute("ROLLBACK")
        return Result(columns, [_plain_row(row) for row in rows])


def duckdb() -> Any:
    """The package, which only databases of this engine need."""
    return require("duckdb", purpose="running DuckDB queries", package="duckdb")


@contextmanager
def _memory_errors() -> Iterator[None]:
    """Raise MemoryError where DuckDB has no memory left: its process is ended, since it keeps what it has taken."""
    try:
        yield
    except duckdb().OutOfMemoryException:
        raise MemoryError from None


def _plain_row(row: Row) -> Row:
    return tuple(map(_plain, row))


def _plain(value: Any) -> Any:
    """A value that can be compared and hashed: numbers, midnights for days, tuples for lists and structs."""
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    if type(value) is datetime.date:
        return datetime.datetime.combine(value, datetime.time())
    if isinstance(value, list):
        return tuple(map(_plain, value))
    if isinstance(value, dict):
        return tuple((key, _plain(each)) for key, each in value.items())
    return value
