"""The directories of a workspace become read-only in the middle of a run: what was acknowledged stands, and the rest is a clear answer."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
SOURCE = TESTS.parent / "src"

# Nothing is read-only for root unless it gives up the right to pass over permissions.
PROGRAM = """
import ctypes, os, struct, sys
from pathlib import Path
workspace = Path(sys.argv[1])
if os.geteuid() == 0:
    libc, header = ctypes.CDLL(None, use_errno=True), struct.pack("II", 0x20080522, 0)
    sets = ctypes.create_string_buffer(24)
    assert libc.capget(header, sets) == 0
    words = list(struct.unpack("6I", sets.raw))
    for place in (0, 1):
        words[place] &= ~0b110
    for capability in (1, 2):
        assert libc.prctl(24, capability, 0, 0, 0) == 0
    assert libc.capset(header, struct.pack("6I", *words)) == 0
import blendwright
from blendwright.bridge import spawn
from blendwright.util import crash_points
from support.processes.forked_workers.template import ForkedWorkers
# Their template has given up that right as well.
workers = ForkedWorkers(workspace.parent)
spawn.start_process = workers.start
from blendwright.values.errors import EnvironmentUnfit
triangle = workspace.parent / "triangle.obj"
triangle.write_text("v 0 0 0\\nv 1 0 0\\nv 0 1 0\\nf 1 2 3\\n")
inside = ["", "checkpoints", "artifacts", "scratch", "logs"]

def close():
    for name in inside:
        if (workspace / name).is_dir():
            (workspace / name).chmod(0o500)

def open_again():
    for name in inside:
        if (workspace / name).is_dir():
            (workspace / name).chmod(0o700)

def operation(id, tool, **args):
    return {"operation_id": id, "tool_name": tool, "args": args, "depends_on": [], "safety_level": "safe_write"}

plan = {"request_id": "r", "operations": [
    operation("a", "object.create_empty", name="A"),
    operation("b", "object.create_empty", name="B"),
    operation("c", "object.transform", name="B", location=[1, 2, 3]),
]}
acknowledged = []

def progress(report):
    if report.status == "succeeded":
        acknowledged.append(report.operation_id)

from blendwright.engine.options import RunOptions
crash_points.arm("plan.acknowledged:1", close)
try:
    with blendwright.open(workspace, roots=[workspace.parent], spare=False) as scene:
        report = scene.run(plan, RunOptions(progress=progress, one_at_a_time=True))
        print("status", report.status)
        # Only with a checkpoint can it be committed, and there is no room for one.
        imported = scene.call("file.import", path=str(triangle))
        print("imported", imported.ok, imported.message)
        acknowledged += ["imported"] * imported.ok
except EnvironmentUnfit as unfit:
    print("unfit", unfit.message, "|", unfit.cure)
try:
    blendwright.open(workspace, roots=[workspace.parent], spare=False).close()
except EnvironmentUnfit as unfit:
    print("refused", unfit.message, "|", unfit.cure)
open_again()
print("acknowledged", acknowledged)
with blendwright.open(workspace, roots=[workspace.parent], spare=False) as scene:
    kept = [commit.operation_id for commit in scene.journal.log()]
    print("kept", set(acknowledged) <= set(kept))
    print("whole", scene.run(plan).ok, scene.journal.audit.verify().ok)
    print("after", scene.call("file.import", path=str(triangle)).ok)
with blendwright.open(workspace, roots=[workspace.parent], spare=False) as scene:
    scene.warm()
    print("rebuilt", scene.hash == scene.journal.head.hash_after)
workers.close()
"""


@pytest.mark.timeout(180)
def test_directories_that_become_read_only_in_a_run_lose_nothing_that_was_acknowledged(tmp_path: Path) -> None:
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(SOURCE), str(TESTS), *sys.path])}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(tmp_path / "w")],
        capture_output=True, text=True, timeout=170, env=environment, cwd=tmp_path, check=False,
    )  # fmt: skip
    told = dict(line.split(" ", 1) for line in done.stdout.splitlines() if " " in line)
    assert done.returncode == 0 and "Traceback" not in done.stderr, (done.stdout, done.stderr)
    assert "'a'" in told["acknowledged"] and "imported" not in told["acknowledged"], done.stdout
    assert "ermission denied" in told["unfit"] and "Check the disk" in told["unfit"], done.stdout
    assert "Permission denied | Check its permissions" in told["refused"], done.stdout
    assert told["kept"] == "True" and told["whole"] == "True True" and told["rebuilt"] == "True", done.stdout
    assert told["after"] == "True", done.stdout
