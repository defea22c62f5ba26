"""One job from its claim to its row: gone on with after a cut, published by one, given back when it is called off."""

from __future__ import annotations

import os
import shutil
import signal
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from batches import OneLane, assert_whole, one_lane, open_keys, seeds, write_program

from blendwright.batch.cases import case_runner
from blendwright.batch.cases.case_runner import case_plan
from blendwright.batch.cases.case_workspace import CaseDirectory
from blendwright.batch.cases.job_handler import CaseHandler
from blendwright.batch.coordinator import sweep
from blendwright.batch.directory import BatchDirectory
from blendwright.batch.outputs.locations import open_outputs, open_results
from blendwright.batch.outputs.makers import make_outputs
from blendwright.batch.results.files import write_result_files
from blendwright.tools import catalog
from blendwright.util.cancel import CancelToken
from blendwright.wire.methods import StepAnswer, StepRequest
from blendwright.wire.remote_scene import RemoteScene
from blendwright.workspace import RunOptions


def row_of(lane: OneLane, key: str) -> dict[str, Any]:
    report = lane.do(key)
    assert report.end == "published"
    assert report.row is not None
    return dict(report.row)


def begin_by_hand(lane: OneLane, root: Path, key: str, operations: int) -> CaseDirectory:
    """What an attempt leaves that was killed after so many operations."""
    plan = case_plan(lane.batch.source, {"seed": 0}, lane.batch.request_id, tuple(catalog.tools()))
    place = CaseDirectory(root / "work", key)
    place.prepare()
    with lane.handler.runner(lane.batch.id).open_workspace(place.workspace) as opened:
        assert opened.run(replace(plan, operations=plan.operations[:operations]), RunOptions()).ok
    return place


def test_a_case_that_was_cut_off_goes_on_from_its_journal(tmp_path: Path) -> None:
    root, program = tmp_path / "out", write_program(tmp_path)
    with one_lane(tmp_path / "whole", program, seeds(1)) as lane:
        whole = row_of(lane, open_keys(tmp_path / "whole")[0])
    with one_lane(root, program, seeds(1)) as lane:
        (key,) = open_keys(root)
        begin_by_hand(lane, root, key, 3)
        row = row_of(lane, key)
    assert (row["reused"], row["operations"], row["scene_hash"]) == (3, 4, whole["scene_hash"])


def test_a_case_that_failed_takes_no_other_with_it(tmp_path: Path) -> None:
    """They have one Blender, one after another: what it remembers of a failure is over with the scene in which it happened."""
    text = """
seed = param("seed", 0)
mesh.create_primitive(kind = "cube", name = "Box")
if seed == 0:
    object.delete(object = "Nothing")
"""
    root, program = tmp_path / "out", write_program(tmp_path, text)
    with one_lane(root, program, seeds(3), approve=("destructive",)) as lane:
        rows = [row_of(lane, key) for key in open_keys(root)]
    assert [(row["status"], [one["code"] for one in row["findings"]]) for row in rows] == [
        ("failed", ["TARGET_NOT_FOUND"]),
        ("done", []),
        ("done", []),
    ]


def test_what_another_boot_of_the_machine_left_is_begun_anew(tmp_path: Path) -> None:
    root = tmp_path / "out"
    with one_lane(root, write_program(tmp_path), seeds(1)) as lane:
        (key,) = open_keys(root)
        place = begin_by_hand(lane, root, key, 3)
        (place.workspace.parent / "boot").write_text("another")
        assert row_of(lane, key)["reused"] == 0


def test_an_attempt_that_was_overtaken_publishes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = tmp_path / "out"
    with (
        one_lane(root, write_program(tmp_path), seeds(1)) as lane,
        open_results(str(BatchDirectory(root).results)) as others,
    ):
        (key,) = open_keys(root)

        def overtaken(*args: Any) -> None:
            make_outputs(*args)
            assert others.claim(key, "another lane") is not None

        monkeypatch.setattr(case_runner, "make_outputs", overtaken)
        assert lane.do(key).end == "done_before"
        assert list(open_outputs(str(root)).names()) == []
        monkeypatch.undo()
        row = row_of(lane, key)
        assert (row["attempts"], Path(row["location"]).name) == (3, "000000-3")
        write_result_files(others, root, lane.batch.id)
    assert_whole(root)


