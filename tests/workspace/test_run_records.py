"""Records of runs in a workspace that somebody else has prepared: nothing but records is removed, read or written. No Blender is needed."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import Any

import pytest

from blendwright.values.report import OperationReport, RunReport
from blendwright.workspace import run_records as records
from blendwright.workspace.run_records import RunRecords, run_record, run_records
from support.plans.documents import box, of_operations, valid


def run_once(workspace: Path) -> None:
    schedule = valid(of_operations(box("a"), box("b"), request_id="r")).schedule("registry", "scene")
    run = RunRecords(workspace).begin(schedule)
    done = tuple(OperationReport(name, "mesh.create_primitive", "succeeded", at) for at, name in enumerate("ab"))
    run.end(RunReport("operations", "r", "succeeded", done))


def test_a_run_is_found_again_with_its_report(tmp_path: Path) -> None:
    run_once(tmp_path)
    (found,) = run_records(tmp_path)
    assert found.request_id == "r" and found.report is not None and found.report["status"] == "succeeded"
    assert run_record(tmp_path, found.id) == found
    assert run_record(tmp_path, "../runs/" + found.id) is None


def test_a_link_in_place_of_the_directory_is_neither_read_nor_written_nor_emptied(tmp_path: Path) -> None:
    workspace, mine = tmp_path / "w", tmp_path / "datasets"
    workspace.mkdir()
    mine.mkdir()
    for n in range(records.MOST_KEPT + 20):
        (mine / f"{n:013d}-00000000.jsonl").write_text("{}\n")
    (workspace / "runs").symlink_to(mine)
    before = sorted(path.name for path in mine.iterdir())
    run_once(workspace)
    assert sorted(path.name for path in mine.iterdir()) == before
    assert run_records(workspace) == [] and run_record(workspace, before[0].removesuffix(".jsonl")) is None


def test_only_the_oldest_records_are_removed_and_no_other_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(records, "MOST_KEPT", 2)
    (tmp_path / "runs").mkdir()
    others = ["0001.jsonl", "0000000000000-00000000.jsonl.bak", "notes.txt"]
    for name in (*others, "0000000000000-00000000.jsonl"):
        (tmp_path / "runs" / name).write_text("{}\n")
    for _ in range(3):
        run_once(tmp_path)
    left = {path.name for path in (tmp_path / "runs").iterdir()}
    assert left.issuperset(others) and len(left) == len(others) + 2
    assert len(run_records(tmp_path)) == 2


@pytest.mark.parametrize("kind", ["pipe", "link", "endless"])
def test_what_is_no_plain_file_or_too_long_is_passed_over_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    run_once(tmp_path)
    (sound,) = run_records(tmp_path)
    place = tmp_path / "runs" / "9999999999999-00000000.jsonl"
    if kind == "pipe":
        os.mkfifo(place)
    elif kind == "link":
        place.symlink_to(f"{sound.id}.jsonl")
    else:
        content = (tmp_path / "runs" / f"{sound.id}.jsonl").read_bytes()
        place.write_bytes(content + b" " * 1000 + b"\n")
        monkeypatch.setattr(records, "LARGEST_RECORD", len(content) + 100)
    found: list[Any] = []

    def look() -> None:
        found.extend([run_records(tmp_path), run_record(tmp_path, "9999999999999-00000000")])

    looking = threading.Thread(target=look, daemon=True)
    looking.start()
    looking.join(60)
    assert found == [[sound], None], "somebody waits for it" if looking.is_alive() else "it was read"
