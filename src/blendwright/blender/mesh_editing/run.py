"""Execution of a list of operations on one mesh, in order: select elements, run the operation, count the change."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from blendwright.blender.mesh_editing import marking, remaking, shaping, surfaces
from blendwright.blender.mesh_editing.criteria import select
from blendwright.blender.mesh_editing.editor import MeshEditor, write
from blendwright.blender.mesh_editing.selection import Elements, counted
from blendwright.tool_api.mesh_port import EditDone
from blendwright.tools.mesh.edit_operations import AnyEdit
from blendwright.values.errors import StepError
from blendwright.values.faults import Fault

Act = Callable[[MeshEditor, Any, Elements, str], None]
# Operations that create or remove elements.
REMAKING: Mapping[str, Act] = {
    "extrude": shaping.extrude,
    "inset": shaping.inset,
    "bevel": shaping.bevel,
    "subdivide": shaping.subdivide,
    "cut": shaping.cut,
    "bridge": surfaces.bridge,
    "fill": surfaces.fill,
    "dissolve": surfaces.dissolve,
    "weld": surfaces.weld,
    "delete": surfaces.delete,
    "separate": surfaces.separate,
    "triangulate": surfaces.triangulate,
    "remesh": remaking.remesh,
    "decimate": remaking.decimate,
}
# Operations that keep all elements.
KEEPING: Mapping[str, Act] = {
    "select": marking.select,
    "normals": marking.normals,
    "mark": marking.mark,
    "material": marking.material,
    "shade": marking.shade,
    "transform": shaping.transform,
}
ACTS: Mapping[str, Act] = {**REMAKING, **KEEPING}


def run_operations(editor: MeshEditor, operations: Sequence[AnyEdit]) -> list[EditDone]:
    """Run all operations and write the mesh. Raise StepError with the pointer of the operation that fails."""
    done: list[EditDone] = []
    for number, edit in enumerate(operations):
        at = f"/operations/{number}"
        domain = edit.domain_of_selection
        chosen = select(editor, edit.select, domain, f"{at}/select")
        before = _counts(editor.bm)
        total = len(editor.elements(domain))

        try:
            ACTS[edit.op](editor, edit, chosen, at)
        except RuntimeError as error:  # a BMesh operator gives the reason in one line
            reason = " ".join(str(error).split())
            message = f"{edit.op} of {counted(len(chosen), domain)} failed: {reason}"
            raise StepError.of(Fault.EXECUTION_FAILED, message, at=at, cure="Select other elements.") from error
        if edit.op in REMAKING:
            editor.settle()
        after = _counts(editor.bm)
        growth = (after[0] - before[0], after[1] - before[1], after[2] - before[2])
        done.append(EditDone(edit.op, domain, len(chosen), total, growth))
    if operations[-1].op not in REMAKING:
        write(editor.bm, editor.mesh)
    return done


def _counts(bm: Any) -> tuple[int, int, int]:
    return len(bm.verts), len(bm.edges), len(bm.faces)
