"""Which datablocks an example names by its declarations, and which it names on real Blender."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any
from unittest import mock

from blendwright.tool_api.mentions import Role
from blendwright.tool_api.scene import Kind
from conformance.cases import Case

Block = tuple[str, str]
"""Kind and name."""

# What other calls can name. Data behind an object is made and renamed along with it, and nearly nothing names it.
NAMED = {
    kind.blocks for kind in (Kind.OBJECT, Kind.COLLECTION, Kind.MATERIAL, Kind.WORLD, Kind.NODE_GROUP, Kind.TEXTURE)
}


def declared(case: Case, *roles: Role, surely: bool = False) -> set[Block]:
    mentions = [one for one in case.tool.mentions_for(case.parsed) if one.surely or not surely]
    return {(one.kind, one.name) for one in mentions if one.role in roles and one.kind in NAMED}


def datablocks(scene: Any) -> set[Block]:
    return {(kind.blocks, block.name) for kind in Kind if kind.blocks in NAMED for block in scene.blocks(kind)}


@contextmanager
def recording_lookups() -> Generator[set[Block]]:
    """What tools look up by name meanwhile."""
    from blendwright.blender.scene import BpyScene

    looked_up = set[Block]()

    def recording(method: Any) -> Any:
        def recorded(self: Any, kind: Kind, name: str, *more: Any) -> Any:
            looked_up.add((kind.blocks, name))
            return method(self, kind, name, *more)

        return recorded

    methods = {name: recording(getattr(BpyScene, name)) for name in ("find", "missing")}
    with mock.patch.multiple(BpyScene, **methods):
        yield looked_up
