"""Frames: whole bodies out of bytes that arrive in any pieces."""

import os
import time

import pytest

from plaudit.frames import FrameBuffer, FrameTooLong, frame, frame_reader, frame_writer, read_frame, write_frame

BODIES = [b"", b"a", b"some words", bytes(range(256)) * 700]


@pytest.mark.parametrize("step", [1, 3, 4, 5, 1000, 1 << 20])
def test_frames_come_out_whole_however_the_bytes_arrive(step):
    stream = b"".join(map(frame, BODIES))
    buffer, found = FrameBuffer(), []
    for start in range(0, len(stream), step):
        buffer.feed(stream[start : start + step])
        while (body := buffer.next()) is not None:
            found.append(body)
    assert found == BODIES
    assert len(buffer) == 0


@pytest.mark.parametrize("step", [1, 5, 1000, 1 << 20])
def test_all_frames_that_are_whole_come_out_together(step):
    stream = b"".join(map(frame, BODIES))
    buffer, bodies = FrameBuffer(), []
    for start in range(0, len(stream), step):
        buffer.feed(stream[start : start + step])
        bodies += buffer.take_all()
        assert buffer.next() is None
    assert bodies == BODIES
    assert len(buffer) == 0


def test_a_frame_over_the_limit_is_refused_before_it_has_arrived():
    buffer = FrameBuffer(limit=10)
    buffer.feed(frame(bytes(10)) + frame(bytes(11))[:4])
    assert buffer.next() == bytes(10)
    with pytest.raises(FrameTooLong, match="11 bytes where 10"):
        buffer.next()


@pytest.fixture
def pipe():
    reading, writing = os.pipe()
    yield reading, writing
    for descriptor in (reading, writing):
        os.close(descriptor)


def test_frames_go_through_a_pipe(pipe):
    reading, writing = pipe
    for body in BODIES[:3]:
        write_frame(writing, body)
    assert [read_frame(reading), read_frame(reading, time.monotonic() + 5), read_frame(reading)] == BODIES[:3]
    frame_writer(writing)(b"again")
    assert frame_reader(reading)() == b"again"


def test_no_frame_within_the_deadline_is_a_timeout(pipe):
    reading, writing = pipe
    os.write(writing, frame(b"half of it")[:6])
    with pytest.raises(TimeoutError):
        read_frame(reading, time.monotonic() + 0.05)


def test_an_end_that_is_gone_is_an_end_of_file():
    reading, writing = os.pipe()
    os.write(writing, frame(b"half of it")[:6])
    os.close(writing)
    with pytest.raises(EOFError):
        read_frame(reading)
    assert frame_reader(reading)() is None
    os.close(reading)
