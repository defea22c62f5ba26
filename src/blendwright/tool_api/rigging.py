"""The part of the Scene port for armatures, weights and shape keys."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

# Weights of each vertex group by its name: vertex -> weight.
Weights = Mapping[str, Mapping[int, float]]


class Rigging(Protocol):
    def edit_bones(self, armature: Any) -> AbstractContextManager[Any]:
        """Return a context manager for writing the bones of an armature, which Blender allows only in edit mode.

        It captures the armature and every object that poses it. References to bones from before are invalid
        afterwards.
        """
        ...

    def build_pose(self, obj: Any) -> None:
        """Give an armature object the pose of its first evaluation. This does not count as a change of the scene."""
        ...

    def set_bone_matrices(self, obj: Any, matrices: Mapping[str, Any]) -> None:
        """Pose bones of an editable object so that they have these matrices in object space; list parents first."""
        ...

    def bone_weights(self, obj: Any, armature: Any, method: str) -> Weights:
        """Return weights of a mesh object for the bones of an armature object at rest. Both must be evaluated.

        `heat` and `envelope` are Blender's methods. `vertex`, `part` and `object` give the full weight to the nearest
        bone.
        """
        ...

    def selected_vertices(self, obj: Any, selector: Any, world: Any, at: str) -> Sequence[int]:
        """Return the vertices that a selector of mesh.edit selects; `world` is the object's world matrix. Raises
        StepError if there are none.
        """
        ...

    def write_weights(self, obj: Any, weights: Weights) -> None:
        """Give vertex groups of a mesh object exactly these weights. Missing groups are created, and groups without
        weights become empty.
        """
        ...

    def remove_vertex_groups(self, obj: Any, names: Sequence[str]) -> None:
        """Remove vertex groups of a mesh object with their weights."""
        ...

    def moved_vertices(
        self, obj: Any, start: Sequence[float], operations: Sequence[Any], world: Any
    ) -> Sequence[float]:
        """Return the positions of vertices after operations of mesh.edit that only move, as a flat list. Writes
        nothing.
        """
        ...

    def add_shape_key(self, obj: Any, name: str) -> Any:
        """Return a new shape key of a mesh object with the shape of the basis key, which is created if it is missing."""
        ...

    def remove_shape_keys(self, obj: Any, names: Sequence[str]) -> None:
        """Remove shape keys of a mesh object. Removing the last one also removes the datablock that holds them."""
        ...
