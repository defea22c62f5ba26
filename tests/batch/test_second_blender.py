"""Batches of tools that need more than the Blender of their worker process, because a second one checks, runs or takes over the scene."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import bpy
import pytest
from batches import OneLane, one_lane

from blendwright.batch.cases import prefix_store
from blendwright.batch.cases.case import Case
from blendwright.batch.cases.case_runner import case_plan
from blendwright.batch.cases.lane_workers import LaneWorkers
from blendwright.batch.cases.prefixes import Sharing, jobs_with_prefixes
from blendwright.batch.engines.engine import Job
from blendwright.bridge.sources.python_environment import PythonEnvironment
from blendwright.bridge.spawn import WorkerSettings
from blendwright.tools import catalog
from blendwright.values.plan import Plan
from support.processes.shell import Shell

_data: Any = bpy.data

# What every program begins with. The cases share it, and differ in where the last cube is.
STAGE = """
x = param("x", 0)
mesh.create_primitive(kind = "plane", name = "Floor", size = 10)
mesh.create_primitive(kind = "uv_sphere", name = "Ball", radius = 0.5, location = [0, 0, 1])
camera.create(name = "Camera", location = [0, -8, 2], rotation_euler_deg = [80, 0, 0])
camera.set_active(object = "Camera")
"""
END = 'mesh.create_primitive(kind = "cube", name = "Last", size = 0.5, location = [x, 3, 0])\n'

# By name: operations that need another Blender, or that have a Blender for themselves. {place} is the directory of the files.
OPERATIONS: dict[str, str] = {
    "a packed picture": 'image.load_(name = "Sky", path = "{place}/sky.png")',
    "a picture that stays a file": 'image.load_(name = "Sky", path = "{place}/sky.png", pack = False)',
    "an import": 'file.import_(path = "{place}/part.obj")',
    "an import of a .blend file": 'file.import_(path = "{place}/library.blend")',
    "a link": 'file.link(path = "{place}/library.blend", link = [{{"kind": "objects", "name": "Part"}}])',
    "a link made local": 'file.link(path = "{place}/library.blend", link = [{{"kind": "objects", "name": "Part"}}])\n'
    'file.make_local(library = "library.blend")',
    "an asset": 'asset.add(asset = "{place}/library.blend", name = "Part", kind = "objects")',
    "a material from textures": 'material.from_textures(name = "Wood", folder = "{place}/wood")',
    "a simulation": 'physics.simulate(objects = ["Ball"], obstacles = ["Floor"], frames = [1, 8], keep = "rest")',
    "a simulation with keyframes": 'physics.simulate(objects = ["Ball"], obstacles = ["Floor"], frames = [1, 8])',
    "a drape": 'mesh.create_primitive(kind = "grid", name = "Sheet", size = 2, cells = 6, location = [0, 0, 2])\n'
    'physics.drape(object = "Sheet", obstacles = ["Ball"], frames = 5)',
    "an unstable modifier": 'mesh.create_primitive(kind = "cube", name = "Rounded", bevel = 0.1)\n'
    'modifier.apply(object = "Rounded", modifier = "Bevel", type = "BEVEL")',
    "a boolean": 'mesh.create_primitive(kind = "cube", name = "Cutter", size = 0.5, location = [0.4, 0.3, 1.2])\n'
    'mesh.boolean(object = "Ball", operation = "difference", cutters = ["Cutter"])',
    "a bake": 'uv.unwrap(object = "Floor")\n'
    'render.bake(object = "Floor", type = "AO", image = "Shade", size = [16, 16], samples = 1)',
    "a still": 'scene.set_render(engine = "CYCLES", samples = 1)\nrender.still(resolution = [16, 16])',
    "an animation": 'scene.set_render(engine = "CYCLES", samples = 1)\nrender.animation(resolution = [16, 16], start = 1, end = 2)',
    "safe code": "python.run(code = \"import bpy; bpy.data.objects['Ball'].location.x = 2\")",
    "safe code that changes nothing": 'python.run(code = "print(1)")',
    "code after code": "python.run(code = \"import bpy; bpy.data.objects['Ball'].location.x = 2\")\n"
    "python.run(code = \"import bpy; bpy.data.objects['Ball'].location.x += 1\")",
    "picture, simulation and code": 'image.load_(name = "Sky", path = "{place}/sky.png")\n'
    'physics.simulate(objects = ["Ball"], obstacles = ["Floor"], frames = [1, 8], keep = "rest")\n'
    "python.run(code = \"import bpy; bpy.data.objects['Ball'].location.x = 2\")",
}
ROWS: list[dict[str, Any]] = [{"x": 1}, {"x": 2}]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files that the programs read."""
    place = tmp_path_factory.mktemp("files")
    (place / "wood").mkdir()
    for name in ("sky.png", "wood/wood_basecolor.png", "wood/wood_roughness.png"):
        picture = _data.images.new("made", 4, 4)
        picture.filepath_raw, picture.file_format = str(place / name), "PNG"
        picture.save()
        _data.images.remove(picture)
    (place / "part.obj").write_text("o Part\nv 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
    part = _data.objects.new("Part", _data.meshes.new("Part"))
    _data.libraries.write(str(place / "library.blend"), {part}, fake_user=True)
    _data.objects.remove(part)
    return place


@pytest.fixture(autouse=True)
def always_worth_sharing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prefix_store, "MIN_PREFIX_SECONDS", 0.0)


