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

MOST_VERTICES = 200_000
MOST_EDGES = 400_000
MOST_FACES = 200_000
MOST_CORNERS = 1_000_000
# All findings help a repair, but a list of a hundred thousand does not.
MOST_FINDINGS = 50

# What is said of a closed mesh.
FACING = {
    "inward": "has its faces turned inward: name their vertices counter-clockwise as seen from outside",
    "mixed": "has faces that look inward beside others that look outward: name their vertices counter-clockwise as seen from outside",
}

Index = Annotated[int, Field(ge=0)]
Edge = Annotated[list[Index], Field(min_length=2, max_length=2)]
Face = Annotated[list[Index], Field(min_length=3, max_length=10_000)]
FaceUvs = Annotated[list[Vector2], Field(min_length=3, max_length=10_000)]


class CreateMeshArgs(MeshPlacement):
    vertices: list[Vector3] = Field(
        min_length=1, max_length=MOST_VERTICES, description="Positions [x, y, z] in metres, in the object's own space."
    )
    edges: list[Edge] = Field(
        default=[],
        max_length=MOST_EDGES,
        description="Pairs of vertex indices, for edges that belong to no face; those of faces come by themselves.",
    )
    faces: list[Face] = Field(
        default=[],
        max_length=MOST_FACES,
        description="Vertex indices of each face, three or more, counter-clockwise as seen from outside.",
    )
    materials: Annotated[list[MaterialName], Field(min_length=1, max_length=1000)] | None = optional(
        "Materials of its slots, instead of material; face_materials says which face has which."
    )
    face_materials: Annotated[list[Index], Field(max_length=MOST_FACES)] | None = optional(
        "For each face the place of its material in materials, from 0 on; all 0 when left out."
    )

    uvs: Annotated[list[FaceUvs], Field(max_length=MOST_FACES)] | None = optional(
        f"For each face the [u, v] of each of its corners, in the order of faces; the UV map '{UV_MAP}'."
    )
    seams: Annotated[list[Edge], Field(max_length=MOST_EDGES)] | None = optional(
        "Edges where an unwrapping may cut, as pairs of vertex indices."
    )
    sharp: Annotated[list[Edge], Field(max_length=MOST_EDGES)] | None = optional(
        "Edges that stay sharp where shading is smooth, as pairs of vertex indices."
    )

    bevel: LengthFloat | None = optional("Round its edges, by a modifier of this width in metres; 0 for none.")
    bevel_segments: Annotated[int, Field(ge=1, le=100)] = Field(default=3, description="Steps of the rounding.")

    @model_validator(mode="after")
    def _dressed_once(self) -> CreateMeshArgs:
        if self.materials is not None and self.material is not None:
            raise PydanticCustomError("two_dresses", "give either 'material' or 'materials'")
        if self.face_materials is not None and self.materials is None:
            raise PydanticCustomError("no_materials", "face_materials are places in 'materials', which is not given")
        if self.bevel and not self.faces:
            raise PydanticCustomError("no_faces", "a bevel rounds edges between faces, and there are no faces")
        return self

    def edge_marks(self) -> dict[str, list[list[int]]]:
        """The edges that are marked, by the argument that says so."""
        given = {"seams": self.seams, "sharp": self.sharp}
        return {field: pairs for field, pairs in given.items() if pairs is not None}

    def geometry(self) -> Geometry:
        return geometry(self.vertices, self.faces, self.edges)


class MeshMade(ObjectMade):
    """A mesh object that was created, or found just as it should be."""

    notes: list[str] = Field(default=[], description="What may surprise about it: faces that look inward.")


