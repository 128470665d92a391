"""The process that runs queries and compares their results; databases stay open and gold results are kept in it.

A query can end the process: by its limit of CPU time, for lack of memory, or by a crash of the database engine. Then
the gold query is run alone, which shows whether that is the fault of the response or of the row.
"""

import os
import pickle
import resource
import signal
from collections import OrderedDict
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

from plaudit.errors import InvalidTrajectory
from plaudit.processes.pool import Limits
from plaudit.processes.single import SingleWorker, WorkerLost
from plaudit.processes.worker import EXIT_MEMORY, Service, UnitProgress
from plaudit.verify.sql.databases import Database, DuckDatabase, QueryFailed
from plaudit.verify.sql.results import RankedRows, Result, describe_difference, same_rows
from plaudit.verify.sql.statements import parse_query

ENGINES: dict[str, type[Database] | type[DuckDatabase]] = {"sqlite": Database, "duckdb": DuckDatabase}

MEMORY_MB = 1024
MOST_SCRATCH = 1 << 30  # bytes
MOST_OPEN = 48  # databases
MOST_KEPT_ROWS = 200_000  # of gold results
WALL_FACTOR, WALL_S = 6, 10.0  # times the time limit, and beyond that: reached only on an overloaded machine


_EFFECTS: dict[int | None, str] = {-signal.SIGPROF: "takes too long", EXIT_MEMORY: "takes too much memory"}


class Source(NamedTuple):
    """The source of a database: a file, or a script that makes it."""

    path: str | None = None
    script: str | None = None
    engine: str = "sqlite"


class Request(NamedTuple):
    """Two queries to compare on each database."""

    sources: tuple[Source, ...]
    gold: str
    predicted: str | None
    """None: only the gold query is run."""
    time_limit_s: float
    row_limit: int
    tolerance: float


class Comparison(NamedTuple):
    """Whether the predicted query gives the rows of the gold query; None where that cannot be decided."""

    right: bool | None
    reason: str


def compare_queries(requests: Sequence[Request]) -> list[Comparison]:
    """Compare pairs of queries in the process for that, all in one message; one by one where they end the process."""
    comparisons = _ask(requests) if requests else []
    if isinstance(comparisons, list):
        return comparisons
    if len(requests) > 1:
        return [compare_queries([request])[0] for request in requests]
    return [_compare_again(requests[0], comparisons)]


def _compare_again(request: Request, lost: WorkerLost) -> Comparison:
    """The comparison of a request that ended the process, which may have been killed for reasons of its own."""
    if lost.exit_code is None:
        return Comparison(None, f"the queries were not done: {lost}")
    again = _ask([request]) if lost.exit_code != -signal.SIGPROF else lost
    if isinstance(again, list):
        return again[0]
    effect = _EFFECTS.get(again.exit_code, f"ends the process of the database ({again})")
    gold = _ask([request._replace(predicted=None)])
    if isinstance(gold, WorkerLost):
        return Comparison(None, f"the gold query {effect}")
    return gold[0] if gold[0].right is None else Comparison(False, f"the query {effect}")


def _ask(requests: Sequence[Request]) -> list[Comparison] | WorkerLost:
    """The answers of the process, or how it ended: it is killed where it takes far longer than its CPU time allows."""
    wall_s = WALL_S + sum(WALL_FACTOR * request.time_limit_s for request in requests)
    try:
        reply = query_process().call(pickle.dumps([tuple(request) for request in requests]), wall_s)
    except WorkerLost as lost:
        return lost
    return [Comparison(*each) for each in pickle.loads(reply)]


@cache
def query_process() -> SingleWorker:
    """The process that compares queries for this one."""
    return SingleWorker(SqlService(), Limits(memory_mb=MEMORY_MB))


class SqlService(Service):
    """Compares queries."""

    def open(self) -> "QueryHandler":
        resource.setrlimit(resource.RLIMIT_FSIZE, (MOST_SCRATCH, MOST_SCRATCH))  # of the files in which SQLite sorts
        return QueryHandler()


