from __future__ import annotations

from pydantic import Field

from blendwright.tool_api import Args, Example, Findings, Kind, Result, Scene, Tool
from blendwright.tool_api.arguments import LengthFloat
from blendwright.tool_api.mentions import ObjectName
from blendwright.tool_api.promises import SAFE_ONE_TIME_WRITE
from blendwright.tools.checks import differs, existing_object, required_object
from blendwright.tools.mesh.edit import MeshCounts, counts_of, open_edges, shape_key_conflicts

# Two triangles with an edge at the same position but separate vertices, one of them flipped, and a loose vertex.
MESSY = (
    "mesh.create",
    {
        "name": "Messy",
        "vertices": [[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0], [5, 5, 5]],
        "faces": [[0, 1, 2], [3, 4, 5]],
    },
)


class CleanArgs(Args):
    object: ObjectName = Field(description="Name of the mesh object. Objects that share its mesh change too.")
    weld_distance: LengthFloat = Field(
        default=0.0001, description="Merge vertices closer than this distance in metres; 0 merges none."
    )
    degenerate: bool = Field(default=True, description="Dissolve faces without area and edges without length.")
    loose: bool = Field(default=True, description="Delete vertices and edges that no face uses.")
    normals: bool = Field(default=True, description="Make normals point outward.")


class MeshCleaned(Result):
    """The changes that a cleanup made."""

    object: str = Field(description="Name of the object.")
    welded: int = Field(description="Number of vertices merged into others.")
    degenerate: int = Field(description="Number of removed faces without area.")
    loose: int = Field(description="Number of removed vertices without a face.")
    turned: int = Field(description="Number of flipped faces.")
    after: MeshCounts = Field(description="Counts of the mesh after the call.")
    open_edges: int = Field(description="Number of edges without exactly two faces; 0 for a closed surface.")


class CleanMesh(Tool[CleanArgs, MeshCleaned]):
    """Clean up a mesh: weld doubles, dissolve degenerate faces, delete loose geometry, make normals point outward.

    The result lists all changes.
    """

    name = "mesh.clean"
    promises = SAFE_ONE_TIME_WRITE.writes_to(Kind.MESH, Kind.MATERIAL).needs("mesh_write")
    examples = (
        Example({"object": "Messy"}, MESSY),
        Example({"object": "Messy", "weld_distance": 0, "normals": False}, MESSY),
    )

    def check(self, scene: Scene, args: CleanArgs) -> Findings:
        obj = yield from existing_object(scene, args.object, "/object", "MESH")
        if obj is not None:
            yield from shape_key_conflicts(obj)

    def apply(self, scene: Scene, args: CleanArgs) -> MeshCleaned:
        obj = required_object(scene, args.object, "/object")
        done = scene.clean_mesh(obj, args.weld_distance or None, args.degenerate, args.loose, args.normals)
        return MeshCleaned(
            object=args.object,
            welded=done.welded,
            degenerate=done.degenerate,
            loose=done.loose,
            turned=done.turned,
            after=counts_of(obj.data),
            open_edges=open_edges(obj.data),
        )

    def verify(self, scene: Scene, args: CleanArgs, result: MeshCleaned) -> Findings:
        mesh = required_object(scene, args.object, "/object").data
        yield from differs("its counts", result.after.model_dump(), counts_of(mesh).model_dump(), "/object")
