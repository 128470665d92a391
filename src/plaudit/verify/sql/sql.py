"""Does a SQL query give the rows of the gold query? Both are run on the database of the row."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar, Literal

from plaudit.errors import InvalidSettings, InvalidTrajectory, MissingPackage
from plaudit.settings import Count, NonNegative, Positive, check_fields
from plaudit.trajectory import Trajectory
from plaudit.verify.rows import find_column, need_column
from plaudit.verify.sql.databases import duckdb
from plaudit.verify.sql.process import ENGINES, MOST_OPEN, Comparison, Request, Source, compare_queries
from plaudit.verify.sql.statements import Query, QueryText, find_query, split_statements
from plaudit.verify.verifier import Answer, Verdict, Verifier

GOLD_COLUMNS = ("SQL", "sql", "gold_sql", "query")
EXTENSIONS = {"sqlite": (".sqlite", ".db", ".sqlite3"), "duckdb": (".duckdb", ".db", ".ddb")}
"""The suffixes of database files, by engine."""


@dataclass(frozen=True, slots=True)
class SqlTask:
    """The gold query and the databases on which it is run."""

    gold: str
    sources: tuple[Source, ...]


@dataclass(frozen=True, repr=False)
class Sql(Verifier[SqlTask]):
    """1.0 when the query of the response gives the rows of the gold query on the databases of the row, else 0.0.

    A database is the file in `db_path`, the files in `db_paths` (the rows must agree on all), a script in `db_script`,
    or the file of `db_id` in the folder `root`: `root/ID/ID.sqlite` or `root/ID.sqlite`; with `test_suite=True` all
    files in `root/ID`. The `engine` is "sqlite" or "duckdb"; a column `engine` or `dialect` sets it for a row. Floats
    are equal within the `tolerance`. A query that takes longer than `time_limit_s` of CPU time is wrong. If the gold
    query does so or gives more than `row_limit` rows, nothing is scored.
    """

    kind: ClassVar[str] = "sql"

    root: str | None = None
    test_suite: bool = False
    tolerance: NonNegative = 1e-9
    time_limit_s: Positive = 10.0
    row_limit: Count = 100_000
    engine: Literal["sqlite", "duckdb"] = "sqlite"

    def __post_init__(self) -> None:
        check_fields(self)
        if self.engine == "duckdb":
            duckdb()
        if self.root is not None and not Path(self.root).is_dir():
            raise InvalidSettings(f"root is a folder with databases, got {self.root!r:.200}")
        if self.test_suite and self.root is None:
            raise InvalidSettings("test_suite=True needs root, the folder with a folder of databases for each db_id")

    def read(self, sample: Trajectory) -> SqlTask:
        return SqlTask(_read_gold(sample), self._sources(sample))

    def judge(self, task: SqlTask, answer: Answer) -> Verdict:
        return self._judge_all([(task, answer)])[0]

    def verify_samples(self, samples: Sequence[Trajectory]) -> list[Verdict]:
        """The verdicts on many samples, whose queries are run in one exchange with the process of databases."""
        prepared = [self.prepare(sample) for sample in samples]
        verdicts = iter(self._judge_all([each for each in prepared if not isinstance(each, Verdict)]))
        return [each if isinstance(each, Verdict) else next(verdicts) for each in prepared]

    def _judge_all(self, pairs: Sequence[tuple[SqlTask, Answer]]) -> list[Verdict]:
        queries = [_find_query(answer) for _, answer in pairs]
        requests = [
            Request(
                task.sources, task.gold, None if problem else query, self.time_limit_s, self.row_limit, self.tolerance
            )
            for (task, _), (query, problem) in zip(pairs, queries, strict=True)
        ]
        return list(map(_verdict, queries, compare_queries(requests)))

    def _sources(self, sample: Trajectory) -> tuple[Source, ...]:
        script, paths = find_column(sample, "db_script"), find_column(sample, "db_paths")
        path, engine = find_column(sample, "db_path"), self._engine_of(sample)
        if script is not None:
            if not isinstance(script, str) or not script.strip():
                raise InvalidTrajectory(f"db_script is SQL text, got {type(script).__name__} {script!r:.60}")
            return (Source(script=script, engine=engine),)
        if paths is not None or path is not None:
            listed = [path] if paths is None else paths
            if not isinstance(listed, list) or not 1 <= len(listed) <= MOST_OPEN:
                raise InvalidTrajectory(f"db_paths is a list of 1 to {MOST_OPEN} files, got {listed!r:.60}")
            return tuple(Source(path=self._file(each), engine=engine) for each in listed)
        files = self._files_of(need_column(sample, "db_id"), EXTENSIONS[engine])
        return tuple(Source(path=each, engine=engine) for each in files)

    def _engine_of(self, sample: Trajectory) -> str:
        named = find_column(sample, "engine", "dialect")
        engine = self.engine if named is None else str(named).lower().removesuffix("3")
        if engine not in ENGINES:
            raise InvalidTrajectory(f"the engine of a row is {' or '.join(ENGINES)}, got {named!r:.60}")
        if engine == "duckdb":
            try:
                duckdb()
            except MissingPackage as error:
                raise InvalidTrajectory(str(error)) from None
        return engine

    def _file(self, path: Any) -> str:
        if not isinstance(path, str) or not path or "\0" in path:
            raise InvalidTrajectory(f"a database is a file, got {path!r:.60}")
        return os.path.join(os.getcwd(), self.root or "", path)

    def _files_of(self, db_id: Any, extensions: tuple[str, ...]) -> list[str]:
        """The files of a database by its name."""
        if self.root is None:
            raise InvalidTrajectory(f"the row names the database {db_id!r:.60}: set root, the folder of databases")
        if not isinstance(db_id, str) or not db_id or db_id.startswith(".") or set(db_id) & set("/\\\0"):
            raise InvalidTrajectory(f"db_id is the name of a database, got {db_id!r:.60}")
        folder = Path(self.root, db_id)
        if self.test_suite:
            files = sorted(file for file in folder.glob("*") if file.suffix in extensions)[:MOST_OPEN]
        else:
            paths = [
                path
                for extension in extensions
                for path in (folder / f"{db_id}{extension}", folder.with_name(f"{db_id}{extension}"))
            ]
            files = [file for file in paths if file.is_file()][:1]
        if not files:
            raise InvalidTrajectory(f"no database {db_id!r} in {self.root} (expected {db_id}/{db_id}{extensions[0]})")
        return [str(file.absolute()) for file in files]


def _find_query(answer: Answer) -> QueryText:
    """The query of an answer, and what is wrong with it as it stands."""
    text, problem = find_query(answer.text)
    if problem:
        return QueryText(text, problem)
    query = Query(text)
    if not query.is_query:
        problem = f"a query begins with SELECT, WITH or VALUES, not with {text.split()[0]!r:.30}"
    elif query.unstable:
        problem = f"the query uses {query.unstable}: its rows are not the same each time"
    return QueryText(text, problem)


def _verdict(text: QueryText, comparison: Comparison) -> Verdict:
    if comparison.right is None:
        return Verdict.undecided(comparison.reason)
    details = {"sql": text.sql[:2000]} if text.sql else {}
    return Verdict(float(comparison.right and not text.problem), text.problem or comparison.reason, details=details)


def _read_gold(sample: Trajectory) -> str:
    """The gold query; InvalidTrajectory where it is no single query, or its rows are not the same each time."""
    specification = find_column(sample, "reward_spec")
    nested = specification.get("ground_truth") if isinstance(specification, dict) else None
    gold = find_column(sample, *GOLD_COLUMNS) or nested or sample.ground_truth
    if not isinstance(gold, str) or not gold.strip():
        raise InvalidTrajectory(
            f"the row has no gold query ({', '.join(GOLD_COLUMNS)} or ground_truth), got {gold!r:.60}"
        )
    query, problem = _check_gold(gold)
    if problem:
        raise InvalidTrajectory(problem)
    return query


@lru_cache(maxsize=1024)
def _check_gold(gold: str) -> QueryText:
    statements = split_statements(gold)
    query = Query(statements[0].strip()) if len(statements) == 1 else None
    if query is None or not query.is_query:
        return QueryText("", f"the gold query is one SELECT statement, got {gold!r:.80}")
    if query.unstable:
        return QueryText("", f"the gold query uses {query.unstable}: its rows are not the same each time")
    return QueryText(query.sql)
