"""What pictures cost: a quick look over stdio at a scene of many objects, and the denoised picture of the demo beside a plain one."""

from __future__ import annotations

import json
import statistics
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter
from typing import Any

import blendwright
from bench.server import Host
from bench.table import row
from blendwright.run.options import RunOptions
from blendwright.run.preview import PICTURE_SAMPLES

OBJECTS = 1000
LOOKS = 7
PLAN = Path(__file__).parents[1] / "examples" / "plans" / "table_set.json"
# What the demo's picture was made with before it was denoised.
PLAIN: dict[str, Any] = {"samples": 16, "denoise": False}
DENOISED: dict[str, Any] = {"samples": PICTURE_SAMPLES}


def measure() -> Iterator[dict[str, Any]]:
    with tempfile.TemporaryDirectory() as place:
        host = Host([sys.executable, "-m", "blendwright", "serve"], place)
        boxes = [_box(number) for number in range(OBJECTS)]
        host.call("plan_execute", {"plan": {"request_id": "fill", "operations": boxes}})
        looks = [_look(host) for _ in range(LOOKS)]
        host.close()
    yield row(f"quick look over stdio, {OBJECTS} objects, the first", looks[0], "s", None)
    yield row(f"quick look over stdio, {OBJECTS} objects, p50 of the others", statistics.median(looks[1:]), "s", 1.0)
    with tempfile.TemporaryDirectory() as place, blendwright.open(Path(place, "workspace")) as opened:
        opened.run(json.loads(PLAN.read_text()))
        _render(opened, {"samples": 1})  # what is loaded once
        yield row("picture of the demo, denoised / 16 plain samples", _ratio(opened), "x", 1.0)


def _look(host: Host) -> float:
    started = perf_counter()
    host.call("scene_image", {"views": ["iso"], "seconds": 1})
    return perf_counter() - started


def _ratio(opened: blendwright.OpenScene) -> float:
    plain, denoised = ([_render(opened, quality) for _ in range(2)] for quality in (PLAIN, DENOISED))
    return min(denoised) / min(plain)


def _render(opened: blendwright.OpenScene, quality: dict[str, Any]) -> float:
    started = perf_counter()
    outcome = opened.outcome("render.preview", {"engine": "CYCLES", **quality}, RunOptions(call_seconds=600.0))
    assert outcome.ok, outcome.message
    return perf_counter() - started


def _box(number: int) -> dict[str, Any]:
    args = {"kind": "cube", "name": f"Box{number:04}", "location": [number % 32 * 3.0, number // 32 * 3.0, 0.0]}
    return {
        "operation_id": f"op{number:04}",
        "tool_name": "mesh.create_primitive",
        "args": args,
        "depends_on": [],
        "safety_level": "safe_write",
    }
