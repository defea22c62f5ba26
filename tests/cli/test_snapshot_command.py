"""blendwright snapshot: a scene, page by page."""

from __future__ import annotations

from pathlib import Path

import pytest

import blendwright
from support.processes.shell import Shell


@pytest.fixture(scope="module")
def boxes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A .blend file with a cube and an empty."""
    place = tmp_path_factory.mktemp("boxes")
    with blendwright.open(place, roots=[place], spare=False) as scene:
        assert scene.call("mesh.create_primitive", kind="cube", name="Box").ok
        assert scene.call("object.create_empty", name="Pivot", location=[1, 2, 3]).ok
        assert scene.call("file.export", path=str(place / "boxes.blend")).ok
    return place / "boxes.blend"


def test_a_snapshot_is_one_canonical_document(shell: Shell, boxes: Path) -> None:
    first = shell("snapshot", "--scene", str(boxes), "--json", code=0)
    assert [entry["name"] for entry in first.document["objects"]["items"]] == ["Box", "Pivot"]
    assert first.document["fingerprint"]
    assert shell("snapshot", "--scene", str(boxes), "--json", code=0).out == first.out


def test_a_snapshot_for_people_lists_objects_and_their_number(shell: Shell, boxes: Path) -> None:
    spoken = shell("snapshot", "--scene", str(boxes), "--find", "P*", "--limit", "1", code=0).out
    assert "Pivot" in spoken and "(1, 2, 3)" in spoken and "Box" not in spoken
    assert "1 of 1 objects" in spoken


def test_wrong_options_are_refused(shell: Shell) -> None:
    assert shell("snapshot", "--limit", "0", "--json", code=2).document["error"]["code"] == "invalid_arguments"
    assert shell("snapshot", "--scene", "missing.blend", "--json", code=2).document["error"]["message"]
