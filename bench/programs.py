"""What a program costs: the same plan once as JSON and once as a program that yields it, each in a workspace of its own."""

from __future__ import annotations

import statistics
import tempfile
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter
from typing import Any

import blendwright
from bench.table import row
from blendwright.programs.program import Program, evaluate
from blendwright.tools import catalog

OPERATIONS = 1_000
ROUNDS = 5
TEXT = """\
stem = param("stem", "Box")
for i in range(param("count", 1)):
    mesh.create_primitive(kind = "cube", name = "%s %d" % (stem, i), location = [i * 0.25, 0, 0.5])
"""


def measure() -> Iterator[dict[str, Any]]:
    """Rows of the table. Both sides run under the same boundary, one after the other in the same Blender."""
    ratios: list[float] = []
    with tempfile.TemporaryDirectory() as place:
        for turn in range(ROUNDS):
            with blendwright.open(Path(place) / str(turn), spare=False) as scene:
                assert scene.hash
                seconds(scene, {"program": TEXT, "params": {"stem": "Warm"}})
                listed = seconds(scene, plan_of(f"json-{turn}"))
                written = seconds(scene, {"program": TEXT, "params": {"stem": f"star-{turn}", "count": OPERATIONS}})
                ratios.append(written / listed)
    yield row(f"{OPERATIONS:,} operations from a program / the same plan as JSON", statistics.median(ratios), "x", 1.2)
    tools = tuple(catalog.tools())
    program = Program(TEXT, {"count": OPERATIONS})
    times: list[float] = []
    for _ in range(ROUNDS):
        started = perf_counter()
        assert len(evaluate(program, tools).operations) == OPERATIONS
        times.append(perf_counter() - started)
    yield row(f"evaluate a program to {OPERATIONS:,} operations", statistics.median(times) * 1000, "ms", None)


def plan_of(stem: str) -> dict[str, Any]:
    operations: list[dict[str, Any]] = [
        {
            "operation_id": f"{number:05d}_L3",
            "tool_name": "mesh.create_primitive",
            "args": {"kind": "cube", "name": f"{stem} {number}", "location": [number * 0.25, 0, 0.5]},
            "depends_on": [],
            "safety_level": "safe_write",
        }
        for number in range(OPERATIONS)
    ]
    return {"request_id": stem, "operations": operations}


def seconds(scene: blendwright.OpenScene, document: dict[str, Any]) -> float:
    """From the document to the report."""
    started = perf_counter()
    report = scene.run(document, boundary="operation")
    spent = perf_counter() - started
    assert report.ok, report.status
    return spent
