"""What a step costs: a warm read-only call against an in-process one, and a creating step against plain bpy.

Ratios only mean something within one run: both sides are measured here, in turns, with the same names.
"""

from __future__ import annotations

import statistics
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from time import perf_counter
from typing import Any

from bench.plain import Plain
from bench.table import row
from blendwright.bridge.sources import worker_source
from blendwright.bridge.spawn import WorkerSettings
from blendwright.plan.validate import validate_arguments
from blendwright.tools.catalog import tools
from blendwright.wire.methods import StepRequest
from blendwright.wire.remote_scene import RemoteScene

WINDOW = 64
BATCH = 500
ROUNDS = 5


def measure() -> Iterator[dict[str, Any]]:
    """Rows of the table; each names what was measured, the figure and its limit."""
    with tempfile.TemporaryDirectory() as scratch, worker_source().open_pool(WorkerSettings(Path(scratch))) as pool:
        worker = pool.take()
        yield row("memory of an idle worker", worker.profile.memory_mb or 0.0, "MB", None)
        for size in (1_000, 10_000):
            # Anew each time: Blender keeps datablocks sorted by name, so what is left of other rounds would cost one side only.
            worker.reset()
            windowed(worker, [f"Box{number:06d}" for number in range(size)])
            if size == 1_000:
                yield _read_only(worker)
            yield _creating(worker, size)


def _step(tool: str, args: dict[str, Any]) -> StepRequest:
    """What the core does for each call: check the arguments, and say which tool."""
    canonical, findings, _ = validate_arguments(tools()[tool], args)
    assert not findings, findings
    return {"tool": tool, "version": tools()[tool].version, "args": canonical}


def windowed(worker: RemoteScene, names: list[str]) -> float:
    """Seconds for one creating step per name, WINDOW of them on their way at once."""
    started = perf_counter()
    pending: list[Any] = []
    for name in names:
        pending.append(worker.submit_step(_step("mesh.create_primitive", {"kind": "cube", "name": name})))
        if len(pending) >= WINDOW:
            assert pending.pop(0).result()["ok"]
    for future in pending:
        assert future.result()["ok"]
    return perf_counter() - started


def _creating(worker: RemoteScene, size: int) -> dict[str, Any]:
    """Both sides add objects whose names sort behind those that are there; each takes turns with the other."""
    plain = Plain(size)
    ratios: list[float] = []
    for turn in range(ROUNDS):
        names = [f"New{size}_{turn}_{number:05d}" for number in range(BATCH)]
        ours = windowed(worker, names)
        theirs = plain.create(names)
        ratios.append(ours / theirs)
    return row(
        f"mesh.create_primitive step / plain bpy, {size:,} objects, window {WINDOW}",
        statistics.median(ratios),
        "x",
        4.0,
    )


def _read_only(worker: RemoteScene) -> dict[str, Any]:
    request = _step("object.inspect", {"name": "Box000500"})
    worker.step(request, deadline=30)
    times = _times(lambda: worker.step(_step("object.inspect", {"name": "Box000500"}), deadline=30))
    return row("read-only call, warm, 1,000 objects: p50", statistics.median(times) * 1000, "ms", 1.0)


def _times(act: Callable[[], object], count: int = 300) -> list[float]:
    found: list[float] = []
    for _ in range(count):
        started = perf_counter()
        act()
        found.append(perf_counter() - started)
    return found
