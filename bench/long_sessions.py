"""What a long session costs beyond a short one: the call after a failure, a preview, plans that fail, and the Blender beside it.

`python -m bench.long_sessions 100000` asks for another length. Both sessions are open at once and are asked in turn, so that whatever
else the machine does meets both.
"""

from __future__ import annotations

import os
import signal
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from pathlib import Path
from time import perf_counter
from typing import Any, Literal

import blendwright
from bench.processor_time import processor_seconds
from bench.table import row
from blendwright.engine.scene import background_checkpoints
from blendwright.engine.scene.background_checkpoints import BackgroundCheckpoints
from blendwright.values.events import Event, SceneBuilt
from blendwright.workspace import opening

OBJECTS = 100
FEW, MANY = 100, 5_000
PLAN = 50
ROUNDS = 9
# Plans that are kept whole or not at all: how many, how long, and how many of them succeed for each one that fails.
WHOLE_PLANS, WHOLE_PLAN, SUCCEED = 20, 5, 4
# Runs of either kind, in turn, and how long each is.
TURNS, RUN = 12, 400


class _Redone:
    """How many commits were redone when the scene was built again."""

    def __init__(self) -> None:
        self.counts: list[int] = []

    def __call__(self, event: Event) -> None:
        if isinstance(event, SceneBuilt) and event.again:
            self.counts.append(event.redone)


class _Known(BackgroundCheckpoints):
    """Those of the session that was opened last, within reach."""

    latest: BackgroundCheckpoints

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        _Known.latest = self


def measure(many: int = MANY) -> Iterator[dict[str, Any]]:
    """Rows of the table."""
    opening.__dict__["BackgroundCheckpoints"] = _Known
    with tempfile.TemporaryDirectory() as place:
        redone = _Redone(), _Redone()
        with blendwright.open(Path(place) / "short", observers=[redone[0]]) as one:
            short = _Session(one)
            with blendwright.open(Path(place) / "long", observers=[redone[1]]) as other:
                long = _Session(other)
                short.grow(FEW)
                long.grow(many)
                yield from _compared("call after a failure", many, *_in_turn(short, long, _Session.after_failure))
                for name, found in zip(("short", "long"), redone, strict=True):
                    median = statistics.median(found.counts)
                    yield row(f"commits redone after a failure, {name} session", median, "commits", None)
                yield from _compared("preview", many, *_in_turn(short, long, _Session.preview))
                what = "operation where 20 % of plans fail and are taken back"
                yield from _compared(what, many, *_in_turn(short, long, _Session.whole_plans))
        names = (
            "by the clock",
            "processor time of its thread and worker",
            "processor time of the whole core and its worker",
        )
        for name, ratio in zip(names, _slowdown(Path(place)), strict=True):
            yield row(f"a run with a Blender beside it / without, {name}", ratio, "x", 1.05)


def _compared(what: str, many: int, short: float, long: float) -> Iterator[dict[str, Any]]:
    yield row(f"{what}, {FEW} commits", short * 1000, "ms", None)
    yield row(f"{what}, {many:,} commits", long * 1000, "ms", None)
    yield row(f"{what}, {many:,} commits / {FEW}", long / short, "x", 1.5)


