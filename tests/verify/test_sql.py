"""SQL: databases that stay as they are, queries that hang or take memory, order and ties, several databases."""

import hashlib
import signal
import sqlite3
import time

import pytest

from plaudit.errors import InvalidSettings
from plaudit.verify import Sql
from plaudit.verify.sql.results import same_rows
from plaudit.verify.sql.statements import Query, find_query, split_statements
from plaudit.verify.verifier import sample_of

SCRIPT = """
CREATE TABLE t (name TEXT, age INT, weight REAL);
INSERT INTO t VALUES ('a', 3, 1.5), ('b', 3, 2.5), ('c', 5, 0.1), ('d', NULL, 0.2);
"""
LONG_SEARCH = "SELECT instr(hex(zeroblob(2000000)), hex(zeroblob(1000000)) || '1')"  # one step of SQLite, for minutes

LARGE_ROW = "SELECT 1" + ", CAST(zeroblob(4000000) AS TEXT)" * 80


def verify(gold, query, **settings):
    return Sql(**settings).verify({"question": "?", "db_script": SCRIPT, "query": gold}, query)


@pytest.fixture
def root(tmp_path):
    for folder, name, people in (("school", "school", 3), ("school", "other", 4), (".", "flat", 5)):
        (tmp_path / folder).mkdir(exist_ok=True)
        with sqlite3.connect(tmp_path / folder / f"{name}.sqlite") as connection:
            connection.execute("CREATE TABLE pupil (id INTEGER, name TEXT)")
            connection.executemany("INSERT INTO pupil VALUES (?, ?)", [(i, f"p{i}") for i in range(people)])
        connection.close()
    return tmp_path


def test_databases_are_found_by_name_path_and_list(root):
    gold = "SELECT count(*) FROM pupil"
    suite = [str(root / "school" / f"{name}.sqlite") for name in ("school", "other")]
    for row, right in (
        ({"db_id": "school"}, 3),
        ({"db_id": "flat"}, 5),
        ({"db_path": suite[1]}, 4),
        ({"db_path": "school/other.sqlite"}, 4),
    ):
        verdict = Sql(root=str(root)).verify({"question": "?", "SQL": gold, **row}, f"SELECT {right}")
        assert verdict.passed, (row, verdict.reason)
    for verifier, row in ((Sql(), {"db_paths": suite}), (Sql(root=str(root), test_suite=True), {"db_id": "school"})):
        assert verifier.verify({"question": "?", "SQL": gold, **row}, "SELECT count(id) FROM pupil").passed
        assert "of 2: " in verifier.verify({"question": "?", "SQL": gold, **row}, "SELECT 3").reason


@pytest.mark.parametrize("name", ["../school", "none", "", 5, "a/b", ".."])
def test_a_database_that_is_not_in_the_root_is_declined(root, name):
    assert Sql(root=str(root)).verify({"question": "?", "query": "SELECT 1", "db_id": name}, "SELECT 1").score is None


def test_no_query_changes_the_file_of_the_database(root):
    file = root / "school" / "school.sqlite"
    before = hashlib.sha256(file.read_bytes()).hexdigest(), sorted(path.name for path in file.parent.iterdir())
    row = {"question": "?", "db_path": str(file), "query": "SELECT name FROM pupil"}
    for statement in (
        "INSERT INTO pupil VALUES (9, 'x')",
        "WITH x AS (SELECT 1) UPDATE pupil SET name = 'x'",
        "PRAGMA journal_mode = WAL",
        "PRAGMA user_version = 5",
        f"VACUUM INTO '{root}/school/copy.sqlite'",
        f"ATTACH '{root}/school/new.sqlite' AS new",
        "SELECT name FROM pupil; DROP TABLE pupil",
        "SELECT name FROM pupil",
    ):
        assert Sql().verify(row, f"```sql\n{statement}\n```").decided
    assert before == (
        hashlib.sha256(file.read_bytes()).hexdigest(),
        sorted(path.name for path in file.parent.iterdir()),
    )


