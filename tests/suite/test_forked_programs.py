"""A program that is forked is as good as one that was started: its streams, its place, its signals and how it ends."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.hosts.mcp import cube, plan
from support.processes.forked_workers.programs import LEAN_SERVER, PROGRAM, ForkedPrograms, really_start

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="forks only where processes can be adopted")


@pytest.fixture(scope="module")
def forked() -> Iterator[ForkedPrograms]:
    programs = ForkedPrograms()
    yield programs
    programs.close()


@pytest.fixture
def popen(forked: ForkedPrograms, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Every program of the test is forked."""
    monkeypatch.setattr(subprocess.Popen, "_execute_child", forked.starting())
    before = forked.forks
    yield
    assert forked.forks > before


def ran(place: Path, *arguments: str) -> tuple[int, bytes, bytes]:
    done = subprocess.run([PROGRAM, *arguments], cwd=place, input=b"", capture_output=True, timeout=60, check=False)
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param(("--version",), id="says"),
        pytest.param(("tools", "--json"), id="document"),
        pytest.param(("log",), id="no workspace", marks=pytest.mark.slow),
        pytest.param(("nonsense",), id="no command"),
        pytest.param(("validate", "-"), id="input", marks=pytest.mark.slow),
    ],
)
@pytest.mark.usefixtures("popen")
def test_it_says_and_ends_with_what_a_started_one_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...]
) -> None:
    ours = ran(tmp_path, *arguments)
    with monkeypatch.context() as patch:
        patch.setattr(subprocess.Popen, "_execute_child", really_start)
        assert ours == ran(tmp_path, *arguments)
    assert ours[1] or ours[2]


@pytest.mark.usefixtures("popen")
def test_it_is_a_child_with_a_place_variables_and_workers_of_its_own(tmp_path: Path) -> None:
    document = json.dumps(plan("r", cube("a", "Box"))).encode()
    environment = os.environ | {"BLENDWRIGHT_CRASH_AT": "plan.committed:1"}
    command = [PROGRAM, "run", "-", "--json"]
    killed = subprocess.run(command, cwd=tmp_path, input=document, capture_output=True, env=environment, check=False)
    assert killed.returncode == -signal.SIGKILL
    done = subprocess.run(command, cwd=tmp_path, input=document, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    assert [each["status"] for each in json.loads(done.stdout)["report"]["operations"]] == ["skipped_idempotent"]


@pytest.mark.usefixtures("popen")
def test_whoever_kills_it_leaves_no_process_of_it(tmp_path: Path) -> None:
    command = [sys.executable, "-P", str(LEAN_SERVER), "serve"]
    call = {"name": "plan_execute", "arguments": {"plan": plan("r", cube("a", "Box"))}}
    begin = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "raw", "version": "1"}}
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=tmp_path) as process:
        assert process.stdin is not None and process.stdout is not None
        for id, (method, params) in enumerate((("initialize", begin), ("tools/call", call))):
            request = {"jsonrpc": "2.0", "id": id, "method": method, "params": params}
            process.stdin.write(json.dumps(request).encode() + b"\n")
            process.stdin.flush()
            assert "result" in json.loads(process.stdout.readline())
        threads = Path(f"/proc/{process.pid}/task").iterdir()
        pids = [pid for thread in threads for pid in (thread / "children").read_text().split()]
        assert len(pids) == 2, "its worker, and what that was forked from"
        left = [os.pidfd_open(int(pid)) for pid in pids]
        process.kill()
    assert process.returncode == -signal.SIGKILL
    for pid in left:
        assert select.select([pid], [], [], 60)[0], "it outlived the program"
        os.close(pid)


@pytest.mark.parametrize("changed", [{"PYTHONHASHSEED": "1"}, {"PYTHONPATH": "elsewhere"}])
def test_what_an_interpreter_reads_when_it_starts_means_a_start(
    forked: ForkedPrograms, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, changed: dict[str, str]
) -> None:
    monkeypatch.setattr(subprocess.Popen, "_execute_child", forked.starting())
    before = forked.forks
    subprocess.run([PROGRAM, "--version"], cwd=tmp_path, env=os.environ | changed, capture_output=True, check=True)
    assert forked.forks == before


@pytest.mark.real_starts
def test_a_test_that_is_marked_has_real_starts(tmp_path: Path) -> None:
    with subprocess.Popen([PROGRAM, "serve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=tmp_path) as process:
        told = Path(f"/proc/{process.pid}/cmdline")
        while not (line := told.read_bytes()):
            time.sleep(0.01)  # the system shows it a moment after the start
        process.kill()
        assert b"blendwright\0serve" in line
