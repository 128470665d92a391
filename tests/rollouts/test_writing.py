import gzip
import os
import signal
import subprocess
import sys
import textwrap
import time
from contextlib import suppress

import pytest

from plaudit import RewardOutput, Trajectory
from plaudit.errors import RolloutsError
from plaudit.rollouts import Rollout, RolloutsWriter, read_completed, read_rollouts
from plaudit.rollouts.sources import is_torn

LINE_FILES = ["out.jsonl", "out.jsonl.gz"]


def numbered(number):
    return Rollout(Trajectory("p", f"r{number}", id=number), RewardOutput(float(number)))


def write(path, numbers, **how):
    with RolloutsWriter(path, **how) as writer:
        for number in numbers:
            writer.write(numbered(number))
    return writer


def ids(path):
    return [rollout.trajectory.id for rollout in read_rollouts(path)]


@pytest.mark.parametrize("name", LINE_FILES)
def test_what_is_written_is_read(tmp_path, name):
    writer = write(tmp_path / name, range(5))
    assert writer.written == 5
    assert list(read_rollouts(tmp_path / name)) == [numbered(number) for number in range(5)]


@pytest.mark.parametrize("name", [*LINE_FILES, "out.parquet"])
def test_an_existing_file_is_not_replaced_by_default(tmp_path, name):
    path = tmp_path / name
    write(path, [1, 2])
    with pytest.raises(RolloutsError, match="exists already; --overwrite replaces it"):
        RolloutsWriter(path)
    assert ids(path) == [1, 2]
    write(path, [3], overwrite=True)
    assert ids(path) == [3]


@pytest.mark.parametrize("mode", ["append", "resume"])
def test_an_existing_file_can_be_appended_to(tmp_path, mode):
    path = tmp_path / "out.jsonl"
    for part in ([0, 1], [2], [3, 4]):
        write(path, part, mode=mode)
    assert ids(path) == [0, 1, 2, 3, 4]


def test_a_flush_puts_whole_lines_on_disk(tmp_path):
    path = tmp_path / "out.jsonl"
    with RolloutsWriter(path) as writer:
        writer.write(numbered(0))
        writer.flush()
        assert ids(path) == [0]
        writer.write(numbered(1))


def test_lines_are_flushed_every_64_kilobytes_and_never_in_part(tmp_path):
    path = tmp_path / "out.jsonl"
    with RolloutsWriter(path) as writer:
        for number in range(2000):
            writer.write(numbered(number))
            content = path.read_bytes() if number % 500 == 499 else b""
            assert content == b"" or content.endswith(b"\n")
        assert path.stat().st_size > 0


def test_an_old_line_leaves_with_the_next_write(tmp_path, monkeypatch):
    path = tmp_path / "out.jsonl"
    now = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    with RolloutsWriter(path) as writer:
        writer.write(numbered(0))
        assert path.stat().st_size == 0
        now[0] = 0.6
        writer.write(numbered(1))
        assert ids(path) == [0, 1]


def test_a_rollout_that_cannot_be_written_leaves_no_trace(tmp_path):
    path = tmp_path / "out.jsonl"
    with RolloutsWriter(path) as writer:
        writer.write(numbered(0))
        with pytest.raises(RolloutsError, match=r"metadata\.x is a set"):
            writer.write(Rollout(Trajectory("p", "r", metadata={"x": {1}})))
        writer.write(numbered(1))
    assert ids(path) == [0, 1]
    assert writer.written == 2


def test_lines_written_before_an_exception_are_kept(tmp_path):
    path = tmp_path / "out.jsonl"
    with suppress(KeyboardInterrupt), RolloutsWriter(path) as writer:
        writer.write(numbered(0))
        raise KeyboardInterrupt
    assert ids(path) == [0]


@pytest.mark.parametrize("cut", range(1, 60, 7))
def test_half_a_line_is_cut_off_before_more_is_added(tmp_path, cut):
    path = tmp_path / "out.jsonl"
    write(path, [0, 1])
    whole = path.read_bytes()
    path.write_bytes(whole + numbered(2).to_line()[:cut])
    write(path, [2], mode="resume")
    assert ids(path) == [0, 1, 2]
    assert path.read_bytes() == whole + numbered(2).to_line()


def test_half_a_line_longer_than_a_block_is_cut_off(tmp_path):
    path = tmp_path / "out.jsonl"
    write(path, [0])
    with path.open("ab") as file:
        file.write(Rollout(Trajectory("p", "x" * 300_000)).to_line()[:200_000])
    write(path, [1], mode="append")
    assert ids(path) == [0, 1]


def test_a_file_with_half_a_line_is_written_from_its_start(tmp_path):
    path = tmp_path / "out.jsonl"
    path.write_bytes(numbered(0).to_line()[:20])
    write(path, [0], mode="resume")
    assert ids(path) == [0]


def test_a_whole_last_line_gets_its_newline(tmp_path):
    path = tmp_path / "out.jsonl"
    content = numbered(0).to_line() + numbered(1).to_line().rstrip()
    path.write_bytes(content)
    write(path, [2], mode="append")
    assert ids(path) == [0, 1, 2]


