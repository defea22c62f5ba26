"""What safe Python costs beyond its code: the scene saved, opened in another process, and brought back checked.

Against saving and opening the scene once, as workers do. Starting Blender is not what is measured: spares are ready, as in a session.
"""

from __future__ import annotations

import statistics
import tempfile
from collections import deque
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter
from typing import Any

from bench.table import row
from blendwright.bridge.sources import worker_source
from blendwright.bridge.spawn import WorkerSettings
from blendwright.engine.calls import call
from blendwright.engine.contract import ContractDraft
from blendwright.engine.files.access import FileAccess
from blendwright.engine.runner import Runner
from blendwright.engine.scene.live_scene import LiveScene
from blendwright.engine.session import Session
from blendwright.journal import Journal
from blendwright.tools import catalog
from blendwright.wire.remote_scene import RemoteScene
from blendwright.wire.worker_port import ReadableFile, WorkerPool

OBJECTS = 1_000
ROUNDS = 3
# 250,000 faces, each object with a modifier: what a scene costs when it is opened is the evaluation of its modifiers above all.
LARGE = """
import bpy
for number in range(100):
    corners = [(x / 10 + number * 6, y / 10, x * y / 1000) for y in range(51) for x in range(51)]
    faces = [(i, i + 1, i + 52, i + 51) for y in range(50) for i in range(y * 51, y * 51 + 50)]
    mesh = bpy.data.meshes.new(f'Field {number}')
    mesh.from_pydata(corners, [], faces)
    thing = bpy.data.objects.new(f'Field {number}', mesh)
    thing.modifiers.new('Edges', 'BEVEL')
    bpy.context.scene.collection.objects.link(thing)
"""
MOVE = "import bpy\nbpy.data.objects['Field 7'].location.z += 1"


def measure() -> Iterator[dict[str, Any]]:
    with _runner(ROUNDS) as runner:
        for number in range(OBJECTS):
            assert call(runner, "mesh.create_primitive", {"kind": "cube", "name": f"Thing {number:04d}"}).ok
        ratio = _ratio(runner, "pass")
        yield row(f"safe Python that does nothing, {OBJECTS:,} objects / saving and opening them", ratio, "x", 4.0)
    with _runner(ROUNDS + 1) as runner:
        assert call(runner, "python.run", {"code": LARGE}).ok
        what = "safe Python that moves one object, 250,000 faces with modifiers / saving and opening them"
        yield row(what, _ratio(runner, MOVE), "x", 3.0)


def _ratio(runner: Runner, code: str) -> float:
    ours: list[float] = []
    theirs: list[float] = []
    for _ in range(ROUNDS):
        theirs.append(_save_and_open(runner.session.scene.worker()))
        started = perf_counter()
        assert call(runner, "python.run", {"code": code}).ok
        ours.append(perf_counter() - started)
    return statistics.median(ours) / statistics.median(theirs)


@contextmanager
def _runner(runs: int) -> Generator[Runner]:
    """An engine with a Blender at hand for its scene and for each of so many runs of code."""
    with (
        tempfile.TemporaryDirectory() as place,
        worker_source().open_pool(WorkerSettings(Path(place) / "workers")) as pool,
    ):
        journal = Journal(Path(place) / "workspace")
        scene = LiveScene(_Ready(pool, runs + 1), journal, catalog.fingerprint(), spare=False)
        files = FileAccess({}, Path(place) / "artifacts")
        session = Session(scene, journal, catalog.tools(), ContractDraft(catalog.tools()), files)
        yield Runner(session)
        journal.close()


def _save_and_open(worker: Any) -> float:
    started = perf_counter()
    worker.save("bench.blend")
    worker.open("bench.blend")
    return perf_counter() - started


class _Ready(WorkerPool):
    """A pool whose workers have all been started."""

    def __init__(self, pool: WorkerPool, count: int) -> None:
        self._workers = deque(pool.take() for _ in range(count))

    def take(self, *, bare: bool = False, seconds: float | None = None) -> RemoteScene:
        return self._workers.popleft()

    def warm(self) -> None:
        pass

    def allow(self, readable: Sequence[ReadableFile]) -> None:
        pass

    def close(self) -> None:
        for worker in self._workers:
            worker.close()
