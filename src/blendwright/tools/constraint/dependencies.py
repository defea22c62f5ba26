"""Whose place follows from whose: objects and single bones of armatures, by parents, constraints and chains of IK. Reads only."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

from blendwright.tool_api.scene import Block

# An object, and the name of one of its bones; an empty name means the object itself.
Node = tuple[Any, str]


def depends_on(one: Block, other: Block) -> bool:
    """Whether the place of an object follows from that of another: it is the same, or a parent or constraint leads there."""
    return follows((one, ""), [(other, "")])


def follows(node: Node, others: Collection[Node]) -> bool:
    """Whether the place of a node is that of one of the others, or follows from it."""
    seen: set[Node] = set()
    waiting = [node]
    while waiting:
        one = waiting.pop()
        if one in others:
            return True
        if one not in seen:
            seen.add(one)
            waiting += _leaders(one)
    return False


def target_node(target: Block, part: str | None) -> Node:
    """What a target and its part stand for; a vertex group is where its object is."""
    return target, part if part and target.type == "ARMATURE" else ""


def chain_of(bone: Block, count: int, *, use_tail: bool = True) -> list[Block]:
    """The bones that an IK constraint on a pose bone turns, from its end up; all up to the root where `count` is 0."""
    found: list[Block] = []
    each: Block
    if use_tail:
        each = bone
    else:
        each = bone.parent
    while each is not None and (count == 0 or len(found) < count):
        found.append(each)
        each = each.parent
    return found


def _leaders(node: Node) -> Iterator[Node]:
    obj, name = node
    if not name:
        if obj.parent is not None:
            yield target_node(obj.parent, obj.parent_bone if obj.parent_type == "BONE" else "")
        for constraint in obj.constraints:
            yield from _targets(constraint)
        return
    yield obj, ""
    bones: Block
    if obj.pose is None:
        bones = ()
    else:
        bones = obj.pose.bones
    bone = next((each for each in bones if each.name == name), None)
    if bone is None:
        return
    if bone.parent is not None:
        yield obj, bone.parent.name
    for constraint in bone.constraints:
        yield from _targets(constraint)
    for end in bones:
        for constraint in end.constraints:
            if constraint.type in ("IK", "SPLINE_IK") and bone in chain_of(
                end, constraint.chain_count, use_tail=getattr(constraint, "use_tail", True)
            ):
                yield from _targets(constraint)


def _targets(constraint: Block) -> Iterator[Node]:
    pairs = [(getattr(constraint, name, None), getattr(constraint, part, "")) for name, part in TARGETS]
    pairs += [(each.target, each.subtarget) for each in getattr(constraint, "targets", ())]
    yield from (target_node(target, part) for target, part in pairs if target is not None)


TARGETS = (("target", "subtarget"), ("pole_target", "pole_subtarget"))
