"""A file that hides a driver is taken into no workspace."""

from __future__ import annotations

import json
from pathlib import Path

import bpy

from blender.scene.hiding import hide_driver
from support.plans.documents import box
from support.processes.shell import Shell
from support.stage.stage import Stage


def test_neither_new_nor_adopt_takes_a_file_that_hides_a_driver(stage: Stage, tmp_path: Path) -> None:
    hide_driver("strip")
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "hidden.blend"), copy=True)
    shell = Shell(tmp_path)
    refused = shell("new", "--scene", "hidden.blend", code=3)
    assert "drivers are hidden on F-curves" in refused.err
    (tmp_path / "plan.json").write_text(json.dumps({"request_id": "r", "operations": [box("a")]}))
    shell("run", "plan.json", code=0)
    before = shell("log", "--json", code=0).document
    refused = shell("adopt", "hidden.blend", code=1)
    assert "drivers are hidden on F-curves" in refused.err
    assert shell("log", "--json", code=0).document == before
