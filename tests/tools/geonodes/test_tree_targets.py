"""Where a geometry-nodes tree is built: what is found, created, refused, and left alone by a failure."""

from __future__ import annotations

from typing import Any

import pytest

from support.stage.stage import Stage
from support.trees.node_trees import (
    CUBE,
    IN,
    NOISE,
    OUT,
    attempt,
    build,
    group_io,
    link,
    node,
    number,
    patch,
    payload,
    tree,
    value,
    ways,
)

# ---------------------------------------------------------------------- targets


@pytest.mark.proves("GN-TREE-01")
def test_a_new_tree_hands_its_geometry_through_and_everything_missing_is_created(stage: Stage) -> None:
    made = build(stage)
    assert made["created"] == ["object", "modifier", "node_group"]
    assert [(each.from_node.name, each.to_node.name) for each in tree().links] == [("group_input", "group_output")]
    import bpy

    thing: Any = bpy.data.objects["Thing"]
    assert thing.modifiers["Nodes"].node_group == tree()
    assert len(thing.data.vertices) == 0


def test_an_object_is_not_created_unless_that_is_allowed(stage: Stage) -> None:
    asked = payload([])
    del asked["target"]["allow_create_object"]
    (finding,) = stage.refusal("geonodes.node_tree", asked)
    assert (finding["pointer"], finding["code"]) == ("/target/object_name", "TARGET_NOT_FOUND")


@pytest.mark.proves("GN-OPS-02")
def test_a_patch_needs_leave_to_create_the_modifier(stage: Stage) -> None:
    stage.do("mesh.create_primitive", {"kind": "cube", "name": "Thing"})
    asked = patch([{"op": "ensure_single_group_io"}])
    asked["ops"].pop(0)
    (finding,) = stage.refusal("geonodes.patch", asked)
    assert finding["pointer"] == "/target/modifier_name"


def test_leave_to_create_the_object_is_no_leave_to_create_the_modifier(stage: Stage) -> None:
    import bpy

    groups: Any = bpy.data.node_groups
    groups.new("Shader", "ShaderNodeTree").use_fake_user = True
    stage.state.refresh()
    asked = patch([{"op": "ensure_single_group_io"}], "New")
    asked["ops"][0] = {"op": "ensure_target", "allow_create_object": True}
    (finding,) = stage.refusal("geonodes.patch", asked)
    assert (finding["pointer"], finding["code"]) == ("/target/modifier_name", "TARGET_NOT_FOUND")
    assert "allow_create_modifier" in finding["cure"]
    asked["target"]["modifier_name"] = "m" * 80
    asked["target"]["node_group_name"] = "Shader"
    pointers = [finding["pointer"] for finding in stage.refusal("geonodes.patch", asked)]
    assert pointers == ["/target/modifier_name", "/target/modifier_name", "/target/node_group_name"]


def test_things_of_another_type_under_the_names_are_refused(stage: Stage) -> None:
    stage.do("object.create_empty", {"name": "Thing"})
    assert attempt(stage)[0]["pointer"] == "/target/object_name"
    stage.do("mesh.create_primitive", {"kind": "cube", "name": "Box"})
    stage.do("modifier.add", {"object": "Box", "name": "Nodes", "settings": {"type": "ARRAY"}})
    assert attempt(stage, name="Box")[0]["pointer"] == "/target/modifier_name"


def test_the_inputs_of_a_modifier_start_with_the_defaults_of_the_group(stage: Stage) -> None:
    build(stage, group_io([number("Height", default=3.0, min=0.5, max=10.0)]))
    build(stage, group_io([number("Width", default=7.0)]))
    held = {each["name"]: each["value"] for each in stage.do("geonodes.inspect", {"object_name": "Thing"})["inputs"]}
    assert held == {"Height": 3.0, "Width": 7.0}


def test_a_changed_interface_reaches_other_objects_and_groups_that_use_the_tree(stage: Stage) -> None:
    build(stage)
    build(stage, node("inner", "GeometryNodeGroup", node_tree="GN_Thing"), name="Outer")
    stage.do(
        "geonodes.node_tree",
        {**payload([], "Twin"), "target": {**payload([], "Twin")["target"], "node_group_name": "GN_Thing"}},
    )
    asked = payload([group_io([number("Height", default=2.0)])])
    for way in ways():
        assert stage.call("geonodes.node_tree", asked, rehearse=way)["reverted_by"] == way
    answer = stage.call("geonodes.node_tree", asked)
    assert sorted(change[1] for change in answer["changes"]) == ["GN_Outer", "GN_Thing", "Thing", "Twin"]
    assert [socket.name for socket in tree("GN_Outer").nodes["inner"].inputs] == ["Geometry", "Height"]
    assert stage.do("geonodes.inspect", {"object_name": "Twin"})["inputs"][0]["value"] == 2.0


def test_links_to_a_socket_that_goes_come_back_with_it(stage: Stage) -> None:
    build(stage, group_io([number("Height")]))
    outer = node("inner", "GeometryNodeGroup", node_tree="GN_Thing"), node("noise", NOISE)
    build(stage, *outer, link(("noise", "Fac"), ("inner", "Height")), value("inner", "Height", 4.0), name="Outer")
    asked = payload([group_io(None, remove_inputs=["Height"])])
    for way in ways():
        assert stage.call("geonodes.node_tree", asked, rehearse=way)["reverted_by"] == way
        assert tree("GN_Outer").nodes["inner"].inputs["Height"].is_linked
    stage.do("geonodes.node_tree", asked)
    assert len(tree("GN_Outer").links) == 1


# ---------------------------------------------------------------------- all or nothing


@pytest.mark.proves("GN-TREE-02")
def test_a_failed_operation_leaves_the_old_tree_untouched(stage: Stage) -> None:
    build(stage, node("box", CUBE), link(("box", "Mesh"), OUT))
    held = tree().as_pointer()
    (finding,) = attempt(
        stage, node("ball", "GeometryNodeMeshUVSphere"), link(("ball", "Mesh"), ("nobody", "Geometry"))
    )
    assert finding["pointer"] == "/operations/1/to/node_id"
    assert tree().as_pointer() == held
    assert "ball" not in tree().nodes
    for way in ways():
        again = stage.call("geonodes.node_tree", payload(node("ball", "GeometryNodeMeshUVSphere")), rehearse=way)
        assert again["reverted_by"] == way
        assert "ball" not in tree().nodes


def test_an_operation_that_was_done_cannot_be_done_again(stage: Stage) -> None:
    build(stage, node("box", CUBE))
    assert attempt(stage, node("box", CUBE))[0]["pointer"] == "/operations/0/node_id"
    gone = {"op": "delete_node", "node_id": "box"}
    build(stage, gone)
    assert attempt(stage, gone)[0]["code"] == "TARGET_NOT_FOUND"
    assert (
        attempt(stage, link(IN, ("group_output", "Geometry"), "unlink"), link(IN, OUT, "unlink"))[0]["pointer"]
        == "/operations/1"
    )
