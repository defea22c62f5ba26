"""Vertex group weights: from list arguments, from a mesh, and the comparison of both."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from blendwright.tool_api import Block, Findings, Scene
from blendwright.tool_api.arguments import UnitFloat
from blendwright.tools.checks import conflict
from blendwright.tools.mesh.selectors import ALL, Selector
from blendwright.tools.world_space import world_matrix

# Tolerance for comparing weights: Blender stores them in single precision.
WEIGHT_TOLERANCE = 1e-6


class Weighting(BaseModel):
    """A selection of vertices and their weight."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False, defer_build=True)

    select: Selector = Field(
        default=ALL,
        description="Vertices, as a selector of mesh.edit: criteria, all, boundary, loose, or a list of indices.",
    )
    weight: UnitFloat = Field(default=1.0, description="Their weight; 0 removes them from the group.")


def selected_weights(scene: Scene, obj: Block, entries: Iterable[tuple[str, Weighting]]) -> dict[int, float]:
    """Return the weight of each selected vertex, including zeros. Each entry comes with its JSON pointer.

    If several entries select a vertex, the last one applies.
    """
    world = world_matrix(scene, obj)
    weights: dict[int, float] = {}
    for at, entry in entries:
        weights |= dict.fromkeys(scene.selected_vertices(obj, entry.select, world, f"{at}/select"), entry.weight)
    return weights


def above_zero(weights: Mapping[int, float]) -> dict[int, float]:
    """Return the weights without zeros, because a weight of 0 removes a vertex from its group."""
    return {vertex: weight for vertex, weight in weights.items() if weight > 0.0}


def weights_of(obj: Block, names: Sequence[str]) -> dict[str, dict[int, float]]:
    """Return the weights in an object's vertex groups, by group name; names without a group are left out."""
    groups = {group.index: group.name for group in obj.vertex_groups if group.name in set(names)}
    weights: dict[str, dict[int, float]] = {name: {} for name in groups.values()}
    if groups:
        for vertex in obj.data.vertices:
            for element in vertex.groups:
                if element.group in groups:
                    weights[groups[element.group]][vertex.index] = element.weight
    return weights


def equal_weights(left: Mapping[int, float], right: Mapping[int, float]) -> bool:
    return left.keys() == right.keys() and all(abs(left[vertex] - right[vertex]) <= WEIGHT_TOLERANCE for vertex in left)


def weights_differ(obj: Block, wanted: Mapping[str, Mapping[int, float]], at: str) -> Findings:
    """Yield findings where vertex groups are missing or hold other weights than `wanted`."""
    actual = weights_of(obj, list(wanted))
    for name, weights in wanted.items():
        if name not in actual:
            yield conflict(f"'{obj.name}' has no vertex group '{name}'", at, "Create that vertex group.")
        elif not equal_weights(weights, actual[name]):
            message = f"vertex group '{name}' of '{obj.name}' has other weights than requested"
            yield conflict(message, at, "Use another name, or set its weights.")


def shared_mesh_conflicts(scene: Scene, obj: Block, at: str) -> Findings:
    """Yield a finding if other objects share the object's mesh, because the mesh stores the weights."""
    if obj.data.users > 1:
        sharers = sorted(user.name for user in scene.users(obj.data) if user != obj and _is_object(user))
        if sharers:
            message = f"'{obj.name}' shares its mesh with {', '.join(sharers[:3])}, and weights belong to the mesh"
            fix = "Give it a mesh of its own first: object.apply_transform with make_single_user."
            yield conflict(message, at, fix)


def _is_object(block: Any) -> bool:
    return block.id_type == "OBJECT"
