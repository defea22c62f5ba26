"""The plans under examples/geonodes: each runs, passes its gates, and gives the same scene in every process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
PLANS = sorted((EXAMPLES / "geonodes").glob("*.json"))
TESTS = Path(__file__).parents[1]

# Runs every plan in one Blender and tells the scene's hash and the gates of each.
PLAY = """
import json, os, sys, tempfile
from pathlib import Path
from support.stage.stage import Stage

stage = Stage(Path(tempfile.mkdtemp()))
told = {}
for path in map(Path, sys.argv[2:]):
    stage.state.reset()
    gates = {}
    for operation in json.loads(path.read_text())["operations"]:
        result = stage.do(operation["tool_name"], operation["args"], cross_check=False)
        if operation["tool_name"] == "geonodes.gates":
            gates[operation["operation_id"]] = result
    told[path.stem] = {"hash": stage.state.full_root(), "gates": gates}
Path(sys.argv[1]).write_text(json.dumps(told))
os._exit(0)
"""


def play(target: Path, seed: str) -> subprocess.Popen[str]:
    path = os.pathsep.join([str(TESTS), *filter(None, [os.environ.get("PYTHONPATH")])])
    return subprocess.Popen(
        [sys.executable, "-c", PLAY, str(target), *map(str, PLANS)],
        env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": path},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_there_are_five_and_the_readme_tells_of_each() -> None:
    assert len(PLANS) >= 5
    told = (EXAMPLES / "README.md").read_text()
    assert all(f"`{path.relative_to(EXAMPLES)}`" in told for path in PLANS)


@pytest.mark.proves("GN-EXAMPLE-01")
def test_every_example_passes_its_gates_and_is_the_same_in_two_processes(tmp_path: Path) -> None:
    targets = [tmp_path / "one.json", tmp_path / "two.json"]
    processes = [play(target, seed) for target, seed in zip(targets, "12", strict=True)]
    for process in processes:
        _, log = process.communicate()
        assert process.returncode == 0, log[-2000:]
    one, two = (json.loads(target.read_text()) for target in targets)
    assert one == two
    for path in PLANS:
        gates = one[path.stem]["gates"]
        assert gates, path.stem
        for name, report in gates.items():
            assert report["success"], (path.stem, name, report["messages"])
