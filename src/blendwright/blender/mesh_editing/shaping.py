"""Operations that make new geometry from the selection: extrude, inset, bevel, subdivide, cut, transform."""

import math
from operator import itemgetter
from typing import Any

import bmesh
from mathutils import Euler, Matrix, Vector

from blendwright.blender.mesh_editing.criteria import axis_vector
from blendwright.blender.mesh_editing.editor import MeshEditor
from blendwright.blender.mesh_editing.selection import Elements, Selection, center_of, converted, distinct, valid
from blendwright.tools.mesh import edit_operations as edits

_ops: Any = bmesh.ops
# The minimum cosine between a vertex's direction and its faces' normals. Below it, an extruded corner would move very far.
MIN_COSINE = 0.2


def extrude(editor: MeshEditor, edit: edits.Extrude, chosen: Elements, at: str) -> None:
    """Extrude the selected edges or faces. The moved caps become the selection, the new faces between its sides."""
    editor.require_room(len(editor.bm.verts) + _corners(chosen), at)
    before = set(editor.bm.faces)
    if edit.domain == "edges":
        new_elements = _ops.extrude_edge_only(editor.bm, edges=chosen)["geom"]
        caps = [element for element in new_elements if not hasattr(element, "loops")]
        moved = _vertices(new_elements)
    elif edit.individual:
        caps = _ops.extrude_discrete_faces(editor.bm, faces=chosen)["faces"]
        moved = converted(caps, "faces", "vertices")
    else:
        # Pass the edges too, so that Blender removes faces that would end up inside.
        new_elements = _ops.extrude_face_region(editor.bm, geom=[*chosen, *converted(chosen, "faces", "edges")])["geom"]
        caps = [element for element in new_elements if hasattr(element, "loops")]
        moved = _vertices(new_elements)

    for face in caps:
        if hasattr(face, "loops"):
            face.normal_update()
    offsets = _offsets(caps, moved, edit)
    for vertex, offset in zip(moved, offsets, strict=True):
        vertex.co += offset
    capped = set(caps)
    sides = [face for face in editor.bm.faces if face not in before and face not in capped]
    editor.keep(edit.name, Selection.of(caps), Selection.of(sides))


def _vertices(elements: Elements) -> Elements:
    return [element for element in elements if hasattr(element, "co")]


def _corners(chosen: Elements) -> int:
    """Return the maximum number of new vertices, if every face or edge gets separate ones."""
    return sum(len(element.verts) for element in chosen)


def _offsets(caps: Elements, moved: Elements, edit: edits.Extrude) -> list[Any]:
    """Return the offset of each vertex: the given vector, or one that moves each of its faces by the distance."""
    if edit.vector is not None:
        return [Vector(edit.vector)] * len(moved)
    faces = set(caps)
    distance = edit.distance or 0.0
    offsets: list[Any] = []
    for vertex in moved:
        normals = [face.normal for face in vertex.link_faces if face in faces]
        total: Any = sum(normals, Vector())
        direction = total.normalized()
        along = sum(normal.dot(direction) for normal in normals) / max(len(normals), 1)
        offsets.append(direction * (distance / max(along, MIN_COSINE)))
    return offsets


def inset(editor: MeshEditor, edit: edits.Inset, chosen: Elements, at: str) -> None:
    """Inset the selected faces. The inner faces become the selection, the new border its sides."""
    editor.require_room(len(editor.bm.verts) + _corners(chosen), at)
    if edit.individual:
        result = _ops.inset_individual(
            editor.bm,
            faces=chosen,
            thickness=edit.thickness,
            depth=edit.depth,
            use_even_offset=True,
            use_interpolate=True,
        )
    else:
        result = _ops.inset_region(
            editor.bm,
            faces=chosen,
            thickness=edit.thickness,
            depth=edit.depth,
            use_boundary=True,
            use_even_offset=True,
            use_interpolate=True,
        )
    inner = [face for face in chosen if face.is_valid]
    editor.keep(edit.name, Selection.of(inner), Selection.of(result["faces"]))


def bevel(editor: MeshEditor, edit: edits.Bevel, chosen: Elements, at: str) -> None:
    """Bevel the selected edges or vertices. The new faces become the selection."""
    editor.require_room(len(editor.bm.verts) + len(chosen) * (edit.segments + 1) ** 2, at)
    copies = _copy_uvs(editor.bm)
    # Pass the vertices of edges too. Without them, the ends would not be rounded.
    if edit.domain == "edges":
        corners = converted(chosen, "edges", "vertices")
        affect = "EDGES"
    else:
        corners = []
        affect = "VERTICES"
    new_elements = _ops.bevel(
        editor.bm,
        geom=[*chosen, *corners],
        offset=edit.width,
        offset_type="OFFSET",
        segments=edit.segments,
        profile=edit.profile,
        affect=affect,
        clamp_overlap=edit.clamp,
        material=-1,
        loop_slide=True,
    )
    _average_uvs(editor.bm, copies)
    editor.keep(edit.name, Selection.of(new_elements["faces"]))


