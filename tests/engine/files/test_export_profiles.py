"""An export with a profile is delivered only where another Blender finds in the file what the scene holds."""

from __future__ import annotations

import shutil
import struct
from pathlib import Path
from typing import Any

import pytest

from blendwright.engine.files.access import FileAccess, Staged
from blendwright.values.faults import Fault
from blendwright.values.outcome import Outcome
from support.engine.engine import Engine

SCENE: list[tuple[str, dict[str, Any]]] = [
    ("image.create", {"name": "Colours", "size": [16, 8], "type": "COLOR_GRID"}),
    ("image.create", {"name": "Bumps", "size": [8, 8], "type": "UV_GRID"}),
    ("material.ensure_principled", {"name": "Paint.001", "textures": {"base_color": "Colours"}}),
    ("material.ensure_principled", {"name": "Plain", "base_color": [0.1, 0.2, 0.3]}),
    ("mesh.create_primitive", {"kind": "cube", "name": "Box", "dimensions": [1, 2, 3], "location": [4, 5, 6], "material": "Paint.001"}),
    ("uv.unwrap", {"object": "Box", "method": "smart"}),
    ("modifier.add", {"object": "Box", "name": "Two", "settings": {"type": "ARRAY", "count": 2}}),
    ("mesh.create_primitive", {"kind": "uv_sphere", "name": "Ball.001", "segments": 8, "rings": 4, "material": "Plain"}),
]  # fmt: skip
# What is put in the place of a written file, and what is said of it.
SWAPS: dict[str, tuple[list[tuple[str, dict[str, Any]]], str, str]] = {
    "triangles": ([("modifier.remove", {"object": "Box", "modifier": "Two"})], "glb", "has 60 triangles, but the scene has 72"),
    "an object": ([("object.delete", {"object": "Ball.001"})], "glb", "but the scene has 2: it lacks 'Ball.001'"),
    "scale": ([("object.transform", {"object": "Box", "scale": [1, 1, 1.01]})], "stl", "scale, axes or position differ"),
    "axes": ([("object.transform", {"object": "Box", "rotation_euler_deg": [90, 0, 0]})], "fbx", "scale, axes or position"),
    "UVs": ([("uv.unwrap", {"object": "Box", "method": "smart", "margin": 0.2})], "glb", "has UVs from"),
    "a material": ([("material.assign", {"object": "Box", "material": "Plain"})], "fbx", "lacks the materials 'Paint.001'"),
    "a picture": ([("image.create", {"name": "Small", "size": [4, 4]}),
                   ("material.ensure_principled", {"name": "Paint.001", "textures": {"base_color": "Small"}})],
                  "usdz", "with 4 by 4 pixels instead of 16 by 8"),
}  # fmt: skip
# One of each profile; all of them in make test-slow.
QUICK = {"triangles", "scale", "a picture"}


ENGINE_CALLS = SCENE


def export(engine: Engine, name: str, profile: str | None, **args: Any) -> Outcome:
    before = engine.scene.hash
    outcome = engine.call("file.export", {"path": str(engine.place / name), "profile": profile, **args})
    assert engine.full_hash() == before and engine.journal.recovery.quarantine() is None
    return outcome


@pytest.mark.parametrize(
    ("name", "profile"),
    [("a.glb", "game"), ("a.fbx", "game"), ("a.usdz", "film"), ("a.abc", "film"), ("a.stl", "print")],
)
def test_a_file_that_holds_what_the_scene_does_is_delivered_and_says_what_that_is(
    engine: Engine, name: str, profile: str
) -> None:
    outcome = export(engine, name, profile)
    assert outcome.ok, outcome.findings
    result = outcome.result or {}
    holds = result["holds"]
    assert result["proven"] and (engine.place / name).stat().st_size == result["bytes"]
    assert holds["triangles"] == 2 * 12 + 48
    # In metres, whatever the unit of the file is.
    assert holds["low"] == pytest.approx([-1, -1, -1], abs=1e-4)
    assert holds["high"] == pytest.approx([5.5, 6, 7.5], abs=1e-4)
    if profile == "game":
        assert (holds["shapes"], holds["materials"]) == (["Ball.001", "Box"], ["Paint.001", "Plain"])
    if name in ("a.glb", "a.fbx", "a.usdz"):
        (texture,) = holds["textures"]
        assert (texture["input"], texture["width"], texture["height"]) == ("Base Color", 16, 8)
    if profile == "print":
        assert holds["open_edges"] == 0
        # The file itself is in millimetres.
        assert max(_heights(engine.place / name)) == pytest.approx(7500)