def _jobs(lane: OneLane) -> list[Job]:
    tools = catalog.tools()
    batch = lane.batch
    cases = [Case(number, batch.case(0, row).key, row) for number, row in enumerate(ROWS)]

    def plan_of(case: Case) -> Plan:
        return case_plan(batch.source, case.params, batch.request_id, tuple(tools))

    return list(jobs_with_prefixes(batch.id, cases, plan_of, Sharing(tools, {})))


def _hashes_of_batch(root: Path, program: Path, *, shared: bool) -> list[str]:
    """The hashes of a batch's cases, in the order of `ROWS`."""
    rows = iter([(row, "") for row in ROWS])
    with one_lane(root, program, rows, outputs=("blend",), approve=("destructive",)) as lane:
        reports = [lane.handler(job if shared else replace(job, prefixes=())) for job in _jobs(lane)]
    published: list[Mapping[str, Any]] = [report.row for report in reports if report.row is not None]
    assert [row["status"] for row in published] == ["done"] * len(ROWS), [row["findings"] for row in published]
    assert [row["prefix"] is not None for row in published] == [shared] * len(ROWS)
    return [row["scene_hash"] for row in published]


def _hash_of_run(place: Path, program: Path) -> str:
    """The hash that `blendwright run` reports for the first case."""
    workspace = str(program.with_name("run"))
    options = ("--set", f"x={ROWS[0]['x']}", "--workspace", workspace, "--approve", "destructive", "--json")
    return Shell(place)("run", str(program), *options, code=0).document["result"]["receipts"][-1]["scene_hash_after"]


@pytest.mark.parametrize("name", OPERATIONS)
def test_a_batch_leads_to_the_scenes_of_single_runs(
    name: str, place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(place)
    program = tmp_path / "program.star"
    program.write_text(STAGE + OPERATIONS[name].format(place=place) + "\n" + END)
    plain = _hashes_of_batch(tmp_path / "plain", program, shared=False)
    assert _hashes_of_batch(tmp_path / "shared", program, shared=True) == plain
    assert _hash_of_run(place, program) == plain[0]
    assert plain[0] != plain[1]


@pytest.mark.parametrize("name", ["a packed picture", "a simulation", "safe code"])
def test_outputs_are_made_of_the_scene_that_the_last_operation_left(
    name: str, place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A picture needs the camera of the scene, and nothing is done after the step that needed a second Blender."""
    monkeypatch.chdir(place)
    program = tmp_path / "program.star"
    small = 'scene.set_render(engine = "CYCLES", samples = 1, resolution = [16, 16])\n'
    program.write_text(STAGE + small + END + OPERATIONS[name].format(place=place) + "\n")
    rows = iter([(row, "") for row in ROWS])
    with one_lane(tmp_path / "out", program, rows, outputs=("still", "blend")) as lane:
        reports = [lane.handler(replace(job, prefixes=())) for job in _jobs(lane)]
    assert [report.row and report.row["findings"] for report in reports] == [[]] * len(ROWS)


def test_a_blender_is_lent_once_and_comes_back_with_its_workspace(tmp_path: Path) -> None:
    workers = LaneWorkers(PythonEnvironment(), tmp_path, 4096, 1024)
    settings = WorkerSettings(tmp_path)
    try:
        idle = workers.worker()
        with workers.open_pool(settings) as pool:
            first, second, bare = pool.take(), pool.take(), pool.take(bare=True)
            assert first is idle
            assert len({first.profile.pid, second.profile.pid, bare.profile.pid}) == 3
            bare.abandon()
        with workers.open_pool(settings) as pool:
            assert {pool.take().profile.pid, pool.take().profile.pid} == {first.profile.pid, second.profile.pid}
            first.abandon()
        assert workers.pids() == (second.profile.pid,)
    finally:
        workers.close()