class QueryHandler:
    """Holds open databases and the results of gold queries."""

    in_order = False

    def __init__(self) -> None:
        self._open: OrderedDict[object, OpenDatabase] = OrderedDict()

    def __call__(self, body: bytes, progress: UnitProgress) -> bytes:
        try:
            return pickle.dumps([tuple(self._answer(Request(*each))) for each in pickle.loads(body)])
        except MemoryError:
            os._exit(EXIT_MEMORY)  # a new process has the memory that earlier requests have left here

    def _answer(self, request: Request) -> Comparison:
        try:
            return self._compare(request)
        except InvalidTrajectory as error:
            return Comparison(None, str(error))

    def _compare(self, request: Request) -> Comparison:
        """Run the gold query on all databases, then the predicted one."""
        databases = [self._database(source, request) for source in request.sources]
        golds = [database.gold(request) for database in databases]
        count = len(databases)
        for number, (database, gold) in enumerate(zip(databases, golds, strict=True), 1):
            reason = "" if request.predicted is None else database.difference(request, request.predicted, gold)
            if reason:
                return Comparison(False, f"database {number} of {count}: {reason}" if count > 1 else reason)
        return Comparison(True, f"the rows of the gold query{f' on {count} databases' if count > 1 else ''}")

    def _database(self, source: Source, request: Request) -> "OpenDatabase":
        """A database that is open; a file that has changed is opened again."""
        key = source.engine, source.script or _stamp(source.path or "")
        if key in self._open:
            self._open.move_to_end(key)
            return self._open[key]
        while len(self._open) >= MOST_OPEN:
            self._open.popitem(last=False)[1].database.close()
        engine = ENGINES[source.engine]
        if source.script is not None:
            database = engine.from_script(source.script, max(10.0, request.time_limit_s))
        else:
            database = engine.open_file(source.path or "")
        self._open[key] = OpenDatabase(database)
        return self._open[key]


def _stamp(path: str) -> object:
    try:
        status = os.stat(path)
    except OSError as error:
        raise InvalidTrajectory(f"the database {path} cannot be read: {error.strerror}") from None
    return path, status.st_ino, status.st_size, status.st_mtime_ns


class OpenDatabase:
    """A database with the results of its gold queries."""

    def __init__(self, database: Database | DuckDatabase) -> None:
        self.database = database
        self._golds: OrderedDict[tuple[str, float, int], Result | str] = OrderedDict()
        self._kept_rows = 0

    def gold(self, request: Request) -> Result:
        """The result of the gold query; InvalidTrajectory where there is none."""
        key = (request.gold, request.time_limit_s, request.row_limit)
        result = self._golds.get(key)
        if result is None:
            result = self._run_gold(request)
            self._golds[key] = result
            self._kept_rows += _rows_of(result)
            while self._kept_rows > MOST_KEPT_ROWS and len(self._golds) > 1:
                self._kept_rows -= _rows_of(self._golds.popitem(last=False)[1])
        if isinstance(result, str):
            raise InvalidTrajectory(result)
        return result

    def _run_gold(self, request: Request) -> Result | str:
        """The result of the gold query, or why there is none."""
        try:
            result = self.database.run(request.gold, request.row_limit + 1, request.time_limit_s)
        except QueryFailed as error:
            return f"the gold query has no result: {error}"
        too_many = len(result.rows) > request.row_limit
        return f"the gold query gives more than {request.row_limit:,} rows" if too_many else result

    def difference(self, request: Request, predicted: str, gold: Result) -> str:
        """The difference between the rows of the predicted query and the gold rows; empty if there is none."""
        try:
            result = self.database.run(predicted, len(gold.rows) + 1, request.time_limit_s)
        except QueryFailed as error:
            return str(error)
        if len(result.columns) != len(gold.columns):
            return f"{len(result.columns)} columns where {len(gold.columns)} are expected"
        if len(result.rows) > len(gold.rows):
            return f"more than the {len(gold.rows)} rows that are expected"
        if result.rows == gold.rows:
            return ""
        if parse_query(request.gold).ordering is not None:
            is_right = self._is_in_order(request, result, gold)
        else:
            is_right = same_rows(result.rows, gold.rows, request.tolerance)
        return "" if is_right else describe_difference(result.rows, gold.rows, request.tolerance)

    def _is_in_order(self, request: Request, result: Result, gold: Result) -> bool:
        if len(result.rows) != len(gold.rows):
            return False
        ranked = self._rank(request, gold)
        if ranked is not None:
            return ranked.allow(result.rows, request.tolerance)
        if not same_rows(result.rows, gold.rows, request.tolerance):
            return False
        raise InvalidTrajectory(
            "the order differs, and which rows are equal under the gold query's ORDER BY is unknown"
        )

    def _rank(self, request: Request, gold: Result) -> RankedRows | None:
        """The rows of the gold query by rank; None where no query for that gives its rows."""
        ordering = parse_query(request.gold).ordering
        assert ordering is not None
        for sql in ordering.rank_queries(gold.columns):
            try:
                result = self.database.run(sql, request.row_limit + 1, request.time_limit_s)
                offset = self.database.run(f"SELECT {ordering.offset}", 1, request.time_limit_s).rows[0][0]
            except QueryFailed:
                continue
            if len(result.rows) > request.row_limit or not isinstance(offset, int):
                continue
            rows = [row[:-1] for row in result.rows]
            ranked = RankedRows(rows, [row[-1] for row in result.rows], max(0, offset))
            if ranked.allow(gold.rows, 0.0):
                return ranked
        return None


def _rows_of(result: Result | str) -> int:
    return 1 if isinstance(result, str) else 1 + len(result.rows)