class CreateMesh(Creates[CreateMeshArgs, MeshMade]):
    """Add a mesh object from explicit vertices, edges and faces, with a material for all or one per face, UVs, seams and sharp edges.
    Indices start at 0."""

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
        yield from islice(_flaws(args), MOST_FINDINGS)

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
        wrong = wrong_facing(args.vertices, args.faces)
        if wrong is None:
            notes = []
        else:
            notes = [f"'{args.name}' {FACING[wrong]}; mesh.clean turns them outward."]
        return MeshMade(object=args.name, data=data, created=created, notes=notes)

    def differences(self, scene: Scene, args: CreateMeshArgs, data: Block) -> Findings:
        shape = args.geometry()
        yield from mesh_differs(data, shape, "/vertices")
        if args.edges:
            yield from edges_differ(data, shape, "/edges")
        if args.materials is not None:
            names = [None if one is None else one.name for one in data.materials]
            yield from differs("its materials", args.materials, names, "/materials")
            slots = array("i", bytes(4 * len(data.polygons)))
            data.polygons.foreach_get("material_index", slots)
            expected = args.face_materials or [0] * len(slots)
            yield from differs("which face has which material", expected, slots.tolist(), "/face_materials")
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
            yield from differs(f"which edges are {field}", True, marks == marked_edges(shape, pairs), f"/{field}")


def _flaws(args: CreateMeshArgs) -> Findings:
    """What is wrong with the indices, each with the pointer of the index or the element."""
    corners = sum(len(face) for face in args.faces)
    if corners > MOST_CORNERS:
        message = f"the faces have {corners} corners together; at most {MOST_CORNERS} are allowed"
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
        message = f"there are {len(args.face_materials)} for {len(args.faces)} faces"
        yield invalid(message, "/face_materials", "Give one for each face.")
    for number, place in enumerate(args.face_materials):
        if place >= len(args.materials):
            message = f"there is no material {place}; there are {len(args.materials)}"
            yield invalid(message, f"/face_materials/{number}", f"Use a place from 0 to {len(args.materials) - 1}.")


def _wrong_uvs(args: CreateMeshArgs) -> Findings:
    if args.uvs is None:
        return
    if len(args.uvs) != len(args.faces):
        message = f"there are those of {len(args.uvs)} faces, and there are {len(args.faces)} faces"
        yield invalid(message, "/uvs", "Give one list for each face.")
    for number, (corners, face) in enumerate(zip(args.uvs, args.faces, strict=False)):
        if len(corners) != len(face):
            message = f"there are {len(corners)} for the {len(face)} corners of /faces/{number}"
            yield invalid(message, f"/uvs/{number}", "Give one [u, v] for each corner.")


def _wrong_marks(args: CreateMeshArgs) -> Findings:
    known: set[tuple[int, int]] | None = None
    for field, pairs in args.edge_marks().items():
        for number, (one, other) in enumerate(pairs):
            if known is None:
                known = set(edge_pairs(args.faces, args.edges))
            if (min(one, other), max(one, other)) not in known:
                message = f"no face and no edge joins the vertices {one} and {other}"
                yield invalid(message, f"/{field}/{number}", "Name an edge of a face, or add it to edges.")


def _wrong_indices(field: str, elements: Sequence[Sequence[int]], count: int) -> Findings:
    for number, element in enumerate(elements):
        if max(element) < count and len(set(element)) == len(element):
            continue
        seen: set[int] = set()
        for position, index in enumerate(element):
            at = f"/{field}/{number}/{position}"
            if index >= count:
                cure = f"Use an index from 0 to {count - 1}, or add the vertex."
                yield invalid(f"there is no vertex {index}; there are {count}", at, cure)
            elif index in seen:
                cure = "Name each vertex once; the last corner joins the first by itself."
                yield invalid(f"vertex {index} is named twice", at, cure)
            seen.add(index)


def _doubles(field: str, elements: Sequence[Sequence[int]]) -> Findings:
    """Elements over the same vertices: Blender holds one of them to be a mistake, whatever its direction."""
    first: dict[tuple[int, ...], int] = {}
    for number, element in enumerate(elements):
        earlier = first.setdefault(tuple(sorted(element)), number)
        if earlier != number:
            message = f"it joins the same vertices as /{field}/{earlier}"
            yield invalid(message, f"/{field}/{number}", "Leave one of the two out.")
