"""Applying modifiers: the mesh becomes what it looked like."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, get_args

import bpy
import pytest

from blendwright.blender.step_modes import HAS_UNDO
from blendwright.tool_api.promises import Determinism
from blendwright.tools.catalog import tools
from blendwright.tools.modifier.settings import ModifierType
from tools.modifier.modifiers import CASES, add

if TYPE_CHECKING:
    from support.stage.stage import Stage


@pytest.mark.parametrize(("settings", "held"), CASES)
def test_applying_makes_the_mesh_what_it_looked_like(
    box: Stage, settings: dict[str, Any], held: dict[str, Any]
) -> None:
    add(box, settings)
    looked = box.do("mesh.measure", {"object": "Box"})
    args = {"object": "Box", "modifier": "It", "type": settings["type"]}
    assert box.call("modifier.apply", args, rehearse="inverse")["reverted_by"] == "inverse"
    result = box.do("modifier.apply", args)
    assert result["stack"] == []
    assert (result["vertices"], result["faces"]) == (looked["vertices"], looked["faces"])
    assert box.do("mesh.measure", {"object": "Box", "evaluated": False}) == looked
    assert bpy.data.objects["Box"].data.name == "Box"
    assert [mesh.name for mesh in bpy.data.meshes if not mesh.name.startswith("~")] == ["Ball", "Box"]


def test_applying_keeps_materials_properties_groups_and_the_other_modifiers(box: Stage) -> None:
    obj = bpy.data.objects["Box"]
    mesh: Any = obj.data
    for name in ("Red", "Blue"):
        mesh.materials.append(bpy.data.materials.new(name))
    mesh.polygons[2].material_index = 1
    mesh["note"] = "kept"
    obj.vertex_groups.new(name="Top").add([0], 0.5, "REPLACE")
    box.state.refresh()
    add(box, {"type": "ARRAY", "count": 2}, "Row")
    add(box, {"type": "SUBSURF", "levels": 1}, "Smooth")
    args = {"object": "Box", "modifier": "Row", "type": "ARRAY"}
    if HAS_UNDO:
        assert box.call("modifier.apply", args, rehearse="memfile")["reverted_by"] == "memfile"
    assert box.do("modifier.apply", args) == {
        "object": "Box",
        "mesh": "Box",
        "vertices": 16,
        "faces": 12,
        "stack": ["Smooth"],
    }
    obj = bpy.data.objects["Box"]
    mesh = obj.data
    assert [material.name for material in mesh.materials] == ["Red", "Blue"]
    assert [face.material_index for face in mesh.polygons].count(1) == 2
    assert mesh["note"] == "kept"
    assert obj.vertex_groups.keys() == ["Top"]
    assert mesh.vertices[8].groups[0].weight == 0.5


def test_only_the_first_working_modifier_is_applied(box: Stage) -> None:
    add(box, {"type": "ARRAY"}, "First")
    add(box, {"type": "SUBSURF"}, "Second")
    args = {"object": "Box", "modifier": "Second", "type": "SUBSURF"}
    (finding,) = box.refusal("modifier.apply", args)
    assert (finding["code"], finding["pointer"]) == ("SCENE_CONFLICT", "/modifier")
    assert finding["cure"] == "Apply or remove 'First' first."
    box.do("modifier.set", {"object": "Box", "modifier": "First", "show_viewport": False})
    assert box.do("modifier.apply", args)["stack"] == ["First"]


def test_a_modifier_that_is_switched_off_can_be_applied(box: Stage) -> None:
    add(box, {"type": "ARRAY", "count": 3}, show_viewport=False)
    assert box.do("modifier.apply", {"object": "Box", "modifier": "It", "type": "ARRAY"})["vertices"] == 24


def test_a_shared_mesh_is_applied_to_only_as_a_mesh_of_its_own(box: Stage) -> None:
    twin = bpy.data.objects.new("Twin", bpy.data.meshes["Box"])
    bpy.context.scene.collection.objects.link(twin)
    box.state.refresh()
    add(box, {"type": "ARRAY", "count": 2})
    args = {"object": "Box", "modifier": "It", "type": "ARRAY"}
    (finding,) = box.refusal("modifier.apply", args)
    assert (finding["code"], finding["pointer"]) == ("SCENE_CONFLICT", "/make_single_user")
    (finding,) = box.refusal("modifier.apply", {**args, "make_single_user": True})
    assert (finding["code"], finding["pointer"]) == ("SCENE_CONFLICT", "/mesh_name")
    own = {**args, "make_single_user": True, "mesh_name": "Own"}
    assert box.call("modifier.apply", own, rehearse="inverse")["reverted_by"] == "inverse"
    assert box.do("modifier.apply", own)["mesh"] == "Own"
    assert bpy.data.objects["Box"].data.name == "Own"
    assert bpy.data.objects["Twin"].data.name == "Box"
    assert len(bpy.data.meshes["Box"].vertices) == 8


def test_a_mesh_that_only_has_a_fake_user_beside_its_object_is_not_shared(box: Stage) -> None:
    bpy.data.meshes["Box"].use_fake_user = True
    box.state.refresh()
    add(box, {"type": "ARRAY", "count": 2})
    box.do("modifier.apply", {"object": "Box", "modifier": "It", "type": "ARRAY"})
    assert bpy.data.meshes["Box"].use_fake_user


def test_shape_keys_keep_a_modifier_from_being_applied(box: Stage) -> None:
    bpy.data.objects["Box"].shape_key_add(name="Basis")
    box.state.refresh()
    add(box, {"type": "ARRAY"})
    (finding,) = box.refusal("modifier.apply", {"object": "Box", "modifier": "It", "type": "ARRAY"})
    assert (finding["code"], finding["pointer"]) == ("SCENE_CONFLICT", "/object")


def test_the_declared_type_decides_what_is_promised_and_must_be_true(box: Stage) -> None:
    tool = tools()["modifier.apply"]
    promises: dict[str, tuple[Determinism, bool]] = {}
    for kind in get_args(ModifierType):
        args = tool.args_model.model_validate({"object": "Box", "modifier": "It", "type": kind})
        promises[kind] = (tool.determinism_for(args), tool.replayable_for(args))
    unstable = {kind for kind, promise in promises.items() if promise == (Determinism.NONDETERMINISTIC, False)}
    assert unstable == {"BOOLEAN", "BEVEL"}
    assert all(promises[kind] == (Determinism.DETERMINISTIC, True) for kind in promises.keys() - unstable)
    add(box, {"type": "BEVEL"})
    (finding,) = box.refusal("modifier.apply", {"object": "Box", "modifier": "It", "type": "ARRAY"})
    assert (finding["code"], finding["pointer"]) == ("SCENE_CONFLICT", "/type")


def test_a_mesh_that_is_not_shared_keeps_its_name(box: Stage) -> None:
    add(box, {"type": "ARRAY", "count": 2})
    args = {"object": "Box", "modifier": "It", "type": "ARRAY"}
    (finding,) = box.refusal("modifier.apply", {**args, "mesh_name": "Other"})
    assert (finding["code"], finding["pointer"]) == ("ARGS_INVALID", "/mesh_name")
    assert box.do("modifier.apply", {**args, "mesh_name": "Box"})["mesh"] == "Box"


MAKERS = [
    ([("GeometryNodeMeshToCurve", "Mesh", "Curve")], "GeometryNodeCurveToMesh"),
    ([("GeometryNodeMeshToPoints", "Mesh", "Points")], "GeometryNodePointsToVertices"),
    ([("GeometryNodeMeshToVolume", "Mesh", "Volume")], "GeometryNodeVolumeToMesh"),
    ([("GeometryNodeGeometryToInstance", "Geometry", "Instances")], "GeometryNodeRealizeInstances"),
]


@pytest.mark.parametrize(("chain", "cure"), MAKERS)
def test_nodes_that_make_what_a_mesh_cannot_hold_are_not_applied(
    box: Stage, chain: list[tuple[str, str, str]], cure: str
) -> None:
    _chain(box, chain)
    (finding,) = box.refusal("modifier.apply", {"object": "Box", "modifier": "It", "type": "NODES"})
    assert (finding["code"], finding["pointer"]) == ("SCENE_CONFLICT", "/modifier")
    assert cure in finding["cure"]
    mesh: Any = bpy.data.objects["Box"].data
    assert len(mesh.vertices) == 8


def test_a_later_modifier_does_not_hide_what_the_first_would_lose(box: Stage) -> None:
    _chain(box, [("GeometryNodeGeometryToInstance", "Geometry", "Instances")])
    _chain(box, [("GeometryNodeRealizeInstances", "Geometry", "Geometry")], "After")
    assert box.refusal("modifier.apply", {"object": "Box", "modifier": "It", "type": "NODES"})
    assert [modifier.show_viewport for modifier in bpy.data.objects["Box"].modifiers] == [True, True]


def test_nodes_that_end_with_a_mesh_or_with_nothing_are_applied(box: Stage) -> None:
    _chain(
        box,
        [
            ("GeometryNodeGeometryToInstance", "Geometry", "Instances"),
            ("GeometryNodeRealizeInstances", "Geometry", "Geometry"),
        ],
    )
    args = {"object": "Box", "modifier": "It", "type": "NODES"}
    assert box.do("modifier.apply", args)["vertices"] == 8
    _chain(box, [("GeometryNodeDeleteGeometry", "Geometry", "Geometry")])
    assert box.do("modifier.apply", args)["vertices"] == 0


def _chain(stage: Stage, chain: list[tuple[str, str, str]], modifier: str = "It") -> None:
    """A tree that sends the geometry through nodes, each by one input and one output."""
    operations: list[dict[str, Any]] = []
    source = {"node_id": "group_input", "socket": "Geometry"}
    for number, (idname, into, out) in enumerate(chain):
        name = f"n{number}"
        operations.append({"op": "create_node", "node_id": name, "bl_idname": idname})
        operations.append({"op": "link", "from": source, "to": {"node_id": name, "socket": into}})
        source = {"node_id": name, "socket": out}
    operations.append({"op": "link", "from": source, "to": {"node_id": "group_output", "socket": "Geometry"}})
    named = f"{modifier} {chain[0][0]}"
    target = {"object_name": "Box", "modifier_name": modifier, "node_group_name": named}
    stage.do("geonodes.node_tree", {"target": target, "operations": operations})
