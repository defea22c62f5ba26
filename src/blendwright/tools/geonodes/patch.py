"""geonodes.patch"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from blendwright.nodes.checks.payload import check_payload_for
from blendwright.nodes.payloads.gn_ops import AddNode, GnOpsPayload, NamedSocket, PatchOperation, PatchUnlink
from blendwright.nodes.payloads.parts import GIVEN_IDS
from blendwright.tool_api.effects import Determinism, Idempotence, Kind, Revert, SafetyLevel, SafetyMode
from blendwright.tool_api.scene import Block, Scene
from blendwright.tool_api.tool import Example, Requires, Tool, Version
from blendwright.tools.geonodes import modifier_target as targets
from blendwright.tools.geonodes.modifier_target import Target, TreeChanged
from blendwright.tools.node_trees.editor import TreeEditor
from blendwright.values.errors import StepError
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding

CUBE = ("mesh.create_primitive", {"kind": "cube", "name": "Cube"})
MADE = (
    "geonodes.patch",
    {
        "v": 1,
        "target": {"object_name": "Cube", "modifier_name": "GeometryNodes"},
        "ops": [
            {"op": "ensure_target", "allow_create_modifier": True},
            {"op": "add_node", "id": "loose", "bl_idname": "GeometryNodeMeshCube"},
        ],
    },
)


class Patch(Tool[GnOpsPayload, TreeChanged]):
    """Patch a geometry-nodes tree: each operation says how something should be, so that applying it twice gives the same tree.

    Only a patch that removes what it needed itself cannot be applied twice: then it is refused the second time.

    All operations are done, or none: the work is on a copy, which takes the tree's place when it is finished."""

    name = "geonodes.patch"
    version = 1
    safety_level = SafetyLevel.SAFE_WRITE
    safety_mode = SafetyMode.HEADLESS_SAFE
    determinism = Determinism.DETERMINISTIC
    idempotence = Idempotence.IDEMPOTENT
    writes = (Kind.OBJECT, Kind.MESH, Kind.NODE_GROUP, Kind.COLLECTION, Kind.FONT)
    revert = Revert.INVERSE
    replayable = True
    requires = Requires(blender_min=(4, 2, 0), capabilities=("modifier_write",))
    examples = (
        Example(
            {
                "v": 1,
                "target": {"object_name": "Cube", "modifier_name": "GeometryNodes"},
                "ops": [
                    {"op": "ensure_target", "allow_create_modifier": True},
                    {"op": "ensure_single_group_io"},
                    {"op": "add_node", "id": "noise_1", "bl_idname": "ShaderNodeTexNoise", "x": 120, "y": 40},
                    {"op": "set_input", "node_id": "noise_1", "socket_name": "Scale", "value": 5.0},
                    {"op": "add_node", "id": "move", "bl_idname": "GeometryNodeSetPosition", "x": 300},
                    {
                        "op": "link",
                        "from": {"node_id": "group_input", "socket_name": "Geometry"},
                        "to": {"node_id": "move", "socket_name": "Geometry"},
                    },
                    {
                        "op": "link",
                        "from": {"node_id": "noise_1", "socket_name": "Color"},
                        "to": {"node_id": "move", "socket_name": "Offset"},
                    },
                    {
                        "op": "link",
                        "from": {"node_id": "move", "socket_name": "Geometry"},
                        "to": {"node_id": "group_output", "socket_name": "Geometry"},
                    },
                ],
            },
            (CUBE,),
        ),
        Example(
            {
                "v": 1,
                "target": {"object_name": "Cube", "modifier_name": "GeometryNodes"},
                "ops": [{"op": "cleanup_unused"}],
            },
            (CUBE, MADE),
        ),
    )

    def idempotence_for(self, args: GnOpsPayload) -> Idempotence:
        return Idempotence.NON_IDEMPOTENT if _removes_what_it_needs(args.ops) else Idempotence.IDEMPOTENT

    def examine(self, args: GnOpsPayload, blender: Version | None) -> Iterable[Finding]:
        return check_payload_for(args, blender)

    def check(self, scene: Scene, args: GnOpsPayload) -> Iterator[Finding]:
        yield from targets.problems(scene, _target(args))

    def apply(self, scene: Scene, args: GnOpsPayload) -> TreeChanged:
        target = _target(args)
        group, created = targets.ensure(scene, target)
        name: str = group.name
        if any(operation.op != "ensure_target" for operation in args.ops):
            with scene.redraft(group) as tree:
                editor = TreeEditor(scene, tree, group)
                for number, operation in enumerate(args.ops):
                    _do(editor, operation, f"/ops/{number}")
        return targets.changed(target, targets.attach(scene, target, name), created)

    def verify(self, scene: Scene, args: GnOpsPayload, result: TreeChanged) -> Iterator[Finding]:
        target = _target(args)
        yield from targets.not_there(scene, target, result)
        editor = TreeEditor(scene, (tree := targets.found(scene, target)[2]), tree)
        if any(operation.op == "cleanup_unused" for operation in args.ops):
            return
        gone = {operation.node_id for operation in args.ops if operation.op == "remove_node"}
        for number, operation in enumerate(args.ops):
            if operation.op == "add_node" and operation.id not in gone and editor.find(operation.id) is None:
                yield Finding(Fault.SCENE_CONFLICT, f"node '{operation.id}' is not there", f"/ops/{number}")


