"""Operations on the surface: bridge, fill, dissolve, weld, delete, separate, triangulate."""

import math
from typing import Any

import bmesh

from blendwright.blender.mesh_editing.editor import MeshEditor, canonical_order, put_in_order, write
from blendwright.blender.mesh_editing.selection import Elements, Selection, converted, counted, outline, valid
from blendwright.tools.mesh import edit_operations as edits
from blendwright.values.errors import StepError
from blendwright.values.faults import Fault

_ops: Any = bmesh.ops
CONTEXTS = {"faces": "FACES", "edges": "EDGES", "vertices": "VERTS"}
# The borders that dissolving by angle keeps.
KEPT_BORDERS = {"MATERIAL", "SEAM", "SHARP", "UV"}


def bridge(editor: MeshEditor, edit: edits.Bridge, chosen: Elements, at: str) -> None:
    """Connect two loops of edges with faces. Selected faces are removed first, and their outlines are the loops."""
    edges = chosen
    if edit.domain == "faces":
        edges = outline(chosen)
        _ops.delete(editor.bm, geom=chosen, context="FACES_KEEP_BOUNDARY")
    faces: Elements = []
    try:
        faces = _ops.bridge_loops(editor.bm, edges=edges, twist_offset=edit.twist)["faces"]
        reason = "they are one loop"
    except RuntimeError as error:
        reason = " ".join(str(error).split())
    if not faces:
        message = f"{counted(len(edges), 'edges')} cannot be bridged: {reason}"
        raise StepError.of(Fault.SCENE_CONFLICT, message, at=f"{at}/select", cure="Select two loops of edges.")
    editor.keep(edit.name, Selection.of(faces))


def fill(editor: MeshEditor, edit: edits.Fill, chosen: Elements, at: str) -> None:
    """Fill the holes that the selected open edges surround."""
    edges = [edge for edge in chosen if len(edge.link_faces) < 2]
    if edit.triangles:
        done = _ops.triangle_fill(editor.bm, edges=edges, use_beauty=True)["geom"]
        faces = [element for element in done if hasattr(element, "loops")]
    else:
        faces = _ops.holes_fill(editor.bm, edges=edges, sides=0)["faces"]
    if not faces:
        message = f"there is no hole to fill: {counted(len(edges), 'edges')} of the {len(chosen)} selected are open"
        cure = "Select the edges around a hole; 'boundary' selects all open ones."
        raise StepError.of(Fault.SCENE_CONFLICT, message, at=f"{at}/select", cure=cure)
    editor.keep(edit.name, Selection.of(faces))


def dissolve(editor: MeshEditor, edit: edits.Dissolve, chosen: Elements, at: str) -> None:
    """Dissolve the selection, or only its flat parts below an angle."""
    bm = editor.bm
    if edit.angle_deg is not None:
        parts = Selection.of(chosen)
        limit = math.radians(edit.angle_deg)
        _ops.dissolve_limit(bm, angle_limit=limit, verts=parts.vertices, edges=parts.edges, delimit=KEPT_BORDERS)
    elif edit.domain == "faces":
        _ops.dissolve_faces(bm, faces=chosen, use_verts=True)
    elif edit.domain == "edges":
        _ops.dissolve_edges(bm, edges=chosen, use_verts=True, use_face_split=False)
    else:
        _ops.dissolve_verts(bm, verts=chosen)
    editor.keep(edit.name, Selection.of(valid(chosen)))


def weld(editor: MeshEditor, edit: edits.Weld, chosen: Elements, at: str) -> None:
    """Merge selected vertices within a distance."""
    _ops.remove_doubles(editor.bm, verts=chosen, dist=edit.distance)
    editor.keep(edit.name, Selection.of(valid(chosen)))


def delete(editor: MeshEditor, edit: edits.Delete, chosen: Elements, at: str) -> None:
    """Delete the selected elements."""
    _ops.delete(editor.bm, geom=chosen, context=CONTEXTS[edit.domain])
    editor.keep(edit.name, Selection())


def separate(editor: MeshEditor, edit: edits.Separate, chosen: Elements, at: str) -> None:
    """Move the selected faces into a new mesh."""
    if len(chosen) == len(editor.bm.faces):
        message = f"all {counted(len(chosen), 'faces')} are selected, which would leave nothing"
        raise StepError.of(Fault.SCENE_CONFLICT, message, at=f"{at}/select", cure="Use object.rename, or select less.")
    editor.bm.faces.index_update()
    numbers = {face.index for face in chosen}
    part = editor.bm.copy()
    try:
        part.faces.ensure_lookup_table()
        part_faces = [part.faces[number] for number in numbers]
        part_vertices = set(converted(part_faces, "faces", "vertices"))
        _ops.delete(part, geom=[face for face in part.faces if face.index not in numbers], context="FACES")
        _ops.delete(part, geom=[vertex for vertex in part.verts if vertex not in part_vertices], context="VERTS")
        put_in_order(part, canonical_order(part, set(part.faces)))
        write(part, editor.mesh_named(edit.new_name))
    finally:
        part.free()
    _ops.delete(editor.bm, geom=chosen, context="FACES")
    editor.keep(edit.name, Selection())


def triangulate(editor: MeshEditor, edit: edits.Triangulate, chosen: Elements, at: str) -> None:
    """Split the selected faces into triangles."""
    done = _ops.triangulate(editor.bm, faces=chosen, quad_method="BEAUTY", ngon_method="BEAUTY")
    editor.keep(edit.name, Selection.of(valid(done["faces"])))
