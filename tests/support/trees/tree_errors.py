"""One error put into a valid NODE_TREE payload, with the pointer at which it must be found. The same seed gives the same error."""

from __future__ import annotations

import copy
import random
from collections.abc import Callable, Mapping
from typing import Any

from blendwright.nodes.catalogue.load import Catalogue
from support.trees.node_trees import create, link, prop, value
from support.trees.random_trees import TARGET, operations_of

Operations = list[dict[str, Any]]
# Puts an error in; gives back where it must be found.
Error = Callable[[random.Random, Operations, Catalogue], str]


def with_error(seed: int, payload: Mapping[str, Any], catalogue: Catalogue) -> tuple[str, dict[str, Any], str]:
    """The kind of error, the payload with it, and the pointer. Kinds take turns, so that all occur."""
    name, error = list(ERRORS.items())[seed % len(ERRORS)]
    broken = copy.deepcopy(dict(payload))
    pointer = error(random.Random(seed), broken["operations"], catalogue)
    return name, broken, pointer


def _append(operations: Operations, *added: dict[str, Any]) -> str:
    """Add operations at the end; the pointer of the last."""
    operations += added
    return f"/operations/{len(operations) - 1}"


def _misspelt(rng: random.Random, word: str) -> str:
    place = rng.randrange(1, len(word))
    return word[:place] + "zq" + word[place:]


def _some(rng: random.Random, operations: Operations, op: str) -> tuple[int, dict[str, Any]]:
    return rng.choice(operations_of({"operations": operations}, op))


def _created(rng: random.Random, operations: Operations) -> dict[str, Any]:
    return _some(rng, operations, "create_node")[1]


def unknown_type(rng: random.Random, operations: Operations, catalogue: Catalogue) -> str:
    number, chosen = _some(rng, operations, "create_node")
    # Frames of nodes are checked to be frames: an unknown type there would be a second error.
    while chosen["bl_idname"] == "NodeFrame" or "Output" in chosen["bl_idname"] or "Input" in chosen["bl_idname"]:
        number, chosen = _some(rng, operations, "create_node")
    chosen["bl_idname"] = _misspelt(rng, chosen["bl_idname"])
    return f"/operations/{number}/bl_idname"


def duplicate_id(rng: random.Random, operations: Operations, catalogue: Catalogue) -> str:
    return _append(operations, create(_created(rng, operations)["node_id"], "ShaderNodeMath")) + "/node_id"


def taken_given_id(rng: random.Random, operations: Operations, catalogue: Catalogue) -> str:
    return _append(operations, create("group_output", "NodeGroupOutput")) + "/node_id"


def unknown_node(rng: random.Random, operations: Operations, catalogue: Catalogue) -> str:
    return _append(operations, link(("nowhere", "Geometry"), ("group_output", "Geometry"))) + "/from/node_id"


def deleted_node(rng: random.Random, operations: Operations, catalogue: Catalogue) -> str:
    math = create("extra", "ShaderNodeMath")
    deleted = {"op": "delete_node", "node_id": "extra"}
    return _append(operations, math, deleted, value("extra", "Value", 1.0)) + "/node_id"


def unknown_input(rng: random.Random, operations: Operations, catalogue: Catalogue) -> str:
    math = create("extra", "ShaderNodeMath")
    return _append(operations, math, value("extra", rng.choice(("Valeu", "Value_004", "Value#9")), 1.0)) + "/socket"


def unknown_output(rng: random.Random, operations: Operations, catalogue: Catalogue) -> str:
    cube = create("extra", "GeometryNodeMeshCube")
    return _append(operations, cube, link(("extra", "Mehs"), ("group_output", "Geometry"))) + "/from/socket"


def unavailable_socket(rng: random.Random, operations: Operations, catalogue: Catalogue) -> str:
    value, mix = create("one", "ShaderNodeValue"), create("two", "ShaderNodeMix")
    return _append(operations, value, mix, link(("one", "Value"), ("two", "A_Vector"))) + "/to/socket"


def ambiguous_name(rng: random.Random, operations: Operations, catalogue: Catalogue) -> str:
    sockets = [{"name": "Twice", "socket_type": "NodeSocketGeometry"}] * 2
    twins = {"op": "set_group_io", "inputs": sockets, "replace": True}
    # Links from inputs that are gone are gone with them; only the last one is at fault.
    return _append(operations, twins, link(("group_input", "Twice"), ("group_output", "Geometry"))) + "/from/socket"


def output_to_output(rng: random.Random, operations: Operations, catalogue: Catalogue) -> str:
    one, two = create("one", "ShaderNodeValue"), create("two", "GeometryNodeMeshCube")
    return _append(operations, one, two, link(("one", "Value"), ("two", "UV Map"))) + "/to/socket"


def incompatible_link(rng: random.Random, operations: Operations, catalogue: Catalogue) -> str:
    source = create("one", rng.choice(("ShaderNodeValue", "FunctionNodeInputString", "GeometryNodeInputPosition")))
    output = {"ShaderNodeValue": "Value", "FunctionNodeInputString": "String"}.get(source["bl_idname"], "Position")
    return _append(operations, source, link(("one", output), ("group_output", "Geometry")))


def field_to_single(rng: random.Random, operations: Operations, catalogue: Catalogue) -> str:
    nodes = (
        create("one", "GeometryNodeInputIndex"),
        create("two", "GeometryNodeMeshCube"),
        create("m", "ShaderNodeMath"),
    )
    through = link(("one", "Index"), ("m", "Value"))
    return _append(operations, *nodes, through, link(("m", "Value"), ("two", "Vertices X")))


