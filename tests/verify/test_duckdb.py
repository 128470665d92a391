"""SQL on DuckDB: the same rules as on SQLite, and no access to files, extensions or settings.

Where the package is not installed, rows and settings that ask for it say what to install.
"""

import importlib.util

import pytest

from plaudit.errors import MissingPackage
from plaudit.verify import Sql

INSTALLED = importlib.util.find_spec("duckdb") is not None
SCRIPT = """
CREATE TABLE t (name TEXT, age INT, price DECIMAL(8, 2), day DATE, tags INT[]);
INSERT INTO t VALUES ('a', 3, 1.50, '2024-01-01', [1, 2]), ('b', 3, 2.00, '2024-01-02', []), ('c', 5, 0.10, NULL, NULL);
CREATE SEQUENCE s;
"""


def verify(gold, query, script=SCRIPT, **settings):
    return Sql(**settings).verify({"question": "?", "db_script": script, "query": gold, "dialect": "DuckDB"}, query)


if INSTALLED:

    @pytest.mark.parametrize(
        ("gold", "right", "wrong"),
        [
            ("SELECT name FROM t", "SELECT name FROM t ORDER BY age DESC", "SELECT DISTINCT age FROM t"),
            ("SELECT name FROM t ORDER BY age", "SELECT name FROM t ORDER BY 2*age", "SELECT 'a' FROM t"),
            ("SELECT sum(price) FROM t", "SELECT 3.6", "SELECT '3.6'"),
            ("SELECT price FROM t", "SELECT price::DOUBLE FROM t", "SELECT price::TEXT FROM t"),
            ("SELECT day FROM t", "SELECT day::TIMESTAMP FROM t", "SELECT day::TEXT FROM t"),
            ("SELECT tags FROM t", "SELECT list_reverse(list_reverse(tags)) FROM t", "SELECT [len(tags)] FROM t"),
            ("SELECT {'a': age} FROM t", "SELECT struct_pack(a := age) FROM t", "SELECT {'a': age + 1} FROM t"),
            ("SELECT name FROM t QUALIFY rank() OVER (ORDER BY name) = 1", "SELECT min(name) FROM t", "SELECT 'b'"),
        ],
    )  # fmt: skip
    def test_rows_are_compared_as_on_sqlite(gold, right, wrong):
        assert verify(gold, right).passed, verify(gold, right).reason
        assert verify(gold, wrong).score == 0.0

    @pytest.mark.parametrize(
        "statement",
        [
            "INSERT INTO t VALUES ('d', 1, 1, NULL, NULL)",
            "WITH x AS (SELECT 1) DELETE FROM t",
            "SELECT nextval('s') FROM t",
            "SELECT * FROM read_csv('/etc/passwd')",
            "SELECT content FROM read_text('/etc/passwd')",
            "SELECT * FROM '/etc/passwd'",
            "SELECT * FROM glob('/*')",
            "COPY t TO '/tmp/plaudit-copy.csv'",
            "ATTACH '/tmp/plaudit-attached.db' AS x",
            "INSTALL httpfs",
            "LOAD httpfs",
            "SET threads = 4",
            "PRAGMA version",
            "EXPORT DATABASE '/tmp/plaudit-export'",
            "SELECT 1; DROP TABLE t",
        ],
    )
    def test_a_statement_that_does_more_than_read_is_wrong_and_changes_nothing(statement):
        assert verify("SELECT count(*) FROM t", f"```sql\n{statement}\n```").score == 0.0
        assert verify("SELECT count(*) FROM t", "SELECT 3").passed

    def test_a_query_over_the_time_limit_is_wrong_as_response_and_not_scored_as_gold():
        endless = "SELECT sum(sin(range)) FROM range(100000000000)"
        verdict = verify("SELECT 1", endless, time_limit_s=0.2)
        assert (verdict.score, verdict.reason) == (0.0, "the query takes too long")
        verdict = verify(endless, "SELECT 1", time_limit_s=0.2)
        assert (verdict.score, verdict.reason) == (None, "the gold query takes too long")

    def test_a_query_that_takes_all_memory_is_wrong():
        verdict = verify("SELECT 1", "SELECT len(string_agg(repeat('x', 1000), '')) FROM range(1000000)")
        assert (verdict.score, verdict.reason) == (0.0, "the query takes too much memory")

    def test_a_file_is_opened_by_name_and_stays_unchanged(tmp_path):
        import duckdb

        file = tmp_path / "shop" / "shop.duckdb"
        file.parent.mkdir()
        with duckdb.connect(str(file)) as connection:
            connection.execute("CREATE TABLE item (id INT); INSERT INTO item VALUES (1), (2)")
        before = file.read_bytes()
        row = {"question": "?", "db_id": "shop", "query": "SELECT count(*) FROM item"}
        verifier = Sql(root=str(tmp_path), engine="duckdb")
        assert verifier.verify(row, "SELECT 2").passed
        assert verifier.verify(row, "INSERT INTO item VALUES (3)").score == 0.0
        assert file.read_bytes() == before
        assert Sql(engine="duckdb").verify({**row, "db_path": str(tmp_path / "none.duckdb")}, "SELECT 2").score is None
        (tmp_path / "text.duckdb").write_text("no database")
        assert Sql(engine="duckdb").verify({**row, "db_path": str(tmp_path / "text.duckdb")}, "SELECT 2").score is None

else:

    def test_a_row_for_duckdb_names_the_package_to_install():
        assert "pip install 'duckdb'" in verify("SELECT 1", "SELECT 1").reason
        with pytest.raises(MissingPackage, match="pip install 'duckdb'"):
            Sql(engine="duckdb")


def test_a_script_that_fails_and_an_engine_that_is_unknown_are_declined():
    assert verify("SELECT 1", "SELECT 1", script="CREATE TABLE (").score is None
    row = {"question": "?", "db_script": "CREATE TABLE t (a INT);", "query": "SELECT 1", "dialect": "postgresql"}
    assert "sqlite or duckdb" in Sql().verify(row, "SELECT 1").reason
    assert Sql().verify({**row, "dialect": "SQLite3"}, "SELECT 1").passed
