"""Names in a scene as the journal tells them, and what `validate` says of a plan that uses others."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import blendwright
from blendwright.dialects.registry import parse_plan
from blendwright.workspace.names.journal_names import names_in_scene
from blendwright.workspace.open_scene import OpenScene
from blendwright.workspace.validate import missing_names_beside, validate_plan
from support.plans.documents import box
from support.processes.shell import Shell

ALLOWED = blendwright.RunOptions(approver=blendwright.Approver(grants=frozenset({"destructive"})))
BROKEN = box("a", args={"kind": "cubs", "name": "New"})


def move(id: str, name: str) -> dict[str, Any]:
    return box(id, tool_name="object.transform", args={"object": name, "location": [0, 0, 1]})


def plan(*operations: dict[str, Any]) -> dict[str, Any]:
    return {"request_id": "r", "operations": list(operations)}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("known") / "workspace"


@pytest.fixture(scope="module")
def opened(place: Path) -> Iterator[OpenScene]:
    with blendwright.open(place, roots=[place.parent], spare=False) as scene:
        for name in ("Table", "Chair", "Gone"):
            assert scene.call("mesh.create_primitive", kind="cube", name=name).ok
        assert scene.call("object.rename", object="Chair", new_name="Stool").ok
        assert scene.call("material.ensure_principled", name="Oak").ok
        assert scene.outcome("object.delete", {"object": "Gone"}, ALLOWED).ok
        yield scene


def told(place: Path, *operations: dict[str, Any]) -> list[tuple[str, str]]:
    validation = validate_plan(plan(*operations), place)
    return [(one["pointer"], one["cure"]) for one in validation.about["warnings"]]


def test_the_journal_knows_what_blender_has(opened: OpenScene, place: Path) -> None:
    known = names_in_scene(place)
    assert known is not None
    found: Any = opened.call("scene.find", name="*").result
    assert known["objects"] == {one["name"] for one in found["objects"]} == {"Table", "Stool"}
    assert known["materials"] == {"Oak"} and known["lights"] == frozenset()


@pytest.mark.usefixtures("opened")
def test_names_that_nothing_makes_are_told_beside_other_findings_and_alone(place: Path) -> None:
    missing = [("/operations/1/args/object", "Did you mean 'Table'?")]
    assert told(place, BROKEN, move("b", "Tabel"), move("c", "Stool"), move("d", "New")) == missing
    assert told(place, box("a"), move("b", "Tabel")) == missing
    assert told(place, move("b", "Table")) == []
    assert told(place, move("b", "Chair"))[0][0] == "/operations/0/args/object", "it has another name now"
    broken = parse_plan(plan(BROKEN, move("b", "Tabel")), is_json=True)
    assert [one.pointer for one in missing_names_beside(broken, place)] == ["/operations/1/args/object"]


@pytest.mark.usefixtures("opened")
def test_the_scenes_own_collection_is_always_there(place: Path) -> None:
    link = box("b", tool_name="collection.link_object", args={"object": "Table", "collection": "Scene Collection"})
    assert told(place, link) == [] and validate_plan(plan(link), place).findings == ()


def test_a_scene_that_a_file_brought_is_not_known(opened: OpenScene, place: Path, tmp_path: Path) -> None:
    assert opened.call("file.export", path=str(place.parent / "out.blend")).ok
    with blendwright.open(tmp_path / "other", scene=place.parent / "out.blend", spare=False) as other:
        assert other.call("object.create_empty", name="More").ok
    assert names_in_scene(tmp_path / "other") is None
    assert names_in_scene(tmp_path / "nowhere") is None


def test_a_new_workspace_is_known_to_be_empty_and_run_and_preview_tell_too(tmp_path: Path) -> None:
    shell = Shell(tmp_path)
    shell("new", code=0)
    (shell.place / "bad.star").write_text(
        'mesh.create_primitive(kind="cubs", name="Box")\nobject.transform(object="Nobody", location=[0, 0, 1])\n'
    )
    shown = shell("validate", "bad.star", code=2).out
    assert "ARGS_INVALID bad.star:1:" in shown and "fails when run bad.star:2:" in shown and "'Nobody'" in shown
    for command in ("run", "preview"):
        refused = shell(command, "bad.star", code=2)
        assert "ARGS_INVALID" in refused.out and "fails when run bad.star:2:" in refused.err
    (shell.place / "good.star").write_text('object.transform(object="Nobody", location=[0, 0, 1])\n')
    assert "valid program" in shell("validate", "good.star", code=0).out, "of another scene it may be right"
