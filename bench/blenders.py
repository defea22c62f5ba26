"""The same work on several Blenders, in turns within one run: how a new one stands beside the one before it."""

from __future__ import annotations

import contextlib
import statistics
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter
from typing import Any

from bench.steps import windowed
from bench.table import row
from blendwright.bridge.sources import worker_source
from blendwright.bridge.spawn import WorkerSettings
from blendwright.values.errors import EnvironmentUnfit
from blendwright.wire.remote_scene import RemoteScene

NAMES = ("5.2", "5.0")
OBJECTS = 1_000
ROUNDS = 5


def measure() -> Iterator[dict[str, Any]]:
    """Rows for each Blender that is here; one that is not is named on standard error."""
    with tempfile.TemporaryDirectory() as scratch, contextlib.ExitStack() as stack:
        workers: dict[str, RemoteScene] = {}
        times: dict[tuple[str, str], list[float]] = defaultdict(list)
        for name in NAMES:
            pool = stack.enter_context(worker_source(name).open_pool(WorkerSettings(Path(scratch) / name)))
            started = perf_counter()
            try:
                workers[name] = pool.take()
            except EnvironmentUnfit as error:
                print(f"not measured: {error.message}. {error.cure or ''}", file=sys.stderr)
                continue
            times["start of a worker", name].append(perf_counter() - started)
        for turn in range(ROUNDS):
            for name, worker in workers.items():
                for what, seconds in _round(worker, turn):
                    times[what, name].append(seconds)
        # The Blenders side by side.
        order = list(dict.fromkeys(what for what, _ in times))
        for (what, name), found in sorted(times.items(), key=lambda each: order.index(each[0][0])):
            version = workers[name].profile.version_string
            yield row(f"{what}, Blender {version}", statistics.median(found) * 1000, "ms", None)


def _round(worker: RemoteScene, turn: int) -> Iterator[tuple[str, float]]:
    worker.reset()
    yield f"{OBJECTS:,} creating steps", windowed(worker, [f"Box{number:06d}" for number in range(OBJECTS)])
    for what, act in (
        (f"full fingerprint of {OBJECTS:,} objects", lambda: worker.hash(full=True)),
        (f"saving {OBJECTS:,} objects", lambda: worker.save(f"{turn}.blend", full=False)),
        (f"opening {OBJECTS:,} objects", lambda: worker.open(f"{turn}.blend")),
    ):
        started = perf_counter()
        act()
        yield what, perf_counter() - started
