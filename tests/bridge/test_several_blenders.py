"""One core with workers of several Blenders, each in the environment of its Python: what they share is the wire."""

from __future__ import annotations

import contextlib
import itertools
import json
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, cast

import pytest

import blendwright
from blendwright.bridge.environments.series import series_named
from blendwright.bridge.sources import worker_source
from blendwright.bridge.spawn import WorkerSettings
from blendwright.plan.validate import validate_arguments
from blendwright.tool_api.tool import AnyTool
from blendwright.tools.catalog import tools
from blendwright.wire.methods import StepAnswer, StepRequest
from blendwright.wire.remote_scene import RemoteScene
from blendwright.workspace import OpenScene
from conformance.cases import Case, every_case, places
from support.processes.blender_environments import use_blender

AT_ONCE = ("5.2", "5.0", "4.5", "4.2")
PLAN = Path(__file__).resolve().parents[2] / "examples" / "plans" / "table_set.json"


@pytest.mark.timeout(300)
def test_one_core_works_with_four_blenders_at_the_same_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = [use_blender(name, monkeypatch) for name in AT_ONCE]
    plan = json.loads(PLAN.read_text())
    with contextlib.ExitStack() as stack, ThreadPoolExecutor(len(names)) as threads:
        scenes = [stack.enter_context(blendwright.open(tmp_path / name, blender=name, spare=False)) for name in names]
        # All of them are up before any of them works.
        list(threads.map(OpenScene.warm, scenes))
        profiles = [scene.blender for scene in scenes]
        running = [threads.submit(scene.run, plan) for scene in scenes]
        reports = [future.result() for future in running]
        hashes = {scene.hash for scene in scenes}
    for name, profile in zip(names, profiles, strict=True):
        series = series_named(name)
        assert series is not None
        assert ".".join(map(str, profile.version)) == series.version
        assert profile.python.rpartition(".")[0] == series.python_text
        assert profile.confinement["level"] == profiles[0].confinement["level"]
    assert [report.status for report in reports] == ["succeeded"] * len(names)
    results = [[(each.operation_id, each.result) for each in report.operations] for report in reports]
    assert len(results[0]) > 100 and all(each == results[0] for each in results), "the same work was done"
    assert len(hashes) == len(names), "hashes of two Blenders are never equal"


class Actor:
    """Plays the cases of the conformance suite on a worker, over the wire."""

    def __init__(self, worker: RemoteScene) -> None:
        self._worker = worker
        self._scratch = worker.require_process().scratch
        self._numbers = itertools.count()
        self._room = self._scratch
        worker.save("empty.blend")

    def begin(self) -> None:
        self._room = self._scratch / f"case-{next(self._numbers)}"
        self._room.mkdir()
        self._worker.open("empty.blend")

    def call(self, tool: AnyTool, args: dict[str, Any], **options: Any) -> StepAnswer:
        canonical, findings, _ = validate_arguments(tool, args)
        assert not findings, findings
        files = places(tool, args, self._room, "read", "write")
        request = {"tool": tool.name, "version": tool.version, "args": canonical, "files": files, "cross_check": True}
        return self._worker.step(cast("StepRequest", request | options), deadline=60)

    def ok(self, tool: AnyTool, args: dict[str, Any], **options: Any) -> StepAnswer:
        answer = self.call(tool, args, **options)
        assert answer["ok"], (tool.name, args, answer["fault"], answer["message"])
        return answer

    def plays(self, case: Case) -> None:
        """The example works, can be taken back, changes what it declares, and is the same after saving and opening."""
        self.begin()
        for name, args in case.example.given:
            self.ok(tools()[name], dict(args), cross_check=False)
        if case.writes:
            way = case.tool.revert_for(case.parsed, self._worker.profile.version).value
            rehearsal = self.ok(case.tool, case.args, rehearse=way)
            # With a cross-check, it says so only where a full hash after it is the one from before.
            assert rehearsal["reverted_by"] == way, (case.id, rehearsal)
        answer = self.ok(case.tool, case.args, verify=True)
        declared = {kind.value for kind in case.tool.writes}
        assert {"collections" if change[0] == "member" else change[0] for change in answer["changes"]} <= declared, (
            case.id
        )
        file = f"{self._room.name}/saved.blend"
        self._worker.save(file, full=False)
        assert self._worker.open(file) == answer["after"], (case.id, "saving and opening lost something")


@contextlib.contextmanager
def actor(name: str, place: Path) -> Generator[tuple[Actor, tuple[int, int, int]]]:
    with worker_source(name).open_pool(WorkerSettings(place)) as pool:
        worker = pool.take()
        yield Actor(worker), worker.profile.version


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize("series", ["5.2", "4.5"])
def test_every_tool_keeps_its_promises_on_a_worker_of_this_blender(
    series: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in the conformance suite itself, which make test-matrix runs on every Blender, and here over the wire."""
    name = use_blender(series, monkeypatch)
    with actor(name, tmp_path / "scratch") as (stage, version):
        played = [case for case in every_case() if case.fits(version)]
        for case in played:
            stage.plays(case)
    assert len({case.tool.name for case in played}) > 50, "hardly any tool is for this Blender"
