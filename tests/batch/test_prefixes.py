"""Cases that begin alike: found from their plans, done once, and each with a journal that holds all of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from batches import one_lane, write_program

from blendwright.batch.cases import prefix_store
from blendwright.batch.cases.case import Case
from blendwright.batch.cases.case_runner import case_plan
from blendwright.batch.cases.prefixes import Sharing, jobs_with_prefixes, shared_prefixes
from blendwright.batch.definition import Batch, BatchSource
from blendwright.batch.engines.engine import Job
from blendwright.engine.scene.rebuild import replay
from blendwright.tools import catalog
from blendwright.values.plan import Plan
from blendwright.workspace import OpenScene
from blendwright.workspace.reading import inspection_workers, read_journal

SET = """
product = param("product", "a")
camera_x = param("camera_x", 0)
mesh.create_primitive(kind = "plane", name = "Floor", size = 10)
mesh.create_primitive(kind = "cube", name = "Product_" + product, size = 1)
mesh.create_primitive(kind = "cube", name = "Stand", size = 2, location = [0, 0, -1])
camera.create(name = "Camera", location = [camera_x, -5, 2])
camera.set_active(object = "Camera")
"""


def test_prefixes_end_where_cases_part() -> None:
    a, b, c = ["1", "2a", "3a"], ["1", "2a", "3b"], ["1", "2c"]
    assert shared_prefixes([a, b, c]) == [((1, "1"), (2, "2a")), ((1, "1"), (2, "2a")), ((1, "1"),)]
    assert shared_prefixes([["x"], ["y"]]) == [(), ()]
    assert shared_prefixes([["1", "2"], ["1", "2"]]) == [((2, "2"),), ((2, "2"),)]
    assert shared_prefixes([]) == []


def jobs(program: str, rows: list[dict[str, Any]], batch: Batch | None = None) -> list[Job]:
    tools = catalog.tools()
    source = BatchSource("p.star", program) if batch is None else batch.source
    request_id = "r" if batch is None else batch.request_id
    cases = [
        Case(number, f"{number:064d}" if batch is None else batch.case(0, row).key, row)
        for number, row in enumerate(rows)
    ]

    def plan_of(case: Case) -> Plan:
        return case_plan(source, case.params, request_id, tuple(tools))

    return list(jobs_with_prefixes("b" if batch is None else batch.id, cases, plan_of, Sharing(tools, {})))


def test_the_schedule_finds_sets_and_products_by_itself() -> None:
    rows = [{"product": product, "camera_x": x} for product in "ab" for x in (1, 2)]
    found = jobs(SET, rows)
    assert [[size for size, _ in job.prefixes] for job in found] == [[1, 3]] * 4
    first, second, third, _ = (job.prefixes for job in found)
    assert first == second
    assert first[0] == third[0]
    assert first[1] != third[1]


def test_what_reads_the_scene_or_writes_files_is_not_shared() -> None:
    stand = 'mesh.create_primitive(kind = "cube", name = "Stand"'
    reading = SET.replace(stand, f"scene.snapshot()\n{stand}")
    found = jobs(reading, [{"camera_x": x} for x in (1, 2)])
    assert [[size for size, _ in job.prefixes] for job in found] == [[2], [2]]


def test_a_program_that_refuses_its_parameters_shares_nothing() -> None:
    found = jobs(SET, [{"camera_x": 1}, {"wrong": 1}, {"camera_x": 2}])
    assert [bool(job.prefixes) for job in found] == [True, False, True]


@pytest.fixture
def always_worth_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prefix_store, "MIN_PREFIX_SECONDS", 0.0)


ROWS = [{"product": product, "camera_x": x} for product in "ab" for x in (1, 2)]


def run(root: Path, place: Path, *, shared: bool) -> list[Mapping[str, Any]]:
    rows = iter([(row, "") for row in ROWS])
    with one_lane(root, write_program(place, SET), rows, outputs=("blend",), keep="keep") as lane:
        found = jobs(SET, ROWS, lane.batch)
        reports = [lane.handler(job if shared else replace(job, prefixes=())) for job in found]
    assert all(report.row is not None for report in reports)
    return [report.row for report in reports if report.row is not None]


@pytest.mark.usefixtures("always_worth_it")
def test_cases_that_start_from_a_prefix_have_the_same_scenes_and_whole_journals(tmp_path: Path) -> None:
    plain, shared = run(tmp_path / "plain", tmp_path, shared=False), run(tmp_path / "shared", tmp_path, shared=True)
    assert [row["scene_hash"] for row in shared] == [row["scene_hash"] for row in plain]
    assert [row["reused"] for row in plain] == [0, 0, 0, 0]
    assert [row["reused"] for row in shared] == [3, 3, 3, 3]
    for row in shared:
        workspace = Path(row["location"]) / "workspace"
        with read_journal(workspace) as journal, inspection_workers(workspace) as inspection:
            assert journal.audit.verify().ok
            commits = [commit for commit in journal.log(limit=100) if commit.request_id.startswith("batch-")]
            assert {commit.operation_id for commit in commits} == operation_ids(row["params"])
            assert replay(inspection.worker(), journal).ok
            assert journal.programs.of_request(commits[0].request_id)[-1].params == row["params"]


def operation_ids(params: Mapping[str, Any]) -> set[str]:
    plan = case_plan(BatchSource("boxes.star", SET), params, "r", tuple(catalog.tools()))
    return {operation.id for operation in plan.operations}


def test_what_is_done_quicker_than_it_is_opened_is_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prefix_store, "MIN_PREFIX_SECONDS", 1000.0)
    assert [row["prefix"] for row in run(tmp_path / "out", tmp_path, shared=True)] == [None] * 4
    assert not prefix_store.is_of_use(tmp_path / "out" / "work" / "prefixes")


def _nothing(opened: OpenScene) -> None:
    pass


@pytest.mark.usefixtures("always_worth_it")
def test_a_prefix_that_saves_nothing_is_not_used_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Without its checkpoint a prefix has to be redone, which is what it was to save.
    monkeypatch.setattr(OpenScene, "save_checkpoint", _nothing)
    rows = run(tmp_path / "out", tmp_path, shared=True)
    assert {row["status"] for row in rows} == {"done"}
    assert [row["prefix"] is not None for row in rows] == [True, True, True, False]