def test_a_file_that_has_changed_is_read_again_and_one_in_use_is_declined(root):
    file = root / "flat.sqlite"
    row = {"question": "?", "db_path": str(file), "query": "SELECT count(*) FROM pupil"}
    assert Sql().verify(row, "SELECT 5").passed
    with sqlite3.connect(file) as connection:
        connection.execute("DELETE FROM pupil WHERE id = 0")
    connection.close()
    assert Sql().verify(row, "SELECT 4").passed
    connection = sqlite3.connect(file, isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("DELETE FROM pupil WHERE id = 1")
    assert "has changes in" in Sql().verify(row, "SELECT 3").reason
    connection.close()


@pytest.mark.parametrize(
    ("query", "reason"),
    [
        ("WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT max(n) FROM r", "takes longer than"),
        (LONG_SEARCH, "takes too long"),
    ],
)
def test_a_query_over_a_limit_is_wrong_as_response_and_not_scored_as_gold(query, reason):
    verdict = verify("SELECT 1", query, time_limit_s=0.05)
    assert (verdict.score, reason in verdict.reason) == (0.0, True), verdict.reason
    verdict = verify(query, "SELECT 1", time_limit_s=0.05)
    assert (verdict.score, reason in verdict.reason) == (None, True), verdict.reason


def test_a_query_that_takes_all_memory_is_wrong():
    assert verify("SELECT 1", LARGE_ROW).reason == "the query takes too much memory"


@pytest.mark.parametrize(
    ("gold", "right", "wrong"),
    [
        (
            "SELECT name FROM t ORDER BY age * 2 DESC",
            "SELECT name FROM t ORDER BY age DESC, name DESC",
            "SELECT name FROM t",
        ),
        (
            "SELECT name, age AS a FROM t WHERE age ORDER BY a * 2",
            "SELECT name, age FROM t WHERE age ORDER BY age, name DESC",
            "SELECT name, age FROM t WHERE age ORDER BY age DESC",
        ),
        (
            "SELECT name FROM t ORDER BY age NULLS LAST LIMIT 1 OFFSET 1",
            "SELECT 'a'",
            "SELECT 'c'",
        ),
        ("SELECT name FROM t ORDER BY age LIMIT 1, 1", "SELECT 'b'", "SELECT 'd'"),
        (
            "WITH x AS (SELECT * FROM t) SELECT name FROM x WHERE age = 3 ORDER BY age",
            "VALUES ('b'), ('a')",
            "SELECT 'a'",
        ),
        ("SELECT name FROM t WHERE age = 3 ORDER BY weight", "VALUES ('a'), ('b')", "VALUES ('b'), ('a')"),
        ("SELECT DISTINCT age FROM t ORDER BY age", "SELECT DISTINCT age FROM t ORDER BY 1", "VALUES (5), (3), (NULL)"),
    ],
)
def test_rows_that_are_equal_under_order_by_may_come_in_any_order(gold, right, wrong):
    verdict = verify(gold, right)
    assert verdict.passed, verdict.reason
    assert verify(gold, wrong).score == 0.0


def test_an_order_that_cannot_be_determined_is_not_decided():
    gold = "SELECT DISTINCT name FROM t ORDER BY weight + 1"
    assert verify(gold, gold).passed
    assert verify(gold, "SELECT name FROM t ORDER BY name").score is None
    assert verify(gold, "SELECT name FROM t WHERE age").score == 0.0


def test_floats_are_paired_one_to_one_within_the_tolerance():
    one, third = 0.1 + 0.2, 1 / 3
    assert same_rows([(one, "b", third), (0.3, "a", 1)], [(0.3, "a", 1.0), (0.3, "b", third)], 1e-9)
    assert not same_rows([(one, "b"), (0.3, "a")], [(0.3, "b"), (0.3, "b")], 1e-9)
    assert not same_rows([(0.3,), (0.3,)], [(one,), (0.4,)], 1e-9)
    assert not same_rows([(2**53 + 1,)], [(2**53,)], 1e-9)


def test_texts_that_are_not_utf_8_are_compared():
    gold = "SELECT CAST(x'ff41' AS TEXT)"
    assert verify(gold, gold).passed
    assert verify(gold, "SELECT CAST(x'fe41' AS TEXT)").score == 0.0


@pytest.mark.parametrize(
    ("sql", "unstable"),
    [
        ("SELECT random()", "random"),
        ("SELECT date()", "date()"),
        ("SELECT strftime('%Y')", "strftime()"),
        ("SELECT strftime('%Y', birthday) FROM t", None),
        ("SELECT date(birthday, '+1 day') FROM t", None),
        ("SELECT current_date", "current_date"),
        ("SELECT \"random\", 'now and then' FROM t", None),
        ("SELECT julianday('NOW')", "'now'"),
    ],
)
def test_random_numbers_and_the_clock_are_seen(sql, unstable):
    assert Query(sql).unstable == unstable


def test_statements_end_at_semicolons_outside_texts_and_comments():
    assert split_statements("SELECT ';' -- ;\n; /* ; */ ;; SELECT \";\"; ") == ["SELECT ';' -- ;\n", ' SELECT ";"']
    assert find_query("With this in mind, we select names.").sql == ""
    assert find_query("x" * 300_000).problem
    started = time.process_time()
    assert find_query("SELECT " + "(" * 100_001).problem
    assert time.process_time() - started < 1


def test_settings_that_make_no_sense_are_refused(tmp_path):
    for settings in ({"root": str(tmp_path / "none")}, {"test_suite": True}, {"time_limit_s": 0}, {"row_limit": 0}):
        with pytest.raises(InvalidSettings):
            Sql(**settings)


def test_more_rows_than_the_limit_are_not_scored():
    assert verify("SELECT name FROM t", "SELECT name FROM t", row_limit=3).score is None


def test_the_gold_query_is_read_from_a_row_without_a_question():
    row = {"query": "SELECT 1", "db_script": "CREATE TABLE t(a);"}
    assert Sql().verify(row, "SELECT 1").passed
    assert Sql().verify(row, "SELECT 2").score == 0.0


def test_a_call_that_is_interrupted_leaves_no_answer_for_the_next():
    slow = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c LIMIT 3000000) SELECT count(*) FROM c"
    row = {"question": "?", "db_script": "CREATE TABLE t(a); INSERT INTO t VALUES (1);"}
    assert Sql().verify({**row, "SQL": "SELECT a FROM t"}, "SELECT a FROM t").passed

    def interrupt(*_):
        raise InterruptedError("by an alarm")

    before = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, 0.1)
    try:
        with pytest.raises(InterruptedError):
            Sql().verify({**row, "SQL": slow}, slow)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)
    assert Sql().verify({**row, "SQL": "SELECT a FROM t"}, "SELECT 2").score == 0.0


