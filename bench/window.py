"""An open window: the way there and back, a step in it against one in a headless worker, the start of a plan, and what it costs at rest.

The window is the wheel with the real extension and its pump called in a loop, as in the tests; `make test-gui` has real ones. Steps are
compared in processor time, of the core and of Blender together: a window has no redraw here, and neither has the worker.
"""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bench.processor_time import processor_seconds
from bench.table import row

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

import blendwright
from blendwright.window.attach import attach
from blendwright.window.binding import connect_bound
from blendwright.window.connection.rendezvous import DIRECTORY
from window.playing import PlayedWindow

ROUND_TRIPS = 500
ROUNDS = 5
STEPS = 200
# The extension looks less often some seconds after the last request.
SETTLE_SECONDS = 4.0
REST_SECONDS = 20.0


def measure() -> Iterator[dict[str, Any]]:
    with tempfile.TemporaryDirectory(prefix="bench-window-") as room:
        played = PlayedWindow(Path(room) / "window")
        os.environ[DIRECTORY] = str(played.windows)
        try:
            with played:
                yield from _measured(played, Path(room) / "workspace")
        finally:
            del os.environ[DIRECTORY]


def _measured(played: PlayedWindow, workspace: Path) -> Iterator[dict[str, Any]]:
    attach(workspace)
    connection = connect_bound(workspace)
    trips = [_seconds(lambda: connection.call("ping", {}, deadline=10)) for _ in range(ROUND_TRIPS)]
    connection.close()
    yield row("window: no-op there and back, p50", statistics.median(trips[50:]) * 1000, "ms", 0.5)

    with blendwright.open(workspace) as scene, blendwright.open(workspace.with_name("headless")) as headless:
        scene.warm()
        headless.warm()
        yield from _against_headless(played, scene, headless)

        starts = [_seconds(lambda: scene.call("scene.expect", expectations=[], moment="before")) for _ in range(7)]
        count = played.ask("len(bpy.data.objects)")
        yield row(f"window: a plan of nothing at {count} objects", statistics.median(starts), "s", 0.25)
        attached = _at_rest(played)
    played.disconnect()
    share = (attached - _at_rest(played)) / REST_SECONDS * 100
    yield row("window: attached and at rest, more than not connected, of a core", share, "%", 1.0)


def _against_headless(played: PlayedWindow, scene: Any, headless: Any) -> Iterator[dict[str, Any]]:
    """In turns, each with a plan of one step and a plan of many more: what is between them the steps have cost, without the plan's own
    beginning and end, which a headless worker has not."""
    steps, plans = list[float](), list[float]()
    for number in range(ROUNDS + 1):
        short, long = _boxes(f"short{number}", 1), _boxes(f"w{number}", 1 + STEPS)
        one, many = (_spent(scene, played.pid, plan) for plan in (short, long))
        headless_one, headless_many = (_spent(headless, headless.worker_pid, plan) for plan in (short, long))
        steps.append((many - one) / (headless_many - headless_one))
        plans.append(many / headless_many)
    steps, plans = steps[1:], plans[1:]  # the first ones load code
    yield row(f"window: a create step, of one in a headless worker ({_spread(steps)})", *_ratio(steps), 1.5)
    yield row(f"window: a plan of {STEPS} of them with its begin and end ({_spread(plans)})", *_ratio(plans), None)


def _ratio(ratios: list[float]) -> tuple[float, str]:
    return statistics.median(ratios), "x"


def _spread(ratios: list[float]) -> str:
    return f"{min(ratios):.2f} to {max(ratios):.2f}"


def _spent(scene: Any, blender: int, plan: dict[str, Any]) -> float:
    """Processor seconds of the core and of its Blender."""
    before = time.process_time() + processor_seconds(blender)
    assert scene.run(plan).status == "succeeded"
    return time.process_time() + processor_seconds(blender) - before


def _at_rest(played: PlayedWindow) -> float:
    """Processor seconds of a window in which nothing happens, called as often as the extension asks for it."""
    played.rest(SETTLE_SECONDS)
    return played.rest(REST_SECONDS)


def _boxes(request: str, count: int) -> dict[str, Any]:
    operations: list[dict[str, Any]] = [
        {
            "operation_id": f"make_{number:04}",
            "tool_name": "mesh.create_primitive",
            "args": {"kind": "cube", "name": f"{request}_{number}"},
            "depends_on": [],
            "safety_level": "safe_write",
        }
        for number in range(count)
    ]
    return {"request_id": request, "operations": operations}


def _seconds(act: Any) -> float:
    started = time.perf_counter()
    act()
    return time.perf_counter() - started


if __name__ == "__main__":
    for measured in measure():
        print(f"{measured['what']}: {measured['value']:g} {measured['unit']}", flush=True)
