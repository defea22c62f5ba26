"""Family of geonodes.node_tree and geonodes.patch: apply a payload's edits to the tree of a modifier, and verify the
result.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Generic, TypeVar

from pydantic import Field

from blendwright.nodes import edits
from blendwright.nodes.checks.payload import check_payload_for
from blendwright.nodes.payloads import GIVEN_IDS, GnOpsPayload, NodeTreePayload
from blendwright.tool_api.arguments import Result
from blendwright.tool_api.mentions import Mention, mentions
from blendwright.tool_api.promises import Idempotence, Version
from blendwright.tool_api.scene import Kind, Scene
from blendwright.tool_api.tool import Findings, Tool
from blendwright.tools.geonodes import modifier_target
from blendwright.tools.node_trees.editor import TreeEditor
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding

P = TypeVar("P", NodeTreePayload, GnOpsPayload)
EDITED_KINDS = (Kind.OBJECT, Kind.MESH, Kind.NODE_GROUP, Kind.COLLECTION, Kind.FONT)


class TreeChanged(Result):
    """The tree that a tool built or changed."""

    object: str = Field(description="Name of the object.")
    modifier: str = Field(description="Name of its modifier.")
    node_group: str = Field(description="Name of the node group.")
    created: list[str] = Field(description="Items of object, modifier and node_group that were created.")
    nodes: int = Field(description="Number of nodes in the tree after the call.")
    links: int = Field(description="Number of links in the tree after the call.")
    notes: list[str] = Field(
        default_factory=list[str],
        description="Names from other Blender versions that were accepted, with their present names.",
    )


class EditsNodeTree(Tool[P, TreeChanged], Generic[P], family=True):
    """Apply the edits of a payload to the tree of a modifier: all of them, or none."""

    def idempotence_for(self, args: P) -> Idempotence:
        if edits.are_repeatable(list(edits.edits_of(args))):
            return Idempotence.IDEMPOTENT
        return Idempotence.NON_IDEMPOTENT

    def mentions_for(self, args: P) -> Iterable[Mention]:
        yield from mentions(args)
        yield from modifier_target.target_mentions(modifier_target.target_of(args))

    def examine(self, args: P, blender: Version | None) -> Iterable[Finding]:
        return check_payload_for(args, blender)

    def check(self, scene: Scene, args: P) -> Findings:
        yield from modifier_target.target_problems(scene, modifier_target.target_of(args))

    def apply(self, scene: Scene, args: P) -> TreeChanged:
        """Apply the edits to a copy, which replaces the tree when it is complete."""
        target, changes = modifier_target.target_of(args), list(edits.edits_of(args))
        group, created = modifier_target.ensure_target(scene, target)
        name: str = group.name
        notes: list[str] = []
        if changes:
            with scene.redraft(group) as tree:
                editor = TreeEditor(scene, tree, group)
                editor.apply_all(changes)
                notes = editor.notes
        tree = modifier_target.attach_group(scene, target, name)
        return TreeChanged(
            object=target.object,
            modifier=target.modifier,
            node_group=tree.name,
            created=created,
            nodes=len(tree.nodes),
            links=len(tree.links),
            notes=notes,
        )

    def verify(self, scene: Scene, args: P, result: TreeChanged) -> Findings:
        """Yield findings unless the modifier uses the group, added nodes exist and removed nodes do not."""
        target = modifier_target.target_of(args)
        obj = scene.find(Kind.OBJECT, target.object)
        modifier = tree = None
        if obj is not None:
            modifier = obj.modifiers.get(target.modifier)
        if modifier is not None:
            tree = modifier.node_group
        if tree is None or tree.name != result.node_group:
            message = f"modifier '{target.modifier}' of '{target.object}' does not use '{result.node_group}'"
            yield Finding(Fault.SCENE_CONFLICT, message, modifier_target.AT)
            return
        editor = TreeEditor(scene, tree, tree)
        for node_id, (exists, at) in expected_nodes(args, GIVEN_IDS).items():
            if (editor.find(node_id) is not None) == exists:
                continue
            if exists:
                message = f"node '{node_id}' does not exist"
            else:
                message = f"node '{node_id}' still exists"
            yield Finding(Fault.SCENE_CONFLICT, message, at)


def expected_nodes(payload: edits.Payload, given: Sequence[str]) -> dict[str, tuple[bool, str]]:
    """Return, by node id, whether the node must exist after the payload, and the JSON pointer of the operation that
    says so.

    Cleaning up may remove any node, so it resets the result. `given` are the ids of nodes that a tree has from the
    start.
    """
    expected: dict[str, tuple[bool, str]] = {}
    for edit in edits.edits_of(payload):
        match edit:
            case edits.AddNode():
                expected[edit.id] = True, edit.at
            case edits.RemoveNode():
                expected[edit.id] = False, edit.at
            case edits.RemoveUnused():
                expected.clear()
            case edits.EnsureSingleGroupIO():
                for node_id in given:
                    expected.pop(node_id, None)
            case _:
                pass
    # A tree may have several group inputs and outputs: after one is removed, another one may have its id.
    return {node_id: entry for node_id, entry in expected.items() if entry[0] or node_id not in given}
