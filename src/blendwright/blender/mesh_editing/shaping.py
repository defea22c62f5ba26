"""Operations that make new geometry of what is selected: extrude, inset, bevel, subdivide, cut, transform."""

import math
from typing import Any

import bmesh
from mathutils import Euler, Matrix, Vector

from blendwright.blender.mesh_editing.criteria import axis_vector
from blendwright.blender.mesh_editing.editor import MeshEditor
from blendwright.blender.mesh_editing.selection import Elements, Selection, center_of, converted, distinct
from blendwright.tools.mesh import edit_operations as edits

_ops: Any = bmesh.ops
# A corner between faces that nearly face each other would shoot far out.
LEAST_COSINE = 0.2


def extrude(editor: MeshEditor, edit: edits.Extrude, chosen: Elements, at: str) -> None:
    editor.require_room(len(editor.bm.verts) + _corners(chosen), at)
    before = set(editor.bm.faces)
    if edit.domain == "edges":
        made = _ops.extrude_edge_only(editor.bm, edges=chosen)["geom"]
        caps = [one for one in made if not hasattr(one, "loops")]
        moved = [one for one in made if hasattr(one, "co")]
    elif edit.individual:
        caps = _ops.extrude_discrete_faces(editor.bm, faces=chosen)["faces"]
        moved = converted(caps, "faces", "vertices")
    else:
        # With their edges, so that faces which would end up inside are taken away.
        made = _ops.extrude_face_region(editor.bm, geom=[*chosen, *converted(chosen, "faces", "edges")])["geom"]
        caps = [one for one in made if hasattr(one, "loops")]
        moved = [one for one in made if hasattr(one, "co")]
    for face in caps:
        if hasattr(face, "loops"):
            face.normal_update()
    offsets = _offsets(caps, moved, edit)
    for vertex, offset in zip(moved, offsets, strict=True):
        vertex.co += offset
    capped = set(caps)
    sides = [face for face in editor.bm.faces if face not in before and face not in capped]
    editor.keep(edit.name, Selection.of(caps), Selection.of(sides))


def _corners(chosen: Elements) -> int:
    """How many vertices are made of faces or edges where each gets its own, which is the most there can be."""
    return sum(len(one.verts) for one in chosen)


def _offsets(caps: Elements, moved: Elements, edit: edits.Extrude) -> list[Any]:
    """How far each vertex moves: by a vector, or so that each of its faces moves by the distance."""
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
        offsets.append(direction * (distance / max(along, LEAST_COSINE)))
    return offsets


def inset(editor: MeshEditor, edit: edits.Inset, chosen: Elements, at: str) -> None:
    editor.require_room(len(editor.bm.verts) + _corners(chosen), at)
    if edit.individual:
        done = _ops.inset_individual(
            editor.bm,
            faces=chosen,
            thickness=edit.thickness,
            depth=edit.depth,
            use_even_offset=True,
            use_interpolate=True,
        )
    else:
        done = _ops.inset_region(
            editor.bm,
            faces=chosen,
            thickness=edit.thickness,
            depth=edit.depth,
            use_boundary=True,
            use_even_offset=True,
            use_interpolate=True,
        )
    inner = [face for face in chosen if face.is_valid]
    editor.keep(edit.name, Selection.of(inner), Selection.of(done["faces"]))


def bevel(editor: MeshEditor, edit: edits.Bevel, chosen: Elements, at: str) -> None:
    editor.require_room(len(editor.bm.verts) + len(chosen) * (edit.segments + 1) ** 2, at)
    copies = _copy_uvs(editor.bm)
    # Edges bring their vertices: a vertex alone would be an end that is not rounded.
    if edit.domain == "edges":
        corners = converted(chosen, "edges", "vertices")
    else:
        corners = []
    made = _ops.bevel(
        editor.bm,
        geom=[*chosen, *corners],
        offset=edit.width,
        offset_type="OFFSET",
        segments=edit.segments,
        profile=edit.profile,
        affect="EDGES" if edit.domain == "edges" else "VERTICES",
        clamp_overlap=edit.clamp,
        material=-1,
        loop_slide=True,
    )
    _average_uvs(editor.bm, copies)
    editor.keep(edit.name, Selection.of(made["faces"]))


