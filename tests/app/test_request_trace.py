"""How much of the core one warm request crosses: a change that makes the way longer shows here, in counts and not in times."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).parents[2] / "scripts" / "trace_request.py"
# Files and functions at most; `python scripts/trace_request.py --walk` names them.
LIMITS = {"run": (52, 170), "plan_execute": (66, 215)}


def test_a_warm_request_crosses_no_more_files_and_functions_than_the_limits_say() -> None:
    done = subprocess.run([sys.executable, str(SCRIPT)], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    counts = {
        name: (int(files), int(functions))
        for name, files, functions in re.findall(r"^(\w+): (\d+) files, (\d+) functions", done.stdout, re.MULTILINE)
    }
    assert counts.keys() == LIMITS.keys()
    for name, (files, functions) in LIMITS.items():
        assert counts[name][0] <= files and counts[name][1] <= functions, done.stdout
