"""Short ways to say node trees in tests: payloads of operations, and calls on a stage."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from blendwright.tools.catalog import tools
from blendwright.wire.methods import StepAnswer

if TYPE_CHECKING:
    from support.stage.stage import Stage

Operation = dict[str, Any]
NOISE = "ShaderNodeTexNoise"
CUBE = "GeometryNodeMeshCube"
JOIN = "GeometryNodeJoinGeometry"
MOVE = "GeometryNodeSetPosition"
OUT = ("group_output", "Geometry")
IN = ("group_input", "Geometry")


def create(node_id: str, bl_idname: str) -> Operation:
    return {"op": "create_node", "node_id": node_id, "bl_idname": bl_idname}


def node(node_id: str, bl_idname: str, **properties: Any) -> list[Operation]:
    """A node and its properties."""
    return [create(node_id, bl_idname), *(prop(node_id, name, value) for name, value in properties.items())]


def prop(node_id: str, name: str, value: Any) -> Operation:
    return {"op": "set_property", "node_id": node_id, "property": name, "value": value}


def value(node_id: str, socket: str, held: Any) -> Operation:
    return {"op": "set_input_default", "node_id": node_id, "socket": socket, "value": held}


def link(source: tuple[str, str], target: tuple[str, str], op: str = "link") -> Operation:
    return {"op": op, "from": end(source), "to": end(target)}


def end(socket: tuple[str, str]) -> dict[str, str]:
    return {"node_id": socket[0], "socket": socket[1]}


def payload(operations: Sequence[Operation], name: str = "Thing") -> dict[str, Any]:
    """A NODE_TREE payload on an object of that name, which it may create."""
    target = {
        "object_name": name,
        "modifier_name": "Nodes",
        "node_group_name": f"GN_{name}",
        "allow_create_object": True,
    }
    return {"target": target, "operations": list(operations)}


def patch(ops: Sequence[Operation], name: str = "Thing") -> dict[str, Any]:
    """A GN_OPS payload on the same object."""
    allowed = {"op": "ensure_target", "allow_create_modifier": True, "allow_create_object": True}
    return {"v": 1, "target": {"object_name": name, "modifier_name": "Nodes"}, "ops": [allowed, *ops]}


def wire(source: tuple[str, str], target: tuple[str, str], op: str = "link") -> Operation:
    """A link as GN_OPS says it."""
    start, goal = (dict(zip(("node_id", "socket_name"), each, strict=True)) for each in (source, target))
    return {"op": op, "from": start, "to": goal}


def build(stage: Stage, *operations: Operation | list[Operation], name: str = "Thing") -> dict[str, Any]:
    """Build or change a tree; its result."""
    return stage.do("geonodes.node_tree", payload(flat(operations), name))


def attempt(stage: Stage, *operations: Operation | list[Operation], name: str = "Thing") -> list[dict[str, Any]]:
    """Operations that Blender's side must refuse by itself and leave everything as it was; the findings."""
    return unexamined(stage, "geonodes.node_tree", payload(flat(operations), name))


def unexamined(stage: Stage, tool: str, args: dict[str, Any]) -> list[dict[str, Any]]:
    """A call that must be refused without the checks against the catalogue, which would find most of it before."""
    from blendwright.blender.step import Stepper

    canonical = tools()[tool].args_model.model_validate(args).model_dump(mode="json")
    request: Any = {"tool": tool, "version": 1, "args": canonical, "cross_check": True}
    answer = Stepper(stage.state, tools(), stage.scratch).run(request)
    assert not answer["ok"], args
    assert answer["after"] == answer["before"] == stage.state.full_root()
    return answer["findings"]


def exported(stage: Stage, name: str = "Thing") -> dict[str, Any]:
    return stage.do("geonodes.inspect", {"object_name": name})["tree"]


def rebuild(stage: Stage, name: str, copy: str) -> StepAnswer:
    """Build what `geonodes.inspect` exports of one object on another one."""
    shown = stage.do("geonodes.inspect", {"object_name": name, "formats": ["payload"]})["payload"]
    return stage.call("geonodes.node_tree", payload(shown["operations"], copy))


def flat(operations: Sequence[Operation | list[Operation]]) -> list[Operation]:
    return [each for part in operations for each in (part if isinstance(part, list) else [part])]


def tree(name: str = "GN_Thing") -> Any:
    """A node group of the scene in this process."""
    import bpy

    groups: Any = bpy.data.node_groups
    return groups[name]


def ways() -> tuple[str, ...]:
    """How a step can be taken back; Blender's own undo is proven from 4.5 on."""
    import bpy

    return ("inverse", "memfile") if bpy.app.version >= (4, 5, 0) else ("inverse",)


def order(name: str = "GN_Thing") -> list[str]:
    """Where the links into the node `all` come from, in the order of its multi-input socket."""
    links = sorted(tree(name).nodes["all"].inputs[0].links, key=lambda each: each.multi_input_sort_id)
    assert [each.multi_input_sort_id for each in links] == list(range(len(links)))
    return [each.from_node.name for each in links]


def group_io(inputs: list[dict[str, Any]] | None = None, **more: Any) -> dict[str, Any]:
    return {"op": "set_group_io", "inputs": inputs, **more}


def number(name: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "socket_type": "NodeSocketFloat", **more}


def items(*pairs: tuple[str, str]) -> list[dict[str, str]]:
    return [{"name": name, "socket_type": kind} for name, kind in pairs]


ZONES = {
    "Repeat": ("repeat_items", items(("Geometry", "GEOMETRY"), ("Turn", "FLOAT"))),
    "Simulation": (
        "state_items",
        [{**each, "attribute_domain": "POINT"} for each in items(("Geometry", "GEOMETRY"), ("Age", "INT"))],
    ),
    "ForeachGeometryElement": ("input_items", items(("Scale", "FLOAT"))),
}


def zone(kind: str) -> list[dict[str, Any]]:
    """The two nodes of a zone, `begin` and `end`."""
    listed, wanted = ZONES[kind]
    last = node("end", f"GeometryNode{kind}Output", **{listed: wanted})
    return [*last, *node("begin", f"GeometryNode{kind}Input", paired_output="end")]
