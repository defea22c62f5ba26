"""Operations that exist in Blender only as modifiers and replace the whole mesh: remesh, decimate."""

from typing import Any

import bmesh
import bpy

from blendwright.blender.mesh_editing.editor import MeshEditor, write
from blendwright.blender.mesh_editing.modified import modified
from blendwright.blender.mesh_editing.selection import Elements, Selection
from blendwright.blender.scene.state import RESERVED_PREFIX
from blendwright.tools.mesh import edit_operations as edits
from blendwright.values.errors import StepError
from blendwright.values.faults import Fault

_data: Any = bpy.data
_new_bmesh: Any = bmesh.new


def remesh(editor: MeshEditor, edit: edits.Remesh, chosen: Elements, at: str) -> None:
    """Replace the mesh by a remeshed one: voxels of a size, or an octree of a depth."""
    if edit.size is not None:
        area = sum(face.calc_area() for face in editor.bm.faces)
        editor.require_room(int(area / edit.size**2), at)
        settings: dict[str, Any] = {"mode": "VOXEL", "voxel_size": edit.size}
    else:
        # By default, Blender would remove disconnected parts.
        settings = {"mode": edit.mode.upper(), "octree_depth": edit.depth, "use_remove_disconnected": False}
    _remake(editor, "REMESH", settings, edit.name, at)


def decimate(editor: MeshEditor, edit: edits.Decimate, chosen: Elements, at: str) -> None:
    """Replace the mesh by one with fewer faces."""
    if edit.unsubdivide is not None:
        settings: dict[str, Any] = {"decimate_type": "UNSUBDIV", "iterations": 2 * edit.unsubdivide}
    else:
        triangles = sum(len(face.verts) - 2 for face in editor.bm.faces)
        if edit.ratio is not None:
            ratio = edit.ratio
        else:
            ratio = (edit.faces or 0) / max(triangles, 1)
        settings = {"decimate_type": "COLLAPSE", "ratio": min(1.0, ratio)}
        settings |= {"use_collapse_triangulate": edit.triangles or edit.faces is not None}
    _remake(editor, "DECIMATE", settings, edit.name, at)


def _remake(editor: MeshEditor, kind: str, settings: dict[str, Any], name: str | None, at: str) -> None:
    """Replace the editor's mesh by the result of a modifier. Raise StepError if it would have no face."""
    write(editor.bm, editor.mesh)
    editor.mesh.update()
    copy, bm = _data.meshes.new(f"{RESERVED_PREFIX}copy"), _new_bmesh()
    try:
        with modified(editor.obj, kind, settings, editor.evaluate) as mesh:
            bm.from_mesh(mesh)
        bm.to_mesh(copy)
        # If a thin part collapses, Blender 5.2 leaves its two sides as faces over the same vertices.
        copy.validate(verbose=False, clean_customdata=False)
        if not len(copy.polygons):
            message = f"{kind.lower()} would leave no face"
            cure = "Use more detail: a smaller size or a larger ratio. A voxel remesh needs a surface with an inside."
            raise StepError.of(Fault.SCENE_CONFLICT, message, at=at, cure=cure)
        editor.replace(copy)
    finally:
        bm.free()
        _data.meshes.remove(copy)
    editor.keep(name, Selection.of(editor.bm.faces))
