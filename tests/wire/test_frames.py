"""The wire format, over real pipes."""

from __future__ import annotations

import os
import struct
import threading
from collections.abc import Iterator

import pytest

from blendwright.wire import frames


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    """The ends of a pipe; a test that closes the writing end leaves it closed."""
    read_fd, write_fd = os.pipe()
    yield read_fd, write_fd
    for fd in (read_fd, write_fd):
        try:
            os.close(fd)
        except OSError:
            continue


def read_all(read_fd: int) -> list[bytes]:
    with frames.open_reader(os.dup(read_fd)) as reader:
        return list(iter(lambda: frames.read_frame(reader), None))


def test_a_frame_is_a_big_endian_length_and_its_body(pipe: tuple[int, int]) -> None:
    read_fd, write_fd = pipe
    frames.write_frame(write_fd, b'{"id":1}')
    assert os.read(read_fd, 100) == b'\x00\x00\x00\x08{"id":1}'


def test_frames_come_out_as_they_went_in_and_the_end_between_two_is_no_error(pipe: tuple[int, int]) -> None:
    read_fd, write_fd = pipe
    bodies = [b"{}", b"", b'{"a":"\xc3\xa4"}']
    for body in bodies:
        frames.write_frame(write_fd, body)
    os.close(write_fd)
    assert read_all(read_fd) == bodies


def test_a_frame_larger_than_the_pipe_is_written_whole(pipe: tuple[int, int]) -> None:
    read_fd, write_fd = pipe
    body = os.urandom(3_000_000)

    def write() -> None:
        frames.write_frame(write_fd, body)
        os.close(write_fd)

    writer = threading.Thread(target=write)
    writer.start()
    assert read_all(read_fd) == [body]
    writer.join()


def test_what_a_full_pipe_does_not_take_is_left_over(pipe: tuple[int, int]) -> None:
    read_fd, write_fd = pipe
    os.set_blocking(write_fd, False)
    head, body = b"abcd", bytes(1_000_000)
    left = frames.write_some(write_fd, [memoryview(head), memoryview(body)])
    taken = len(head) + len(body) - sum(len(part) for part in left)
    assert 0 < taken < len(body)
    assert os.read(read_fd, 6) == b"abcd\0\0"


def test_an_oversized_length_is_refused_before_its_body_is_awaited(pipe: tuple[int, int]) -> None:
    read_fd, write_fd = pipe
    os.write(write_fd, struct.pack(">I", frames.MAX_FRAME + 1))
    with (
        pytest.raises(frames.OversizedFrame, match=str(frames.MAX_FRAME)),
        frames.open_reader(os.dup(read_fd)) as reader,
    ):
        frames.read_frame(reader)


@pytest.mark.parametrize("start", [b"\x00\x00", b"\x00\x00\x00\x05ab"], ids=["in the length", "in the body"])
def test_an_end_inside_a_frame_is_an_error(pipe: tuple[int, int], start: bytes) -> None:
    read_fd, write_fd = pipe
    os.write(write_fd, start)
    os.close(write_fd)
    with pytest.raises(frames.TruncatedFrame), frames.open_reader(os.dup(read_fd)) as reader:
        frames.read_frame(reader)


def test_too_large_a_body_is_not_sent_at_all(pipe: tuple[int, int]) -> None:
    read_fd, write_fd = pipe
    with pytest.raises(frames.OversizedFrame):
        frames.write_frame(write_fd, bytes(frames.MAX_FRAME + 1))
    os.close(write_fd)
    assert os.read(read_fd, 10) == b""
