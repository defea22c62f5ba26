"""What the tools of UV maps share: names of maps, and what a mesh must have."""

from __future__ import annotations

from collections.abc import Generator
from typing import Annotated

from pydantic import Field

from blendwright.tool_api import Block, Findings, Result, Scene
from blendwright.tool_api.arguments import AttributeName
from blendwright.tools.checks import conflict, existing_object
from blendwright.values.findings import Finding, did_you_mean

UvMapName = Annotated[AttributeName, Field(min_length=1)]
DEFAULT = "UVMap"
# As many as Blender has.
MOST_MAPS = 8


class UvMapMade(Result):
    """A UV map."""

    object: str = Field(description="Name of the object.")
    uv_map: str = Field(description="Name of the map.")
    created: bool = Field(description="Whether the map was new.")


def mesh_with_faces(scene: Scene, name: str) -> Generator[Finding, None, Block | None]:
    obj = yield from existing_object(scene, name, "/object", "MESH")
    if obj is not None and not len(obj.data.polygons):
        yield conflict(f"the mesh of '{name}' has no faces", "/object", "Name an object that has some.")
        return None
    return obj


def missing_map(obj: Block, uv_map: str) -> Findings:
    if obj.data.uv_layers.get(uv_map) is None:
        known = [one.name for one in obj.data.uv_layers]
        cure = did_you_mean(uv_map, known, otherwise="Make one with uv.unwrap.")
        yield conflict(f"'{obj.name}' has no UV map '{uv_map}'", "/uv_map", cure)


def uvs_of(obj: Block, uv_map: str) -> list[float]:
    """All UVs in a row, for reading back."""
    layer = obj.data.uv_layers.get(uv_map)
    if layer is None:
        return []
    return [value for one in layer.data for value in one.uv]
