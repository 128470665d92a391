"""The state of a world: typed values, or an SQLite database. It is copied, compared and shown as plain data.

A state of typed values is a msgspec struct or a dataclass whose fields are JSON-like; its copy goes through JSON, so
that it is checked against its types and shares nothing with the original. Other states implement `StoredState`.
"""

import sqlite3
from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any, NamedTuple

import msgspec

from plaudit.errors import AgentError

MISSING = "(missing)"


class StoredState(ABC):
    """A state that is not a struct or dataclass."""

    @abstractmethod
    def snapshot(self) -> bytes:
        """Everything that `restore` needs."""

    @classmethod
    @abstractmethod
    def restore(cls, data: bytes) -> "StoredState":
        """A new state that is equal to the one of the snapshot."""

    @abstractmethod
    def as_data(self) -> Any:
        """The state as plain data, equal for equal states."""


class Database(StoredState):
    """An SQLite database in memory; two databases are equal if their tables have the same rows, in any order.

    Tools use `connection`; a call that fails is rolled back with the rest of the state.
    """

    def __init__(self, script: str = "") -> None:
        self.connection = sqlite3.connect(":memory:", check_same_thread=False)
        self.connection.executescript(script)

    def snapshot(self) -> bytes:
        self.connection.commit()
        return self.connection.serialize()

    @classmethod
    def restore(cls, data: bytes) -> "Database":
        database = cls()
        database.connection.deserialize(data)
        return database

    def as_data(self) -> dict[str, Any]:
        names = self.connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name").fetchall()
        return {name: self._rows(name) for (name,) in names if not name.startswith("sqlite_")}

    def _rows(self, table: str) -> list[list[Any]]:
        rows = self.connection.execute(f'SELECT * FROM "{table}"')
        return sorted((list(row) for row in rows), key=repr)


class Change(NamedTuple):
    """A value of the state that differs: where it is, and what it is in either state."""

    path: str
    before: Any
    after: Any

    def __str__(self) -> str:
        return f"{self.path}: {self.before!r} -> {self.after!r}"


def snapshot(state: Any) -> bytes:
    """The state as bytes."""
    return state.snapshot() if isinstance(state, StoredState) else msgspec.json.encode(state)


def restore(kind: type, data: bytes) -> Any:
    """A new state from a snapshot; AgentError if a value does not have the type that the state declares."""
    if issubclass(kind, StoredState):
        return kind.restore(data)
    try:
        return msgspec.json.decode(data, type=kind)
    except msgspec.ValidationError as error:
        raise AgentError(f"a tool left a {kind.__name__} that breaks its own types: {error}") from None


def as_data(state: Any) -> Any:
    """The state as plain data."""
    return state.as_data() if isinstance(state, StoredState) else msgspec.to_builtins(state)


def changes(before: Any, after: Any) -> list[Change]:
    """The values that differ between two states as plain data, in the order of their paths."""
    return list(_changes(before, after, ""))


def _changes(before: Any, after: Any, path: str) -> Iterator[Change]:
    if isinstance(before, dict) and isinstance(after, dict):
        for key in {**before, **after}:
            inner = f"{path}.{key}" if path else str(key)
            yield from _changes(before.get(key, MISSING), after.get(key, MISSING), inner)
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for index, pair in enumerate(zip(before, after, strict=True)):
            yield from _changes(*pair, f"{path}[{index}]")
    elif type(before) is not type(after) or before != after:
        yield Change(path, before, after)
