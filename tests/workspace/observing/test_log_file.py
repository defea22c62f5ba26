"""The log on disk: whole lines, bounded size, and never in the way."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from blendwright.values import events
from blendwright.workspace.observing.log import ROTATED_FILES, Log, LogFile, shown_level
from support.plans.documents import box
from support.processes.forked_workers.programs import CORE_SCRIPT
from support.processes.shell import PROGRAM


def test_lines_are_written_in_one_piece_when_an_event_is_told(tmp_path: Path) -> None:
    log = Log(tmp_path)
    log(events.HeadMoved("undo", 2, 1))
    (line,) = (tmp_path / "logs" / "core.jsonl").read_text().splitlines()
    found = json.loads(line)
    assert found.pop("timestamp").endswith("Z")
    assert found == {
        "event": "head moved", "level": "info", "workspace": str(tmp_path), "kind": "undo", "origin": 2, "head": 1,
    }  # fmt: skip


def test_a_torn_line_is_ended_before_the_next_one(tmp_path: Path) -> None:
    place = tmp_path / "logs" / "core.jsonl"
    place.parent.mkdir()
    place.write_bytes(b'{"event":"whole"}\n{"event":"to')
    Log(tmp_path)(events.HeadMoved("undo", 2, 1))
    whole, torn, new = place.read_text().splitlines()
    assert json.loads(whole)["event"] == "whole" and torn == '{"event":"to' and json.loads(new)["kind"] == "undo"


def test_the_log_is_rotated_and_takes_bounded_room(tmp_path: Path) -> None:
    file = LogFile(tmp_path, most_bytes=100)
    for number in range(40):
        file.add("info", b'{"line":%06d}' % number)
        file.flush()
    file.close()
    kept = sorted(path.name for path in file.path.parent.iterdir())
    assert kept == ["core.jsonl", *(f"core.jsonl.{number}" for number in range(1, ROTATED_FILES + 1))]
    assert all(path.stat().st_size <= 100 for path in file.path.parent.iterdir())
    assert file.path.read_text().splitlines()[-1] == '{"line":000039}'
    assert file.path.with_name("core.jsonl.1").read_text().splitlines()[-1] < file.path.read_text().splitlines()[0]


def test_a_disk_that_refuses_lines_is_no_obstacle(tmp_path: Path) -> None:
    (tmp_path / "logs").write_text("in the way")
    log = Log(tmp_path)
    log(events.HeadMoved("undo", 2, 1))
    log(events.WorkspaceClosed())
    assert (tmp_path / "logs").read_text() == "in the way"


def test_only_the_owner_may_read_the_log(tmp_path: Path) -> None:
    assert LogFile(tmp_path).path.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(
    ("word", "level"), [("", None), ("debug", "debug"), ("WARNING", "warning"), ("1", "info"), ("off", "off")]
)
def test_the_environment_says_what_is_shown(word: str, level: str | None) -> None:
    assert shown_level({"BLENDWRIGHT_LOG": word}) == level


def test_only_what_is_bad_enough_is_shown(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    log = Log(tmp_path, shown="warning")
    log(events.HeadMoved("undo", 2, 1))
    log(events.Quarantined("odd", "a", "b"))
    shown = capfdbinary.readouterr()
    assert shown.out == b"" and json.loads(shown.err)["event"] == "quarantined"
    assert len((tmp_path / "logs" / "core.jsonl").read_text().splitlines()) == 2


def test_a_defect_is_logged_with_its_trace(tmp_path: Path) -> None:
    log = Log(tmp_path)
    try:
        raise KeyError("lost")
    except KeyError as error:
        log(events.Defect(error))
    line = json.loads((tmp_path / "logs" / "core.jsonl").read_text())
    assert "test_a_defect_is_logged" in "".join(line["trace"]) and line["level"] == "error"


KILLED = """
import os, signal, sys
import blendwright

def progress(report):
    print(report.operation_id, report.mcp_call_id, flush=True)
    if report.operation_id == "c":
        os.kill(os.getpid(), signal.SIGKILL)

plan = __import__("json").load(open(sys.argv[2]))
with blendwright.open(sys.argv[1], spare=False) as scene:
    scene.run(plan, blendwright.RunOptions(progress=progress))
"""


@pytest.mark.proves("OPS-CORR-04")
def test_what_was_acknowledged_is_in_the_log_of_a_killed_process_and_json_stays_alone_on_standard_output(
    tmp_path: Path,
) -> None:
    plan, workspace = tmp_path / "plan.json", tmp_path / "workspace"
    plan.write_text(json.dumps({"request_id": "killed", "operations": [box(id) for id in "abcdef"]}))
    killed = subprocess.run(
        [sys.executable, "-P", CORE_SCRIPT, KILLED, workspace, plan],
        capture_output=True,
        timeout=90,
        check=False,
        text=True,
    )
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    acknowledged = [line.split() for line in killed.stdout.splitlines()]
    place = workspace / "logs" / "core.jsonl"
    before = [json.loads(line) for line in place.read_text().splitlines()]
    logged = [[line["operation_id"], line["mcp_call_id"]] for line in before if line["event"] == "operation"]
    assert acknowledged and all(one in logged for one in acknowledged)

    arguments = ["--verbose", "run", plan, "--workspace", workspace, "--json"]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("BLENDWRIGHT_")}
    again = subprocess.run(
        [PROGRAM, *arguments], capture_output=True, timeout=90, check=False, text=True, env=environment
    )
    assert again.returncode == 0, again.stderr
    assert json.loads(again.stdout)["ok"]
    lines = [json.loads(line) for line in place.read_text().splitlines()]
    assert lines[: len(before)] == before
    new = lines[len(before) :]
    assert (new[0]["event"], new[0]["level"]) == ("workspace opened", "warning") and new[0]["recovered"]
    assert new[-1]["event"] == "workspace closed"
    shown = [json.loads(line) for line in again.stderr.splitlines() if line.startswith("{")]
    assert shown == new
