"""What the worker's end of the wire accepts and refuses, spoken to in raw bytes: the loop alone, and a real worker."""

from __future__ import annotations

import json
import os
import struct
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from blendwright.blender.worker.conversation import Handler, Refused, encoded
from blendwright.blender.worker.loop import ENDED, STREAM_BROKEN, Loop
from blendwright.bridge.sources.python_environment import PythonEnvironment
from blendwright.bridge.spawn import WorkerSettings, spawn
from blendwright.wire import frames
from blendwright.wire.package_version import this_package

HELLO = {"id": 1, "method": "hello", "params": {"protocol": frames.PROTOCOL}}


class Conversation:
    """The core's ends of the pipes, without anything of the core's behaviour."""

    def __init__(self, read_fd: int, write_fd: int, exit_code: Callable[[], int]) -> None:
        self._reader = frames.open_reader(read_fd)
        self._write_fd: int | None = write_fd
        self._exit_code = exit_code

    def send_bytes(self, data: bytes) -> None:
        assert self._write_fd is not None
        os.write(self._write_fd, data)

    def send(self, message: object) -> None:
        body = json.dumps(message).encode()
        self.send_bytes(struct.pack(">I", len(body)) + body)

    def answer(self) -> dict[str, Any]:
        body = frames.read_frame(self._reader)
        assert body is not None, "the worker closed the pipe"
        return json.loads(body)

    def ask(self, message: object) -> dict[str, Any]:
        self.send(message)
        return self.answer()

    def hang_up(self) -> None:
        if self._write_fd is not None:
            os.close(self._write_fd)
            self._write_fd = None

    def end(self) -> int:
        """Read to the end, where nothing more may come, and return the exit code."""
        assert frames.read_frame(self._reader) is None
        return self._exit_code()

    def close(self) -> None:
        self.hang_up()
        self._exit_code()
        self._reader.close()


def _fail(params: dict[str, Any]) -> object:
    raise ValueError("two\nlines")


def _exit(params: dict[str, Any]) -> object:
    raise SystemExit(5)


def _refuse(params: dict[str, Any]) -> object:
    raise Refused("own_code", "own words")


FAKE_HANDLERS: dict[str, Handler] = {
    "hello": lambda params: {"package": {}, "profile": {"fake": True}, "catalogue": "abc"},
    "ping": lambda params: params,
    "test.fill": lambda params: "x" * params["bytes"],
    "not_json": lambda params: object(),
    "nan": lambda params: float("nan"),
    "surrogate": lambda params: "\udc80",
    "fail": _fail,
    "exit": _exit,
    "refuse": _refuse,
}


def converse_with_loop() -> Conversation:
    read_fd, worker_writes = os.pipe()
    worker_reads, write_fd = os.pipe()
    codes: list[int] = []

    def serve() -> None:
        codes.append(Loop(worker_reads, worker_writes, FAKE_HANDLERS).run())
        os.close(worker_writes)

    thread = threading.Thread(target=serve)
    thread.start()

    def exit_code() -> int:
        thread.join()
        return codes[0]

    return Conversation(read_fd, write_fd, exit_code)


def converse_with_worker(settings: WorkerSettings) -> Conversation:
    child = spawn(PythonEnvironment().command, settings)
    return Conversation(child.read_fd, child.write_fd, child.process.wait)


@pytest.fixture
def loop() -> Iterator[Conversation]:
    conversation = converse_with_loop()
    yield conversation
    conversation.close()


@pytest.fixture(params=["loop", "worker"])
def fresh(request: pytest.FixtureRequest, settings: WorkerSettings) -> Iterator[Conversation]:
    """Before the handshake, once with the loop alone and once with a real worker."""
    conversation = converse_with_loop() if request.param == "loop" else converse_with_worker(settings)
    yield conversation
    conversation.close()


