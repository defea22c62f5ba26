"""Meshes changed as a whole: lists of operations that BMesh carries out.

Responsible for: the pre-image, and that what comes out is a mesh that Blender finds nothing wrong with.
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
        # Loaded with the first list of operations: most sessions have none.
        from blendwright.blender.mesh_editing.editor import MeshEditor
        from blendwright.blender.mesh_editing.marking import add_layers
        from blendwright.blender.mesh_editing.run import run_operations

        mesh = self.edit(obj.data)
        add_layers(mesh, operations)
        made: list[Any] = []

        def slot_for(name: str) -> int:
            materials = mesh.materials
            if name not in materials:
                materials.append(self.require(Kind.MATERIAL, name))
            return materials.find(name)

        def mesh_named(name: str) -> Any:
            copy = self.adopt(Kind.MESH, mesh.copy(), name)
            copy.use_fake_user = False
            made.append(copy)
            return copy

        with closing(MeshEditor(obj, world, slot_for, mesh_named, self._evaluate_anew)) as editor:
            done = run_operations(editor, operations)
        self._require_valid(mesh, *made)
        return done

    def clean_mesh(self, obj: Any, distance: float | None, degenerate: bool, loose: bool, normals: bool) -> CleanedMesh:
        from blendwright.blender.mesh_editing.cleaning import clean_mesh

        mesh = self.edit(obj.data)
        done = clean_mesh(mesh, distance, degenerate, loose, normals)
        self._require_valid(mesh)
        return done

    def join_meshes(self, target: Any, others: Sequence[tuple[Any, Any]]) -> None:
        from blendwright.blender.mesh_editing.joining import join_meshes

        names = [group.name for other, _ in others for group in other.vertex_groups]
        missing = [name for name in dict.fromkeys(names) if name not in target.vertex_groups]
        mesh = self.edit(target.data)
        if missing:
            self.edit(target)
            for name in missing:
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
        maker = BooleanMaker(obj, solver, overlapping, self._evaluate_anew)
        done = [maker.combine(cutter, operation, f"/cutters/{number}") for number, cutter in enumerate(cutters)]
        self._require_valid(mesh)
        return done

    def builtin_shape(self, shape: str) -> tuple[list[tuple[float, ...]], list[tuple[int, ...]]]:
        from blendwright.blender.mesh_editing.builtin_shapes import builtin_shape

        return builtin_shape(shape)

    def _evaluate_anew(self) -> Any:
        """The dependency graph after writes that nobody recorded: those into a mesh that has a pre-image."""
        self._stale = True
        return self.depsgraph()

    def _require_valid(self, *meshes: Any) -> None:
        for one in meshes:
            if one.validate(verbose=False, clean_customdata=False):
                message = f"this would make a mesh '{one.name}' that Blender finds wrong and would have to mend"
                raise StepError.of(Fault.EXECUTION_FAILED, message, cure="Ask for less at once.")
            one.update()
        self._stale = True
