"""An open window: the way there and back, a step in it against one in a headless worker, the start of a plan, and what it costs at rest.

The window is the wheel with the real extension and its pump called in a loop, as in the tests; `make test-gui` has real ones.
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

from bench.table import row

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

import blendwright
from blendwright.app.attach_commands import attach
from blendwright.app.attaching import connect_bound
from blendwright.bridge.windows.rendezvous import DIRECTORY
from window.playing import PlayedWindow

ROUND_TRIPS = 500
OBJECTS = 1000
REST_SECONDS = 10.0


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
        in_window, beside = list[float](), list[float]()
        for number in range(5):
            in_window.append(_seconds(lambda: scene.run(_boxes(f"w{number}"))))  # noqa: B023
            beside.append(_seconds(lambda: headless.run(_boxes(f"w{number}"))))  # noqa: B023
        ratio = statistics.median(one / other for one, other in zip(in_window[1:], beside[1:], strict=True))
        yield row("window: a create step, of one in a headless worker", ratio, "x", 1.5)

        starts = [_seconds(lambda: scene.call("scene.expect", expectations=[], moment="before")) for _ in range(7)]
        count = played.ask("len(bpy.data.objects)")
        yield row(f"window: a plan of nothing at {count} objects", statistics.median(starts), "s", 0.25)

    before = _processor_seconds(played.pid)
    time.sleep(REST_SECONDS)
    share = (_processor_seconds(played.pid) - before) / REST_SECONDS * 100
    yield row("window: connected and at rest, of a core", share, "%", 1.0)


def _boxes(request: str) -> dict[str, Any]:
    operations: list[dict[str, Any]] = [
        {
            "operation_id": f"make_{number:04}",
            "tool_name": "mesh.create_primitive",
            "args": {"kind": "cube", "name": f"{request}_{number}"},
            "depends_on": [],
            "safety_level": "safe_write",
        }
        for number in range(OBJECTS // 5)
    ]
    return {"request_id": request, "operations": operations}


def _seconds(act: Any) -> float:
    started = time.perf_counter()
    act()
    return time.perf_counter() - started


def _processor_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
