"""Shared parts of the UV tools: names of UV maps, and checks that a mesh has faces and a map."""

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
# Largest number of UV maps in Blender.
MAX_MAPS = 8


class UvMapMade(Result):
    """The UV map that a tool created or changed."""

    object: str = Field(description="Name of the object.")
    uv_map: str = Field(description="Name of the map.")
    created: bool = Field(description="Whether the map is new.")


def mesh_with_faces(scene: Scene, name: str) -> Generator[Finding, None, Block | None]:
    """Return the mesh object. If it does not exist or has no faces, yield a finding and return None. For use in `check`."""
    obj = yield from existing_object(scene, name, "/object", "MESH")
    if obj is not None and not len(obj.data.polygons):
        yield conflict(f"the mesh of '{name}' has no faces", "/object", "Name an object with faces.")
        return None
    return obj


def missing_map(obj: Block, uv_map: str) -> Findings:
    """Yield a finding if an object has no UV map of that name."""
    if obj.data.uv_layers.get(uv_map) is None:
        names = [layer.name for layer in obj.data.uv_layers]
        cure = did_you_mean(uv_map, names, otherwise="Create one with uv.unwrap.")
        yield conflict(f"'{obj.name}' has no UV map '{uv_map}'", "/uv_map", cure)


def uvs_of(obj: Block, uv_map: str) -> list[float]:
    """Return all coordinates of a UV map as one flat list, or an empty list if the map does not exist."""
    layer = obj.data.uv_layers.get(uv_map)
    if layer is None:
        return []
    coordinates: list[float] = []
    for loop in layer.data:
        coordinates.extend(loop.uv)
    return coordinates
