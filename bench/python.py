"""What safe Python costs beyond its code: the scene saved, opened in another process, and brought back checked.

Against saving and opening the scene once, as workers do. Starting Blender is not what is measured: spares are ready, as in a session.
"""

from __future__ import annotations

import statistics
import tempfile
from collections import deque
from collections.abc import Iterator, Sequence
from pathlib import Path
from time import perf_counter
from typing import Any

from bench.table import row
from blendwright.bridge.sources import worker_source
from blendwright.bridge.spawn import WorkerSettings
from blendwright.journal import Journal
from blendwright.run.active_contract import ContractDraft
from blendwright.run.calls import call
from blendwright.run.files import FileAccess
from blendwright.run.live_scene import LiveScene
from blendwright.run.runner import Runner
from blendwright.run.session import Session
from blendwright.tools import catalog
from blendwright.wire.remote_scene import RemoteScene
from blendwright.wire.worker_port import ReadableFile, WorkerPool

OBJECTS = 1_000
ROUNDS = 3


def measure() -> Iterator[dict[str, Any]]:
    with (
        tempfile.TemporaryDirectory() as place,
        worker_source().open_pool(WorkerSettings(Path(place) / "workers")) as pool,
    ):
        journal = Journal(Path(place) / "workspace")
        scene = LiveScene(_Ready(pool, ROUNDS + 1), journal, catalog.fingerprint(), spare=False)
        files = FileAccess({}, Path(place) / "artifacts")
        session = Session(scene, journal, catalog.tools(), ContractDraft(catalog.tools().values()), files)
        runner = Runner(session)
        for number in range(OBJECTS):
            assert call(runner, "mesh.create_primitive", {"kind": "cube", "name": f"Thing {number:04d}"}).ok
        ours: list[float] = []
        theirs: list[float] = []
        for _ in range(ROUNDS):
            theirs.append(_save_and_open(scene.worker()))
            started = perf_counter()
            assert call(runner, "python.run", {"code": "pass"}).ok
            ours.append(perf_counter() - started)
        journal.close()
        ratio = statistics.median(ours) / statistics.median(theirs)
        yield row(f"safe Python that does nothing, {OBJECTS:,} objects / saving and opening them", ratio, "x", 4.0)


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