def test_wrong_requests_get_an_error_each_and_the_worker_lives_on(fresh: Conversation) -> None:
    assert code(fresh.ask({"id": 1, "method": "ping", "params": {}})) == (1, "handshake_required")
    assert code(fresh.ask({"id": 2, "method": "hello", "params": {"protocol": 99}})) == (2, "protocol_mismatch")
    greeting = {"protocol": frames.PROTOCOL, "package": this_package()}
    hello = fresh.ask({"id": 3, "method": "hello", "params": greeting})
    assert hello["id"] == 3
    assert hello["result"].keys() == {"protocol", "package", "profile", "catalogue"}

    fresh.send_bytes(struct.pack(">I", 5) + b"{nope")
    assert code(fresh.answer()) == (None, "malformed_request")
    assert code(fresh.ask([1, 2])) == (None, "malformed_request")
    assert code(fresh.ask({"method": "ping"})) == (None, "malformed_request")
    assert code(fresh.ask({"id": 4, "method": "nothing"})) == (4, "unknown_method")
    assert code(fresh.ask({"id": 4, "method": "ping"})) == (4, "out_of_order")
    assert code(fresh.ask({"id": 2, "method": "ping"})) == (2, "out_of_order")
    assert fresh.ask({"id": 5, "method": "ping", "params": {"still": "here"}}) == {"id": 5, "result": {"still": "here"}}
    fresh.hang_up()
    assert fresh.end() == ENDED


def test_an_oversized_frame_gets_one_last_answer_and_ends_the_worker(fresh: Conversation) -> None:
    fresh.send_bytes(struct.pack(">I", frames.MAX_FRAME + 1) + b"some of it")
    assert code(fresh.answer()) == (None, "oversized_frame")
    assert fresh.end() == STREAM_BROKEN


def test_a_truncated_frame_gets_one_last_answer_and_ends_the_worker(fresh: Conversation) -> None:
    fresh.send_bytes(struct.pack(">I", 50) + b'{"id":')
    fresh.hang_up()
    assert code(fresh.answer()) == (None, "truncated_frame")
    assert fresh.end() == STREAM_BROKEN


def test_another_protocol_version_is_refused_naming_both(loop: Conversation) -> None:
    message = loop.ask({"id": 1, "method": "hello", "params": {"protocol": 7}})["error"]["message"]
    assert "protocol 7" in message
    assert f"protocol {frames.PROTOCOL}" in message


def test_hello_is_said_once(loop: Conversation) -> None:
    about = {"package": {}, "profile": {"fake": True}, "catalogue": "abc"}
    assert loop.ask(HELLO)["result"] == {"protocol": frames.PROTOCOL, **about}
    assert code(loop.ask({**HELLO, "id": 2})) == (2, "handshake_done")


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(b"", id="empty"),
        pytest.param(b"\xff\xfe", id="not UTF-8"),
        pytest.param(b"[" * 100_000, id="nested too deep"),
        pytest.param(b'{"id": 2, "method": "ping", "params": {"x": NaN}}', id="NaN"),
        pytest.param(b'{"id": true, "method": "ping"}', id="a bool as id"),
        pytest.param(b'{"id": 0, "method": "ping"}', id="zero as id"),
        pytest.param(b'{"id": "2", "method": "ping"}', id="a string as id"),
        pytest.param(b'{"id": 2.0, "method": "ping"}', id="a float as id"),
        pytest.param(b'{"id": 2}', id="no method"),
        pytest.param(b'{"id": 2, "method": 3}', id="a number as method"),
        pytest.param(b'{"id": 2, "method": "ping", "params": []}', id="a list as params"),
    ],
)
def test_a_malformed_request_is_answered_and_leaves_the_stream_intact(loop: Conversation, body: bytes) -> None:
    loop.ask(HELLO)
    writer = threading.Thread(target=loop.send_bytes, args=(struct.pack(">I", len(body)) + body,))
    writer.start()
    assert loop.answer()["error"]["code"] == "malformed_request"
    writer.join()
    assert loop.ask({"id": 3, "method": "ping", "params": {}}) == {"id": 3, "result": {}}


@pytest.mark.parametrize("method", ["fail", "exit", "not_json", "nan", "surrogate"])
def test_a_handler_that_fails_is_an_internal_error_in_one_line(loop: Conversation, method: str) -> None:
    loop.ask(HELLO)
    answer = loop.ask({"id": 2, "method": method})
    assert code(answer) == (2, "internal_error")
    assert "\n" not in answer["error"]["message"]
    assert "Traceback" not in answer["error"]["message"]
    assert loop.ask({"id": 3, "method": "ping"}) == {"id": 3, "result": {}}


