"""Armatures, weights and shape keys: features that Blender offers only in modes and by operators.

This module saves the pre-images that these writes need, so that a step reverts them like every other write.
"""

from collections.abc import Generator, Mapping, Sequence
from contextlib import closing, contextmanager
from typing import Any

import bpy
import numpy as np

from blendwright.blender import fingerprint as fp
from blendwright.blender.scene.tracking import references
from blendwright.blender.scene.tracking.recorded_writes import RecordedWrites
from blendwright.tool_api.rigging import Weights
from blendwright.tool_api.scene import Kind

BASIS = "Basis"
# Methods that weight by the nearest bone: one bone per vertex, per connected part, or for the whole object.
NEAREST_BONE_METHODS = ("vertex", "part", "object")


class Rigging(RecordedWrites):
    """The part of the Scene port that rigs."""

    @contextmanager
    def edit_bones(self, armature: Any) -> Generator[Any]:
        from blendwright.blender.rigging.temporary_objects import bones_in_edit_mode

        self._save_poses(armature)
        try:
            with bones_in_edit_mode(armature) as bones:
                yield bones
        finally:
            self._stale = True

    def _save_poses(self, armature: Any) -> None:
        """Save pre-images of the armature and of the objects that use it. Does nothing if this step may already write the armature.

        When Blender leaves edit mode, it removes deleted bones from every pose of the armature. The pre-images of the objects
        therefore refer to the pre-image of the armature. Raises TypeError if the step opened such an object for writing before."""
        key = self._writable(armature)
        if self.undo_log.free(key):
            return
        users = [user for user in self.users(armature) if isinstance(user, bpy.types.Object)]
        image = self._save_preimage(key, armature)
        for user in users:
            user_key = self._writable(user)
            if self.undo_log.free(user_key):
                raise TypeError(f"{user_key} was opened for writing before its bones")
            self._save_preimage(user_key, user).data = image

    def build_pose(self, obj: Any) -> None:
        # Blender builds the pose when the armature is assigned, and otherwise only when it evaluates the object.
        armature = obj.data
        obj.data = armature
        self._stale = True

    def set_bone_matrices(self, obj: Any, matrices: Mapping[str, Any]) -> None:
        for name, matrix in matrices.items():
            # Blender converts the matrix relative to the evaluated parent bone.
            self._stale = True
            self.depsgraph()
            obj.pose.bones[name].matrix = matrix
        self._stale = True

    def bone_weights(self, obj: Any, armature: Any, method: str) -> Weights:
        from blendwright.blender.rigging.nearest_bones import nearest_weights
        from blendwright.blender.rigging.weights import found_weights

        object_world = self.evaluated(obj).matrix_world.copy()
        armature_world = self.evaluated(armature).matrix_world.copy()
        if method in NEAREST_BONE_METHODS:
            return nearest_weights(obj.data, armature_world.inverted_safe() @ object_world, armature.data, method)
        return found_weights(obj.data, object_world, armature.data, armature_world, method)

    def selected_vertices(self, obj: Any, selector: Any, world: Any, at: str) -> Sequence[int]:
        from blendwright.blender.mesh_editing.criteria import select
        from blendwright.blender.mesh_editing.editor import MeshEditor

        with closing(MeshEditor(obj, world, _no_slot, _no_mesh, _no_evaluation)) as editor:
            return [vertex.index for vertex in select(editor, selector, "vertices", at)]

    def write_weights(self, obj: Any, weights: Weights) -> None:
        mesh = self._open_weights(obj)
        all_vertices = range(len(mesh.vertices))
        for name, group_weights in weights.items():
            group = obj.vertex_groups.get(name) or obj.vertex_groups.new(name=name)
            group.remove(all_vertices)
            by_weight: dict[float, list[int]] = {}
            for vertex, weight in group_weights.items():
                by_weight.setdefault(weight, []).append(vertex)
            for weight, vertices in by_weight.items():
                group.add(vertices, weight, "REPLACE")

    def remove_vertex_groups(self, obj: Any, names: Sequence[str]) -> None:
        self._open_weights(obj)
        for name in names:
            obj.vertex_groups.remove(obj.vertex_groups[name])

    def _open_weights(self, obj: Any) -> Any:
        """Open the mesh of an object for writing, together with all objects that use it, and return it.

        The mesh stores the names of the vertex groups, so a change of the names changes every object that uses the mesh."""
        mesh = self.edit(obj.data)
        for user in self.users(mesh):
            if isinstance(user, bpy.types.Object):
                self.edit(user)
        return mesh

    def moved_vertices(
        self, obj: Any, start: Sequence[float], operations: Sequence[Any], world: Any
    ) -> Sequence[float]:
        from blendwright.blender.mesh_editing.criteria import select
        from blendwright.blender.mesh_editing.editor import MeshEditor
        from blendwright.blender.mesh_editing.run import KEEPING

        with closing(MeshEditor(obj, world, _no_slot, _no_mesh, _no_evaluation)) as editor:
            positions = np.asarray(start, np.float64).reshape(-1, 3).tolist()
            for vertex, position in zip(editor.bm.verts, positions, strict=True):
                vertex.co = position
            editor.bm.normal_update()

            for number, edit in enumerate(operations):
                at = f"/operations/{number}"
                selection = select(editor, edit.select, edit.domain_of_selection, f"{at}/select")
                KEEPING[edit.op](editor, edit, selection, at)

            coordinates: list[float] = []
            for vertex in editor.bm.verts:
                coordinates.extend(vertex.co)
            return coordinates

    def add_shape_key(self, obj: Any, name: str) -> Any:
        mesh = self.edit(obj.data)
        if mesh.shape_keys is None:
            obj.shape_key_add(name=BASIS, from_mix=False)
            keys: Any = obj.data.shape_keys
            keys.name = mesh.name
            # Blender chooses any free name; the name of the mesh shows which mesh the keys belong to.
            self._register_created(Kind.SHAPE_KEY, keys, keys.name)
        key = obj.shape_key_add(name=name, from_mix=False)
        self._stale = True
        return key

    def remove_shape_keys(self, obj: Any, names: Sequence[str]) -> None:
        mesh = self.edit(obj.data)
        for user in references.referrers({mesh})[mesh]:
            if isinstance(user, bpy.types.Object) and user.show_only_shape_key:
                self.edit(user)  # The object refers to the key that it shows by number, and removal shifts the numbers.

        keys = fp.key_of(mesh.shape_keys)
        blocks = mesh.shape_keys.key_blocks
        if set(names) == {block.name for block in blocks}:
            obj.shape_key_clear()
            self._state.drop_name(*keys)
            # After a revert, Blender 4.2 and 4.5 count one user too many and keep the datablock without a mesh.
            orphan = bpy.data.shape_keys.get(keys[1])
            if orphan is not None:
                bpy.data.batch_remove([orphan])
            return
        for name in names:
            obj.shape_key_remove(mesh.shape_keys.key_blocks[name])


def _no_slot(_name: str) -> int:
    raise TypeError("an operation that only moves vertices must not ask for a material slot")


def _no_mesh(_name: str) -> Any:
    raise TypeError("an operation that only moves vertices must not create a mesh")


def _no_evaluation() -> Any:
    raise AssertionError("an operation that only moves vertices must not evaluate the mesh")
