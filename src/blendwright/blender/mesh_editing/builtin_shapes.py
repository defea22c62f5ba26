"""Shapes that Blender itself has, as plain vertices and faces."""

from typing import Any

import bmesh

_new_bmesh: Any = bmesh.new
_ops: Any = bmesh.ops
MAKERS = {"monkey": "create_monkey"}


def builtin_shape(shape: str) -> tuple[list[tuple[float, ...]], list[tuple[int, ...]]]:
    bm = _new_bmesh()
    try:
        # Looked up anew: an operator that is kept makes nothing after a while (5.0.1).
        getattr(_ops, MAKERS[shape])(bm)
        bm.verts.index_update()
        vertices = [tuple(vertex.co) for vertex in bm.verts]
        return vertices, [tuple(vertex.index for vertex in face.verts) for face in bm.faces]
    finally:
        bm.free()