@pytest.mark.parametrize("name", ["t.glb", "t.fbx"])
def test_faces_of_texts_and_curves_count_once(engine: Engine, name: str) -> None:
    head = engine.head().number
    engine.do("text.create", {"body": "XII", "name": "Numeral", "extrude": 0.05, "location": [0, 0, 9]})
    engine.do("curve.create", {"kind": "poly", "name": "Wire", "points": [[0, 0, 9], [1, 1, 9]], "bevel_depth": 0.1})
    outcome = export(engine, name, "game")
    engine.scene.history().checkout(head)
    assert outcome.ok, outcome.findings
    assert len((outcome.result or {})["holds"]["shapes"]) == 4


def _heights(file: Path) -> list[float]:
    triangles = file.read_bytes()[84:]
    return [z for start in range(0, len(triangles), 50) for z in struct.unpack_from("<12f", triangles, start)[5::3]]


@pytest.mark.parametrize(
    "what", [pytest.param(what, marks=() if what in QUICK else pytest.mark.slow) for what in SWAPS]
)
def test_a_file_with_anything_else_in_it_is_not_delivered(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    """The written file is swapped for one of another scene, before the other Blender reads it."""
    changes, extension, said = SWAPS[what]
    profile = {"glb": "game", "fbx": "game", "stl": "print", "usdz": "film"}[extension]
    head = engine.head().number
    for tool, args in changes:
        engine.do(tool, args)
    other = engine.place / f"other-{what.split()[-1]}.{extension}"
    # With a profile: an STL of another unit would differ by that alone.
    written = export(engine, other.name, profile)
    assert written.ok, written.findings
    engine.scene.history().checkout(head)
    bring_over = FileAccess.bring_over

    def swapped(self: FileAccess, staged: Staged, scratch: Path) -> Staged:
        brought = bring_over(self, staged, scratch)
        for place, target in brought.outputs.items():
            shutil.copy(other, place / target.name)
        return brought

    target = engine.place / f"never-{what.split()[-1]}.{extension}"
    with monkeypatch.context() as patched:
        patched.setattr(FileAccess, "bring_over", swapped)
        outcome = export(engine, target.name, profile)
    assert outcome.fault is Fault.VERIFICATION_FAILED
    assert said in outcome.message, outcome.message
    assert all(finding.pointer == "/path" and finding.cure for finding in outcome.findings)
    assert not target.exists()


def test_what_a_format_cannot_hold_is_told_instead_of_left_out(engine: Engine) -> None:
    """A plain .usd names its pictures and does not hold them."""
    outcome = export(engine, "beside.usd", "film")
    assert outcome.fault is Fault.VERIFICATION_FAILED and "'Colours' on Base Color" in outcome.message
    assert ".usdz" in (outcome.findings[0].cure or "")
    assert not (engine.place / "beside.usd").exists()


def test_a_file_that_no_other_blender_reads_is_not_delivered(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    bring_over = FileAccess.bring_over

    def torn(self: FileAccess, staged: Staged, scratch: Path) -> Staged:
        brought = bring_over(self, staged, scratch)
        for place, target in brought.outputs.items():
            file = place / target.name
            file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])
        return brought

    with monkeypatch.context() as patched:
        patched.setattr(FileAccess, "bring_over", torn)
        outcome = export(engine, "torn.glb", "game")
    assert outcome.fault is Fault.VERIFICATION_FAILED and "cannot read the file" in outcome.message
    assert not (engine.place / "torn.glb").exists()
    assert str(engine.place / "scratch") not in outcome.message


def test_a_rehearsal_proves_nothing_and_says_so(engine: Engine) -> None:
    args = {"path": str(engine.place / "rehearsed.glb"), "profile": "game"}
    outcome = engine.call("file.export", args, rehearse="inverse")
    assert not (outcome.result or {"proven": False})["proven"]
    assert not (engine.place / "rehearsed.glb").exists()
