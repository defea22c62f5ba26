from __future__ import annotations

from array import array
from collections.abc import Sequence
from itertools import islice
from typing import Annotated

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from blendwright.tool_api import Block, Example, Findings, Kind, Scene
from blendwright.tool_api.arguments import LengthFloat, Vector2, Vector3, optional
from blendwright.tool_api.mentions import MaterialName
from blendwright.tool_api.promises import SAFE_IDEMPOTENT_WRITE
from blendwright.tools.checks import differs, invalid
from blendwright.tools.mesh.facing import wrong_facing
from blendwright.tools.mesh.rounding import round_edges, rounding_differs
from blendwright.tools.mesh_data import (
    EDGE_MARKS,
    UV_MAP,
    Geometry,
    edge_pairs,
    edges_differ,
    fill_mesh,
    flat_uvs,
    geometry,
    marked_edges,
    mesh_differs,
)
from blendwright.tools.object_creation import Creates, MeshPlacement, ObjectMade
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding

# Largest number of elements of one mesh in a call.
MAX_VERTICES = 200_000
MAX_EDGES = 400_000
MAX_FACES = 200_000
MAX_CORNERS = 1_000_000
# Largest number of findings that one check reports.
MAX_FINDINGS = 50

# Result of `wrong_facing` -> message about the mesh.
FACING = {
    "inward": "has normals that point inward: list the vertices of each face counter-clockwise as seen from outside",
    "mixed": (
        "has normals that point inward and others that point outward: list the vertices of each face counter-clockwise "
        "as seen from outside"
    ),
}

Index = Annotated[int, Field(ge=0)]
Edge = Annotated[list[Index], Field(min_length=2, max_length=2)]
Face = Annotated[list[Index], Field(min_length=3, max_length=10_000)]
FaceUvs = Annotated[list[Vector2], Field(min_length=3, max_length=10_000)]


class CreateMeshArgs(MeshPlacement):
    vertices: list[Vector3] = Field(
        min_length=1, max_length=MAX_VERTICES, description="Positions [x, y, z] in metres, in local space."
    )
    edges: list[Edge] = Field(
        default=[],
        max_length=MAX_EDGES,
        description="Pairs of vertex indices for edges without a face. Edges of faces are added automatically.",
    )
    faces: list[Face] = Field(
        default=[],
        max_length=MAX_FACES,
        description="Vertex indices of each face, three or more, counter-clockwise as seen from outside.",
    )
    materials: Annotated[list[MaterialName], Field(min_length=1, max_length=1000)] | None = optional(
        "Instead of material: materials of the slots. face_materials assigns them to faces."
    )
    face_materials: Annotated[list[Index], Field(max_length=MAX_FACES)] | None = optional(
        "For each face, the index of its material in materials, starting at 0. Default: all 0."
    )

    uvs: Annotated[list[FaceUvs], Field(max_length=MAX_FACES)] | None = optional(
        f"For each face, the [u, v] of each of its corners, in the order of faces. Creates the UV map '{UV_MAP}'."
    )
    seams: Annotated[list[Edge], Field(max_length=MAX_EDGES)] | None = optional(
        "Edges at which an unwrap may cut, as pairs of vertex indices."
    )
    sharp: Annotated[list[Edge], Field(max_length=MAX_EDGES)] | None = optional(
        "Edges that stay sharp in smooth shading, as pairs of vertex indices."
    )

    bevel: LengthFloat | None = optional("Width in metres of a bevel modifier that rounds the edges; 0 for none.")
    bevel_segments: Annotated[int, Field(ge=1, le=100)] = Field(
        default=3, description="Number of segments of the rounding."
    )

    @model_validator(mode="after")
    def _dressed_once(self) -> CreateMeshArgs:
        if self.materials is not None and self.material is not None:
            raise PydanticCustomError("two_dresses", "give either 'material' or 'materials', not both")
        if self.face_materials is not None and self.materials is None:
            raise PydanticCustomError("no_materials", "face_materials needs 'materials'")
        if self.bevel and not self.faces:
            raise PydanticCustomError("no_faces", "a bevel needs faces")
        return self

    def edge_marks(self) -> dict[str, list[list[int]]]:
        """Return the marked edges, by the argument that lists them."""
        marks = {"seams": self.seams, "sharp": self.sharp}
        return {field: pairs for field, pairs in marks.items() if pairs is not None}

    def geometry(self) -> Geometry:
        return geometry(self.vertices, self.faces, self.edges)


class MeshMade(ObjectMade):
    """The mesh object that a tool created, or found to exist exactly as requested."""

    notes: list[str] = Field(default=[], description="Warnings about the mesh, such as normals that point inward.")


