"""Dependencies between positions of objects and bones: by parents, constraints and IK chains. Reads only."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

from blendwright.tool_api.scene import Block

# An object and the name of one of its bones; an empty name means the object itself.
Node = tuple[Any, str]


def depends_on(one: Block, other: Block) -> bool:
    """Return True if `one` is `other`, or if a parent or constraint makes its position depend on `other`."""
    return follows((one, ""), [(other, "")])


def follows(node: Node, others: Collection[Node]) -> bool:
    """Return True if `node` is in `others`, or if its position depends on a node in `others`."""
    seen: set[Node] = set()
    pending = [node]
    while pending:
        current = pending.pop()
        if current in others:
            return True
        if current not in seen:
            seen.add(current)
            pending += _dependencies(current)
    return False


def target_node(target: Block, part: str | None) -> Node:
    """Return the node of a target and its part. A vertex group counts as its object."""
    if part and target.type == "ARMATURE":
        return target, part
    return target, ""


def chain_of(bone: Block, count: int, *, use_tail: bool = True) -> list[Block]:
    """Return the pose bones that an IK constraint on `bone` rotates, from its end up; all up to the root for a `count`
    of 0.
    """
    chain: list[Block] = []
    current: Block = bone
    if not use_tail:
        current = bone.parent
    while current is not None and (count == 0 or len(chain) < count):
        chain.append(current)
        current = current.parent
    return chain


def _dependencies(node: Node) -> Iterator[Node]:
    """Yield the nodes on which a node's position depends directly."""
    obj, name = node
    if not name:
        if obj.parent is not None and obj.parent_type == "BONE":
            yield target_node(obj.parent, obj.parent_bone)
        elif obj.parent is not None:
            yield target_node(obj.parent, "")
        for constraint in obj.constraints:
            yield from _targets(constraint)
        return
    yield obj, ""
    bones: Block
    if obj.pose is None:
        bones = ()
    else:
        bones = obj.pose.bones
    bone = next((candidate for candidate in bones if candidate.name == name), None)
    if bone is None:
        return
    if bone.parent is not None:
        yield obj, bone.parent.name
    for constraint in bone.constraints:
        yield from _targets(constraint)
    for end in bones:
        for constraint in end.constraints:
            if constraint.type not in ("IK", "SPLINE_IK"):
                continue
            use_tail = getattr(constraint, "use_tail", True)
            if bone in chain_of(end, constraint.chain_count, use_tail=use_tail):
                yield from _targets(constraint)


def _targets(constraint: Block) -> Iterator[Node]:
    pairs = [(getattr(constraint, name, None), getattr(constraint, part, "")) for name, part in TARGETS]
    pairs += [(item.target, item.subtarget) for item in getattr(constraint, "targets", ())]
    yield from (target_node(target, part) for target, part in pairs if target is not None)


TARGETS = (("target", "subtarget"), ("pole_target", "pole_subtarget"))
