"""Peculiar behaviour of the collection tools; what holds for all tools is in the conformance suite."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import bpy
import pytest

from blendwright.blender.step_modes import HAS_UNDO
from tools.objects import empty

if TYPE_CHECKING:
    from support.stage.stage import Stage


def collection(name: str) -> Any:
    return bpy.data.collections[name]


def top() -> Any:
    return bpy.context.scene.collection


def nested(stage: Stage) -> None:
    """Outer > Middle > Inner, with an object in Middle and one in Inner."""
    stage.do("collection.create", {"name": "Outer"})
    stage.do("collection.create", {"name": "Middle", "parent": "Outer"})
    stage.do("collection.create", {"name": "Inner", "parent": "Middle"})
    empty(stage, "A", collection="Middle")
    empty(stage, "B", collection="Inner")


# ---------------------------------------------------------------------- create


def test_a_collection_stands_where_it_is_asked_with_its_colour(stage: Stage) -> None:
    stage.do("collection.create", {"name": "Outer"})
    stage.do("collection.create", {"name": "Inner", "parent": "Outer", "color_tag": "COLOR_03"})
    assert top().children.keys() == ["Outer"]
    assert collection("Outer").children.keys() == ["Inner"]
    assert collection("Inner").color_tag == "COLOR_03"


@pytest.mark.parametrize(
    ("args", "pointer"), [({"parent": "Outer"}, "/parent"), ({"color_tag": "COLOR_01"}, "/color_tag")]
)
def test_a_collection_that_is_there_but_different_is_a_conflict(
    stage: Stage, args: dict[str, Any], pointer: str
) -> None:
    stage.do("collection.create", {"name": "Outer"})
    stage.do("collection.create", {"name": "Props"})
    assert stage.do("collection.create", {"name": "Props"})["created"] is False
    taken, different = stage.refusal("collection.create", {"name": "Props", **args})
    assert (taken["code"], taken["pointer"]) == ("SCENE_CONFLICT", "/name")
    assert different["pointer"] == pointer


def test_a_missing_parent_is_named_with_its_cure(stage: Stage) -> None:
    stage.do("collection.create", {"name": "Furniture"})
    [finding] = stage.refusal("collection.create", {"name": "Chairs", "parent": "furniture"})
    assert (finding["code"], finding["pointer"]) == ("TARGET_NOT_FOUND", "/parent")
    assert finding["cure"] == "Did you mean 'Furniture'?"


# ---------------------------------------------------------------------- delete


def test_what_a_deleted_collection_held_moves_up_one_level(stage: Stage) -> None:
    nested(stage)
    args = {"name": "Middle"}
    assert stage.call("collection.delete", args, rehearse="inverse")["reverted_by"] == "inverse"
    if HAS_UNDO:
        assert stage.call("collection.delete", args, rehearse="memfile")["reverted_by"] == "memfile"
    result = stage.do("collection.delete", args)
    assert result["moved"] == ["collections/Inner", "objects/A"]
    assert collection("Outer").children.keys() == ["Inner"]
    assert collection("Outer").objects.keys() == ["A"]
    assert collection("Inner").objects.keys() == ["B"]


def test_deleting_the_objects_spares_those_that_are_also_elsewhere(stage: Stage) -> None:
    nested(stage)
    empty(stage, "C", collection="Middle")
    stage.do("collection.link_object", {"object": "C", "collection": "Outer"})
    args = {"name": "Middle", "objects": "delete"}
    assert stage.call("collection.delete", args, rehearse="inverse")["reverted_by"] == "inverse"
    result = stage.do("collection.delete", args)
    assert result["removed"] == ["collections/Middle", "objects/A"]
    assert collection("Outer").objects.keys() == ["C"]
    assert collection("Inner").objects.keys() == ["B"]


def test_children_of_deleted_objects_stay_in_place(stage: Stage) -> None:
    stage.do("collection.create", {"name": "Props"})
    empty(stage, "Parent", collection="Props", location=[1, 2, 3])
    child = empty(stage, "Child", location=[0, 0, 5])
    stage.do("object.set_parent", {"object": "Child", "parent": "Parent", "keep_transform": False})
    stage.do("collection.delete", {"name": "Props", "objects": "delete"})
    assert child.parent is None
    assert tuple(child.location) == pytest.approx((1, 2, 8))


def test_an_instance_of_a_deleted_collection_forgets_it(stage: Stage) -> None:
    stage.do("collection.create", {"name": "Props"})
    empty(stage, "Prop", collection="Props")
    instance = empty(stage, "Instance")
    instance.instance_type = "COLLECTION"
    instance.instance_collection = collection("Props")
    stage.state.refresh()
    args = {"name": "Props"}
    assert stage.call("collection.delete", args, rehearse="inverse")["reverted_by"] == "inverse"
    stage.do("collection.delete", args)
    assert bpy.data.objects["Instance"].instance_collection is None


# ---------------------------------------------------------------------- link and unlink


def test_an_object_can_be_in_several_collections(stage: Stage) -> None:
    stage.do("collection.create", {"name": "Props"})
    obj = empty(stage, "A")
    assert stage.do("collection.link_object", {"object": "A", "collection": "Props"})["changed"]
    assert not stage.do("collection.link_object", {"object": "A", "collection": "Props"})["changed"]
    assert {home.name for home in obj.users_collection} == {top().name, "Props"}
    assert stage.do("collection.unlink_object", {"object": "A"})["changed"]
    assert [home.name for home in obj.users_collection] == ["Props"]
    assert not stage.do("collection.unlink_object", {"object": "A"})["changed"]


def test_the_last_collection_lets_an_object_go_only_when_that_is_allowed(stage: Stage) -> None:
    obj = empty(stage, "A")
    [finding] = stage.refusal("collection.unlink_object", {"object": "A"})
    assert (finding["code"], finding["pointer"]) == ("SCENE_CONFLICT", "/collection")
    assert "allow_unlinked" in finding["cure"]
    stage.do("collection.unlink_object", {"object": "A", "allow_unlinked": True})
    assert obj.users_collection == ()
    assert obj.use_fake_user, "Blender would drop it on save"
    stage.do("collection.link_object", {"object": "A"})
    assert obj.name in top().objects


def test_missing_objects_and_collections_are_both_reported(stage: Stage) -> None:
    findings = stage.refusal("collection.link_object", {"object": "A", "collection": "Props"})
    assert [finding["pointer"] for finding in findings] == ["/object", "/collection"]


# ---------------------------------------------------------------------- the scene's own collection


def test_the_scenes_own_collection_goes_by_the_name_that_is_reported(stage: Stage) -> None:
    stage.do("mesh.create_primitive", {"kind": "cube", "name": "Box"})
    [own] = stage.do("object.inspect", {"object": "Box"})["collections"]
    stage.do("collection.create", {"name": "Props", "parent": own})
    assert stage.do("mesh.create_primitive", {"kind": "cube", "name": "Crate", "collection": own})["created"]
    assert not stage.do("mesh.create_primitive", {"kind": "cube", "name": "Crate"})["created"]
    assert stage.do("scene.find", {"collection": own})["total"] == 2
    stage.do("collection.link_object", {"object": "Box", "collection": "Props"})
    assert stage.do("collection.unlink_object", {"object": "Box", "collection": own})["changed"]
    assert stage.do("object.inspect", {"object": "Box"})["collections"] == ["Props"]
    assert stage.do("collection.link_object", {"object": "Box", "collection": own})["changed"]
    stage.do("object.duplicate_grid", {"object": "Box", "prefix": "Row", "collection": own})


def test_no_other_collection_takes_the_name_of_the_scenes_own(stage: Stage) -> None:
    own = "Scene Collection"
    [finding] = stage.refusal("collection.create", {"name": own})
    assert (finding["code"], finding["pointer"]) == ("SCENE_CONFLICT", "/name")
    [finding] = stage.refusal("collection.delete", {"name": own})
    assert finding["message"] == "the scene's own collection cannot be deleted"
