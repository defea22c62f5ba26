"""What a person waits for at a terminal: a plan checked, and a small plan run in a new workspace, beside the bare import of Blender.

Both by the clock and by processor time, of which a machine that does other things besides changes less. The least of several counts.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

from bench.table import row

TIMES = 5
OPERATIONS = 10
PROGRAM = Path(sys.executable).with_name("blendwright")


class Spent(NamedTuple):
    seconds: float
    processor: float


def measure() -> Iterator[dict[str, Any]]:
    with tempfile.TemporaryDirectory() as scratch:
        plan = Path(scratch) / "plan.json"
        plan.write_text(json.dumps(_plan()))
        bare = _least([[sys.executable, "-c", "import bpy"]] * TIMES)
        checked = _least([[PROGRAM, "validate", plan]] * TIMES)
        ran = _least([[PROGRAM, "run", plan, "--workspace", Path(scratch) / str(n)] for n in range(TIMES)])
    yield row("validate of a plan with 10 operations", checked.seconds, "s", 0.45)
    yield row("validate, processor time", checked.processor, "s", None)
    yield row("10 operations in a new workspace / bare import of bpy", ran.seconds / bare.seconds, "x", 1.8)
    yield row("the same, processor time", ran.processor / bare.processor, "x", None)


def _plan() -> dict[str, Any]:
    operations: list[dict[str, Any]] = [
        {
            "operation_id": f"box{n}",
            "tool_name": "mesh.create_primitive",
            "args": {"kind": "cube", "name": f"Box_{n}", "location": [2 * n, 0, 0]},
            "depends_on": [],
            "safety_level": "safe_write",
        }
        for n in range(OPERATIONS)
    ]
    return {"request_id": "ten", "operations": operations}


def _least(commands: Sequence[Sequence[str | Path]]) -> Spent:
    """The least of each over all commands: the first one compiles and fills the caches."""
    every = [_spent(command) for command in commands]
    return Spent(min(one.seconds for one in every), min(one.processor for one in every))


def _spent(command: Sequence[str | Path]) -> Spent:
    """What a command cost, its child processes included."""
    # Compiled modules are kept, as they are for everybody who has not said otherwise.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    began = perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=environment)
    assert process.stderr is not None
    said = process.stderr.read()
    _, status, used = os.wait4(process.pid, 0)
    process.stderr.close()
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(said.decode(errors="replace"))
    return Spent(perf_counter() - began, used.ru_utime + used.ru_stime)
