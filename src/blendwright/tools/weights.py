"""Weights of vertex groups: as lists of arguments give them, as a mesh has them, and whether both agree."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from blendwright.tool_api import Block, Findings, Scene
from blendwright.tool_api.arguments import UnitFloat
from blendwright.tools.checks import conflict
from blendwright.tools.mesh.selectors import ALL, Selector
from blendwright.tools.world_space import world_matrix

# Blender keeps weights in single precision.
SAME = 1e-6


class Weighting(BaseModel):
    """Vertices and their weight."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False, defer_build=True)

    select: Selector = Field(
        default=ALL, description="Vertices, by a selector of mesh.edit: criteria, all, boundary, loose, or a list."
    )
    weight: UnitFloat = Field(default=1.0, description="Their weight; 0 takes them out of the group.")


def selected_weights(scene: Scene, obj: Block, entries: Iterable[tuple[str, Weighting]]) -> dict[int, float]:
    """The weights of a list, each entry with its pointer, zeros included; where two select a vertex, the later one counts."""
    world = world_matrix(scene, obj)
    weights: dict[int, float] = {}
    for at, entry in entries:
        weights |= dict.fromkeys(scene.selected_vertices(obj, entry.select, world, f"{at}/select"), entry.weight)
    return weights


def above_zero(weights: Mapping[int, float]) -> dict[int, float]:
    """A weight of 0 takes a vertex out of its group."""
    return {vertex: weight for vertex, weight in weights.items() if weight > 0.0}


def weights_of(obj: Block, names: Sequence[str]) -> dict[str, dict[int, float]]:
    """What an object's vertex groups of these names hold; those that it does not have are left out."""
    groups = {group.index: group.name for group in obj.vertex_groups if group.name in set(names)}
    weights: dict[str, dict[int, float]] = {name: {} for name in groups.values()}
    if groups:
        for vertex in obj.data.vertices:
            for element in vertex.groups:
                if element.group in groups:
                    weights[groups[element.group]][vertex.index] = element.weight
    return weights


def equal_weights(one: Mapping[int, float], other: Mapping[int, float]) -> bool:
    return one.keys() == other.keys() and all(abs(one[vertex] - other[vertex]) <= SAME for vertex in one)


def weights_differ(obj: Block, wanted: Mapping[str, Mapping[int, float]], at: str) -> Findings:
    """Where vertex groups are not as they should be."""
    actual = weights_of(obj, list(wanted))
    for name, weights in wanted.items():
        if name not in actual:
            yield conflict(f"'{obj.name}' has no vertex group '{name}'", at, "Give it that group.")
        elif not equal_weights(weights, actual[name]):
            message = f"vertex group '{name}' of '{obj.name}' has other weights than requested"
            yield conflict(message, at, "Use another name, or set its weights.")


def shared_mesh_conflicts(scene: Scene, obj: Block, at: str) -> Findings:
    """A finding where other objects have the same mesh, which keeps the weights."""
    if obj.data.users > 1:
        others = sorted(user.name for user in scene.users(obj.data) if user != obj and _is_object(user))
        if others:
            message = f"'{obj.name}' shares its mesh with {', '.join(others[:3])}, and weights belong to the mesh"
            cure = "Give it a mesh of its own first: object.apply_transform with make_single_user."
            yield conflict(message, at, cure)


def _is_object(block: Any) -> bool:
    return block.id_type == "OBJECT"
