"""The cache on disk: several processes, kills, bounds, and files that are not caches."""

import os
import signal
import sqlite3
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from plaudit import RewardOutput, Status
from plaudit.engine.caching.cache import Cache
from plaudit.errors import CacheError, PlauditError
from tests.process_watch import open_files

ENVIRONMENT = {**os.environ, "PYTHONPATH": ":".join(filter(None, sys.path))}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "scores.sqlite"


def key(number: int) -> bytes:
    return number.to_bytes(16, "little")


def outputs(first: int, count: int, size: int = 10) -> dict[bytes, list[RewardOutput]]:
    return {key(n): [RewardOutput(float(n), reason="x" * size, latency_s=0.25)] for n in range(first, first + count)}


def start(script: str, *arguments: object) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-c", script, *map(str, arguments)], env=ENVIRONMENT, stdout=subprocess.PIPE, text=True
    )


def is_sound(path: Path) -> bool:
    connection = sqlite3.connect(path)
    try:
        return connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    finally:
        connection.close()


def test_cached_outputs_are_found_after_reopening_the_file(path):
    with Cache(path) as cache:
        cache.put_many(outputs(0, 1000))
    with Cache(path) as cache:
        assert cache.get_many([key(3), key(999), key(1000)]) == {**outputs(3, 1), **outputs(999, 1)}
        assert cache.get_many([key(3)])[key(3)][0].latency_s == 0.25
        assert cache.get_many(map(key, range(1200))) == outputs(0, 1000)
        assert cache.get_many([]) == {}


def test_failures_are_never_stored_and_other_unscored_samples_are(path):
    unscored = {key(n): [RewardOutput.unscored(status, "why")] for n, status in enumerate(list(Status)[1:])}
    with Cache(path) as cache:
        cache.put_many(unscored)
        stored = cache.get_many(unscored).values()
        assert {output.status for [output] in stored} == {Status.UNPARSED, Status.SKIPPED}


def test_the_outputs_of_a_group_are_stored_together_or_not_at_all(path):
    good, failed = RewardOutput(1.0), RewardOutput.unscored(Status.TIMEOUT, "too slow")
    with Cache(path) as cache:
        cache.put_many({key(0): [good, good], key(1): [good, failed]})
        assert cache.get_many([key(0), key(1)]) == {key(0): [good, good]}


def test_the_oldest_outputs_are_deleted_when_the_file_is_full(path):
    with Cache(path, max_mb=1) as cache:
        for first in range(0, 20_000, 500):
            cache.put_many(outputs(first, 500, size=200))
        assert cache.get_many(map(key, range(19_000, 20_000))) == outputs(19_000, 1000, size=200)
        assert cache.get_many(map(key, range(10_000))) == {}
        assert cache.note == ""
    assert path.stat().st_size <= 1.3 * (1 << 20)  # one write more


WRITER = """
import sys
from plaudit import RewardOutput
from plaudit.engine.caching.cache import Cache
path, first = sys.argv[1], int(sys.argv[2])
seen = 0
with Cache(path) as cache:
    for start in range(0, 1500, 100):
        numbers = range(first + start, first + start + 100)
        outputs = {n.to_bytes(16, "little"): [RewardOutput(float(n), reason="x" * 10, latency_s=0.25)] for n in numbers}
        cache.put_many(outputs)
        seen += len(cache.get_many(n.to_bytes(16, "little") for n in range(3000)))
    assert cache.note == "", cache.note
print(seen)
"""


def test_processes_write_and_read_at_the_same_time_and_lose_nothing(path):
    writers = [start(WRITER, path, first) for first in (0, 750, 1500)]
    seen = [int(writer.communicate()[0]) for writer in writers]
    assert [writer.returncode for writer in writers] == [0, 0, 0]
    assert min(seen) >= 1500
    with Cache(path) as cache:
        assert cache.get_many(map(key, range(3000))) == outputs(0, 3000)
    assert is_sound(path)


def test_threads_share_a_cache(path):
    def work(first: int) -> bool:
        cache.put_many(outputs(first, 200))
        return cache.get_many(map(key, range(first, first + 200))) == outputs(first, 200)

    with Cache(path) as cache, ThreadPoolExecutor(4) as pool:
        assert all(pool.map(work, range(0, 4000, 200)))
        assert cache.note == ""


def test_many_may_make_the_same_new_cache_at_the_same_moment(tmp_path):
    together = threading.Barrier(4)

    def work(number: int) -> str:
        together.wait()
        with Cache(path) as cache:
            cache.put_many(outputs(number, 1))
            return cache.note

    with ThreadPoolExecutor(4) as pool:
        for path in (tmp_path / str(attempt) for attempt in range(25)):
            assert list(pool.map(work, range(4))) == [""] * 4
            with Cache(path) as cache:
                assert cache.get_many(map(key, range(4))) == outputs(0, 4)


ENDLESS = """
import itertools, sys
from plaudit import RewardOutput
from plaudit.engine.caching.cache import Cache
cache = Cache(sys.argv[1])
for start in itertools.count(step=200):
    numbers = range(start, start + 200)
    outputs = {n.to_bytes(16, "little"): [RewardOutput(float(n), reason="x" * 10, latency_s=0.25)] for n in numbers}
    cache.put_many(outputs)
    print(start + 200, flush=True)
"""


