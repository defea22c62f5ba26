"""Armatures, weights and shape keys: what Blender offers in modes and by operators only, recorded like every other write.

Responsible for: the pre-images that such writes need, and that nothing but what they are for is written.
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
PER = ("vertex", "part", "object")


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
        """Leaving edit mode takes the bones that are gone from every pose of the armature: pre-images of poses keep the old one."""
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
        armature = obj.data
        obj.data = (
            armature  # Blender builds the pose when an object is given its armature, and else when it evaluates it
        )
        self._stale = True

    def set_bone_matrices(self, obj: Any, matrices: Mapping[str, Any]) -> None:
        for name, matrix in matrices.items():
            # Blender reckons from where it has evaluated the parent.
            self._stale = True
            self.depsgraph()
            obj.pose.bones[name].matrix = matrix
        self._stale = True

    def bone_weights(self, obj: Any, armature: Any, method: str) -> Weights:
        from blendwright.blender.rigging.nearest_bones import nearest_weights
        from blendwright.blender.rigging.weights import found_weights

        worlds = [self.evaluated(one).matrix_world.copy() for one in (obj, armature)]
        if method in PER:
            return nearest_weights(obj.data, worlds[1].inverted_safe() @ worlds[0], armature.data, method)
        return found_weights(obj.data, worlds[0], armature.data, worlds[1], method)

    def selected_vertices(self, obj: Any, selector: Any, world: Any, at: str) -> Sequence[int]:
        from blendwright.blender.mesh_editing.criteria import select
        from blendwright.blender.mesh_editing.editor import MeshEditor

        with closing(MeshEditor(obj, world, _no_slot, _no_mesh, _no_evaluation)) as editor:
            return [vertex.index for vertex in select(editor, selector, "vertices", at)]

    def write_weights(self, obj: Any, weights: Weights) -> None:
        mesh = self._open_weights(obj)
        everything = range(len(mesh.vertices))
        for name, of_group in weights.items():
            group = obj.vertex_groups.get(name) or obj.vertex_groups.new(name=name)
            group.remove(everything)
            by_weight: dict[float, list[int]] = {}
            for vertex, weight in of_group.items():
                by_weight.setdefault(weight, []).append(vertex)
            for weight, vertices in by_weight.items():
                group.add(vertices, weight, "REPLACE")

    def remove_vertex_groups(self, obj: Any, names: Sequence[str]) -> None:
        self._open_weights(obj)
        for name in names:
            obj.vertex_groups.remove(obj.vertex_groups[name])

    def _open_weights(self, obj: Any) -> Any:
        """The mesh, open for writing with all objects that have it: it keeps the names of the groups that they show."""
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
            places = np.asarray(start, np.float64).reshape(-1, 3).tolist()
            for vertex, place in zip(editor.bm.verts, places, strict=True):
                vertex.co = place
            editor.bm.normal_update()
            for number, edit in enumerate(operations):
                at = f"/operations/{number}"
                chosen = select(editor, edit.select, edit.domain_of_selection, f"{at}/select")
                KEEPING[edit.op](editor, edit, chosen, at)
            return [value for vertex in editor.bm.verts for value in vertex.co]

    def add_shape_key(self, obj: Any, name: str) -> Any:
        mesh = self.edit(obj.data)
        if mesh.shape_keys is None:
            obj.shape_key_add(name=BASIS, from_mix=False)
            keys: Any = obj.data.shape_keys
            keys.name = mesh.name
            # Blender names it by what is free; its mesh's name tells what it is for.
            self._register_created(Kind.SHAPE_KEY, keys, keys.name)
        key = obj.shape_key_add(name=name, from_mix=False)
        self._stale = True
        return key

    def remove_shape_keys(self, obj: Any, names: Sequence[str]) -> None:
        mesh = self.edit(obj.data)
        for user in references.referrers({mesh})[mesh]:
            if isinstance(user, bpy.types.Object) and user.show_only_shape_key:
                self.edit(user)  # which one it shows goes by number
        holder = fp.key_of(mesh.shape_keys)
        blocks = mesh.shape_keys.key_blocks
        if set(names) == {block.name for block in blocks}:
            obj.shape_key_clear()
            self._state.drop_name(*holder)
            # Blender 4.2 and 4.5 count a user too many after a revert, and leave them without a mesh.
            left = bpy.data.shape_keys.get(holder[1])
            if left is not None:
                bpy.data.batch_remove([left])
            return
        for name in names:
            obj.shape_key_remove(mesh.shape_keys.key_blocks[name])


def _no_slot(_name: str) -> int:
    raise TypeError("what only moves has no materials")


def _no_mesh(_name: str) -> Any:
    raise TypeError("what only moves makes no meshes")


def _no_evaluation() -> Any:
    raise AssertionError("no operation on a whole mesh is run here")