def test_outputs_of_an_attempt_that_died_before_its_row_are_swept(tmp_path: Path) -> None:
    root = tmp_path / "out"
    with one_lane(root, write_program(tmp_path), seeds(1)) as lane:
        (key,) = open_keys(root)
        row_of(lane, key)
    shutil.copytree(root / "cases" / "000000", root / "cases" / "000000-2")
    CaseDirectory(root / "work", key).prepare()  # as of a lane that was killed right after it had published
    outputs = open_outputs(str(root))
    with open_results(str(BatchDirectory(root).results)) as results:
        assert sweep(results, outputs, root / "work") == 1
        assert sweep(results, outputs, root / "work") == 0
    assert list(outputs.names()) == ["000000"]
    assert not list((root / "work" / "cases").iterdir())


def test_a_case_that_is_called_off_is_given_back(tmp_path: Path) -> None:
    root, cancel = tmp_path / "out", CancelToken()
    with one_lane(root, write_program(tmp_path), seeds(1)) as lane:
        (key,) = open_keys(root)
        cancelled = CaseHandler(BatchDirectory(root).lane_settings(), cancel)
        cancel.cancel()
        try:
            assert OneLane(cancelled, lane.batch).do(key).end == "given_back"
        finally:
            cancelled.close()
        assert row_of(lane, key)["attempts"] == 1


def test_a_case_that_takes_lane_after_lane_with_it_fails(tmp_path: Path) -> None:
    root = tmp_path / "out"
    with (
        one_lane(root, write_program(tmp_path), seeds(1)) as lane,
        open_results(str(BatchDirectory(root).results)) as others,
    ):
        (key,) = open_keys(root)
        most = BatchDirectory(root).lane_settings().most_attempts
        for _ in range(most):
            assert others.claim(key, "a lane that dies") is not None
        row = row_of(lane, key)
    assert (row["status"], row["findings"][0]["code"]) == ("failed", "WORKER_LOST")
    assert f"ended {most} times" in row["findings"][0]["message"]


@pytest.mark.parametrize("ends", [1, 99])
def test_a_case_whose_blender_is_killed_is_tried_again_and_not_for_ever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ends: int
) -> None:
    root, kills = tmp_path / "out", 0
    with one_lane(root, write_program(tmp_path), seeds(1)) as lane:
        (key,) = open_keys(root)

        step = RemoteScene.step

        def killing(worker: RemoteScene, request: StepRequest, **how: Any) -> StepAnswer:
            nonlocal kills
            if request["tool"] == "file.export" and kills < ends:
                kills += 1
                # Not before the step: a worker whose end is seen in time is replaced, and nothing is lost.
                os.kill(worker.require_process().pid, signal.SIGKILL)
            return step(worker, request, **how)

        monkeypatch.setattr(RemoteScene, "step", killing)
        row = row_of(lane, key)
        most = BatchDirectory(root).lane_settings().most_attempts
    if ends == 1:
        assert (row["status"], row["attempts"], row["reused"]) == ("done", 2, 4)
    else:
        assert (row["status"], kills) == ("failed", most)
        assert row["findings"][0]["code"] == "WORKER_LOST"


@pytest.mark.parametrize(
    ("limits", "retired"),
    [
        ({"most_cases": 2}, [False, True, True]),
        ({"most_memory_mb": 16}, [True, True, True]),
        ({"most_seconds": 0.0}, [True, True, True]),
    ],
    ids=["so many cases", "so much memory", "so long"],
)
def test_a_lane_retires_after(tmp_path: Path, limits: dict[str, Any], retired: list[bool]) -> None:
    root = tmp_path / "out"
    with one_lane(root, write_program(tmp_path), seeds(3), limits=limits) as lane:
        assert [lane.do(key).retire for key in open_keys(root)] == retired


@pytest.mark.parametrize(
    "keep", ["compact", *(pytest.param(keep, marks=pytest.mark.slow) for keep in ("drop", "keep"))]
)
def test_workspaces_are_kept_as_asked(tmp_path: Path, keep: str) -> None:
    root = tmp_path / "out"
    with one_lane(root, write_program(tmp_path), seeds(1), outputs=("picture",), keep=keep) as lane:
        location = Path(row_of(lane, open_keys(root)[0])["location"])
    kept = location / "workspace"
    assert (kept / "journal.db").exists() is (keep != "drop")
    assert (kept / "logs").exists() is (keep == "keep")
    assert not any((root / "work" / "cases").iterdir())


def test_findings_of_a_case_are_in_its_row(tmp_path: Path) -> None:
    box = 'mesh.create_primitive(kind = "cube", name = "A")'
    text = f'seed = param("seed", 0)\n{box}\nobject.delete(object = "B%d" % seed)'
    program = write_program(tmp_path, text)
    root = tmp_path / "out"
    with one_lane(root, program, seeds(1), approve=("destructive",)) as lane:
        row = row_of(lane, open_keys(root)[0])
    assert (row["status"], row["location"], row["outputs"]) == ("failed", None, {})
    assert any("B0" in finding["message"] for finding in row["findings"])
