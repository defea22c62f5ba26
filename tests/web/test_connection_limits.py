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

from blendwright.server.transport.http import RequestGuard
from blendwright.web import connections
from blendwright.web.origins import Names

TOKEN = "a-token-for-tests"
HEAD = f"GET / HTTP/1.1\r\nHost: here\r\nAuthorization: Bearer {TOKEN}\r\n".encode()
REQUEST = HEAD + b"\r\n"
WITHOUT_TOKEN = b"GET / HTTP/1.1\r\nHost: here\r\n\r\n"
WRONG_TOKEN = HEAD[:-4] + b"\r\n\r\n"
HERE = Names(hosts=("here",), origins=())
MOST = 8


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
    monkeypatch.setattr(connections, "HEADER_TIMEOUT_SECONDS", 0.2)
    monkeypatch.setattr(connections, "BODY_TIMEOUT_SECONDS", 0.2)
    monkeypatch.setattr(connections, "MAX_UNKNOWN_CONNECTIONS", MOST)
    monkeypatch.setattr(connections, "MAX_KNOWN_CONNECTIONS", MOST)
    guard = RequestGuard(slow_to_answer, TOKEN, HERE, 1000)
    config = uvicorn.Config(
        guard,
        log_level="warning",
        http=connections.GuardedConnection,
        ws="none",
        lifespan="off",
        proxy_headers=False,
        timeout_keep_alive=600,
    )
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
    connection = socket.create_connection(address, timeout=30)
    connection.sendall(said)
    return connection


def answered(connection: socket.socket) -> bool:
    """Waits for the whole answer."""
    heard = b""
    while not heard.endswith(b"ok") and (more := connection.recv(4096)):
        heard += more
    return b"200 OK" in heard


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
        HEAD.replace(b"GET", b"POST") + b"Content-Length: 100\r\n\r\nhalf",
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
    with talking(address, REQUEST.replace(b"GET /", b"GET /later")) as connection:
        assert answered(connection)


@pytest.mark.parametrize("said", [WITHOUT_TOKEN, WRONG_TOKEN], ids=["no token", "a wrong token"])
def test_a_request_without_the_token_ends_its_connection(
    address: tuple[str, int], monkeypatch: pytest.MonkeyPatch, said: bytes
) -> None:
    monkeypatch.setattr(connections, "HEADER_TIMEOUT_SECONDS", 600)
    with talking(address, said) as connection:
        assert b"401" in connection.recv(4096)
        assert ended(connection)


@pytest.mark.parametrize(
    "said", [b"", b"GET / HTT", WITHOUT_TOKEN, WRONG_TOKEN], ids=["silent", "half", "none", "wrong"]
)
def test_any_number_without_a_token_keeps_nobody_out_who_has_one(
    address: tuple[str, int], monkeypatch: pytest.MonkeyPatch, said: bytes
) -> None:
    monkeypatch.setattr(connections, "HEADER_TIMEOUT_SECONDS", 600)
    with talking(address, REQUEST) as earlier:
        assert answered(earlier)
        strangers = [talking(address, said) for _ in range(5 * MOST)]
        for _ in range(3):
            with talking(address, REQUEST) as newcomer:
                assert answered(newcomer)
        earlier.sendall(REQUEST)
        assert answered(earlier), "who is known is not cut for strangers"
    gone = all(ended(connection) for connection in strangers[: 4 * MOST])
    for connection in strangers:
        connection.close()
    assert gone, "those that came first went first"


def test_of_too_many_who_have_a_token_the_one_that_is_idle_longest_goes(
    address: tuple[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "HEADER_TIMEOUT_SECONDS", 600)
    first, *others = [talking(address, REQUEST) for _ in range(MOST)]
    for connection in (first, *others):
        assert answered(connection)
    with talking(address, REQUEST) as newcomer:
        assert answered(newcomer)
        assert ended(first)
        for connection in others:
            connection.sendall(REQUEST)
            assert answered(connection)
            connection.close()


def test_running_out_of_descriptors_is_told_in_a_line(caplog: pytest.LogCaptureFixture) -> None:
    loop, tell = asyncio.new_event_loop(), connections.DescriptorExhaustionHandler()
    with caplog.at_level(logging.WARNING):
        for _ in range(5):
            tell(loop, {"message": "m", "exception": OSError(errno.EMFILE, "Too many open files")})
        (told,) = caplog.records
        assert told.exc_info is None and "Too many open files" in told.message
        tell(loop, {"message": "a defect", "exception": ValueError("x")})
        assert caplog.records[-1].exc_info is not None
    loop.close()
