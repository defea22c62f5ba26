"""Pictures that a call names and does not pack: renders and bakes read them where they lie, and what became of them is told."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import blendwright
from blendwright.engine.files.roots import FileRoots
from blendwright.engine.scene.external_files import External, Externals, findings_about
from blendwright.journal import JournalView
from blendwright.policy.policy import Verdict
from blendwright.views.queries import recorded_externals
from support.stage.pictures import png

ORANGE = (255, 128, 0)
SHEET: list[tuple[str, dict[str, Any]]] = [
    ("mesh.create_primitive", {"kind": "plane", "name": "Sheet"}),
    ("uv.unwrap", {"object": "Sheet", "method": "smart"}),
    ("material.ensure_principled", {"name": "Paint", "textures": {"base_color": "Photo"}}),
    ("material.assign", {"object": "Sheet", "material": "Paint"}),
]


def do(scene: Any, tool: str, args: dict[str, Any]) -> dict[str, Any]:
    outcome = scene.outcome(tool, args)
    assert outcome.ok, (tool, outcome.message, outcome.findings)
    return dict(outcome.result or {})


def baked(scene: Any, place: Path, name: str) -> tuple[int, ...]:
    """The colour in the middle of what is baked of the sheet."""
    do(scene, "render.bake", {"object": "Sheet", "type": "DIFFUSE", "image": name, "size": [8, 8], "samples": 1})
    do(scene, "image.save", {"name": name, "path": str(place / f"{name}.png")})
    return _middle(place / f"{name}.png")


def _middle(file: Path) -> tuple[int, ...]:
    import bpy

    image: Any = bpy.data.images.load(str(file))
    pixels, channels = list(image.pixels), image.channels
    width, height = image.size
    start = (height // 2 * width + width // 2) * channels
    bpy.data.images.remove(image)
    return tuple(round(value * 255) for value in pixels[start : start + 3])


def files_of(workspace: Path, root: Path) -> list[External]:
    """What the scene names, as it is today."""
    view = JournalView(workspace)
    reader = Externals(FileRoots({str(root): Verdict.ALLOW}, workspace))
    assert view.recovery.quarantine() is None
    found = [reader.now(each) for each in recorded_externals(view)]
    view.close()
    return found


def test_a_picture_that_is_not_packed_is_in_bakes_and_renders_and_is_found_by_the_next_process(tmp_path: Path) -> None:
    place, workspace = tmp_path / "project", tmp_path / "workspace"
    (place / "tex").mkdir(parents=True)
    photo = png(place / "tex" / "photo.png", ORANGE)
    with blendwright.open(workspace, roots=[place], spare=False) as scene:
        do(scene, "image.load", {"name": "Photo", "path": str(photo), "pack": False})
        for tool, args in SHEET:
            do(scene, tool, args)
        assert baked(scene, place, "First") == pytest.approx(ORANGE, abs=6)
        head = scene.hash
    (recorded,) = files_of(workspace, place)
    assert (recorded.path, recorded.state, recorded.used_by) == (str(photo), "present", ("images/Photo",))
    with blendwright.open(workspace, roots=[place], spare=False) as scene:
        assert scene.hash == head
        assert baked(scene, place, "Second") == pytest.approx(ORANGE, abs=6)
        head = scene.hash
    png(photo, (0, 0, 255))
    with blendwright.open(workspace, roots=[place], spare=False) as scene:
        assert scene.hash == head
        assert baked(scene, place, "Third") == pytest.approx((0, 0, 255), abs=6)
    (changed,) = files_of(workspace, place)
    (finding,) = findings_about([changed])
    assert changed.state == "changed" and "has changed since it was recorded" in finding.message
    photo.unlink()
    photo.symlink_to(png(tmp_path / "secret.png", (9, 9, 9)))
    with blendwright.open(workspace, roots=[place], spare=False) as scene:
        assert baked(scene, place, "Fourth") != pytest.approx((9, 9, 9), abs=6)
    assert files_of(workspace, place)[0].state == "outside_roots"


def test_frames_that_were_kept_are_not_those_of_a_picture_that_has_changed_since(tmp_path: Path) -> None:
    place, seen = tmp_path / "project", list[tuple[int, ...]]()
    place.mkdir()
    photo = png(place / "photo.png", ORANGE)
    with blendwright.open(tmp_path / "workspace", roots=[place], spare=False) as scene:
        do(scene, "image.load", {"name": "Photo", "path": str(photo), "pack": False})
        for tool, args in (*SHEET, ("light.create", {"name": "Sun", "type": "SUN"})):
            do(scene, tool, args)
        do(scene, "scene.set_render", {"engine": "CYCLES", "samples": 1, "resolution": [8, 8]})
        for name, rendered in (("a", 1), ("b", 0), ("c", 1)):
            if name == "c":
                png(photo, (0, 0, 255))
            args = {"frames_path": str(place / f"{name}_#.png"), "view": "TOP", "start": 1, "end": 1}
            assert do(scene, "render.animation", args)["rendered"] == rendered
            seen.append(_middle(place / f"{name}_1.png"))
    first, again, changed = seen
    assert first == again and first[0] > first[2] and changed[2] > changed[0]


def test_pictures_beside_an_imported_file_are_read_inside_the_roots_only(tmp_path: Path) -> None:
    place, workspace = tmp_path / "project", tmp_path / "workspace"
    place.mkdir()
    png(place / "in.png", ORANGE)
    png(tmp_path / "out.png", (0, 255, 0))
    shape = "mtllib {0}.mtl\no {0}\nv -1 -1 0\nv 1 -1 0\nv 1 1 0\nv -1 1 0\nvt 0 0\nvt 1 0\nvt 1 1\nvt 0 1\nusemtl {0}\nf 1/1 2/2 3/3 4/4\n"
    for name, picture in (("in", "in.png"), ("out", "../out.png")):
        (place / f"{name}.obj").write_text(shape.format(name))
        (place / f"{name}.mtl").write_text(f"newmtl {name}\nKd 1 1 1\nmap_Kd {picture}\n")
    with blendwright.open(workspace, roots=[place], spare=False) as scene:
        for name in ("in", "out"):
            do(scene, "file.import", {"path": str(place / f"{name}.obj"), "on_collision": "rename"})
        for name, seen in (("in", True), ("out", False)):
            args = {"object": name, "type": "DIFFUSE", "image": name, "size": [8, 8], "samples": 1}
            do(scene, "render.bake", args)
            do(scene, "image.save", {"name": name, "path": str(place / f"{name}-baked.png")})
            colour = ORANGE if seen else (0, 255, 0)
            assert (_middle(place / f"{name}-baked.png") == pytest.approx(colour, abs=6)) is seen
    states = {Path(each.path).name: each.state for each in files_of(workspace, place)}
    assert states == {"in.png": "present", "out.png": "outside_roots"}
