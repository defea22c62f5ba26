"""blendwright look: closer looks, a reference, and what a commit changed to the eye."""

from __future__ import annotations

from pathlib import Path

import pytest
from PIL import Image

import blendwright
from shell import Shell


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
        found = scene.look_back(2, 3)
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
