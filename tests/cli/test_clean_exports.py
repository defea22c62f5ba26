"""A hostile baseline: what leaves the workspace as a .blend is clean, and the command says what was left out."""

from __future__ import annotations

import json
from pathlib import Path

import bpy

from blender.scene.hostile import make_hostile
from blender.scene.test_scripts import cleaned, opened, ran
from support.plans.documents import box
from support.processes.shell import Shell
from support.stage.stage import Stage


def test_export_and_run_export_write_clean_files_and_say_so(stage: Stage, tmp_path: Path) -> None:
    marks = tmp_path / "marks"
    marks.mkdir()
    expected = make_hostile(marks)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "hostile.blend"), copy=True)
    (tmp_path / "plan.json").write_text(json.dumps({"request_id": "r", "operations": [box("a")]}))
    shell = Shell(tmp_path)
    plan = ("run", "plan.json", "--scene", "hostile.blend", "--export", "run.blend", "--json")
    document = shell(*plan, code=0).document
    assert cleaned(document["report"]["export"]) == expected
    written = shell("export", "exported.blend", "--json", code=0).document
    assert (
        cleaned(written) == expected
        and written["scene_hash"] == document["report"]["operations"][-1]["scene_hash_after"]
    )
    told = shell("export", "again.blend", code=0).err
    assert "left out: registered text of texts 'evil.py'" in told and told.count("left out: ") == len(expected)
    for mark in marks.iterdir():
        mark.unlink()
    for name in ("run.blend", "exported.blend"):
        assert opened(tmp_path / name)["expressions"] == ["frame * 2"]
    assert ran(marks) == set()
    assert shell("replay", "--json", code=0).document["ok"], "the workspace itself still holds what it was given"
