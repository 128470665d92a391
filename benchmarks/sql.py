"""What does the verifier of SQL cost beside the bare queries? CPU time of all processes, side by side.

The bare way runs the predicted and the gold query on a connection that stays open and compares lists of rows. Rows are
verified alone, in batches of 32 new rows as the reward gets them, and in batches of four groups of eight responses, for
which the gold query is run once. `python benchmarks/sql.py` takes a minute.
"""

import random
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from plaudit import Trajectory
from plaudit.verify import Sql
from plaudit.verify.sql.process import query_process
from plaudit.verify.verifier import sample_of

ROWS = 50_000
BATCH, GROUP = 32, 8
REPEATS = 7
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
        names = ("bare ms", "alone", "ratio", "batch", "ratio", "groups", "ratio")
        print(f"{'query':16}", *(f"{name:>8}" for name in names))
        for name, (gold, predicted) in QUERIES.items():
            bare, alone, batch, group = _measure(path, gold, predicted)
            figures = (bare, alone, alone / bare, batch, batch / bare, group, group / bare)
            print(f"{name:16}", *(f"{figure:8.3f}" for figure in figures), flush=True)


def _measure(path: Path, gold: str, predicted: str) -> list[float]:
    """Milliseconds per response: bare, each row alone, a batch of rows, a batch of groups."""
    verifier, connection = Sql(), sqlite3.connect(path)
    numbers = iter(range(1, 100_000))

    def sample(number: int) -> Trajectory:
        row = {"question": "?", "db_path": str(path), "query": gold.format(n=number)}
        return sample_of(row, f"```sql\n{predicted.format(n=number)}\n```")

    def new_samples(size: int) -> list[Trajectory]:
        return [each for _ in range(BATCH // size) for each in [sample(next(numbers))] * size]

    def run_bare(samples: list[Trajectory]) -> None:
        for _ in samples:
            number = next(numbers)
            rows = connection.execute(predicted.format(n=number)).fetchall()
            assert len(rows) == len(connection.execute(gold.format(n=number)).fetchall())

    def verify_alone(samples: list[Trajectory]) -> None:
        assert all(verifier.verify_sample(each).passed for each in samples)

    def verify_batch(samples: list[Trajectory]) -> None:
        assert all(verdict.passed for verdict in verifier.verify_samples(samples))

    verify_alone(new_samples(1))
    ways = ((run_bare, 1), (verify_alone, 1), (verify_batch, 1), (verify_batch, GROUP))
    taken: list[list[float]] = [[] for _ in ways]
    for _ in range(REPEATS):
        for (run, size), times in zip(ways, taken, strict=True):
            samples = new_samples(size)
            times.append(_milliseconds(partial(run, samples)) / BATCH)
    connection.close()
    return [statistics.median(times) for times in taken]


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