def cycle(rng: random.Random, operations: Operations, catalogue: Catalogue) -> str:
    names = [f"loop{number}" for number in range(rng.randint(1, 4))]
    operations += [create(name, "ShaderNodeMath") for name in names]
    return _append(
        operations,
        *(link((name, "Value"), (names[(number + 1) % len(names)], "Value")) for number, name in enumerate(names)),
    )


def unknown_property(rng: random.Random, operations: Operations, catalogue: Catalogue) -> str:
    return _append(operations, prop(_created(rng, operations)["node_id"], "lable", "x")) + "/property"


def bad_enum(rng: random.Random, operations: Operations, catalogue: Catalogue) -> str:
    math = create("extra", "ShaderNodeMath")
    return _append(operations, math, prop("extra", "operation", rng.choice(("AD", "", "add", 3, None)))) + "/value"


def enum_of_other_setting(rng: random.Random, operations: Operations, catalogue: Catalogue) -> str:
    return _append(operations, create("c", "FunctionNodeCompare"), prop("c", "operation", "BRIGHTER")) + "/value"


def property_of_wrong_type(rng: random.Random, operations: Operations, catalogue: Catalogue) -> str:
    name, value = rng.choice((("mute", 1), ("label", 7), ("hide", "no"), ("color", "red"), ("parent", 4)))
    return _append(operations, prop(_created(rng, operations)["node_id"], name, value)) + "/value"


def property_out_of_range(rng: random.Random, operations: Operations, catalogue: Catalogue) -> str:
    brick = create("brick", "ShaderNodeTexBrick")
    return _append(operations, brick, prop("brick", "offset", rng.choice((1.5, -0.1)))) + "/value"


def value_of_wrong_type(rng: random.Random, operations: Operations, catalogue: Catalogue) -> str:
    node, socket, wrong = rng.choice(
        (
            ("ShaderNodeMath", "Value", "one"),
            ("ShaderNodeMath", "Value", True),
            ("GeometryNodeMeshCube", "Vertices X", 2.5),
            ("GeometryNodeMeshCube", "Size", 1.0),
            ("GeometryNodeMeshCube", "Size", [1.0, 2.0]),
            ("GeometryNodeSetPosition", "Selection", 1),
            ("GeometryNodeSetPosition", "Geometry", 1),
            ("GeometryNodeObjectInfo", "Object", 1),
        )
    )
    return _append(operations, create("extra", node), value("extra", socket, wrong)) + "/value"


def value_out_of_range(rng: random.Random, operations: Operations, catalogue: Catalogue) -> str:
    cube = create("extra", "GeometryNodeMeshCube")
    return _append(operations, cube, value("extra", "Vertices X", rng.choice((2**31, -(2**40))))) + "/value"


def self_nesting(rng: random.Random, operations: Operations, catalogue: Catalogue) -> str:
    group = create("extra", "GeometryNodeGroup")
    return _append(operations, group, prop("extra", "node_tree", TARGET["node_group_name"])) + "/value"


def wrong_partner(rng: random.Random, operations: Operations, catalogue: Catalogue) -> str:
    nodes = create("in", "GeometryNodeRepeatInput"), create("out", "GeometryNodeSimulationOutput")
    return _append(operations, *nodes, prop("in", "paired_output", "out")) + "/value"


def shared_partner(rng: random.Random, operations: Operations, catalogue: Catalogue) -> str:
    nodes = [create("out", "GeometryNodeRepeatOutput"), *(create(name, "GeometryNodeRepeatInput") for name in "ab")]
    return _append(operations, *nodes, *(prop(name, "paired_output", "out") for name in "ab")) + "/value"


def bad_item_type(rng: random.Random, operations: Operations, catalogue: Catalogue) -> str:
    items = [{"name": "Geometry", "socket_type": "GEOMETRY"}, {"name": "X", "socket_type": "FLOATING"}]
    zone = create("out", "GeometryNodeRepeatOutput")
    return _append(operations, zone, prop("out", "repeat_items", items)) + "/value/1/socket_type"


def item_twice(rng: random.Random, operations: Operations, catalogue: Catalogue) -> str:
    items = [{"name": "X", "socket_type": "FLOAT"}] * 2
    zone = create("out", "GeometryNodeRepeatOutput")
    return _append(operations, zone, prop("out", "repeat_items", items)) + "/value/1/name"


def bad_interface_type(rng: random.Random, operations: Operations, catalogue: Catalogue) -> str:
    socket = {"name": "Bad", "socket_type": rng.choice(("NodeSocketFlaot", "FLOAT", "NodeSocketFloatFactor"))}
    return _append(operations, {"op": "set_group_io", "inputs": [socket]}) + "/inputs/0/socket_type"


def bad_interface_default(rng: random.Random, operations: Operations, catalogue: Catalogue) -> str:
    socket = {"name": "Bad", "socket_type": "NodeSocketInt", "default": 9, "max": 5}
    return _append(operations, {"op": "set_group_io", "outputs": [socket]}) + "/outputs/0/default"


def unknown_interface_socket(rng: random.Random, operations: Operations, catalogue: Catalogue) -> str:
    return _append(operations, {"op": "set_group_io", "remove_inputs": ["Geometrie"]}) + "/remove_inputs/0"


ERRORS: dict[str, Error] = {
    error.__name__: error
    for error in (
        unknown_type, duplicate_id, taken_given_id, unknown_node, deleted_node, unknown_input, unknown_output,
        unavailable_socket, ambiguous_name, output_to_output, incompatible_link, field_to_single, cycle, unknown_property,
        bad_enum, enum_of_other_setting, property_of_wrong_type, property_out_of_range, value_of_wrong_type,
        value_out_of_range, self_nesting, wrong_partner, shared_partner, bad_item_type, item_twice, bad_interface_type,
        bad_interface_default, unknown_interface_socket,
    )
}  # fmt: skip
