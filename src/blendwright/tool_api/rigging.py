"""The part of the Scene port that armatures, weights and shape keys need."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

# Weights of each vertex group by its name: vertex -> weight.
Weights = Mapping[str, Mapping[int, float]]


class Rigging(Protocol):
    def edit_bones(self, armature: Any) -> AbstractContextManager[Any]:
        """The bones of an armature as they can be written, for the length of a `with` block: Blender has them in edit mode only.

        Holds pre-images of the armature and of every object that poses it. What was held of bones before is stale afterwards."""
        ...

    def build_pose(self, obj: Any) -> None:
        """Give an armature object the pose that it gets when it is first evaluated; that is no change of the scene."""
        ...

    def set_bone_matrices(self, obj: Any, matrices: Mapping[str, Any]) -> None:
        """Pose bones of an object that is open for writing so that they are where these matrices say, in its own space; parents first."""
        ...

    def bone_weights(self, obj: Any, armature: Any, method: str) -> Weights:
        """Weights of a mesh object for the bones of an armature object at rest, which both must be evaluated: by `heat` or `envelope`,
        as Blender finds them; or all of each `vertex`, `part` or `object` for the bone that is nearest."""
        ...

    def selected_vertices(self, obj: Any, selector: Any, world: Any, at: str) -> Sequence[int]:
        """The vertices that a selector of mesh.edit selects; `world` is the object's world matrix. A StepError when there are none."""
        ...

    def write_weights(self, obj: Any, weights: Weights) -> None:
        """Give vertex groups of a mesh object exactly these weights; groups that are missing are made, those without weights are empty."""
        ...

    def remove_vertex_groups(self, obj: Any, names: Sequence[str]) -> None:
        """Take vertex groups of a mesh object away, with their weights."""
        ...

    def moved_vertices(
        self, obj: Any, start: Sequence[float], operations: Sequence[Any], world: Any
    ) -> Sequence[float]:
        """Where vertices that start somewhere come to by operations of mesh.edit that move only: three numbers for each. Writes nothing."""
        ...

    def add_shape_key(self, obj: Any, name: str) -> Any:
        """A new shape key of a mesh object, of the shape of its first one, which is made too where there is none."""
        ...

    def remove_shape_keys(self, obj: Any, names: Sequence[str]) -> None:
        """Take shape keys of a mesh object away; with the last one the datablock goes that holds them."""
        ...
