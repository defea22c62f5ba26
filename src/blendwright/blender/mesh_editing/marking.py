"""Operations that keep the geometry: normals, marks on edges, materials, shading, and naming of a selection."""

import math
from collections.abc import Sequence
from typing import Any

import bmesh

from blendwright.blender.mesh_editing.editor import MeshEditor
from blendwright.blender.mesh_editing.selection import Elements, Selection, converted
from blendwright.tools.mesh import edit_operations as edits

_ops: Any = bmesh.ops
CREASE = "crease_edge"


def add_layers(mesh: Any, operations: Sequence[Any]) -> None:
    """Add the layers that the operations write, before the editor reads the mesh. Adding one later makes all selections invalid."""
    creases = any(isinstance(edit, edits.Mark) and edit.crease for edit in operations)
    if creases and CREASE not in mesh.attributes:
        mesh.attributes.new(CREASE, "FLOAT", "EDGE")


def select(editor: MeshEditor, edit: edits.Select, chosen: Elements, at: str) -> None:
    """Store the selection under a name."""
    editor.keep(edit.name, Selection.of(chosen))


def normals(editor: MeshEditor, edit: edits.Normals, chosen: Elements, at: str) -> None:
    """Turn the selected faces outward or inward, or flip them."""
    if edit.look != "flip":
        _ops.recalc_face_normals(editor.bm, faces=chosen)
    if edit.look != "outward":
        _ops.reverse_faces(editor.bm, faces=chosen)
    editor.bm.normal_update()
    editor.keep(edit.name, Selection.of(chosen))


def mark(editor: MeshEditor, edit: edits.Mark, chosen: Elements, at: str) -> None:
    """Set seam, sharp and crease of the selected edges, as far as given."""
    creases = editor.bm.edges.layers.float.get(CREASE)
    for edge in chosen:
        if edit.seam is not None:
            edge.seam = edit.seam
        if edit.sharp is not None:
            edge.smooth = not edit.sharp
        if edit.crease is not None and creases is not None:
            edge[creases] = edit.crease
    editor.keep(edit.name, Selection.of(chosen))


def material(editor: MeshEditor, edit: edits.AssignMaterial, chosen: Elements, at: str) -> None:
    """Assign a material to the selected faces."""
    slot = editor.slot_for(edit.material)
    for face in chosen:
        face.material_index = slot
    editor.keep(edit.name, Selection.of(chosen))


def shade(editor: MeshEditor, edit: edits.ShadeByAngle, chosen: Elements, at: str) -> None:
    """Shade the selected faces smooth, with sharp edges above an angle; flat for an angle of 0."""
    limit = math.radians(edit.angle_deg)
    for face in chosen:
        face.smooth = edit.angle_deg > 0.0
    if edit.angle_deg > 0.0:
        for edge in converted(chosen, "faces", "edges"):
            if len(edge.link_faces) == 2 and edge.calc_face_angle() > limit:
                edge.smooth = False
    editor.keep(edit.name, Selection.of(chosen))
