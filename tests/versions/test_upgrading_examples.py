"""The example workspaces move from Blender 4.5 to 5.2: every operation runs there, gives the same results and the same geometry; what
was planted in the new one is found."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import blendwright
from blendwright.bridge.sources import worker_source
from blendwright.versions.upgrade import UpgradeOptions, upgrade
from blendwright.views.queries import replay
from support.planting.planted_workers import PlantedWorkers
from support.processes.blender_environments import use_blender

OLD, NEW = "4.5", "5.2"
EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
PLANS = sorted([*(EXAMPLES / "plans").glob("*.json"), *(EXAMPLES / "geonodes").glob("*.json")])

# Lights of the new Blender are a tenth brighter than they were told to be.
BRIGHTER = """
from blendwright.tool_api import Kind
from blendwright.tools.light.create import CreateLight

original = CreateLight.apply


def apply(self, scene, args):
    result = original(self, scene, args)
    light = scene.require(Kind.OBJECT, args.name).data
    light.energy = light.energy * 1.1
    return result


CreateLight.apply = apply
CreateLight.verify = lambda self, scene, args, result: iter(())
"""


@pytest.mark.timeout(1200)
@pytest.mark.slow
@pytest.mark.parametrize("plan", [pytest.param(plan, id=plan.stem) for plan in PLANS])
def test_an_example_moves_and_what_was_planted_is_found(
    plan: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use_blender(OLD, monkeypatch)
    use_blender(NEW, monkeypatch)
    workspace = tmp_path / "workspace"
    with blendwright.open(workspace, blender=OLD, spare=False) as scene:
        assert scene.run(json.loads(plan.read_text())).ok
        lights = [commit.number for commit in scene.journal.log(limit=10_000) if commit.tool == "light.create"]
    (tmp_path / "brighter.py").write_text(BRIGHTER)
    brighter = PlantedWorkers(worker_source(NEW), tmp_path / "brighter.py")
    planted = upgrade(workspace, brighter, options=UpgradeOptions(pictures=0))
    found = {part.commit for part in planted.report.operations for each in part.properties if each.property == "energy"}
    assert lights and found == set(lights), "the planted change shows at the operations that made it, and nowhere else"

    moved = upgrade(workspace, NEW, options=UpgradeOptions(accept_differences=True, pictures=0))
    assert moved.commit is not None
    report = moved.report
    assert report.redone and not any(part.kind == "failed" or part.results for part in report.operations)
    parted = {part.property for scene in report.scenes for part in scene.parts}
    assert not [name for name in parted if name.startswith(("evaluated", "attributes")) or name == "energy"], parted
    assert replay(workspace, blender=NEW).ok and replay(workspace, blender=OLD).ok
    with blendwright.open(workspace, spare=False) as scene:
        assert scene.blender.version[:2] == (5, 2), "the workspace belongs to it now"
        assert scene.call("scene.snapshot").ok