class CreateMesh(Creates[CreateMeshArgs, MeshMade]):
    """Create a mesh object from explicit vertices, edges and faces, with materials, UVs, seams and sharp edges. Indices
    start at 0.

    Assign one material to all faces or one per face.
    """

    name = "mesh.create"
    promises = SAFE_IDEMPOTENT_WRITE.writes_to(Kind.OBJECT, Kind.MESH, Kind.COLLECTION).needs(
        "object_write", "mesh_write"
    )
    examples = (
        Example({"name": "Tri", "vertices": [[0, 0, 0], [1, 0, 0], [0, 1, 0]], "faces": [[0, 1, 2]]}),
        Example(
            {
                "name": "Roof", "vertices": [[0, 0, 0], [2, 0, 0], [2, 1, 1], [0, 1, 1], [2, 2, 0], [0, 2, 0]],
                "faces": [[0, 1, 2, 3], [3, 2, 4, 5]], "materials": ["Red", "Grey"], "face_materials": [0, 1],
            },
            ("material.ensure_principled", {"name": "Red", "base_color": [0.8, 0.05, 0.05]}),
            ("material.ensure_principled", {"name": "Grey", "base_color": [0.3, 0.3, 0.3]}),
        ),
        Example(
            {
                "name": "Flap", "vertices": [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [1, 2, 1], [0, 2, 1]],
                "faces": [[0, 1, 2, 3], [3, 2, 4, 5]], "seams": [[2, 3]], "sharp": [[2, 3]], "shading": "smooth",
                "uvs": [[[0, 0], [0.5, 0], [0.5, 0.5], [0, 0.5]], [[0, 0.5], [0.5, 0.5], [0.5, 1], [0, 1]]],
            }
        ),
        Example(
            {
                "name": "Wedge", "vertices": [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 0, 1], [0, 1, 1]],
                "faces": [[3, 2, 1, 0], [0, 1, 4], [1, 2, 5, 4], [2, 3, 5], [3, 0, 4, 5]], "bevel": 0.05,
            }
        ),
        Example({"name": "Path", "vertices": [[0, 0, 0], [1, 0, 0], [1, 1, 0.5]], "edges": [[0, 1], [1, 2]]}),
    )  # fmt: skip

    together = True
    object_type = "MESH"

    def vertices_for(self, args: CreateMeshArgs) -> int:
        return len(args.vertices)

    def problems(self, scene: Scene, args: CreateMeshArgs) -> Findings:
        for number, name in enumerate(args.materials or ()):
            yield from scene.missing(Kind.MATERIAL, name, f"/materials/{number}")
        yield from islice(_flaws(args), MAX_FINDINGS)

    def build(self, scene: Scene, args: CreateMeshArgs, data: Block) -> None:
        fill_mesh(data, args.geometry())
        for number, name in enumerate(args.materials or ()):
            data.materials.append(scene.require(Kind.MATERIAL, name, f"/materials/{number}"))
        if args.face_materials:
            data.polygons.foreach_set("material_index", array("i", args.face_materials))
        if args.uvs is not None:
            layer = data.uv_layers.new(name=UV_MAP, do_init=False)
            layer.uv.foreach_set("vector", flat_uvs(args.uvs))
        for field, pairs in args.edge_marks().items():
            data.edges.foreach_set(EDGE_MARKS[field], marked_edges(args.geometry(), pairs))

    def finish(self, scene: Scene, args: CreateMeshArgs, obj: Block) -> None:
        round_edges(scene, obj, args)

    def object_differences(self, scene: Scene, args: CreateMeshArgs, obj: Block) -> Findings:
        return rounding_differs(scene, obj, args)

    def made(self, args: CreateMeshArgs, data: str | None, created: bool) -> MeshMade:
        facing = wrong_facing(args.vertices, args.faces)
        notes: list[str] = []
        if facing is not None:
            notes.append(f"'{args.name}' {FACING[facing]}; mesh.clean makes them point outward.")
        return MeshMade(object=args.name, data=data, created=created, notes=notes)

    def differences(self, scene: Scene, args: CreateMeshArgs, data: Block) -> Findings:
        shape = args.geometry()
        yield from mesh_differs(data, shape, "/vertices")
        if args.edges:
            yield from edges_differ(data, shape, "/edges")
        if args.materials is not None:
            names = [getattr(material, "name", None) for material in data.materials]
            yield from differs("its materials", args.materials, names, "/materials")
            slots = array("i", bytes(4 * len(data.polygons)))
            data.polygons.foreach_get("material_index", slots)
            expected = args.face_materials or [0] * len(slots)
            yield from differs("its material indices", expected, slots.tolist(), "/face_materials")
        yield from _marks_differ(data, args, shape)


