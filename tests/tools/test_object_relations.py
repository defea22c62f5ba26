"""Objects among each other: parents, children, and what a deletion leaves behind."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import bpy
import pytest

from blendwright.blender.step_modes import HAS_UNDO
from tools.objects import box, empty, named

if TYPE_CHECKING:
    from support.stage.stage import Stage

TURNED: dict[str, Any] = {"location": [1, 2, 3], "rotation_euler_deg": [10, 20, 30], "scale": [2, 1, 0.5]}
EVEN: dict[str, Any] = {**TURNED, "scale": [2, 2, 2]}


def world(obj: Any) -> list[float]:
    bpy.context.view_layer.update()
    return [value for row in obj.matrix_world for value in row]


# ---------------------------------------------------------------------- set_parent


def test_a_child_stays_in_place_when_it_gets_changes_and_loses_its_parent(stage: Stage) -> None:
    box(stage, **TURNED)
    box(stage, "Other", location=[-4, 0, 0], rotation_euler_deg=[0, 0, 90])
    tip = empty(stage, "Tip", location=[0, 0, 5])
    before = world(tip)
    for parent in ("Box", "Other", None):
        stage.do("object.set_parent", {"object": "Tip", "parent": parent})
        assert world(tip) == pytest.approx(before, abs=1e-5)
    assert tip.parent is None


def test_without_keep_transform_the_channels_count_from_the_parent(stage: Stage) -> None:
    box(stage, location=[1, 0, 0])
    tip = empty(stage, "Tip", location=[0, 0, 5])
    result = stage.do("object.set_parent", {"object": "Tip", "parent": "Box", "keep_transform": False})
    assert tuple(tip.location) == (0, 0, 5)
    assert [row[3] for row in result["matrix_world"]] == [1, 0, 5, 1]


def test_reverting_restores_the_parent_inverse(stage: Stage) -> None:
    box(stage, **TURNED)
    empty(stage, "Other")
    empty(stage, "Tip")
    stage.do("object.set_parent", {"object": "Tip", "parent": "Box"})
    for args in ({"parent": "Other"}, {"parent": None, "keep_transform": False}):
        assert (
            stage.call("object.set_parent", {"object": "Tip", **args}, rehearse="inverse")["reverted_by"] == "inverse"
        )


def test_hidden_objects_stay_in_place_too(stage: Stage) -> None:
    box(stage, location=[1, 0, 0])
    tip = empty(stage, "Tip")
    for name in ("Box", "Tip"):
        stage.do("object.set_visibility", {"object": name, "viewport": False})
    stage.do("object.transform", {"object": "Box", "location": [7, 0, 0]})
    stage.do("object.transform", {"object": "Tip", "location": [0, 5, 0]})
    stage.do("object.set_parent", {"object": "Tip", "parent": "Box"})
    for name in ("Box", "Tip"):
        stage.do("object.set_visibility", {"object": name, "viewport": True})
    bpy.context.view_layer.update()
    assert tuple(tip.matrix_world.translation) == pytest.approx((0, 5, 0))


@pytest.mark.parametrize("parent", ["Box", "Tip", "Tip of tip"])
def test_a_cycle_is_refused(stage: Stage, parent: str) -> None:
    box(stage)
    empty(stage, "Tip")
    empty(stage, "Tip of tip")
    stage.do("object.set_parent", {"object": "Tip", "parent": "Box"})
    stage.do("object.set_parent", {"object": "Tip of tip", "parent": "Tip"})
    [finding] = stage.refusal("object.set_parent", {"object": "Box", "parent": parent})
    assert (finding["code"], finding["pointer"]) == ("SCENE_CONFLICT", "/parent")


def test_a_sheared_child_cannot_keep_its_place_alone(stage: Stage) -> None:
    box(stage, scale=[4, 1, 1])
    empty(stage, "Tip", rotation_euler_deg=[0, 0, 45])
    stage.do("object.set_parent", {"object": "Tip", "parent": "Box", "keep_transform": False})
    [finding] = stage.refusal("object.set_parent", {"object": "Tip", "parent": None})
    assert finding["pointer"] == "/keep_transform"
    stage.do("object.set_parent", {"object": "Tip", "parent": None, "keep_transform": False})


def test_a_parent_of_no_size_is_refused(stage: Stage) -> None:
    box(stage, scale=[0, 1, 1])
    empty(stage, "Tip")
    [finding] = stage.refusal("object.set_parent", {"object": "Tip", "parent": "Box"})
    assert finding["pointer"] == "/keep_transform"


def test_clearing_the_parent_has_to_be_said(stage: Stage) -> None:
    assert stage.invalid("object.set_parent", {"object": "Tip"}) == [""]


# ---------------------------------------------------------------------- delete


def test_children_of_a_deleted_object_stay_where_they_are(stage: Stage) -> None:
    box(stage, **EVEN)
    tip = empty(stage, "Tip", location=[0, 0, 5])
    before = world(tip)
    stage.do("object.set_parent", {"object": "Tip", "parent": "Box"})
    stage.do("object.delete", {"object": "Box"})
    assert tip.parent is None
    assert world(tip) == pytest.approx(before, abs=1e-5)


def test_a_child_that_cannot_stay_without_its_parent_keeps_it_from_being_deleted(stage: Stage) -> None:
    empty(stage, "Sheared", scale=[1, 1, 4])
    box(stage, "Box", rotation_euler_deg=[45, 0, 0])
    stage.do("object.set_parent", {"object": "Box", "parent": "Sheared", "keep_transform": False})
    empty(stage, "Moved", location=[5, 0, 0])
    box(stage, "Keyed")
    stage.do("object.set_parent", {"object": "Keyed", "parent": "Moved", "keep_transform": False})
    key = {"object": "Keyed", "channel": "location", "frame": 1, "value": [0, 0, 0]}
    stage.do("animation.set_keyframe", key)
    stage.do("collection.create", {"name": "Props"})
    for name in ("Sheared", "Moved"):
        (finding,) = stage.refusal("object.delete", {"object": name})
        assert (finding["code"], finding["pointer"]) == ("SCENE_CONFLICT", "/children")
        stage.do("collection.link_object", {"object": name, "collection": "Props"})
        stage.do("collection.unlink_object", {"object": name})
    findings = stage.refusal("collection.delete", {"name": "Props", "objects": "delete"})
    assert {finding["pointer"] for finding in findings} == {"/objects"}
    assert len(findings) == 2
    stage.do("collection.delete", {"name": "Props"})
    stage.do("object.delete", {"object": "Moved", "children": "delete"})
    stage.do("object.delete", {"object": "Sheared", "children": "delete"})


def test_an_animated_child_of_a_parent_that_moves_nothing_can_stay(stage: Stage) -> None:
    empty(stage, "Group")
    box(stage)
    stage.do("object.set_parent", {"object": "Box", "parent": "Group"})
    for frame, x in ((1, 0), (11, 10)):
        key = {"object": "Box", "channel": "location", "frame": frame, "value": [x, 0, 0], "interpolation": "LINEAR"}
        stage.do("animation.set_keyframe", key)
    stage.do("object.delete", {"object": "Group"})
    stage.do("animation.set_frame", {"frame": 6})
    bpy.context.view_layer.update()
    assert named("Box").matrix_world.translation.x == pytest.approx(5.0)


def test_a_constrained_child_stays_in_place_or_the_deletion_is_taken_back(stage: Stage) -> None:
    for name, owner_space in (("Free", "WORLD"), ("Held", "LOCAL")):
        empty(stage, f"{name} parent", location=[0, 0, 5])
        box(stage, name, location=[0, 0, 2])
        stage.do("object.set_parent", {"object": name, "parent": f"{name} parent", "keep_transform": False})
        limit = named(name).constraints.new("LIMIT_LOCATION")
        limit.owner_space = owner_space
        limit.use_max_z, limit.max_z = True, 3.0
        stage.state.refresh()
    bpy.context.view_layer.update()
    assert [named(name).matrix_world.translation.z for name in ("Free", "Held")] == pytest.approx([3.0, 7.0])
    stage.do("object.delete", {"object": "Free parent"})
    bpy.context.view_layer.update()
    assert named("Free").matrix_world.translation.z == pytest.approx(3.0)
    (finding,) = stage.refusal("object.delete", {"object": "Held parent"})
    assert (finding["code"], finding["pointer"]) == ("SCENE_CONFLICT", "/children")
    assert named("Held").parent == named("Held parent")


@pytest.mark.parametrize("children", ["keep_place", "delete"])
def test_reverting_a_deletion_restores_the_parent_inverse_of_its_children(stage: Stage, children: str) -> None:
    box(stage, **TURNED)
    empty(stage, "Tip")
    stage.do("object.set_parent", {"object": "Tip", "parent": "Box"})
    args = {"name": "Box", "children": children}
    assert stage.call("object.delete", args, rehearse="inverse")["reverted_by"] == "inverse"


def test_shape_keys_go_with_their_mesh(stage: Stage) -> None:
    obj = box(stage)
    obj.shape_key_add(name="Basis")
    obj.shape_key_add(name="Up").value = 0.5
    stage.state.refresh()
    assert stage.call("object.delete", {"object": "Box"}, rehearse="inverse")["reverted_by"] == "inverse"
    stage.do("object.delete", {"object": "Box"})


def test_data_goes_with_its_last_object_only(stage: Stage) -> None:
    box(stage)
    stage.do("object.duplicate", {"object": "Box", "new_name": "Twin"})
    assert stage.do("object.delete", {"object": "Box"})["removed"] == ["objects/Box"]
    assert stage.do("object.delete", {"object": "Twin"})["removed"] == ["objects/Twin", "meshes/Box"]


KINDS = {
    "armatures": (),
    "cameras": (),
    "curves": ("CURVE",),
    "hair_curves": (),
    "lattices": (),
    "lightprobes": ("SPHERE",),
    "lights": ("POINT",),
    "metaballs": (),
    "pointclouds": (),
    "speakers": (),
    "volumes": (),
}


@pytest.mark.parametrize("kind", KINDS)
def test_data_of_every_type_goes_with_its_last_object_and_so_do_actions(stage: Stage, kind: str) -> None:
    blocks: Any = getattr(bpy.data, kind)
    if not hasattr(blocks, "new"):
        pytest.skip("Blender makes none by itself")
    objects: Any = bpy.data.objects
    obj = objects.new("Thing", blocks.new("Data", *KINDS[kind]))
    bpy.context.scene.collection.objects.link(obj)
    obj.keyframe_insert("location", frame=1)
    obj.data["level"] = 1.0
    obj.data.keyframe_insert('["level"]', frame=1)
    names = sorted(action.name for action in bpy.data.actions)
    stage.state.refresh()
    for way in ("inverse", "memfile") if HAS_UNDO else ("inverse",):
        assert stage.call("object.delete", {"object": "Thing"}, rehearse=way)["reverted_by"] == way
    assert stage.call("object.delete", {"object": "Thing", "keep_data": True}, rehearse="inverse")["ok"]
    removed = stage.do("object.delete", {"object": "Thing"})["removed"]
    assert removed[:2] == ["objects/Thing", f"{kind}/Data"]
    assert sorted(removed[2:]) == [f"actions/{name}" for name in names]


def test_an_object_can_be_made_keyframed_deleted_and_made_again(stage: Stage) -> None:
    key = {"object": "Box", "channel": "location", "frame": 1, "value": [0, 0, 0]}
    for _ in range(2):
        box(stage)
        stage.do("animation.set_keyframe", key)
        mesh: Any = named("Box").data
        named("Box").shape_key_add(name="Basis")
        named("Box").shape_key_add(name="Tall").keyframe_insert("value", frame=1)
        shape = mesh.shape_keys.animation_data.action.name
        stage.state.refresh()
        removed = stage.do("object.delete", {"object": "Box"})["removed"]
        assert sorted(removed) == sorted(["objects/Box", "meshes/Box", "actions/BoxAction", f"actions/{shape}"])


def test_an_action_that_another_uses_or_that_is_to_be_kept_stays(stage: Stage) -> None:
    for name in ("Box", "Twin", "Kept"):
        box(stage, name)
    for name in ("Box", "Kept"):
        stage.do("animation.set_keyframe", {"object": name, "channel": "location", "frame": 1, "value": [0, 0, 0]})
    track = named("Twin").animation_data_create().nla_tracks.new()
    track.strips.new("Strip", 1, bpy.data.actions["BoxAction"])
    bpy.data.actions["KeptAction"].use_fake_user = True
    stage.state.refresh()
    assert stage.do("object.delete", {"object": "Box"})["removed"] == ["objects/Box", "meshes/Box"]
    assert stage.do("object.delete", {"object": "Kept"})["removed"] == ["objects/Kept", "meshes/Kept"]
    removed = stage.do("object.delete", {"object": "Twin"})["removed"]
    assert removed == ["objects/Twin", "meshes/Twin", "actions/BoxAction"]


def test_an_image_shown_by_a_deleted_empty_stays(stage: Stage) -> None:
    obj = empty(stage, "Reference")
    image: Any = bpy.data.images.new("Plan", 4, 4)
    obj.empty_display_type = "IMAGE"
    obj.data = image
    stage.state.refresh()
    assert stage.do("object.delete", {"object": "Reference"})["removed"] == ["objects/Reference"]
    assert "Plan" in bpy.data.images


def test_a_child_whose_parent_is_removed_from_under_it_gets_the_parent_inverse_back(stage: Stage) -> None:
    """What the port does by itself, for tools that remove objects without a thought for children."""
    from blendwright.blender.scene import BpyScene

    box(stage, **TURNED)
    empty(stage, "Tip")
    stage.do("object.set_parent", {"object": "Tip", "parent": "Box"})
    before = stage.state.root()
    scene = BpyScene(stage.state, {}, stage.scratch)
    scene.remove(named("Box"))
    scene.undo_log.seal()
    assert named("Tip").parent is None
    scene.undo_log.revert()
    assert stage.state.root() == stage.state.full_root() == before


# ---------------------------------------------------------------------- creating what is there already


@pytest.mark.parametrize(
    ("tool", "args", "pointer"),
    [
        ("object.transform", {"object": "Box", "rotation_quaternion": [0.7, 0, 0.7, 0]}, "/rotation_euler_deg"),
        ("object.set_parent", {"object": "Box", "parent": "Pivot", "keep_transform": False}, "/parent"),
        ("mesh.shade", {"object": "Box", "shading": "smooth"}, "/name"),
    ],
)
def test_an_object_that_was_changed_is_not_the_one_that_would_be_created(
    stage: Stage, tool: str, args: dict[str, Any], pointer: str
) -> None:
    empty(stage, location=[0, 0, 9])
    box(stage)
    assert stage.do("mesh.create_primitive", {"kind": "cube", "name": "Box"})["created"] is False
    stage.do(tool, args)
    for again in ("mesh.create_primitive", "mesh.create"):
        made = {"kind": "cube"} if again == "mesh.create_primitive" else {"vertices": [[0, 0, 0]]}
        findings = stage.refusal(again, {"name": "Box", **made})
        assert {finding["code"] for finding in findings} == {"SCENE_CONFLICT"}
        assert pointer in [finding["pointer"] for finding in findings[1:]]


def test_an_empty_with_a_parent_is_not_the_one_that_would_be_created(stage: Stage) -> None:
    box(stage)
    empty(stage)
    stage.do("object.set_parent", {"object": "Pivot", "parent": "Box", "keep_transform": False})
    findings = stage.refusal("object.create_empty", {"name": "Pivot"})
    assert "its parent is 'Box', not None" in [finding["message"] for finding in findings]


def test_an_object_that_is_found_is_told_with_the_data_it_has(stage: Stage) -> None:
    box(stage)
    stage.do("object.rename", {"object": "Box", "new_name": "Crate"})
    made = stage.do("mesh.create_primitive", {"kind": "cube", "name": "Crate"})
    assert made == {"object": "Crate", "data": named("Crate").data.name, "created": False}
    assert made["data"] == "Box"
