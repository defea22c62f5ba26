"""Shared base of nodes.apply_tree and nodes.patch: applying a payload's edits to its target tree, and verifying them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Generic, TypeVar

from pydantic import Field

from blendwright.nodes import edits
from blendwright.nodes.checks.payload import check_payload_for
from blendwright.nodes.tree_payloads import ApplyTreePayload, PatchTreePayload
from blendwright.nodes.tree_sorts import GROUP_COMPOSITOR
from blendwright.tool_api.arguments import Result
from blendwright.tool_api.mentions import Mention, mentions
from blendwright.tool_api.promises import Idempotence, Revert, Version
from blendwright.tool_api.scene import Kind, Scene
from blendwright.tool_api.tool import Findings, Tool
from blendwright.tools.geonodes.tree_editing import expected_nodes
from blendwright.tools.node_trees.editor import TreeEditor
from blendwright.tools.nodes import tree_target
from blendwright.tools.nodes.gate_report import TreeJudge
from blendwright.tools.nodes.references import reference_mentions, references
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding

P = TypeVar("P", ApplyTreePayload, PatchTreePayload)
EDITED_KINDS = (
    Kind.MATERIAL, Kind.WORLD, Kind.LIGHT, Kind.SCENE, Kind.NODE_GROUP, Kind.OBJECT, Kind.LINE_STYLE, Kind.FONT,
)  # fmt: skip


class AnyTreeChanged(Result):
    """The tree that a tool built or changed."""

    target: str = Field(description="Owner of the tree: material, world, light, compositor or group.")
    name: str = Field(description="Name of the owner.")
    created: bool = Field(description="True if the call created the owner or its tree.")
    nodes: int = Field(description="Number of nodes in the tree after the call.")
    links: int = Field(description="Number of links in the tree after the call.")
    failed_gates: list[str] = Field(description="Required gates that the tree fails after the call.")
    messages: list[str] = Field(description="For each failed gate: the problem and how to fix it.")
    notes: list[str] = Field(
        default_factory=list[str],
        description="Names from other Blender versions that were accepted, with their present names.",
    )


class EditsAnyTree(Tool[P, AnyTreeChanged], Generic[P], family=True):
    """Apply the edits of a payload to a tree: all of them, or none."""

    def idempotence_for(self, args: P) -> Idempotence:
        repeatable = edits.are_repeatable(list(edits.edits_of(args)))
        if repeatable:
            return Idempotence.IDEMPOTENT
        return Idempotence.NON_IDEMPOTENT

    def revert_for(self, args: P, blender: Version) -> Revert:
        """Return MEMFILE for compositors before Blender 5.0: they belong to a scene, which has no pre-image."""
        in_scene = args.target.owner == "compositor" or args.target.kind == "compositor"
        if in_scene and blender[:2] < GROUP_COMPOSITOR:
            return Revert.MEMFILE
        return self.revert

    def mentions_for(self, args: P) -> Iterable[Mention]:
        yield from mentions(args)
        yield from tree_target.target_mentions(args.target, creates=_creates(args))
        yield from reference_mentions(args)

    def examine(self, args: P, blender: Version | None) -> Iterable[Finding]:
        return check_payload_for(args, blender)

    def check(self, scene: Scene, args: P) -> Findings:
        yield from tree_target.target_problems(scene, args.target, creates=_creates(args))
        for kind, name, at in references(args):
            yield from scene.missing(kind, name, at)

    def apply(self, scene: Scene, args: P) -> AnyTreeChanged:
        created = tree_target.ensure_tree(scene, args.target)
        changes = list(edits.edits_of(args))
        notes: list[str] = []
        sort = tree_target.sort_in(scene, args.target)
        if changes:
            with tree_target.writable_tree(scene, args.target) as (tree, original):
                editor = TreeEditor(scene, tree, original, sort)
                editor.apply_all(changes)
                notes = editor.notes
        tree = tree_target.find_tree(scene, args.target)
        assert tree is not None
        failed = [verdict for verdict in TreeJudge(tree, sort).verdicts() if verdict.required and not verdict.passed]
        return AnyTreeChanged(
            target=args.target.owner,
            name=args.target.name,
            created=created,
            nodes=len(tree.nodes),
            links=len(tree.links),
            failed_gates=[verdict.gate for verdict in failed],
            messages=[verdict.message for verdict in failed],
            notes=notes,
        )

    def verify(self, scene: Scene, args: P, result: AnyTreeChanged) -> Findings:
        """Check that the tree exists, contains all added nodes, and contains no removed node."""
        tree = tree_target.find_tree(scene, args.target)
        if tree is None:
            yield Finding(Fault.SCENE_CONFLICT, f"{result.target} '{result.name}' has no nodes", tree_target.AT)
            return
        sort = tree_target.sort_in(scene, args.target)
        editor = TreeEditor(scene, tree, tree, sort)
        for node_id, (expected, at) in expected_nodes(args, tuple(sort.given)).items():
            exists = editor.find(node_id) is not None
            if exists == expected:
                continue
            if expected:
                message = f"node '{node_id}' was not created"
            else:
                message = f"node '{node_id}' still exists"
            yield Finding(Fault.SCENE_CONFLICT, message, at)


def _creates(args: ApplyTreePayload | PatchTreePayload) -> bool:
    if isinstance(args, ApplyTreePayload):
        return True
    return any(operation.op == "ensure_target" for operation in args.ops)