def test_a_handler_may_choose_the_code_of_its_refusal(loop: Conversation) -> None:
    loop.ask(HELLO)
    assert loop.ask({"id": 2, "method": "refuse"})["error"] == {"code": "own_code", "message": "own words"}


def test_an_answer_beyond_the_limit_becomes_an_error_and_leaves_the_stream_intact(loop: Conversation) -> None:
    loop.ask(HELLO)
    answer = loop.ask({"id": 2, "method": "test.fill", "params": {"bytes": frames.MAX_FRAME}})
    assert code(answer) == (2, "oversized_answer")
    assert str(frames.MAX_FRAME) in answer["error"]["message"]
    assert loop.ask({"id": 3, "method": "ping"}) == {"id": 3, "result": {}}


def test_requests_sent_together_are_answered_in_their_order(loop: Conversation) -> None:
    loop.ask(HELLO)
    for number in range(2, 12):
        loop.send({"id": number, "method": "ping", "params": {"n": number}})
    assert [loop.answer()["result"]["n"] for _ in range(2, 12)] == list(range(2, 12))


def test_a_core_that_is_gone_ends_the_loop_quietly() -> None:
    read_fd, worker_writes = os.pipe()
    worker_reads, write_fd = os.pipe()
    os.close(read_fd)
    body = json.dumps(HELLO).encode()
    os.write(write_fd, struct.pack(">I", len(body)) + body)
    assert Loop(worker_reads, worker_writes, FAKE_HANDLERS).run() == ENDED
    os.close(write_fd)
    os.close(worker_writes)


def code(answer: dict[str, Any]) -> tuple[int | None, str]:
    assert answer.keys() == {"id", "error"}
    return answer["id"], answer["error"]["code"]


class Late:
    """An answer that is deferred, and notes when it was finished."""

    def __init__(self, value: int, finished: list[int]) -> None:
        self._value = value
        self._finished = finished

    def finish(self) -> object:
        self._finished.append(self._value)
        return self._value


def test_deferred_answers_are_finished_in_order_when_no_request_is_waiting_or_another_answer_is_due() -> None:
    finished: list[int] = []
    seen: list[list[int]] = []

    def later(params: dict[str, Any]) -> object:
        return Late(params["n"], finished)

    def now(params: dict[str, Any]) -> object:
        seen.append(list(finished))
        return "now"

    requests: list[dict[str, Any]] = [HELLO]
    requests += [{"id": n, "method": "later", "params": {"n": n}} for n in (2, 3)]
    requests += [{"id": 4, "method": "now", "params": {}}, {"id": 5, "method": "later", "params": {"n": 5}}]
    to_worker, from_core = os.pipe(), os.pipe()
    for request in requests:
        frames.write_frame(to_worker[1], json.dumps(request).encode())
    os.close(to_worker[1])
    handlers: dict[str, Handler] = {"hello": lambda params: {}, "later": later, "now": now}
    assert Loop(to_worker[0], from_core[1], handlers).run() == ENDED
    os.close(from_core[1])
    with frames.open_reader(from_core[0]) as reader:
        answers: list[dict[str, Any]] = []
        while (body := frames.read_frame(reader)) is not None:
            answers.append(json.loads(body))
    assert [answer["id"] for answer in answers] == [1, 2, 3, 4, 5]
    assert [answer["result"] for answer in answers[1:]] == [2, 3, "now", 5]
    assert seen == [[]], "with requests waiting, the answers before are still deferred"
    assert finished == [2, 3, 5]


def test_an_answer_is_encoded_whatever_the_quick_way_makes_of_it() -> None:
    deep: Any = 1
    for _ in range(400):
        deep = [deep]
    for result in (deep, "NaN", "Infinity", {"name": "é\u2028\x01"}, [1e-7, 1e22, -0.0, 10**30], True, None):
        assert json.loads(encoded({"id": 1, "result": result})) == {"id": 1, "result": result}
    for result in (float("nan"), float("-inf"), "\ud800", object()):
        with pytest.raises((ValueError, TypeError)):
            encoded({"id": 1, "result": result})
