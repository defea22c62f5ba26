"""Cleaning of a mesh: doubles, faces and edges without extent, vertices and edges without faces, faces with wrong orientation."""

from typing import Any

import bmesh

from blendwright.blender.mesh_editing.editor import canonical_order, put_in_order, write
from blendwright.tool_api.mesh_port import CleanedMesh

_new_bmesh: Any = bmesh.new
_ops: Any = bmesh.ops


def clean_mesh(mesh: Any, distance: float | None, degenerate: bool, loose: bool, normals: bool) -> CleanedMesh:
    """Fix a mesh in place and return the number of changes of each kind. Do not write the mesh if it needs no change.

    `distance` is the weld distance in metres; None skips welding.
    """
    bm = _new_bmesh()
    try:
        bm.from_mesh(mesh)
        old = list(bm.faces)
        if distance:
            welded = _shrunk(bm, lambda: _ops.remove_doubles(bm, verts=bm.verts[:], dist=distance))
        else:
            welded = 0
        faces_before = len(bm.faces)
        if degenerate:
            _ops.dissolve_degenerate(bm, dist=distance or 1e-7, edges=bm.edges[:])
        degenerate_faces = faces_before - len(bm.faces)
        if loose:
            loose_vertices = _shrunk(bm, lambda: _delete_loose(bm))
        else:
            loose_vertices = 0

        bm.normal_update()
        if normals:
            turned = _outward(bm)
        else:
            turned = 0

        cleaned = CleanedMesh(welded=welded, degenerate=degenerate_faces, loose=loose_vertices, turned=turned)
        if (len(bm.verts), len(bm.edges), len(bm.faces)) != _counts(mesh) or turned:
            put_in_order(bm, canonical_order(bm, {face for face in old if face.is_valid}))
            write(bm, mesh)
        return cleaned
    finally:
        bm.free()


def _counts(mesh: Any) -> tuple[int, int, int]:
    return len(mesh.vertices), len(mesh.edges), len(mesh.polygons)


def _shrunk(bm: Any, act: Any) -> int:
    """Run `act` and return the number of vertices that it removed."""
    before = len(bm.verts)
    act()
    return before - len(bm.verts)


def _delete_loose(bm: Any) -> None:
    """Delete edges and vertices without faces."""
    _ops.delete(bm, geom=[edge for edge in bm.edges if not edge.link_faces], context="EDGES")
    _ops.delete(bm, geom=[vertex for vertex in bm.verts if not vertex.link_faces], context="VERTS")


def _outward(bm: Any) -> int:
    """Turn the faces outward and return the number of turned faces."""
    before = [face.normal.copy() for face in bm.faces]
    _ops.recalc_face_normals(bm, faces=bm.faces[:])
    return sum(1 for normal_before, face in zip(before, bm.faces, strict=True) if normal_before.dot(face.normal) < 0.0)
