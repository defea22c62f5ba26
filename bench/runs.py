"""What a durable run costs: many operations against plain bpy, one operation, a run that is all known, and a recovery.

Ratios only mean something within one run: both sides are measured here, with the same names, each in a Blender that has just
started.
"""

from __future__ import annotations

import shutil
import statistics
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from time import perf_counter
from typing import Any

import blendwright
from bench.plain import seconds_apart
from bench.table import row
from blendwright.bridge.sources import worker_source
from blendwright.bridge.spawn import WorkerSettings
from blendwright.engine.scene.live_scene import LiveScene
from blendwright.journal import Journal
from blendwright.tools import catalog
from blendwright.wire.remote_scene import RemoteScene
from blendwright.wire.worker_port import ReadableFile, WorkerPool

OPERATIONS = 5_000
OBJECTS = 1_000
ROUNDS = 5


def measure() -> Iterator[dict[str, Any]]:
    """Rows of the table."""
    with tempfile.TemporaryDirectory() as place:
        ratios: list[float] = []
        known: list[float] = []
        for turn in range(ROUNDS):
            plan = _plan(f"many-{turn}", OPERATIONS)
            theirs = seconds_apart([operation["args"]["name"] for operation in plan["operations"]])
            with blendwright.open(Path(place) / str(turn), spare=False) as scene:
                assert scene.hash
                ours = _seconds(scene, plan)
                known.append(_seconds(scene, plan) / ours)
            ratios.append(ours / theirs)
        yield row(f"durable run of {OPERATIONS:,} operations / plain bpy", statistics.median(ratios), "x", 2.5)
        yield row("the same run again, all known / the first", statistics.median(known), "x", 0.1)
        yield _one_operation(Path(place) / "one")
        yield _recovery(Path(place) / "one")


def _plan(request: str, size: int) -> dict[str, Any]:
    listed: list[dict[str, Any]] = [
        {
            "operation_id": f"op{number:05d}",
            "tool_name": "mesh.create_primitive",
            "args": {"kind": "cube", "name": f"{request} {number:05d}"},
            "depends_on": [],
            "safety_level": "safe_write",
        }
        for number in range(size)
    ]
    return {"request_id": request, "operations": listed}


def _seconds(scene: blendwright.OpenScene, plan: dict[str, Any]) -> float:
    """From the document to the report."""
    started = perf_counter()
    report = scene.run(plan)
    spent = perf_counter() - started
    assert report.ok, report.status
    return spent


def _one_operation(workspace: Path) -> dict[str, Any]:
    with blendwright.open(workspace, spare=False) as scene:
        _seconds(scene, _plan("base", OBJECTS))
        times = [_seconds(scene, _plan(f"one-{number}", 1)) for number in range(100)]
    return row(f"plan of one operation, {OBJECTS:,} objects, durable: p50", statistics.median(times) * 1000, "ms", 3.0)


def _recovery(workspace: Path) -> dict[str, Any]:
    """The scene rebuilt from its journal alone, checkpoints taken away, against Blender opening the saved file."""
    saved = workspace.parent / "saved.blend"
    with blendwright.open(workspace, roots=[workspace.parent], spare=False) as scene:
        assert scene.call("file.export", path=str(saved)).ok
    for checkpoint in (workspace / "checkpoints").iterdir():
        checkpoint.unlink()
    opening: list[float] = []
    rebuilding: list[float] = []
    with worker_source().open_pool(WorkerSettings(workspace.parent / "workers")) as pool:
        worker = pool.take()
        shutil.copyfile(saved, worker.require_process().scratch / "saved.blend")
        for _ in range(ROUNDS):
            started = perf_counter()
            worker.open("saved.blend")
            opening.append(perf_counter() - started)
            journal = Journal(workspace)
            scene = LiveScene(_Spare(pool), journal, catalog.fingerprint(), spare=False)
            started = perf_counter()
            scene.worker()
            rebuilding.append(perf_counter() - started)
            journal.close()
    ratio = statistics.median(rebuilding) / statistics.median(opening)
    return row(f"recovery of {OBJECTS:,} objects from the journal alone / opening the file", ratio, "x", 4.0)


class _Spare(WorkerPool):
    """A pool with one worker that is ready: starting Blender is not what is measured."""

    def __init__(self, pool: WorkerPool) -> None:
        self._worker = pool.take()

    def take(self, *, bare: bool = False, seconds: float | None = None) -> RemoteScene:
        return self._worker

    def warm(self) -> None:
        pass

    def allow(self, readable: Sequence[ReadableFile]) -> None:
        pass

    def close(self) -> None:
        self._worker.close()
