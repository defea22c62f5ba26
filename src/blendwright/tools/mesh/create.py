from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import Annotated

from pydantic import Field

from blendwright.tool_api import Block, Example, Findings, Kind, Scene
from blendwright.tool_api.arguments import Vector3
from blendwright.tool_api.promises import SAFE_IDEMPOTENT_WRITE
from blendwright.tools.checks import invalid
from blendwright.tools.mesh_data import Geometry, edges_differ, fill_mesh, geometry, mesh_differs
from blendwright.tools.object_creation import CreatesObject, MeshPlacement
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding

MOST_VERTICES = 200_000
MOST_EDGES = 400_000
MOST_FACES = 200_000
MOST_CORNERS = 1_000_000
# All findings help a repair, but a list of a hundred thousand does not.
MOST_FINDINGS = 50

Index = Annotated[int, Field(ge=0)]
Edge = Annotated[list[Index], Field(min_length=2, max_length=2)]
Face = Annotated[list[Index], Field(min_length=3, max_length=10_000)]


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

    def geometry(self) -> Geometry:
        return geometry(self.vertices, self.faces, self.edges)


class CreateMesh(CreatesObject[CreateMeshArgs]):
    """Add a mesh object from explicit vertices, edges and faces. Indices start at 0."""

    name = "mesh.create"
    promises = SAFE_IDEMPOTENT_WRITE.writes_to(Kind.OBJECT, Kind.MESH, Kind.COLLECTION).needs(
        "object_write", "mesh_write"
    )
    examples = (
        Example({"name": "Tri", "vertices": [[0, 0, 0], [1, 0, 0], [0, 1, 0]], "faces": [[0, 1, 2]]}),
        Example({"name": "Path", "vertices": [[0, 0, 0], [1, 0, 0], [1, 1, 0.5]], "edges": [[0, 1], [1, 2]]}),
    )

    object_type = "MESH"

    def vertices_for(self, args: CreateMeshArgs) -> int:
        return len(args.vertices)

    def problems(self, scene: Scene, args: CreateMeshArgs) -> Findings:
        return islice(_flaws(args), MOST_FINDINGS)

    def build(self, scene: Scene, args: CreateMeshArgs, data: Block) -> None:
        fill_mesh(data, args.geometry())

    def differences(self, scene: Scene, args: CreateMeshArgs, data: Block) -> Findings:
        shape = args.geometry()
        yield from mesh_differs(data, shape, "/vertices")
        if args.edges:
            yield from edges_differ(data, shape, "/edges")


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
