"""DuckDB databases that queries can only read, within limits of time and memory.

A file is opened read-only, and a script is run in memory; then DuckDB has no access to files, the network and
extensions, and its configuration is locked. Every query is one SELECT statement in a transaction that cannot write.
"""

import datetime
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from decimal import Decimal
from typing import Any

from plaudit.errors import InvalidTrajectory, require
from plaudit.verify.sql.databases import QueryFailed, killed_after
from plaudit.verify.sql.results import Result, Row

__all__ = ["DuckDatabase"]

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
