"""Ctrl-C, as a signal to the real program: one document, exit code 130, and what stands is told."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from blendwright.cli.output import Exit, fail, print_json
from support.processes.shell import PROGRAM

PLAN: dict[str, Any] = {
    "request_id": "long",
    "operations": [
        {
            "operation_id": "made",
            "tool_name": "mesh.create_primitive",
            "args": {"kind": "cube", "name": "Made"},
            "depends_on": [],
            "safety_level": "safe_write",
        },
        {
            "operation_id": "slow",
            "tool_name": "python.run",
            "args": {"code": "while True: pass", "timeout_ms": 60_000},
            "depends_on": ["made"],
            "safety_level": "safe_write",
        },
    ],
}
SIGINT_BIT = 1 << (signal.SIGINT - 1)


@contextlib.contextmanager
def started(place: Path, *arguments: str) -> Generator[subprocess.Popen[bytes]]:
    """In a process group of its own, as a shell starts it, which does not ignore Ctrl-C where whoever runs the tests does."""
    process = subprocess.Popen(
        [PROGRAM, *arguments],
        cwd=place,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    try:
        yield process
    finally:
        if process.poll() is None:
            process.kill()


def interrupt(process: subprocess.Popen[bytes]) -> Any:
    """Ctrl-C reaches the whole group, Blender too. The one document that was printed."""
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 130, err
    assert b"Traceback" not in err
    return json.loads(out)


def wait_for_commits(process: subprocess.Popen[bytes], place: Path, least: int) -> None:
    """The first one is the scene that a workspace begins with: from then on Blender has what it is to do."""
    journal = place / ".blendwright" / "journal.db"
    while process.poll() is None and _commits(journal) < least:
        time.sleep(0.05)


def _commits(journal: Path) -> int:
    try:
        with contextlib.closing(sqlite3.connect(f"file:{journal}?mode=ro", uri=True)) as opened:
            return opened.execute("SELECT count(*) FROM commits").fetchone()[0]
    except sqlite3.Error:
        return 0  # not there yet


@pytest.mark.proves("CORE-TIME-02")
@pytest.mark.parametrize("envelope", ["tool_result", pytest.param("core", marks=pytest.mark.slow)])
def test_a_call_is_cancelled_and_says_that_nothing_of_it_stands(tmp_path: Path, envelope: str) -> None:
    endless = json.dumps({"code": "while True: pass", "timeout_ms": 60_000})
    arguments = ("call", "python.run", "--args", endless, "--envelope", envelope, "--json")
    with started(tmp_path, *arguments) as process:
        wait_for_commits(process, tmp_path, 1)
        document = interrupt(process)
    error = document["error"] if envelope == "core" else {**document, "code": document["error_code"]}
    assert (document["ok"], error["code"], error["details"]["cancelled"]) == (False, "timeout", True)
    assert error["details"]["partial_work"]["kept"] == []


@pytest.mark.proves("CORE-TIME-02")
@pytest.mark.parametrize(
    "envelope",
    [None, pytest.param("tool_result", marks=pytest.mark.slow), pytest.param("core", marks=pytest.mark.slow)],
)
def test_a_run_is_cancelled_and_counts_what_stands(tmp_path: Path, envelope: str | None) -> None:
    tmp_path.joinpath("plan.json").write_text(json.dumps(PLAN))
    option = () if envelope is None else ("--envelope", envelope)
    with started(tmp_path, "run", "plan.json", "--json", *option) as process:
        wait_for_commits(process, tmp_path, 2)
        document = interrupt(process)
    error = document["error"] if envelope == "core" else {**document, "code": document["error_code"]}
    assert (document["ok"], error["code"], error["details"]["cancelled"]) == (False, "timeout", True)
    work = error["details"]["partial_work"]
    assert (work["kept"], work["totals"]["kept"], work["totals"]["not_run"]) == (["made"], 1, 1)
    own = error["details"]["result"] if envelope == "core" else document if envelope is None else document["result"]
    assert own["result"]["error_code"] == "CANCELLED"
    assert [each["status"] for each in own["report"]["operations"]] == ["succeeded", "skipped"]


@pytest.mark.slow
def test_what_is_written_beside_a_plan_can_be_cancelled_and_the_plan_stands(tmp_path: Path) -> None:
    plan = {**PLAN, "operations": PLAN["operations"][:1]}
    tmp_path.joinpath("plan.json").write_text(json.dumps(plan))
    with started(tmp_path, "run", "plan.json", "--image", "scene.png", "--json") as process:
        wait_for_commits(process, tmp_path, 2)
        os.killpg(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=120)
    document = json.loads(out)
    assert b"Traceback" not in err
    # The signal came while the picture was made, or behind it; either way the plan stands and is counted.
    assert process.returncode == (0 if document["ok"] else 130), err
    assert document["report"]["operations"][0]["status"] == "succeeded"
    if not document["ok"]:
        assert (document["error_code"], document["details"]["cancelled"]) == ("timeout", True)
        assert document["details"]["partial_work"]["kept"] == ["made"]


@pytest.mark.skipif(sys.platform != "linux", reason="what a process holds back is read from /proc")
def test_an_interruption_while_the_program_loads_is_answered_once_it_can_be(tmp_path: Path) -> None:
    arguments = ("call", "object.create_empty", "--args", '{"name": "Never"}', "--json")
    # The program holds interruptions back for a moment, which this process can miss on a busy machine.
    for attempt in range(20):
        place = tmp_path / str(attempt)
        place.mkdir()
        with started(place, *arguments) as process:
            while process.poll() is None and not _holds_interrupts(process.pid):
                time.sleep(0.002)
            if process.poll() is None:
                document = interrupt(process)
                break
            process.communicate()
    else:
        raise AssertionError("it never held interruptions back")
    assert (document["error"]["code"], document["error"]["details"]) == ("timeout", {"cancelled": True})
    assert not place.joinpath(".blendwright").exists()


def _holds_interrupts(pid: int) -> bool:
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return False
    blocked = next(line for line in lines if line.startswith("SigBlk:"))
    return bool(int(blocked.split()[1], 16) & SIGINT_BIT)


def test_a_document_that_was_printed_is_not_followed_by_another(
    capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", ["blendwright", "run", "--json"])
    print_json({"ok": True})
    with pytest.raises(SystemExit) as ended:
        fail("timeout", "interrupted", None, Exit.INTERRUPTED, cancelled=True)
    out, err = capfdbinary.readouterr()
    assert (json.loads(out), ended.value.code) == ({"ok": True}, 130)
    assert b"interrupted" in err
