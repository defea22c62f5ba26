"""blendwright look: closer looks, a reference, and what a commit changed to the eye."""

from __future__ import annotations

from pathlib import Path

import pytest
from PIL import Image

import blendwright
from blendwright.views.before_and_after import look_back_in
from support.processes.shell import Shell


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A box, then a ball beside it; no camera."""
    place = tmp_path_factory.mktemp("looked")
    with blendwright.open(place, roots=[place], spare=False) as scene:
        assert scene.call("mesh.create_primitive", kind="cube", name="Box").ok
        assert scene.call("mesh.create_primitive", kind="uv_sphere", name="Ball", location=[3, 0, 0]).ok
    return place


def picture(file: Path) -> Image.Image:
    with Image.open(file) as opened:
        return opened.convert("RGB")


def test_names_a_reference_and_a_commit_are_looked_at(shell: Shell, workspace: Path) -> None:
    here = ("--workspace", str(workspace), "--width", "160", "--json")
    named = shell("look", "--show", "names", "--image", "named.png", *here, code=0).document
    assert {one["object"] for one in named["seen"]} == {"Box", "Ball"} and named["unseen"] == []
    assert picture(shell.place / "named.png").size == (160, 120), "from a corner, where there is no camera"
    same = shell("look", "--image", "plain.png", *here, code=0).document
    assert same["seen"] is None
    compared = shell("look", "--reference", "plain.png", "--image", "compared.png", *here, code=0).document
    assert compared["differing"] == 0.0 and compared["silhouette_iou"] > 0.95
    seen = shell("look", "--before", "2", "--image", "back.png", *here, code=0).document
    assert (seen["before"], seen["after"]) == (2, 3) and seen["silhouette_iou"] < 0.9 and seen["differing"] > 0.02
    sheet = picture(shell.place / "back.png")
    third = sheet.width // 3
    # The box stays where it is: what differs is on its right.
    left, right = (
        sheet.crop((2 * third + at, 30, 2 * third + at + third // 2, sheet.height)) for at in (0, third // 2)
    )
    assert max(right.convert("L").tobytes()) > 60 and sum(left.convert("L").tobytes()) < sum(
        right.convert("L").tobytes()
    )
    with blendwright.open(workspace, roots=[workspace], spare=False) as scene:
        found = look_back_in(scene, 2, 3)
        assert found.ok and Path(found.artifacts[0]).parent == workspace / "artifacts"


def test_what_cannot_be_looked_at_is_refused_with_a_cure(shell: Shell, workspace: Path) -> None:
    here = ("--workspace", str(workspace), "--json")
    assert (
        "--reference" in shell("look", "--before", "2", "--reference", "a.png", *here, code=2).document["error"]["cure"]
    )
    assert shell("look", "--before", "77", *here, code=2).document["error"]["message"].count("77")
    assert shell("look", "--image", "look.jpg", *here, code=2).document["error"]["cure"]
    assert "/nowhere/a.png" in shell("look", "--reference", "/nowhere/a.png", *here, code=2).out
    assert not (shell.place / "look.png").exists()


LIT = "This preview is lit by a grey sky that the scene does not have. The scene has no light"


def test_a_look_with_light_and_shadow_where_there_is_none_is_lit_and_says_so(shell: Shell, workspace: Path) -> None:
    here = ("--workspace", str(workspace), "--width", "64", "--engine", "cycles")
    shown = shell("look", "--image", "dark.png", *here, code=0)
    assert shown.err.count(f"note: {LIT}") == 1 and "light.create" in shown.err
    assert max(picture(shell.place / "dark.png").convert("L").tobytes()) > 100
    told = shell("look", "--image", "dark.png", "--json", *here, code=0)
    assert LIT in told.document["notes"][0]
    shell("look", "--image", "plain.png", "--width", "64", "--workspace", str(workspace), code=0)
    compared = shell("look", "--reference", "plain.png", "--image", "compared.png", *here, code=0)
    assert f"note: {LIT}" in compared.err
    seen = shell("look", "--before", "2", "--image", "back.png", *here, code=0)
    assert f"note: commit 3: {LIT}" in seen.err and f"note: commit 2: {LIT}" in seen.err
    quick = ("--engine", "WORKBENCH", "--view", "ISO")  # as the note and the tools spell it
    lit = shell("look", "--image", "light.png", "--workspace", str(workspace), "--width", "64", *quick, code=0)
    assert "note:" not in lit.err, "the quick engine has light of its own"


DARK = """
box = mesh.create_primitive(kind="cube", name="Box")
eye = camera.create(name="Eye", location=[4, -6, 4], rotation_euler_deg=[60, 0, 34])
camera.set_active(object=eye)
render.still(resolution=[32, 24], samples=1, artifact="made.png")
"""


def test_a_plan_and_its_pictures_say_why_they_are_black(shell: Shell) -> None:
    """The picture of a preview, that of a run, and one that the plan itself renders."""
    (shell.place / "dark.star").write_text('scene.set_render(engine="CYCLES", samples=1, resolution=[64, 48])' + DARK)
    shown = shell("preview", "dark.star", "--image", "dark.png", code=0)
    assert f"note: {LIT}" in shown.err
    ran = shell("run", "dark.star", "--image", "dark.png", code=0)
    assert ran.err.count("note: The scene has no light") >= 1
    again = shell("run", "dark.star", "--image", "dark.png", "--json", code=0)
    assert "The scene has no light" in again.document["report"]["notes"][0]
    call = shell("call", "render.still", "--args", '{"samples": 1, "resolution": [32, 24]}', code=0)
    assert "The scene has no light" in call.out
