"""Mending a mesh: doubles, faces and edges without extent, what no face uses, and faces that look the wrong way."""

from typing import Any

import bmesh

from blendwright.blender.mesh_editing.editor import new_places, put_in_order, write
from blendwright.tool_api.mesh_port import CleanedMesh

_new_bmesh: Any = bmesh.new
_ops: Any = bmesh.ops


def clean_mesh(mesh: Any, distance: float | None, degenerate: bool, loose: bool, normals: bool) -> CleanedMesh:
    """Mend a mesh in place and say what was done; it is not written where nothing was wrong."""
    bm = _new_bmesh()
    try:
        bm.from_mesh(mesh)
        old = list(bm.faces)
        if distance:
            welded = _shrunk(bm, lambda: _ops.remove_doubles(bm, verts=bm.verts[:], dist=distance))
        else:
            welded = 0
        thin = len(bm.faces)
        if degenerate:
            _ops.dissolve_degenerate(bm, dist=distance or 1e-7, edges=bm.edges[:])
        flat = thin - len(bm.faces)
        if loose:
            strays = _shrunk(bm, lambda: _delete_loose(bm))
        else:
            strays = 0
        bm.normal_update()
        if normals:
            turned = _outward(bm)
        else:
            turned = 0
        found = CleanedMesh(welded=welded, degenerate=flat, loose=strays, turned=turned)
        if (len(bm.verts), len(bm.edges), len(bm.faces)) != _counts(mesh) or turned:
            put_in_order(bm, new_places(bm, {face for face in old if face.is_valid}))
            write(bm, mesh)
        return found
    finally:
        bm.free()


def _counts(mesh: Any) -> tuple[int, int, int]:
    return len(mesh.vertices), len(mesh.edges), len(mesh.polygons)


def _shrunk(bm: Any, act: Any) -> int:
    before = len(bm.verts)
    act()
    return before - len(bm.verts)


def _delete_loose(bm: Any) -> None:
    _ops.delete(bm, geom=[edge for edge in bm.edges if not edge.link_faces], context="EDGES")
    _ops.delete(bm, geom=[vertex for vertex in bm.verts if not vertex.link_faces], context="VERTS")


def _outward(bm: Any) -> int:
    before = [face.normal.copy() for face in bm.faces]
    _ops.recalc_face_normals(bm, faces=bm.faces[:])
    return sum(1 for was, face in zip(before, bm.faces, strict=True) if was.dot(face.normal) < 0.0)
