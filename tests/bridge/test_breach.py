"""A worker that does not keep to the protocol: it is killed, and every call that waits fails.

No real worker does that, so small programs stand for it at the other end of real pipes.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from blendwright.bridge.spawn import Child
from blendwright.bridge.worker import WorkerProcess
from blendwright.values.errors import ProtocolBreach, WorkerLost

# Waits for the first request, writes something, and stays: only the core ends it.
PROGRAM = """
import os, sys, time
read_fd, write_fd = int(sys.argv[1]), int(sys.argv[2])
os.read(read_fd, 65536)
os.write(write_fd, bytes.fromhex(sys.argv[3]))
if sys.argv[4] == "hangs up":
    os.close(write_fd)
time.sleep(600)
"""

Start = Callable[[bytes, str], WorkerProcess]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    started: list[WorkerProcess] = []

    def start(answer: bytes, then: str) -> WorkerProcess:
        we_read, they_write = os.pipe()
        they_read, we_write = os.pipe()
        command = [sys.executable, "-c", PROGRAM, str(they_read), str(they_write), answer.hex(), then]
        process = subprocess.Popen(command, pass_fds=(they_read, they_write))
        os.close(they_read)
        os.close(they_write)
        worker = WorkerProcess(Child(process, we_read, we_write, tmp_path / "scratch", None))
        started.append(worker)
        return worker

    yield start
    for worker in started:
        worker.close(0)


def framed(body: bytes) -> bytes:
    return len(body).to_bytes(4, "big") + body


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(b"Warn", id="a print on the wire"),
        pytest.param(framed(b"{nope"), id="not JSON"),
        pytest.param(framed(b"[]"), id="not an object"),
        pytest.param(framed(b'{"id":1}'), id="neither result nor error"),
        pytest.param(framed(b'{"id":1,"result":1,"error":{"code":"a","message":"b"}}'), id="result and error"),
        pytest.param(framed(b'{"id":1,"error":"text"}'), id="an error without code"),
        pytest.param(framed(b'{"id":true,"result":1}'), id="a bool as id"),
        pytest.param(framed(b'{"id":2,"result":1}'), id="not the request that is due"),
        pytest.param(framed(b'{"id":null,"error":{"code":"truncated_frame","message":"m"}}'), id="a complaint"),
    ],
)
def test_a_worker_that_breaks_the_protocol_is_killed_and_its_calls_fail(start: Start, answer: bytes) -> None:
    worker = start(answer, "stays")
    first, second = worker.submit("ping", {}), worker.submit("ping", {})
    assert isinstance(first.exception(10), ProtocolBreach)
    assert isinstance(second.exception(10), ProtocolBreach)
    assert not worker.alive
    assert not runs(worker.pid)


@pytest.mark.parametrize(
    "result", ["5", "{}", "null", '{"ok":true}', '{"hash":5}', '{"active_content":[5],"paths":[5]}']
)
@pytest.mark.parametrize(
    "method", ["scene.step", "scene.open", "scene.swap", "scene.active_content", "scene.external_files"]
)
def test_a_worker_that_answers_what_is_no_answer_is_killed(start: Start, method: str, result: str) -> None:
    worker = start(framed(b'{"id":1,"result":%s}' % result.encode()), "stays")
    error = worker.submit(method, {}).exception(10)
    assert isinstance(error, ProtocolBreach) and method in error.message
    assert not runs(worker.pid)


@pytest.mark.parametrize("answer", [b"", b"\x00\x00\x00\x09{"], ids=["between frames", "inside a frame"])
def test_a_worker_that_hangs_up_is_lost_and_killed(start: Start, answer: bytes) -> None:
    worker = start(answer, "hangs up")
    assert isinstance(worker.submit("ping", {}).exception(10), WorkerLost)
    assert not runs(worker.pid)


def runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