def test_a_kill_while_writing_leaves_a_cache_that_has_what_was_written(path):
    for _ in range(3):
        with start(ENDLESS, path) as writer:
            assert writer.stdout is not None
            written = [int(writer.stdout.readline()) for _ in range(20)][-1]
            writer.send_signal(signal.SIGKILL)
        with Cache(path) as cache:
            assert cache.get_many(map(key, range(written))) == outputs(0, written)
            cache.put_many(outputs(10**6, 10))
            assert cache.note == ""
        assert is_sound(path)


FORKING = """
import os, sys
from plaudit import RewardOutput
from plaudit.engine.caching.cache import Cache
with Cache(sys.argv[1]) as cache:
    cache.put_many({b"a" * 16: [RewardOutput(1.0)]})
    child = os.fork()
    if not child:
        cache.put_many({b"b" * 16: [RewardOutput(2.0)]})
        found = cache.get_many([b"a" * 16, b"b" * 16])
        cache.close()
        os._exit(0 if len(found) == 2 and not cache.note else 1)
    _, code = os.waitpid(child, 0)
    cache.put_many({b"c" * 16: [RewardOutput(3.0)]})
    print(code, len(cache.get_many([b"a" * 16, b"b" * 16, b"c" * 16])), cache.note)
"""


def test_a_forked_child_uses_the_cache_beside_its_parent(path):
    assert start(FORKING, path).communicate()[0].split() == ["0", "3"]
    assert is_sound(path)


def other_database(path: Path) -> None:
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE things (name)")
    connection.close()


def later_layout(path: Path) -> None:
    Cache(path).close()
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA application_id = 99")
    connection.close()


def damaged(path: Path) -> None:
    with Cache(path) as cache:
        cache.put_many(outputs(0, 100))
    path.write_bytes(path.read_bytes()[:16] + b"\xff" * 5000)


UNFIT = {
    "text": (lambda path: path.write_text("not a database, " * 100), "not a database"),
    "another program's": (other_database, "another program"),
    "later layout": (later_layout, "another version of plaudit"),
    "damaged": (damaged, "malformed|not a database"),
    "folder": (lambda path: path.mkdir(), "unable to open"),
}


@pytest.mark.parametrize(("make", "words"), UNFIT.values(), ids=UNFIT)
def test_a_file_that_is_no_cache_is_an_error_that_names_it_and_the_remedy(path, make, words):
    make(path)
    before = path.read_bytes() if path.is_file() else b""
    with pytest.raises(CacheError, match=words) as caught:
        Cache(path)
    assert isinstance(caught.value, PlauditError)
    assert str(path) in str(caught.value)
    assert "delete it, or name another file" in str(caught.value)
    assert before == (path.read_bytes() if path.is_file() else b"")


def test_a_bound_below_a_megabyte_is_refused(path):
    with pytest.raises(CacheError, match="max_mb >= 1, got 0"):
        Cache(path, max_mb=0)


def test_a_cache_that_stays_locked_is_disabled_with_a_reason(path):
    with Cache(path, busy_s=0.05) as cache:
        cache.put_many(outputs(0, 1))
        connection = sqlite3.connect(path, isolation_level=None)
        connection.execute("BEGIN EXCLUSIVE")
        cache.put_many(outputs(1, 1))
        assert "is disabled: database is locked" in cache.note
        assert str(path) in cache.note
        connection.close()
        assert cache.get_many([key(0)]) == {}


def test_a_cache_that_is_locked_when_opened_is_disabled(path):
    Cache(path).close()
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA locking_mode = EXCLUSIVE")
    connection.execute("BEGIN EXCLUSIVE")
    connection.execute("DELETE FROM scores")
    with Cache(path, busy_s=0.05) as cache:
        assert "database is locked" in cache.note
        cache.put_many(outputs(0, 1))
    connection.close()


FULL = """
import resource, sys
from plaudit import RewardOutput
from plaudit.engine.caching.cache import Cache
resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))
with Cache(sys.argv[1]) as cache:
    for n in range(2000):
        cache.put_many({n.to_bytes(16, "little"): [RewardOutput(float(n), reason="x" * 1000)]})
    print(cache.note)
"""


def test_a_disk_without_room_disables_the_cache(path):
    writer = start(FULL, path)
    note = writer.communicate()[0]
    assert writer.returncode == 0
    assert "is disabled" in note


def test_damage_that_shows_later_disables_the_cache(path):
    with Cache(path) as cache:
        cache.put_many(outputs(0, 5000))
    content = bytearray(path.read_bytes())
    content[8192:] = b"\xff" * (len(content) - 8192)
    path.write_bytes(content)
    with Cache(path) as cache:
        assert cache.get_many(map(key, range(5000))) == {}
        assert "is disabled" in cache.note


def test_a_closed_cache_finds_and_stores_nothing(path):
    cache = Cache(path)
    cache.put_many(outputs(0, 1))
    cache.close()
    cache.close()
    cache.put_many(outputs(1, 1))
    assert cache.get_many([key(0)]) == {}


def test_nothing_stays_open_after_a_cache_is_closed(path):
    files, threads = open_files(), threading.active_count()
    for _ in range(20):
        with Cache(path) as cache:
            cache.put_many(outputs(0, 5))
    assert open_files() <= files
    assert threading.active_count() <= threads
    assert sorted(file.name for file in path.parent.iterdir()) == ["scores.sqlite"]


def test_the_folder_of_a_cache_is_made(tmp_path):
    path = tmp_path / "caches" / "plaudit" / "scores.sqlite"
    Cache(path).close()
    assert path.exists()