def test_a_last_line_that_no_crash_leaves_is_not_touched(tmp_path):
    path = tmp_path / "out.jsonl"
    content = numbered(0).to_line() + b"a note by hand"
    path.write_bytes(content)
    with pytest.raises(RolloutsError, match="correct that line or write to another file"):
        RolloutsWriter(path, mode="append")
    assert path.read_bytes() == content


@pytest.mark.parametrize("mode", ["append", "resume"])
def test_a_gzip_file_appears_when_it_is_complete_and_is_not_continued(tmp_path, mode):
    path = tmp_path / "out.jsonl.gz"
    with RolloutsWriter(path) as writer:
        writer.write(numbered(0))
        writer.flush()
        assert not path.exists()
    assert os.listdir(tmp_path) == ["out.jsonl.gz"]
    assert gzip.decompress(path.read_bytes()) == numbered(0).to_line()
    with pytest.raises(RolloutsError, match=r"write out\.jsonl, which can be continued"):
        RolloutsWriter(path, mode=mode)
    path.write_bytes(path.read_bytes()[:-4])
    with pytest.raises(RolloutsError, match="the gzip data is broken after line 1"):
        list(read_rollouts(path))


def test_a_full_disk_is_an_error_with_a_message(tmp_path):
    path = tmp_path / "out.jsonl"
    path.symlink_to("/dev/full")
    writer = RolloutsWriter(path, overwrite=True)
    writer.write(numbered(0))
    with pytest.raises(RolloutsError, match="No space left on device; the lines before are safe"):
        writer.flush()
    with pytest.raises(RolloutsError, match="No space left"):
        writer.close()


class Trickle:
    """A file that takes seven bytes a call and is interrupted every third time."""

    def __init__(self):
        self.content, self.calls = b"", 0

    def write(self, data):
        self.calls += 1
        if self.calls % 3 == 0:
            raise OSError(28, "No space left on device")
        self.content += bytes(data[:7])
        return min(7, len(data))

    def close(self):
        pass


def test_a_write_that_fails_halfway_continues_at_the_same_byte(tmp_path):
    from plaudit.rollouts.writing import _LineSink

    file = Trickle()
    sink = _LineSink(tmp_path / "out.jsonl", file)
    for number in range(3):
        sink.put(numbered(number).to_line())
    for _ in range(100):
        try:
            sink.flush()
            break
        except RolloutsError:
            sink.put(b"")
    assert file.content == b"".join(numbered(number).to_line() for number in range(3))


@pytest.mark.parametrize(
    ("path", "how", "message"),
    [
        ("nowhere/out.jsonl", {}, "there is no folder .*nowhere; create it"),
        ("out.json", {}, r"'\.json' is not a known format; did you mean '\.jsonl'"),
        ("out.jsonl", {"mode": "apend"}, "no mode 'apend'; did you mean 'append'"),
        ("folder.jsonl", {}, "cannot write .*folder"),
        ("folder.jsonl", {"mode": "append"}, "cannot write .*: Is a directory"),
    ],
    ids=["no folder", "suffix", "mode", "folder", "append to folder"],
)
def test_an_output_that_cannot_be_written_is_refused_before_any_work(tmp_path, path, how, message):
    (tmp_path / "folder.jsonl").mkdir()
    with pytest.raises(RolloutsError, match=message):
        RolloutsWriter(tmp_path / path, **how)


ENDLESS = textwrap.dedent("""
    import sys
    from plaudit import RewardOutput, Trajectory
    from plaudit.rollouts import Rollout, RolloutsWriter
    with RolloutsWriter(sys.argv[1], mode="resume") as writer:
        for number in range(int(sys.argv[2]), 10**9):
            writer.write(Rollout(Trajectory("p", "r" * (number % 977), id=number), RewardOutput(1.0)))
""")


def test_a_killed_writer_loses_no_earlier_line_and_can_be_resumed(tmp_path):
    path = tmp_path / "out.jsonl"
    total = 0
    for _ in range(3):
        child = subprocess.Popen([sys.executable, "-c", ENDLESS, path, str(total)])
        size = path.stat().st_size if path.exists() else 0
        while (path.stat().st_size if path.exists() else 0) < size + 20_000:
            assert child.poll() is None
            time.sleep(0.005)
        child.send_signal(signal.SIGKILL)
        assert child.wait() == -signal.SIGKILL
        done = read_completed(path)
        assert ids(path) == list(range(done.count))
        assert done.count > total
        assert done.last.trajectory.id == done.count - 1
        total = done.count
    write(path, [total], mode="resume")
    assert ids(path) == list(range(total + 1))


def test_only_the_beginning_of_an_object_counts_as_torn():
    assert is_torn(b'{"a": [1, 2')
    assert not is_torn(b"[1, 2")
    assert not is_torn(b'{"a": 1}')
    assert not is_torn(b"")
