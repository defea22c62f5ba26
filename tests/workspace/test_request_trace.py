"""How much of the core one warm request crosses: a change that makes the way longer shows here, in counts and not in times."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "scripts" / "trace_request.py"
WALK = ROOT / "docs" / "architecture.md"
# Files and functions at most; `python scripts/trace_request.py --walk` names them.
LIMITS = {"run": (44, 176), "plan_execute": (59, 264)}


@pytest.fixture(scope="module")
def printed() -> str:
    done = subprocess.run([sys.executable, str(SCRIPT), "--walk"], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_warm_request_crosses_no_more_files_and_functions_than_the_limits_say(printed: str) -> None:
    counts = {
        name: (int(files), int(functions))
        for name, files, functions in re.findall(r"^(\w+): (\d+) files, (\d+) functions", printed, re.MULTILINE)
    }
    assert counts.keys() == LIMITS.keys()
    for name, (files, functions) in LIMITS.items():
        assert counts[name][0] <= files and counts[name][1] <= functions, printed


def test_the_architecture_walks_through_every_file_that_is_entered_and_no_other(printed: str) -> None:
    entered = set(re.findall(r"^  (\S+\.py): ", printed, re.MULTILINE))
    text = WALK.read_text()
    walk = text[text.index("## A run, end to end") : text.index("## Processes")]
    named = set(re.findall(r"`([a-z_]+(?:/[a-z_]+)+\.py)`", walk))
    inside_blender_or_a_call = {"blender/step.py", "engine/calls.py", "workspace/run_records.py"}
    assert entered <= named, sorted(entered - named)
    assert named - entered <= inside_blender_or_a_call, sorted(named - entered)
