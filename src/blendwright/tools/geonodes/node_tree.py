"""geonodes.node_tree"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from blendwright.nodes.checks.payload import check_payload_for
from blendwright.nodes.payloads.node_tree import NodeTreePayload, Operation, Unlink
from blendwright.tool_api.effects import Determinism, Idempotence, Kind, Revert, SafetyLevel, SafetyMode
from blendwright.tool_api.scene import Block, Scene
from blendwright.tool_api.tool import Example, Requires, Tool, Version
from blendwright.tools.geonodes import modifier_target as targets
from blendwright.tools.geonodes.modifier_target import Target, TreeChanged
from blendwright.tools.node_trees.editor import TreeEditor
from blendwright.values.errors import StepError
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding

PLANE = ("mesh.create_primitive", {"kind": "plane", "name": "Plane"})
# What is refused when it was done before.
ONCE = frozenset({"create_node", "delete_node", "unlink"})


class NodeTree(Tool[NodeTreePayload, TreeChanged]):
    """Build or change a geometry-nodes tree by operations, one after the other: nodes, properties, input values, links, group sockets.

    The modifier and the node group are created where they are missing; a new tree hands its geometry through. All operations are
    done, or none: the work is on a copy, which takes the tree's place when it is finished."""

    name = "geonodes.node_tree"
    version = 1
    safety_level = SafetyLevel.SAFE_WRITE
    safety_mode = SafetyMode.HEADLESS_SAFE
    determinism = Determinism.DETERMINISTIC
    idempotence = Idempotence.NON_IDEMPOTENT
    writes = (Kind.OBJECT, Kind.MESH, Kind.NODE_GROUP, Kind.COLLECTION, Kind.FONT)
    revert = Revert.INVERSE
    replayable = True
    requires = Requires(blender_min=(4, 2, 0), capabilities=("modifier_write",))
    examples = (
        Example(
            {
                "target": {"object_name": "Plane", "modifier_name": "GeometryNodes", "node_group_name": "GN_Smooth"},
                "operations": [
                    {"op": "create_node", "node_id": "n1", "bl_idname": "GeometryNodeSubdivisionSurface"},
                    {"op": "set_input_default", "node_id": "n1", "socket": "Level", "value": 2},
                    {
                        "op": "link",
                        "from": {"node_id": "group_input", "socket": "Geometry"},
                        "to": {"node_id": "n1", "socket": "Mesh"},
                    },
                    {
                        "op": "link",
                        "from": {"node_id": "n1", "socket": "Mesh"},
                        "to": {"node_id": "group_output", "socket": "Geometry"},
                    },
                ],
            },
            (PLANE,),
        ),
        Example(
            {
                "target": {
                    "object_name": "Tower",
                    "modifier_name": "Build",
                    "node_group_name": "GN_Tower",
                    "allow_create_object": True,
                },
                "operations": [
                    {
                        "op": "set_group_io",
                        "inputs": [
                            {"name": "Height", "socket_type": "NodeSocketFloat", "default": 3.0, "min": 0.1},
                        ],
                    },
                    {"op": "create_node", "node_id": "body", "bl_idname": "GeometryNodeMeshCylinder"},
                    {
                        "op": "link",
                        "from": {"node_id": "group_input", "socket": "Height"},
                        "to": {"node_id": "body", "socket": "Depth"},
                    },
                    {
                        "op": "link",
                        "from": {"node_id": "body", "socket": "Mesh"},
                        "to": {"node_id": "group_output", "socket": "Geometry"},
                    },
                ],
            }
        ),
        Example(
            {
                "target": {"object_name": "Plane", "modifier_name": "GeometryNodes", "node_group_name": "GN_Scatter"},
                "operations": [],
            },
            (PLANE,),
        ),
    )

    def idempotence_for(self, args: NodeTreePayload) -> Idempotence:
        once = any(operation.op in ONCE or _removes(operation) for operation in args.operations)
        return Idempotence.NON_IDEMPOTENT if once else Idempotence.IDEMPOTENT

    def examine(self, args: NodeTreePayload, blender: Version | None) -> Iterable[Finding]:
        return check_payload_for(args, blender)

    def check(self, scene: Scene, args: NodeTreePayload) -> Iterator[Finding]:
        yield from targets.problems(scene, Target.of_tree(args.target))

    def apply(self, scene: Scene, args: NodeTreePayload) -> TreeChanged:
        target = Target.of_tree(args.target)
        group, created = targets.ensure(scene, target)
        name: str = group.name
        if args.operations:
            with scene.redraft(group) as tree:
                editor = TreeEditor(scene, tree, group)
                for number, operation in enumerate(args.operations):
                    _do(editor, operation, f"/operations/{number}")
                editor.finish()
        return targets.changed(target, targets.attach(scene, target, name), created)

    def verify(self, scene: Scene, args: NodeTreePayload, result: TreeChanged) -> Iterator[Finding]:
        target = Target.of_tree(args.target)
        yield from targets.not_there(scene, target, result)
        editor = TreeEditor(scene, (tree := targets.found(scene, target)[2]), tree)
        wanted: dict[str, int | None] = {}
        for number, operation in enumerate(args.operations):
            if operation.op == "create_node":
                wanted[operation.node_id] = number
            elif operation.op == "delete_node":
                wanted[operation.node_id] = None
        for node_id, number in wanted.items():
            if (editor.find(node_id) is None) != (number is None):
                message = f"node '{node_id}' is {'still' if number is None else 'not'} there"
                yield Finding(Fault.SCENE_CONFLICT, message, "/operations")


def _removes(operation: Operation) -> bool:
    return operation.op == "set_group_io" and bool(operation.remove_inputs or operation.remove_outputs)


def _do(editor: TreeEditor, operation: Operation, at: str) -> None:
    match operation.op:
        case "create_node":
            place = f"{at}/bl_idname", f"{at}/node_id"
            editor.create(operation.node_id, operation.bl_idname, operation.location, *place)
        case "delete_node":
            editor.remove(editor.node(operation.node_id, f"{at}/node_id"))
        case "set_input_default":
            node = editor.node(operation.node_id, f"{at}/node_id")
            editor.set_input(node, operation.socket, operation.value, f"{at}/socket", f"{at}/value")
        case "set_property":
            node = editor.node(operation.node_id, f"{at}/node_id")
            editor.set_property(node, operation.property, operation.value, f"{at}/value")
        case "link":
            source = _output(editor, operation.source.node_id, operation.source.socket, f"{at}/from")
            editor.link(source, _input(editor, operation.target.node_id, operation.target.socket, f"{at}/to"), at)
        case "unlink":
            _unlink(editor, operation, at)
        case "set_group_io":
            editor.group_io.write(operation, at)


def _unlink(editor: TreeEditor, operation: Unlink, at: str) -> None:
    source, target = operation.source, operation.target
    output = _output(editor, source.node_id, source.socket, f"{at}/from") if source else None
    goal = _input(editor, target.node_id, target.socket, f"{at}/to") if target else None
    if not editor.unlink(output, goal):
        raise StepError.of(Fault.TARGET_NOT_FOUND, "there is no such link", at=at, cure="Leave the operation out.")


def _output(editor: TreeEditor, node_id: str, key: str, at: str) -> Block:
    return editor.output(editor.node(node_id, f"{at}/node_id"), key, f"{at}/socket")


def _input(editor: TreeEditor, node_id: str, key: str, at: str) -> Block:
    return editor.input(editor.node(node_id, f"{at}/node_id"), key, f"{at}/socket")
