"""Connections that bring no request: ended in time, and bounded in number. On real sockets."""

from __future__ import annotations

import asyncio
import errno
import logging
import socket
import threading
from collections.abc import Iterator
from typing import Any

import pytest
import uvicorn

from blendwright.server import http

REQUEST = b"GET / HTTP/1.1\r\nHost: here\r\n\r\n"


async def slow_to_answer(scope: Any, receive: Any, send: Any) -> None:
    """Answers once the whole body is there, and after half a second where it is asked to."""
    while (await receive()).get("more_body"):
        pass
    if scope["path"] == "/later":
        await asyncio.sleep(0.5)
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
    await send({"type": "http.response.body", "body": b"ok"})


@pytest.fixture
def address(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[str, int]]:
    monkeypatch.setattr(http, "HEADER_SECONDS", 0.2)
    monkeypatch.setattr(http, "BODY_SECONDS", 0.2)
    monkeypatch.setattr(http, "MOST_WAITING", 8)
    config = uvicorn.Config(slow_to_answer, log_level="warning", http=http.GuardedConnection, ws="none", lifespan="off")
    server = uvicorn.Server(config)
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen(128)  # whoever comes before the server runs waits
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        yield listening.getsockname()
        server.should_exit = True
        thread.join()


def talking(address: tuple[str, int], said: bytes) -> socket.socket:
    connection = socket.create_connection(address, timeout=60)
    connection.sendall(said)
    return connection


def ended(connection: socket.socket) -> bool:
    """Waits until the other side hangs up; whatever it said before."""
    with connection:
        try:
            while connection.recv(4096):
                pass
        except ConnectionResetError:
            return True
        except TimeoutError:
            return False
        return True


@pytest.mark.parametrize(
    "said",
    [
        b"",
        b"GET / HTTP/1.1\r\nHost: he",
        b"POST / HTTP/1.1\r\nHost: here\r\nContent-Length: 100\r\n\r\nhalf",
        REQUEST + b"GET",
    ],
    ids=["nothing", "half of the headers", "half of the body", "half of a second request"],
)
def test_a_request_that_does_not_come_ends_its_connection(address: tuple[str, int], said: bytes) -> None:
    assert ended(talking(address, said))


def test_one_byte_at_a_time_does_not_move_the_deadline(address: tuple[str, int]) -> None:
    connection = talking(address, b"GET / HTTP/1.1\r\nX: ")
    stop = threading.Event()

    def drip() -> None:
        while not stop.wait(0.05):
            try:
                connection.sendall(b"x")
            except OSError:
                return

    thread = threading.Thread(target=drip)
    thread.start()
    try:
        assert ended(connection)
    finally:
        stop.set()
        thread.join()


def test_an_answer_may_take_longer_than_a_request(address: tuple[str, int]) -> None:
    with talking(address, b"GET /later HTTP/1.1\r\nHost: here\r\n\r\n") as connection:
        assert b"200 OK" in connection.recv(4096)


def test_many_that_say_nothing_do_not_keep_others_out(
    address: tuple[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http, "HEADER_SECONDS", 60)
    silent = [talking(address, b"GET / HTT") for _ in range(40)]
    with talking(address, REQUEST) as connection:
        assert b"200 OK" in connection.recv(4096)
    gone = [ended(connection) for connection in silent[:30]]
    for connection in silent:
        connection.close()
    assert all(gone), "those that came first went first"


def test_running_out_of_descriptors_is_told_in_a_line(caplog: pytest.LogCaptureFixture) -> None:
    loop, tell = asyncio.new_event_loop(), http.DescriptorExhaustionHandler()
    with caplog.at_level(logging.WARNING):
        for _ in range(5):
            tell(loop, {"message": "m", "exception": OSError(errno.EMFILE, "Too many open files")})
        (told,) = caplog.records
        assert told.exc_info is None and "Too many open files" in told.message
        tell(loop, {"message": "a defect", "exception": ValueError("x")})
        assert caplog.records[-1].exc_info is not None
    loop.close()
