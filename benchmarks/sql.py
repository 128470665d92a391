"""What does the verifier of SQL cost beside the bare queries? CPU time of all processes, side by side.

The bare way runs the predicted and the gold query on a connection that stays open and compares lists of rows. Each pair
of queries is verified as a new row (the gold query is run) and in groups of eight responses (it is run once).
`python benchmarks/sql.py` takes half a minute.
"""

import random
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from plaudit.verify import Sql
from plaudit.verify.sql.process import query_process

ROWS = 50_000
GROUP = 8
REPEATS = 15
QUERIES = {
    "one customer": ("SELECT name FROM customer WHERE id = {n}", "SELECT name FROM customer WHERE id = {n} LIMIT 1"),
    "filter": (
        "SELECT id, total FROM purchase WHERE total > 900 AND customer_id < {n}",
        "SELECT id, total FROM purchase WHERE customer_id < {n} AND total > 900 ORDER BY id",
    ),
    "join and group": (
        "SELECT c.city, count(*) FROM purchase p JOIN customer c ON c.id = p.customer_id WHERE p.id > {n} GROUP BY 1",
        "SELECT city, count(p.id) FROM customer c, purchase p WHERE c.id = p.customer_id AND p.id > {n} GROUP BY 1",
    ),
    "top ten": (
        "SELECT customer_id, sum(total) AS s FROM purchase WHERE id > {n} GROUP BY 1 ORDER BY s DESC LIMIT 10",
        "SELECT customer_id, sum(total) FROM purchase WHERE id > {n} GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 10",
    ),
}


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = _make_database(Path(folder))
        print(f"{'query':16} {'bare ms':>9} {'new row':>9} {'ratio':>6} {'in groups':>10} {'ratio':>6}")
        for name, (gold, predicted) in QUERIES.items():
            bare, single, grouped = _measure(path, gold, predicted)
            ratios = f"{single:9.3f} {single / bare:6.2f} {grouped:10.3f} {grouped / bare:6.2f}"
            print(f"{name:16} {bare:9.3f} {ratios}")


def _measure(path: Path, gold: str, predicted: str) -> tuple[float, float, float]:
    """Milliseconds per response: bare, each row new, in groups."""
    verifier, connection = Sql(), sqlite3.connect(path)
    numbers = iter(range(1, 10_000))
    bare, single, grouped = list[float](), list[float](), list[float]()

    def verify_new(count: int) -> Callable[[], None]:
        number = next(numbers)
        row = {"question": "?", "db_path": str(path), "query": gold.format(n=number)}
        response = f"```sql\n{predicted.format(n=number)}\n```"

        def verify() -> None:
            for _ in range(count):
                assert verifier.verify(row, response).passed

        return verify

    def run_bare() -> None:
        number = next(numbers)
        rows = connection.execute(predicted.format(n=number)).fetchall()
        assert len(rows) == len(connection.execute(gold.format(n=number)).fetchall())

    verify_new(1)()
    for _ in range(REPEATS):
        bare.append(_milliseconds(run_bare))
        single.append(_milliseconds(verify_new(1)))
        grouped.append(_milliseconds(verify_new(GROUP)) / GROUP)
    connection.close()
    return statistics.median(bare), statistics.median(single), statistics.median(grouped)


def _milliseconds(call: Callable[[], None]) -> float:
    started = _cpu_time()
    call()
    return 1e3 * (_cpu_time() - started)


def _cpu_time() -> float:
    """CPU seconds of this process and of the one that runs queries."""
    pid = query_process().pid
    worker = int(Path(f"/proc/{pid}/schedstat").read_text().split()[0]) if pid else 0
    return time.process_time() + 1e-9 * worker


def _make_database(folder: Path) -> Path:
    chance = random.Random(0)
    path = folder / "shop.sqlite"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE customer (id INTEGER PRIMARY KEY, name TEXT, city TEXT)")
        connection.execute("CREATE TABLE purchase (id INTEGER PRIMARY KEY, customer_id INT, total REAL)")
        customers = [(i, f"customer {i}", f"city {i % 40}") for i in range(ROWS // 10)]
        connection.executemany("INSERT INTO customer VALUES (?, ?, ?)", customers)
        purchases = [(i, chance.randrange(ROWS // 10), round(chance.random() * 1000, 2)) for i in range(ROWS)]
        connection.executemany("INSERT INTO purchase VALUES (?, ?, ?)", purchases)
    connection.close()
    return path


if __name__ == "__main__":
    main()
