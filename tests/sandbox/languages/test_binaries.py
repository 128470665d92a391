"""Compiled programs are kept by content, for all processes of a user, within bounds."""

import multiprocessing
import time

from plaudit.sandbox.languages.binaries import BinaryCache


def slow_entry(folder, log):
    def make() -> bytes:
        with log.open("a") as file:
            file.write("made\n")
        time.sleep(0.3)
        return b"program"

    assert BinaryCache(folder).get(b"key", make) == b"program"


def test_a_program_is_compiled_once_whoever_asks(tmp_path):
    log = tmp_path / "log"
    context = multiprocessing.get_context("fork")
    workers = [context.Process(target=slow_entry, args=(tmp_path / "cache", log)) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert [worker.exitcode for worker in workers] == [0] * 4
    assert log.read_text() == "made\n"


def test_other_content_is_another_entry_and_failures_are_not_kept(tmp_path):
    cache = BinaryCache(tmp_path / "cache")

    def fail() -> bytes:
        raise OSError("no")

    for key in (b"a", b"b", b"a"):
        try:
            cache.get(key, fail)
        except OSError:
            continue
        raise AssertionError("kept a failure")
    assert cache.get(b"a", lambda: b"1") == b"1"
    assert cache.get(b"b", lambda: b"2") == b"2"
    assert cache.get(b"a", fail) == b"1"
    assert len(list(cache.folder.iterdir())) == 2


def test_the_entries_not_used_for_longest_go_first(tmp_path):
    cache = BinaryCache(tmp_path / "cache", most_bytes=2500)
    for key in (b"a", b"b"):
        cache.get(key, lambda: bytes(1000))
        time.sleep(0.02)
    cache.get(b"a", lambda: b"not made again")
    time.sleep(0.02)
    cache.get(b"c", lambda: bytes(1000))
    assert cache.get(b"a", lambda: b"new") == bytes(1000)
    assert cache.get(b"b", lambda: b"new") == b"new"


def test_a_damaged_entry_is_made_anew(tmp_path):
    cache = BinaryCache(tmp_path / "cache")
    cache.get(b"a", lambda: b"right")
    (entry,) = [path for path in cache.folder.iterdir() if "." not in path.name]
    entry.write_bytes(entry.read_bytes()[:-1] + b"!")
    assert cache.get(b"a", lambda: b"again") == b"again"


def test_a_folder_that_others_can_write_to_is_not_used(tmp_path):
    folder = tmp_path / "cache"
    folder.mkdir(mode=0o777)
    folder.chmod(0o777)
    assert BinaryCache(folder).get(b"a", lambda: b"1") == b"1"
    assert BinaryCache(folder).get(b"a", lambda: b"2") == b"2"
    assert list(folder.iterdir()) == []
