"""Modifiers of geometry nodes: which trees they take, and the inputs of these."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import bpy
import pytest

from blendwright.tools.modifier.stored_inputs import menu_items, value_of
from tools.modifier.modifiers import add, modifier

if TYPE_CHECKING:
    from support.stage.stage import Stage


@pytest.fixture
def tree(box: Stage) -> Any:
    """A geometry-nodes tree that passes its geometry through, with an input of every kind."""
    tree: Any = bpy.data.node_groups.new("Tree", "GeometryNodeTree")
    for kind in ("Geometry", "Float", "Int", "Bool", "String", "Vector", "Color", "Object", "Material"):
        tree.interface.new_socket(kind, in_out="INPUT", socket_type=f"NodeSocket{kind}")
    tree.interface.new_socket("Geometry", in_out="OUTPUT", socket_type="NodeSocketGeometry")
    for name in ("Twin", "Twin"):
        tree.interface.new_socket(name, in_out="INPUT", socket_type="NodeSocketFloat")
    inside, outside = tree.nodes.new("NodeGroupInput"), tree.nodes.new("NodeGroupOutput")
    tree.links.new(inside.outputs[0], outside.inputs[0])
    box.state.refresh()
    return tree


def identifier(tree: Any, name: str) -> str:
    return next(item.identifier for item in tree.interface.items_tree if item.name == name and item.in_out == "INPUT")


def held(tree: Any, name: str) -> Any:
    return value_of(modifier(), identifier(tree, name))


def test_inputs_of_a_tree_are_set_by_name_or_identifier(box: Stage, tree: Any) -> None:
    inputs = {
        "Float": 2,
        identifier(tree, "Int"): 5,
        "Bool": True,
        "String": "text",
        "Vector": [1, 2, 3],
        "Color": [1, 0, 0, 1],
        "Object": "Ball",
    }
    settings = {"type": "NODES", "node_group": "Tree", "inputs": inputs}
    assert box.call("modifier.add", {"object": "Box", "name": "It", "settings": settings}, rehearse="inverse")["ok"]
    add(box, settings)
    assert held(tree, "Float") == 2.0
    assert held(tree, "Int") == 5
    assert held(tree, "Vector") == [1, 2, 3]
    assert held(tree, "Object").name == "Ball"
    assert not box.do("modifier.add", {"object": "Box", "name": "It", "settings": settings})["changed"]
    change = {"object": "Box", "modifier": "It", "settings": {"type": "NODES", "inputs": {"Int": 6}}}
    assert box.do("modifier.set", change)["changed"]
    assert (held(tree, "Int"), held(tree, "Float")) == (6, 2.0)


@pytest.mark.parametrize(
    ("inputs", "code", "pointer"),
    [
        ({"Flaot": 1.0}, "TARGET_NOT_FOUND", "/settings/inputs/Flaot"),
        ({"Float": True}, "ARGS_INVALID", "/settings/inputs/Float"),
        ({"Int": 1.5}, "ARGS_INVALID", "/settings/inputs/Int"),
        ({"Bool": 1}, "ARGS_INVALID", "/settings/inputs/Bool"),
        ({"Vector": [1, 2]}, "ARGS_INVALID", "/settings/inputs/Vector"),
        ({"Object": 3}, "ARGS_INVALID", "/settings/inputs/Object"),
        ({"Object": "Bll"}, "TARGET_NOT_FOUND", "/settings/inputs/Object"),
        ({"Material": "Red"}, "TARGET_NOT_FOUND", "/settings/inputs/Material"),
        ({"Twin": 1.0}, "ARGS_INVALID", "/settings/inputs/Twin"),
        ({"Geometry": 1.0}, "TARGET_NOT_FOUND", "/settings/inputs/Geometry"),
    ],
)
def test_inputs_that_do_not_fit_are_refused(
    box: Stage, tree: Any, inputs: dict[str, Any], code: str, pointer: str
) -> None:
    settings = {"type": "NODES", "node_group": "Tree", "inputs": inputs}
    (finding,) = box.refusal("modifier.add", {"object": "Box", "name": "It", "settings": settings})
    assert (finding["code"], finding["pointer"]) == (code, pointer)
    assert finding["cure"]


def test_inputs_keep_to_the_bounds_of_their_sockets_and_the_items_of_their_menus(box: Stage, tree: Any) -> None:
    sockets = {item.name: item for item in tree.interface.items_tree if item.in_out == "INPUT"}
    for name, low, high in (("Int", 0, 5), ("Float", 0.1, 1.0), ("Vector", -1.0, 1.0)):
        sockets[name].min_value, sockets[name].max_value = low, high
    tree.interface.new_socket("Menu", in_out="INPUT", socket_type="NodeSocketMenu")
    switch = tree.nodes.new("GeometryNodeMenuSwitch")
    inside = next(node for node in tree.nodes if node.bl_idname == "NodeGroupInput")
    tree.links.new(inside.outputs["Menu"], switch.inputs[0])
    box.state.refresh()
    add(box, {"type": "NODES", "node_group": "Tree"})
    wrong: list[tuple[str, Any]] = [("Int", 99), ("Int", -1), ("Float", 50.5), ("Vector", [0, 0, 2])]
    # Blender 4.2 does not tell the items of a menu.
    wrong += [("Menu", 77)] if menu_items(modifier(), identifier(tree, "Menu")) else []
    for name, value in wrong:
        asked = {"object_name": "Box", "socket": name, "value": value}
        (finding,) = box.refusal("geonodes.set_modifier_input", asked)
        assert (finding["code"], finding["pointer"]) == ("ARGS_INVALID", "/value")
        settings = {"type": "NODES", "inputs": {name: value}}
        (finding,) = box.refusal("modifier.set", {"object": "Box", "modifier": "It", "settings": settings})
        assert (finding["code"], finding["pointer"]) == ("ARGS_INVALID", f"/settings/inputs/{name}")
    right: list[tuple[str, Any]] = [("Int", 5), ("Float", 0.1), ("Float", 1), ("Vector", [1, -1, 0]), ("Menu", 1)]
    for name, value in right:
        box.do("geonodes.set_modifier_input", {"object_name": "Box", "socket": name, "value": value})


def test_only_geometry_trees_make_a_modifier(box: Stage) -> None:
    bpy.data.node_groups.new("Shader", "ShaderNodeTree")
    box.state.refresh()
    settings = {"type": "NODES", "node_group": "Shader"}
    (finding,) = box.refusal("modifier.add", {"object": "Box", "name": "It", "settings": settings})
    assert (finding["code"], finding["pointer"]) == ("SCENE_CONFLICT", "/settings/node_group")


def test_a_tree_that_loses_its_modifier_is_kept(box: Stage, tree: Any) -> None:
    add(box, {"type": "NODES", "node_group": "Tree"})
    box.do("modifier.remove", {"object": "Box", "modifier": "It"})
    assert bpy.data.node_groups["Tree"].use_fake_user


def test_a_tree_is_applied_unless_it_numbers_its_result_at_random(box: Stage, tree: Any) -> None:
    add(box, {"type": "NODES", "node_group": "Tree"})
    args = {"object": "Box", "modifier": "It", "type": "NODES"}
    assert box.call("modifier.apply", args, rehearse="inverse")["ok"]
    inner = bpy.data.node_groups.new("Inner", "GeometryNodeTree")
    inner.nodes.new("GeometryNodeMeshBoolean")
    group: Any = tree.nodes.new("GeometryNodeGroup")
    group.node_tree = inner
    box.state.refresh()
    (finding,) = box.refusal("modifier.apply", args)
    assert (finding["code"], finding["pointer"]) == ("NONDETERMINISTIC_REFUSED", "/modifier")