def _removes_what_it_needs(operations: Sequence[PatchOperation]) -> bool:
    """Whether an operation needs a node, or a type of node, that may be gone when the patch is applied again."""
    cleaned = max((number for number, each in enumerate(operations) if each.op == "cleanup_unused"), default=-1)
    removed = {each.node_id: number for number, each in enumerate(operations) if each.op == "remove_node"}
    added: dict[str, str] = {}
    for number, operation in enumerate(operations):
        if operation.op == "add_node" and added.setdefault(operation.id, operation.bl_idname) != operation.bl_idname:
            return True
        for node_id in _needed(operation):
            kept = cleaned if node_id not in GIVEN_IDS else -1
            if node_id not in added and number < max(kept, removed.get(node_id, -1)):
                return True
    return False


def _needed(operation: PatchOperation) -> tuple[str, ...]:
    if operation.op == "link":
        return operation.source.node_id, operation.target.node_id
    return (operation.node_id,) if operation.op == "set_input" else ()


def _target(args: GnOpsPayload) -> Target:
    asked = [operation for operation in args.ops if operation.op == "ensure_target"]
    named = args.target.object_name, args.target.modifier_name, args.target.node_group_name
    return Target(
        *named,
        create_object=any(operation.allow_create_object for operation in asked),
        create_modifier=any(operation.allow_create_modifier for operation in asked),
    )


def _do(editor: TreeEditor, operation: PatchOperation, at: str) -> None:
    match operation.op:
        case "ensure_target":
            pass  # before everything else
        case "ensure_single_group_io":
            editor.ensure_single_io()
        case "add_node":
            _add(editor, operation, at)
        case "remove_node":
            node = editor.find(operation.node_id)
            if node is not None:
                editor.remove(node)
        case "link":
            source = editor.output(*_socket(editor, operation.source, f"{at}/from"))
            editor.link(source, editor.input(*_socket(editor, operation.target, f"{at}/to")), at)
        case "unlink":
            _unlink(editor, operation, at)
        case "set_input":
            node = editor.node(operation.node_id, f"{at}/node_id")
            editor.set_input(node, operation.socket_name, operation.value, f"{at}/socket_name", f"{at}/value")
        case "cleanup_unused":
            editor.cleanup()


def _add(editor: TreeEditor, operation: AddNode, at: str) -> None:
    node = editor.find(operation.id)
    if node is None:
        node = editor.create(operation.id, operation.bl_idname, (0.0, 0.0), f"{at}/bl_idname", f"{at}/id")
    elif node.bl_idname != operation.bl_idname:
        message = f"node '{operation.id}' is a {node.bl_idname}, not a {operation.bl_idname}"
        raise StepError.of(Fault.SCENE_CONFLICT, message, at=f"{at}/id", cure="Use another id, or remove it first.")
    editor.set_properties(node, operation.properties, f"{at}/properties")
    x, y = node.location
    node.location = (x if operation.x is None else operation.x, y if operation.y is None else operation.y)


def _unlink(editor: TreeEditor, operation: PatchUnlink, at: str) -> None:
    """What is not there has no links, so that a patch that removes a node can be applied again."""
    ends = [end for end in (operation.source, operation.target) if end is not None]
    if any(editor.find(end.node_id) is None for end in ends):
        return
    source = editor.output(*_socket(editor, operation.source, f"{at}/from")) if operation.source else None
    target = editor.input(*_socket(editor, operation.target, f"{at}/to")) if operation.target else None
    editor.unlink(source, target)


def _socket(editor: TreeEditor, socket: NamedSocket, at: str) -> tuple[Block, str, str]:
    return editor.node(socket.node_id, f"{at}/node_id"), socket.socket_name, f"{at}/socket_name"
