"""Shapes that Blender itself provides, as plain vertices and faces."""

from typing import Any

import bmesh

_new_bmesh: Any = bmesh.new
_ops: Any = bmesh.ops
MAKERS = {"monkey": "create_monkey"}


def builtin_shape(shape: str) -> tuple[list[tuple[float, ...]], list[tuple[int, ...]]]:
    """Return the vertices of a shape, and its faces as lists of vertex indices."""
    bm = _new_bmesh()
    try:
        # Look the operator up on every call: a stored one creates nothing after a while (Blender 5.0.1).
        getattr(_ops, MAKERS[shape])(bm)
        bm.verts.index_update()
        vertices = [tuple(vertex.co) for vertex in bm.verts]
        faces = [_vertex_indices(face) for face in bm.faces]
        return vertices, faces
    finally:
        bm.free()


def _vertex_indices(face: Any) -> tuple[int, ...]:
    return tuple(vertex.index for vertex in face.verts)