class _Session:
    """A scene whose size stays: its objects are moved about."""

    def __init__(self, scene: blendwright.OpenScene) -> None:
        self.scene = scene
        self.beside = _Known.latest
        self.commits = 0
        self._run("base", "object.create_empty", [{"name": f"Empty {number:04d}"} for number in range(OBJECTS)])

    def _run(
        self,
        request: str,
        tool: str,
        listed: list[dict[str, Any]],
        *,
        boundary: Literal["operation", "plan"] = "operation",
        ok: bool = True,
    ) -> float:
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
        plan: dict[str, Any] = {"request_id": request, "operations": operations}
        started = perf_counter()
        report = self.scene.run(plan, boundary=boundary)
        spent = perf_counter() - started
        assert report.ok is ok, report.status
        self.commits += len(operations)
        return spent

    def moves(self, count: int, *, boundary: Literal["operation", "plan"] = "operation", lost: bool = False) -> float:
        start = self.commits
        args = [
            {"name": f"Empty {number % OBJECTS:04d}", "location": [start + number, 0, 0]} for number in range(count)
        ]
        if lost:
            args[-1]["name"] = "Nobody"
        return self._run(f"moves-{start}", "object.transform", args, boundary=boundary, ok=not lost)

    def grow(self, commits: int) -> None:
        while self.commits < commits:
            self.moves(PLAN)

    def await_spare(self) -> None:
        """Until the checkpoint under way is saved and the next Blender has started: what that takes is not what is measured."""
        self.beside.wait()
        beside: Any = self.beside
        spares: list[Future[Any]] = list(beside._pool._spares)
        for spare in spares:
            spare.result()
        time.sleep(0.3)

    def after_failure(self) -> float:
        """The first call after the worker was lost, while a spare is ready."""
        os.kill(self.scene.worker_pid, signal.SIGKILL)
        time.sleep(0.2)
        started = perf_counter()
        assert self.scene.call("object.transform", name="Empty 0000", location=[perf_counter(), 0, 0]).ok
        self.commits += 1
        return perf_counter() - started

    def preview(self) -> float:
        operation: dict[str, Any] = {
            "operation_id": "a", "tool_name": "object.transform", "args": {"name": "Empty 0000", "location": [0, 0, 1]},
            "depends_on": [], "safety_level": "safe_write",
        }  # fmt: skip
        started = perf_counter()
        assert self.scene.preview({"request_id": f"preview-{self.commits}", "operations": [operation]}).ok
        return perf_counter() - started

    def whole_plans(self) -> float:
        """The time of one operation where every fifth plan fails with its last one, and is taken back."""
        spent = 0.0
        for number in range(WHOLE_PLANS):
            spent += self.moves(WHOLE_PLAN, boundary="plan", lost=number % (SUCCEED + 1) == SUCCEED)
        return spent / (WHOLE_PLANS * WHOLE_PLAN)


def _in_turn(short: _Session, long: _Session, act: Callable[[_Session], float]) -> tuple[float, float]:
    """The medians of both, asked in turn."""
    spent: tuple[list[float], list[float]] = ([], [])
    for _ in range(ROUNDS):
        for session, found in zip((short, long), spent, strict=True):
            session.moves(PLAN)
            # Neither may start a Blender while the other one is asked.
            short.await_spare()
            long.await_spare()
            found.append(act(session))
    return statistics.median(spent[0]), statistics.median(spent[1])


def _slowdown(place: Path) -> tuple[float, ...]:
    """The same runs in two sessions of one process, in turn; only one of them is followed. What the median run takes with a Blender beside
    it, as a share of what it takes without: by the clock; in processor time of the thread that runs it and of the worker that holds the
    scene, which others on the machine change less; and of the core as a whole, with the thread that leads the Blender beside it."""
    with blendwright.open(place / "followed") as one:
        followed = _Session(one)
        background_checkpoints.MIN_REDO_MS, least = background_checkpoints.NEVER, background_checkpoints.MIN_REDO_MS
        with blendwright.open(place / "alone") as other:
            background_checkpoints.MIN_REDO_MS = least
            alone = _Session(other)
            # Until the Blender that follows has started, and so has the spare behind it.
            followed.moves(RUN)
            followed.await_spare()
            with_it: list[tuple[float, ...]] = []
            without: list[tuple[float, ...]] = []
            for _ in range(TURNS):
                with_it.append(_measured_run(followed))
                followed.beside.wait()
                without.append(_measured_run(alone))
    return tuple(
        statistics.median(one) / statistics.median(other)
        for one, other in zip(zip(*with_it, strict=True), zip(*without, strict=True), strict=True)
    )


def _measured_run(session: _Session) -> tuple[float, ...]:
    """Seconds by the clock, processor seconds of this thread and the worker, and of the whole core and the worker."""
    worker = session.scene.worker_pid
    before = time.thread_time(), time.process_time(), processor_seconds(worker)
    spent = session.moves(RUN)
    after = time.thread_time(), time.process_time(), processor_seconds(worker)
    thread, core, blender = (end - start for start, end in zip(before, after, strict=True))
    return spent, thread + blender, core + blender


if __name__ == "__main__":
    for measured in measure(int(sys.argv[1]) if len(sys.argv) > 1 else MANY):
        print(
            f"{measured['what']}: {measured['value']:g} {measured['unit']}",
            "" if measured["ok"] else "OVER",
            flush=True,
        )