# The prefix of the layers that the bevel interpolates like each UV map.
COPY = "~bw~uv"


def _copy_uvs(bm: Any) -> list[tuple[str, str]]:
    """Copy each UV map to a layer of plain vectors, and return the pairs of names.

    If UVs of a bevel meet, Blender takes their mean, summed in the order of addresses. Its last digit differs between processes.
    Blender does not sum the copies, so `_average_uvs` computes the same mean from them independently of the order.
    """
    names = [(name, f"{COPY}{number}") for number, name in enumerate(bm.loops.layers.uv.keys())]
    for _, copy in names:
        bm.loops.layers.float_vector.new(copy)
    for name, copy in names:
        source, target = bm.loops.layers.uv[name], bm.loops.layers.float_vector[copy]
        for face in bm.faces:
            for loop in face.loops:
                loop[target] = (*loop[source].uv, 0.0)
    return names


def _average_uvs(bm: Any, names: list[tuple[str, str]]) -> None:
    """Replace UVs that meet at a vertex by the exact mean of their copies, and remove the copies."""
    for name, copy in names:
        uvs, copies = bm.loops.layers.uv[name], bm.loops.layers.float_vector[copy]
        for vertex in bm.verts:
            meeting: dict[tuple[float, float], list[Any]] = {}
            for loop in vertex.link_loops:
                meeting.setdefault(tuple(loop[uvs].uv), []).append(loop)
            for loops in meeting.values():
                mean = _mean([loop[copies] for loop in loops], axes=2)
                for loop in loops:
                    loop[uvs].uv = mean
    for _, copy in names:
        bm.loops.layers.float_vector.remove(bm.loops.layers.float_vector[copy])


def subdivide(editor: MeshEditor, edit: edits.Subdivide, chosen: Elements, at: str) -> None:
    """Subdivide the edges of the selection. The new elements become the selection."""
    edges = converted(chosen, edit.domain, "edges")
    faces = converted(edges, "edges", "faces")
    editor.require_room(len(editor.bm.verts) + len(edges) * edit.cuts + len(faces) * edit.cuts**2, at)
    result = _ops.subdivide_edges(editor.bm, edges=edges, cuts=edit.cuts, smooth=edit.smooth, use_grid_fill=True)
    new_elements = distinct([*result["geom_inner"], *result["geom_split"], *result["geom"]])
    editor.keep(edit.name, Selection.of(valid(new_elements)))


def cut(editor: MeshEditor, edit: edits.Cut, chosen: Elements, at: str) -> None:
    """Cut the selection with a plane, and optionally remove one side and fill the opening."""
    point, normal = Vector(edit.point), axis_vector(edit.normal)
    if edit.space == "world":
        point = editor.world.inverted_safe() @ point
        normal = (editor.world.to_3x3().transposed() @ normal).normalized()
    parts = Selection.of(chosen)
    geometry = [*parts.vertices, *parts.edges, *parts.faces]
    sides = {"clear_outer": edit.remove == "above", "clear_inner": edit.remove == "below"}
    result = _ops.bisect_plane(editor.bm, geom=geometry, dist=1e-6, plane_co=point, plane_no=normal, **sides)
    new_elements = valid(result["geom_cut"])
    if edit.fill and edit.remove is not None:
        edges = [element for element in new_elements if hasattr(element, "other_vert") and element.is_boundary]
        new_elements += _ops.holes_fill(editor.bm, edges=edges, sides=0)["faces"]
    editor.keep(edit.name, Selection.of(new_elements))


def transform(editor: MeshEditor, edit: edits.TransformSelection, chosen: Elements, at: str) -> None:
    """Scale, rotate and move the selected vertices around a pivot, their mean by default."""
    vertices = converted(chosen, edit.domain, "vertices")
    if edit.space == "world":
        into = editor.world
    else:
        into = Matrix.Identity(4)
    points = [into @ center_of(vertex) for vertex in vertices]
    if edit.pivot is not None:
        pivot = Vector(edit.pivot)
    else:
        pivot = Vector(_mean(points, axes=3))
    turn = Euler([math.radians(angle) for angle in edit.rotate_deg]).to_matrix().to_4x4()
    matrix = Matrix.Translation(pivot + Vector(edit.translate)) @ turn @ Matrix.Diagonal((*edit.scale, 1.0))
    back = into.inverted_safe() @ matrix @ Matrix.Translation(-pivot)
    for vertex, point in zip(vertices, points, strict=True):
        vertex.co = back @ point
    editor.bm.normal_update()
    editor.keep(edit.name, Selection.of(chosen))


def _mean(points: list[Any], axes: int) -> list[float]:
    """Return the mean of points in their first `axes` coordinates, independent of their order."""
    return [math.fsum(map(itemgetter(axis), points)) / len(points) for axis in range(axes)]