# What is given to the bevel to interpolate along with each UV map.
COPY = "~bw~uv"


def _copy_uvs(bm: Any) -> list[tuple[str, str]]:
    """A copy of each UV map as plain vectors.

    Where UVs of a bevel meet, Blender takes their mean, summed in the order of addresses: its last digit differs between processes.
    From copies, which nobody sums, the same mean is had in an order that does not matter."""
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
    for name, copy in names:
        uvs, copies = bm.loops.layers.uv[name], bm.loops.layers.float_vector[copy]
        for vertex in bm.verts:
            meeting: dict[tuple[float, float], list[Any]] = {}
            for loop in vertex.link_loops:
                meeting.setdefault(tuple(loop[uvs].uv), []).append(loop)
            for loops in meeting.values():
                mean = [math.fsum(loop[copies][axis] for loop in loops) / len(loops) for axis in (0, 1)]
                for loop in loops:
                    loop[uvs].uv = mean
    for _, copy in names:
        bm.loops.layers.float_vector.remove(bm.loops.layers.float_vector[copy])


def subdivide(editor: MeshEditor, edit: edits.Subdivide, chosen: Elements, at: str) -> None:
    edges = converted(chosen, edit.domain, "edges")
    faces = converted(edges, "edges", "faces")
    editor.require_room(len(editor.bm.verts) + len(edges) * edit.cuts + len(faces) * edit.cuts**2, at)
    done = _ops.subdivide_edges(editor.bm, edges=edges, cuts=edit.cuts, smooth=edit.smooth, use_grid_fill=True)
    made = distinct([*done["geom_inner"], *done["geom_split"], *done["geom"]])
    editor.keep(edit.name, Selection.of(one for one in made if one.is_valid))


def cut(editor: MeshEditor, edit: edits.Cut, chosen: Elements, at: str) -> None:
    point, normal = Vector(edit.point), axis_vector(edit.normal)
    if edit.space == "world":
        point = editor.world.inverted_safe() @ point
        normal = (editor.world.to_3x3().transposed() @ normal).normalized()
    parts = Selection.of(chosen)
    geometry = [*parts.vertices, *parts.edges, *parts.faces]
    sides = {"clear_outer": edit.remove == "above", "clear_inner": edit.remove == "below"}
    done = _ops.bisect_plane(editor.bm, geom=geometry, dist=1e-6, plane_co=point, plane_no=normal, **sides)
    made = [one for one in done["geom_cut"] if one.is_valid]
    if edit.fill and edit.remove is not None:
        edges = [one for one in made if hasattr(one, "other_vert") and one.is_boundary]
        made += _ops.holes_fill(editor.bm, edges=edges, sides=0)["faces"]
    editor.keep(edit.name, Selection.of(made))


def transform(editor: MeshEditor, edit: edits.TransformSelection, chosen: Elements, at: str) -> None:
    vertices = converted(chosen, edit.domain, "vertices")
    if edit.space == "world":
        into = editor.world
    else:
        into = Matrix.Identity(4)
    places = [into @ center_of(vertex) for vertex in vertices]
    if edit.pivot is not None:
        pivot = Vector(edit.pivot)
    else:
        pivot = _mean(places)
    turn = Euler([math.radians(angle) for angle in edit.rotate_deg]).to_matrix().to_4x4()
    matrix = Matrix.Translation(pivot + Vector(edit.translate)) @ turn @ Matrix.Diagonal((*edit.scale, 1.0))
    back = into.inverted_safe() @ matrix @ Matrix.Translation(-pivot)
    for vertex, place in zip(vertices, places, strict=True):
        vertex.co = back @ place
    editor.bm.normal_update()
    editor.keep(edit.name, Selection.of(chosen))


def _mean(places: list[Any]) -> Any:
    return Vector([math.fsum(place[axis] for place in places) / len(places) for axis in range(3)])
