"""examples/assets: a game asset that is baked, exported and proven; what the file holds is found again in another workspace."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import blendwright

PLAN = Path(__file__).parents[2] / "examples" / "assets" / "baked_crate.json"
MAPS = {
    "Base Color": "CrateColor",
    "Emission Color": "CrateGlow",
    "Normal": "CrateNormal",
    "Roughness": "CrateRoughness",
}


def smaller(document: dict[str, Any]) -> dict[str, Any]:
    """The plan with pictures of 64 pixels, which takes a part of the time."""
    for operation in document["operations"]:
        if operation["tool_name"] == "render.bake":
            operation["args"] |= {"size": [64, 64], "samples": 1, "margin": 4}
    return document


def result(scene: Any, tool: str, args: dict[str, Any]) -> dict[str, Any]:
    outcome = scene.outcome(tool, args)
    assert outcome.ok, (tool, outcome.message)
    return dict(outcome.result or {})


def test_a_baked_crate_is_proven_from_its_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "`assets/baked_crate.json`" in (PLAN.parents[1] / "README.md").read_text()
    document = smaller(json.loads(PLAN.read_text()))
    assert not [each for each in document["operations"] if each["tool_name"].startswith("python.")]
    monkeypatch.chdir(tmp_path)
    with blendwright.open(tmp_path / "first", roots=[tmp_path], spare=False) as scene:
        report = scene.run(document)
        assert report.ok, list(report.all_findings())
        (exported,) = [each.result for each in report.operations if each.operation_id == "export"]
        detailed = result(scene, "mesh.measure", {"object": "CrateHigh"})
    assert exported is not None and exported["proven"]
    holds = exported["holds"]
    assert holds["triangles"] == 44 < detailed["triangles"] / 20
    assert {each["input"]: each["image"] for each in holds["textures"] if each["input"] in MAPS} == MAPS
    assert {(each["width"], each["height"]) for each in holds["textures"]} == {(64, 64)}
    with blendwright.open(tmp_path / "second", roots=[tmp_path], spare=False) as scene:
        brought = result(scene, "file.import", {"path": str(tmp_path / "crate.glb")})
        assert brought["objects"] == ["Crate"]
        assert brought["came_along"]["materials"] == ["CrateBaked"]
        assert brought["came_along"]["images"] == sorted(MAPS.values())
        measured = result(scene, "mesh.measure", {"object": "Crate"})
        assert measured["triangles"] == 44
        assert measured["dimensions"] == pytest.approx([1.2, 1.2, 1.0], abs=1e-4)
        checked = result(scene, "uv.check", {"object": "Crate", "texture_size": 64})
        assert checked["outside_faces"] == 0 and checked["overlap"] < 0.01
        again = result(scene, "file.export", {"path": str(tmp_path / "again.glb"), "profile": "game"})
    for name in ("triangles", "uv_maps", "materials", "textures", "shapes"):
        assert again["holds"][name] == holds[name], name
    assert again["holds"]["uv_high"] == pytest.approx(holds["uv_high"], abs=1e-4)
