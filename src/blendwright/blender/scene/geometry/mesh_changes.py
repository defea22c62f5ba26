"""Changes of whole meshes by lists of BMesh operations.

This module saves the pre-image of a mesh, and fails the step if Blender finds the resulting mesh invalid.
"""

from collections.abc import Sequence
from contextlib import closing
from typing import Any

from blendwright.blender.scene.tracking.recorded_writes import RecordedWrites
from blendwright.tool_api.mesh_port import BooleanStep, CleanedMesh, EditDone
from blendwright.tool_api.scene import Kind
from blendwright.values.errors import StepError
from blendwright.values.faults import Fault


class MeshChanges(RecordedWrites):
    """The part of the Scene port that edits meshes."""

    def edit_mesh(self, obj: Any, operations: Sequence[Any], world: Any) -> Sequence[EditDone]:
        # Imported here because most sessions never edit a mesh this way.
        from blendwright.blender.mesh_editing.editor import MeshEditor
        from blendwright.blender.mesh_editing.marking import add_layers
        from blendwright.blender.mesh_editing.run import run_operations

        mesh = self.edit(obj.data)
        add_layers(mesh, operations)
        new_meshes: list[Any] = []

        def slot_for(name: str) -> int:
            materials = mesh.materials
            if name not in materials:
                materials.append(self.require(Kind.MATERIAL, name))
            return materials.find(name)

        def mesh_named(name: str) -> Any:
            copy = self.adopt(Kind.MESH, mesh.copy(), name)
            copy.use_fake_user = False
            new_meshes.append(copy)
            return copy

        with closing(MeshEditor(obj, world, slot_for, mesh_named, self._evaluate_again)) as editor:
            done = run_operations(editor, operations)
        self._require_valid(mesh, *new_meshes)
        return done

    def clean_mesh(self, obj: Any, distance: float | None, degenerate: bool, loose: bool, normals: bool) -> CleanedMesh:
        from blendwright.blender.mesh_editing.cleaning import clean_mesh

        mesh = self.edit(obj.data)
        done = clean_mesh(mesh, distance, degenerate, loose, normals)
        self._require_valid(mesh)
        return done

    def join_meshes(self, target: Any, others: Sequence[tuple[Any, Any]]) -> None:
        from blendwright.blender.mesh_editing.joining import join_meshes

        group_names: dict[str, None] = {}
        for source, _ in others:
            group_names.update(dict.fromkeys(group.name for group in source.vertex_groups))
        missing_names = [name for name in group_names if name not in target.vertex_groups]
        mesh = self.edit(target.data)
        if missing_names:
            self.edit(target)
            for name in missing_names:
                target.vertex_groups.new(name=name)

        def slot_for(material: Any) -> int:
            if material.name not in mesh.materials:
                mesh.materials.append(material)
            return mesh.materials.find(material.name)

        join_meshes(target, others, slot_for)
        self._require_valid(mesh)

    def boolean_mesh(
        self, obj: Any, cutters: Sequence[Any], operation: Any, solver: Any, *, overlapping: bool
    ) -> Sequence[BooleanStep]:
        from blendwright.blender.mesh_editing.booleans import BooleanMaker

        mesh = self.edit(obj.data)
        maker = BooleanMaker(obj, solver, overlapping, self._evaluate_again)
        done = [maker.combine(cutter, operation, f"/cutters/{number}") for number, cutter in enumerate(cutters)]
        self._require_valid(mesh)
        return done

    def builtin_shape(self, shape: str) -> tuple[list[tuple[float, ...]], list[tuple[int, ...]]]:
        from blendwright.blender.mesh_editing.builtin_shapes import builtin_shape

        return builtin_shape(shape)

    def _evaluate_again(self) -> Any:
        """Return the dependency graph, updated after unrecorded writes into a mesh that has a pre-image."""
        self._stale = True
        return self.depsgraph()

    def _require_valid(self, *meshes: Any) -> None:
        for mesh in meshes:
            if mesh.validate(verbose=False, clean_customdata=False):
                message = f"the mesh '{mesh.name}' would be invalid, and Blender would have to repair it"
                raise StepError.of(Fault.EXECUTION_FAILED, message, cure="Make the change in smaller parts.")
            mesh.update()
        self._stale = True
