"""References from node properties in a payload to datablocks: images, objects, node groups and so on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from blendwright.nodes import edits
from blendwright.tool_api.mentions import Mention, Role
from blendwright.tool_api.scene import Kind
from blendwright.values.findings import pointer_of

KINDS = {
    "image": Kind.IMAGE,
    "object": Kind.OBJECT,
    "node_tree": Kind.NODE_GROUP,
    "scene": Kind.SCENE,
    "clip": Kind.MOVIE_CLIP,
    "mask": Kind.MASK,
    "texture": Kind.TEXTURE,
    "ies": Kind.TEXT,
    "text": Kind.TEXT,
}


def references(payload: edits.Payload) -> Iterator[tuple[Kind, str, str]]:
    """Yield the kind, the name and the JSON pointer of each datablock that a payload refers to by a node property."""
    for edit in edits.edits_of(payload):
        if isinstance(edit, edits.SetProperty):
            yield from _reference(edit.name, edit.value, edit.at + "/value")
        elif isinstance(edit, edits.AddNode):
            for name, value in edit.properties.items():
                yield from _reference(name, value, edit.at + "/properties" + pointer_of([name]))


def _reference(name: str, value: Any, at: str) -> Iterator[tuple[Kind, str, str]]:
    if name in KINDS and isinstance(value, str):
        yield KINDS[name], value, at


def reference_mentions(payload: edits.Payload) -> Iterator[Mention]:
    for kind, name, at in references(payload):
        yield Mention(Role.USES, kind.blocks, name, surely=False, at=at)