def _marks_differ(data: Block, args: CreateMeshArgs, shape: Geometry) -> Findings:
    if args.uvs is not None:
        layer, expected = data.uv_layers.get(UV_MAP), flat_uvs(args.uvs)
        actual = array("f", bytes(4 * len(expected)))
        if layer is not None and len(layer.uv) * 2 == len(expected):
            layer.uv.foreach_get("vector", actual)
        yield from differs("that it has these UVs", True, layer is not None and actual == expected, "/uvs")
    for field, pairs in args.edge_marks().items():
        if len(data.edges) == shape.edge_count:
            marks = array("b", bytes(shape.edge_count))
            data.edges.foreach_get(EDGE_MARKS[field], marks)
            yield from differs(
                f"that the edges in '{field}' are marked", True, marks == marked_edges(shape, pairs), f"/{field}"
            )


def _flaws(args: CreateMeshArgs) -> Findings:
    """Yield findings about the indices, each with the JSON pointer of the index or element."""
    corners = sum(len(face) for face in args.faces)
    if corners > MAX_CORNERS:
        message = f"the faces have {corners} corners in total; the limit is {MAX_CORNERS}"
        yield Finding(Fault.LIMIT_EXCEEDED, message, "/faces", "Split the mesh into several objects.")
    yield from _wrong_indices("faces", args.faces, len(args.vertices))
    yield from _wrong_indices("edges", args.edges, len(args.vertices))
    yield from _doubles("faces", args.faces)
    yield from _doubles("edges", args.edges)
    yield from _wrong_materials(args)
    yield from _wrong_uvs(args)
    yield from _wrong_marks(args)


def _wrong_materials(args: CreateMeshArgs) -> Findings:
    if args.face_materials is None or args.materials is None:
        return
    if len(args.face_materials) != len(args.faces):
        message = f"face_materials has {len(args.face_materials)} entries for {len(args.faces)} faces"
        yield invalid(message, "/face_materials", "Give one entry for each face.")
    for number, index in enumerate(args.face_materials):
        if index >= len(args.materials):
            message = f"material index {index} does not exist; 'materials' has {len(args.materials)} entries"
            yield invalid(message, f"/face_materials/{number}", f"Use an index from 0 to {len(args.materials) - 1}.")


def _wrong_uvs(args: CreateMeshArgs) -> Findings:
    if args.uvs is None:
        return
    if len(args.uvs) != len(args.faces):
        message = f"uvs has {len(args.uvs)} entries for {len(args.faces)} faces"
        yield invalid(message, "/uvs", "Give one list for each face.")
    for number, (corners, face) in enumerate(zip(args.uvs, args.faces, strict=False)):
        if len(corners) != len(face):
            message = f"the entry has {len(corners)} coordinates for the {len(face)} corners of /faces/{number}"
            yield invalid(message, f"/uvs/{number}", "Give one [u, v] for each corner.")


def _wrong_marks(args: CreateMeshArgs) -> Findings:
    marks = args.edge_marks()
    if not any(marks.values()):
        return
    edges = set(edge_pairs(args.faces, args.edges))
    for field, pairs in marks.items():
        for number, (start, end) in enumerate(pairs):
            if (min(start, end), max(start, end)) not in edges:
                message = f"no edge joins the vertices {start} and {end}"
                yield invalid(message, f"/{field}/{number}", "Name an edge of a face, or add it to edges.")


def _wrong_indices(field: str, elements: Sequence[Sequence[int]], count: int) -> Findings:
    for number, element in enumerate(elements):
        if max(element) < count and len(set(element)) == len(element):
            continue
        seen: set[int] = set()
        for position, index in enumerate(element):
            at = f"/{field}/{number}/{position}"
            if index >= count:
                fix = f"Use an index from 0 to {count - 1}, or add the vertex."
                yield invalid(f"vertex {index} does not exist; the mesh has {count} vertices", at, fix)
            elif index in seen:
                fix = "List each vertex once; the last corner joins the first automatically."
                yield invalid(f"vertex {index} is listed twice", at, fix)
            seen.add(index)


def _doubles(field: str, elements: Sequence[Sequence[int]]) -> Findings:
    """Yield a finding for each element with the same vertices as an earlier one; Blender treats such meshes as invalid."""
    first_numbers: dict[tuple[int, ...], int] = {}
    for number, element in enumerate(elements):
        earlier = first_numbers.setdefault(tuple(sorted(element)), number)
        if earlier != number:
            message = f"it joins the same vertices as /{field}/{earlier}"
            yield invalid(message, f"/{field}/{number}", "Leave out one of the two.")
