"""What a long session costs beyond a short one: the call after a failure, a preview, and the Blender beside it that keeps both short."""

from __future__ import annotations

import os
import signal
import statistics
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter
from typing import Any

import blendwright
from bench.table import row
from blendwright.app import opening
from blendwright.run import background_checkpoints
from blendwright.run.background_checkpoints import BackgroundCheckpoints

OBJECTS = 100
FEW, MANY = 100, 5_000
PLAN = 50
ROUNDS = 5
# Another Blender has started by then: starting one is not what is measured.
SPARE_SECONDS = 6.0
# Runs of either kind, in turn, and how long each is.
TURNS, RUN = 12, 400


class _Known(BackgroundCheckpoints):
    """Those of the session that was opened last, within reach."""

    latest: BackgroundCheckpoints

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        _Known.latest = self


def measure() -> Iterator[dict[str, Any]]:
    """Rows of the table."""
    opening.__dict__["BackgroundCheckpoints"] = _Known
    with tempfile.TemporaryDirectory() as place:
        with blendwright.open(Path(place) / "long") as scene:
            session = _Session(scene)
            session.grow(FEW)
            few = session.after_failure(), session.preview()
            session.grow(MANY)
            many = session.after_failure(), session.preview()
        for what, short, long in zip(("call after a failure", "preview"), few, many, strict=True):
            yield row(f"{what} at {FEW} commits", short * 1000, "ms", None)
            yield row(f"{what} at {MANY:,} commits", long * 1000, "ms", None)
            yield row(f"{what} at {MANY:,} commits / at {FEW}", long / short, "x", 1.5)
        yield row("a run with a Blender beside it / without", _slowdown(Path(place)), "x", 1.05)


class _Session:
    """A scene whose size stays: its objects are moved about."""

    def __init__(self, scene: blendwright.OpenScene) -> None:
        self.scene = scene
        self.commits = 0
        self._run("base", "object.create_empty", [{"name": f"Empty {number:04d}"} for number in range(OBJECTS)])

    def _run(self, request: str, tool: str, listed: list[dict[str, Any]]) -> float:
        operations: list[dict[str, Any]] = [
            {
                "operation_id": f"o{place:05d}",
                "tool_name": tool,
                "args": args,
                "depends_on": [],
                "safety_level": "safe_write",
            }
            for place, args in enumerate(listed)
        ]
        started = perf_counter()
        report = self.scene.run({"request_id": request, "operations": operations})
        spent = perf_counter() - started
        assert report.ok, report.status
        self.commits += len(operations)
        return spent

    def moves(self, count: int) -> float:
        start = self.commits
        args = [
            {"name": f"Empty {number % OBJECTS:04d}", "location": [start + number, 0, 0]} for number in range(count)
        ]
        return self._run(f"moves-{start}", "object.transform", args)

    def grow(self, commits: int) -> None:
        while self.commits < commits:
            self.moves(PLAN)

    def after_failure(self) -> float:
        """The first call after the worker was lost, while a spare is ready."""
        spent: list[float] = []
        for _ in range(ROUNDS):
            time.sleep(SPARE_SECONDS)
            os.kill(self.scene.worker_pid, signal.SIGKILL)
            time.sleep(0.2)
            started = perf_counter()
            assert self.scene.call("object.transform", name="Empty 0000", location=[perf_counter(), 0, 0]).ok
            spent.append(perf_counter() - started)
            self.commits += 1
            self.moves(PLAN)
        return statistics.median(spent)

    def preview(self) -> float:
        spent: list[float] = []
        operation: dict[str, Any] = {
            "operation_id": "a", "tool_name": "object.transform", "args": {"name": "Empty 0000", "location": [0, 0, 1]},
            "depends_on": [], "safety_level": "safe_write",
        }  # fmt: skip
        for number in range(ROUNDS):
            time.sleep(SPARE_SECONDS)
            started = perf_counter()
            assert self.scene.preview({"request_id": f"preview-{self.commits}-{number}", "operations": [operation]}).ok
            spent.append(perf_counter() - started)
            self.moves(PLAN)
        return statistics.median(spent)


def _slowdown(place: Path) -> float:
    """The same runs in two sessions of one process, in turn; only one of them is followed."""
    with blendwright.open(place / "followed") as one:
        followed, beside = _Session(one), _Known.latest
        background_checkpoints.LEAST_MS, least = background_checkpoints.NEVER, background_checkpoints.LEAST_MS
        with blendwright.open(place / "alone") as other:
            background_checkpoints.LEAST_MS = least
            alone = _Session(other)
            # Until the Blender that follows has started, and so has the spare behind it.
            followed.moves(RUN)
            beside.wait()
            time.sleep(SPARE_SECONDS)
            with_it: list[float] = []
            without: list[float] = []
            for _ in range(TURNS):
                with_it.append(followed.moves(RUN))
                beside.wait()
                without.append(alone.moves(RUN))
    return statistics.median(with_it) / statistics.median(without)
