"""What a batch costs beside N bare loops of plain bpy that do the same without any of it: keys, journals, hashes, resuming.

Figures are processor time per case, by the difference of a longer and a shorter run, so that starting Blender is in neither: on a machine
whose processors are busy with lanes, that is what decides how many cases come out of it.
"""

from __future__ import annotations

import json
import resource
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bench.table import row

LANES = 2
# Booleans that every case has in common: some nine tenths of it.
COMMON = 10
MEMORY_CASES = 2000
# Cases at the beginning in which caches fill.
SETTLING = 200
PROGRAM = """
seed = param("seed", 0)
chance = random(seed)
common = COMMON
if common:
    mesh.create_primitive(kind = "cube", name = "Block", size = 1, location = [0, 0, -2], scale = [8, 8, 1])
for i in range(common):
    mesh.create_primitive(kind = "uv_sphere", name = "Cutter%d" % i, radius = 0.4, segments = 48, rings = 32,
                          location = [i % 8 - 3.5, i // 8 - 3.5, -1.5])
    mesh.boolean(object = "Block", operation = "difference", cutters = ["Cutter%d" % i])
for i in range(12):
    mesh.create_primitive(kind = "cube", name = "Box%d" % i, size = 1,
                          location = [chance.uniform(-3, 3), chance.uniform(-3, 3), 0])
light.create(name = "Sun", type = "SUN", location = [0, 0, 5], rotation_euler_deg = [40, 0, 20])
camera.create(name = "Camera", location = [0, -12, 9], rotation_euler_deg = [54.4, 0, 0])
camera.set_active(object = "Camera")
scene.set_render(engine = "CYCLES", samples = SAMPLES, resolution = [320, 240], denoise = False)
"""
OUTPUTS: list[Any] = ["blend", {"kind": "still", "args": {"denoise": False}}]


def measure() -> Iterator[dict[str, Any]]:
    for seconds, limit in ((1.0, 1 / 0.9), (0.2, 1 / 0.8)):
        samples = _samples_for(seconds)
        few, many = (3, 13) if seconds == 1.0 else (10, 60)
        bare, ours = _bare_cost(few, many, samples, 0), _batch_cost(few, many, samples, 0)
        quick = _bare_cost(few, many, samples, 0, "--quick-reset")
        yield row(f"bare loop, case of about {seconds:g} s", bare, "s", None)
        yield row(f"batch / bare loop, case of about {seconds:g} s", ours / bare, "x", limit)
        yield row("the same beside one with the quickest reset", ours / quick, "x", None)
    bare, ours = _bare_cost(2, 8, 1, COMMON), _batch_cost(8, 32, 1, COMMON)
    yield row("bare loop, case with much in common", bare, "s", None)
    yield row("the same, what is not in common", _bare_cost(5, 25, 1, 0) / bare, "x", None)
    yield row("batch with shared prefixes / bare loop", ours / bare, "x", 1 / 3)
    yield from _memory()


def _samples_for(seconds: float) -> int:
    """Samples per pixel with which a case of the bare loop takes so long on this machine."""
    low, high = (_bare_cost(3, 13, samples, 0) for samples in (1, 17))
    return max(1, round(1 + (seconds - low) * 16 / max(high - low, 1e-6)))


def _bare_cost(few: int, many: int, samples: int, common: int, *options: str) -> float:
    """Seconds of processor time for a case."""

    def run(cases: int) -> float:
        with tempfile.TemporaryDirectory() as place:
            arguments = ["0", str(cases), str(samples), str(common), place]
            return _processor_time([sys.executable, "-m", "bench.bare_batch", *arguments, *options])

    return (run(many) - run(few)) / (many - few)


def _batch_cost(few: int, many: int, samples: int, common: int) -> float:
    def run(cases: int) -> float:
        with tempfile.TemporaryDirectory() as place:
            # One lane: of two, the second may find nothing left to do in the shorter run, and its start would be in the difference.
            return _processor_time(_command(Path(place), cases, samples, common, lanes=1))

    return (run(many) - run(few)) / (many - few)


def _command(
    place: Path, cases: int, samples: int, common: int, outputs: list[Any] | None = None, lanes: int = LANES
) -> list[str]:
    (place / "bench.star").write_text(PROGRAM.replace("COMMON", str(common)).replace("SAMPLES", str(samples)))
    document = {
        "format": "batch.v1",
        "program": "bench.star",
        "vary": {"seed": {"range": [0, cases]}},
        "outputs": outputs or OUTPUTS,
    }
    (place / "batch.json").write_text(json.dumps(document))
    command = [sys.executable, "-P", "-m", "blendwright", "batch", "run", str(place / "batch.json")]
    return [*command, "--workers", str(lanes), "--out", str(place / "out"), "--json"]


def _processor_time(command: list[str]) -> float:
    """Of a program with all that it starts and waits for."""
    before = _children()
    subprocess.run(command, capture_output=True, check=True)
    return _children() - before


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _memory() -> Iterator[dict[str, Any]]:
    """What a lane holds, over many cases: by how much that grows, as a part of what it is."""
    with tempfile.TemporaryDirectory() as place:
        subprocess.run(_command(Path(place), MEMORY_CASES, 1, 0, ["blend"]), capture_output=True, check=True)
        rows = [json.loads(line) for line in Path(place, "out", "results.jsonl").read_text().splitlines()]
    slopes: list[float] = []
    for worker in {each["worker"] for each in rows}:
        own = sorted((each for each in rows if each["worker"] == worker), key=lambda each: each["finished"])
        held = [each["memory_mb"] for each in own][SETTLING // LANES :]
        if len(held) > SETTLING // LANES:
            slope = statistics.linear_regression(range(len(held)), held).slope
            slopes.append(slope * len(held) / statistics.mean(held) * 100)
    yield row(f"memory of a lane over {MEMORY_CASES} cases, growth", max(slopes), "%", 1.0)