def test_a_batch_has_the_verdicts_of_its_samples_also_where_one_ends_the_process():
    row = {"question": "?", "db_script": SCRIPT, "query": "SELECT name FROM t"}
    responses = ["SELECT name FROM t", "", "SELECT age FROM t", LONG_SEARCH, "no query", "SELECT upper(name) FROM t"]
    samples = [sample_of(row, response) for response in [*responses, *responses[:1]]]
    samples.append(sample_of({**row, "query": "SELECT nothing FROM t"}, "SELECT name FROM t"))
    verifier = Sql(time_limit_s=0.05)
    assert verifier.verify_samples(samples) == [verifier.verify_sample(sample) for sample in samples]
    assert [verdict.score for verdict in verifier.verify_samples(samples)] == [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, None]
    assert verifier.verify_samples([]) == []


@pytest.mark.parametrize(
    "text",
    ["```\n" * 250_000, "x" + "\n" * 190_000 + "x", "--\n" * 60_000, "/*\n" * 60_000, "SELECT now(), " + "[" * 90_000],
    ids=["fences", "blank lines", "comments", "open comments", "open brackets"],
)
def test_the_query_of_a_long_answer_is_found_in_linear_time(text):
    started = time.process_time()
    found = find_query(text)
    assert Query(found.sql).unstable in (None, "now")
    assert time.process_time() - started < 5
