from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterator

from pydantic import Field

from blendwright.tool_api import Args, Block, Example, Findings, Kind, Result, Scene, Tool
from blendwright.tool_api.mentions import Mention, ObjectName, Role, mentions
from blendwright.tool_api.mesh_port import EditDone
from blendwright.tool_api.promises import SAFE_ONE_TIME_WRITE
from blendwright.tools.checks import conflict, differs, existing_object, invalid, not_evaluated, required_object
from blendwright.tools.mesh.edit_operations import AnyEdit, AssignMaterial, Edit, Extrude, Inset, OnWhole, Separate
from blendwright.tools.mesh.selectors import LAST, SIDES, WORDS, names_used, selector_parts
from blendwright.tools.world_space import world_matrix
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding, did_you_mean

BOX = ("mesh.create_primitive", {"kind": "cube", "name": "Box"})
ROD = ("mesh.create_primitive", {"kind": "cylinder", "name": "Rod", "segments": 12})
RED = ("material.ensure_principled", {"name": "Red", "base_color": [0.8, 0.05, 0.05]})
MOST_OPERATIONS = 200


class EditArgs(Args):
    object: ObjectName = Field(description="Name of the mesh object; others that share its mesh change with it.")
    operations: list[Edit] = Field(
        min_length=1, max_length=MOST_OPERATIONS, description="Done in this order, all or none."
    )


class MeshCounts(Result):
    vertices: int = Field(description="Number of vertices.")
    edges: int = Field(description="Number of edges.")
    faces: int = Field(description="Number of faces.")


class MeshEdited(Result):
    """A mesh before and after."""

    object: str = Field(description="Name of the object.")
    before: MeshCounts = Field(description="What it had.")
    after: MeshCounts = Field(description="What it has.")
    open_edges: int = Field(description="Edges that have not exactly two faces; 0 for a closed surface.")
    operations: list[str] = Field(description="What each operation selected, and by how much the mesh grew.")
    separated: list[str] = Field(default=[], description="Objects that were separated.")


class EditMesh(Tool[EditArgs, MeshEdited]):
    """Model a mesh by operations on selectors: extrude, inset, bevel, subdivide, cut, bridge, fill, dissolve, weld, delete,
    separate, normals, mark, triangulate, move, material, shade, remesh, decimate.

    A selector says what elements are like: where their normal looks, the box they are in, material, attribute, marks, open or sharp edges,
    or the name that an earlier operation of the list gave to what it made."""

    name = "mesh.edit"
    promises = SAFE_ONE_TIME_WRITE.writes_to(Kind.OBJECT, Kind.MESH, Kind.COLLECTION, Kind.MATERIAL).needs(
        "mesh_write", "object_write"
    )
    examples = (
        Example(
            {
                "object": "Box",
                "operations": [
                    {"op": "inset", "select": {"normal": "+Z"}, "thickness": 0.2, "name": "top"},
                    {"op": "extrude", "select": "top", "distance": -0.5},
                    {"op": "bevel", "select": {"sharp_deg": 60}, "width": 0.05, "segments": 2},
                ],
            },
            BOX,
        ),
        Example(
            {
                "object": "Rod",
                "operations": [
                    {"op": "mark", "select": {"sharp_deg": 60}, "seam": True},
                    {"op": "material", "select": {"box": [[None, None, 0.9], [None, None, None]]}, "material": "Red"},
                    {"op": "shade", "angle_deg": 40},
                ],
            },
            ROD,
            RED,
        ),
        Example(
            {
                "object": "Box",
                "operations": [{"op": "separate", "select": {"normal": [0, 0, 1]}, "new_name": "Lid"}],
            },
            BOX,
        ),
    )

    def mentions_for(self, args: EditArgs) -> Iterator[Mention]:
        yield from mentions(args)
        for number, edit in enumerate(args.operations):
            if isinstance(edit, Separate):
                yield Mention(Role.MAKES, Kind.MESH.blocks, edit.new_name, at=f"/operations/{number}/new_name")

    def examine(self, args: EditArgs, blender: tuple[int, int, int] | None) -> Findings:
        known: list[str] = []
        separated: dict[str, int] = {}
        for number, edit in enumerate(args.operations):
            at = f"/operations/{number}"
            for name, place in names_used(edit.select, f"{at}/select"):
                if name not in known:
                    cure = did_you_mean(name, [*WORDS, *known], otherwise="Give an earlier operation that name.")
                    yield invalid(f"no earlier operation of the list has named a selection '{name}'", place, cure)
            if number == 0:
                yield from _nothing_before(edit, f"{at}/select")
            if edit.name in WORDS:
                yield invalid(f"'{edit.name}' is a word of selectors", f"{at}/name", "Use another name.")
            if edit.name is not None:
                made = [LAST, edit.name]
            else:
                made = [LAST]
            known = [one for one in known if one not in made and one.removesuffix(SIDES) not in made] + made
            if isinstance(edit, (Extrude, Inset)):
                known += [one + SIDES for one in made]
            if isinstance(edit, Separate):
                first = separated.setdefault(edit.new_name, number)
                if first != number:
                    message = f"/operations/{first} makes an object '{edit.new_name}' already"
                    yield invalid(message, f"{at}/new_name", "Use another name.")

    def check(self, scene: Scene, args: EditArgs) -> Findings:
        for number, edit in enumerate(args.operations):
            at = f"/operations/{number}"
            if isinstance(edit, Separate):
                yield from scene.name_conflicts(Kind.OBJECT, edit.new_name, f"{at}/new_name")
                yield from scene.name_conflicts(Kind.MESH, edit.new_name, f"{at}/new_name")
            if isinstance(edit, AssignMaterial):
                yield from scene.missing(Kind.MATERIAL, edit.material, f"{at}/material")
        obj = yield from existing_object(scene, args.object, "/object", "MESH")
        if obj is None:
            return
        yield from shape_key_conflicts(obj)
        if any(isinstance(edit, OnWhole) for edit in args.operations):
            yield from not_evaluated(scene, obj, "/object")
        yield from _missing_parts(obj, args)

    def apply(self, scene: Scene, args: EditArgs) -> MeshEdited:
        obj = required_object(scene, args.object, "/object")
        before = counts_of(obj.data)
        done = scene.edit_mesh(obj, args.operations, world_matrix(scene, obj))
        separated = [edit.new_name for edit in args.operations if isinstance(edit, Separate)]
        for name in separated:
            homes = scene.collections_of(obj)
            copy = scene.adopt(Kind.OBJECT, obj.copy(), name)
            copy.use_fake_user = False
            copy.data = scene.require(Kind.MESH, name)
            for home in homes:
                scene.link(home, copy)
        return MeshEdited(
            object=args.object,
            before=before,
            after=counts_of(obj.data),
            open_edges=open_edges(obj.data),
            operations=[_told(one) for one in done],
            separated=separated,
        )

    def verify(self, scene: Scene, args: EditArgs, result: MeshEdited) -> Findings:
        mesh = required_object(scene, args.object, "/object").data
        yield from differs("what the mesh has", result.after.model_dump(), counts_of(mesh).model_dump(), "/operations")
        for number, edit in enumerate(args.operations):
            at = f"/operations/{number}"
            if isinstance(edit, Separate):
                part = scene.find(Kind.OBJECT, edit.new_name)
                if part is None:
                    faces = 0
                else:
                    faces = len(part.data.polygons)
                yield from differs("that the new object has faces", True, faces > 0, f"{at}/new_name")
            if isinstance(edit, AssignMaterial):
                yield from differs(
                    "that the mesh has the material", True, edit.material in mesh.materials, f"{at}/material"
                )


def shape_key_conflicts(obj: Block) -> Findings:
    if obj.data.shape_keys is not None:
        message = f"the mesh of '{obj.name}' has shape keys, which other vertices would spoil"
        yield conflict(message, "/object", "Remove the shape keys first, or edit a deep copy without them.")


def counts_of(mesh: Block) -> MeshCounts:
    return MeshCounts(vertices=len(mesh.vertices), edges=len(mesh.edges), faces=len(mesh.polygons))


def open_edges(mesh: Block) -> int:
    edges = array("i", bytes(4 * len(mesh.loops)))
    mesh.loops.foreach_get("edge_index", edges)
    closed = sum(1 for uses in Counter(edges).values() if uses == 2)
    return len(mesh.edges) - closed


def _told(done: EditDone) -> str:
    """One line: `extrude 1 of 6 faces: +4 vertices, +8 edges, +4 faces`."""
    grown = zip(done.grown, ("vertices", "edges", "faces"), strict=True)
    changes = ", ".join(f"{number:+d} {word}" for number, word in grown if number)
    return f"{done.op} {done.selected} of {done.total} {done.domain}" + (f": {changes}" if changes else "")


def _nothing_before(edit: AnyEdit, at: str) -> Findings:
    """The first operation has no last one."""
    for part, place in selector_parts(edit.select, at):
        if isinstance(part, str):
            words = [part]
        else:
            words = [part.inside, part.outside]
        if LAST in words:
            yield invalid("there is no operation before the first", place, "Select by criteria, or 'all'.")


def _missing_parts(obj: Block, args: EditArgs) -> Findings:
    """Materials that a selector names, and neither the object has nor an earlier operation gives it."""
    known = {slot.material.name for slot in obj.material_slots if slot.material is not None}
    for number, edit in enumerate(args.operations):
        for part, place in selector_parts(edit.select, f"/operations/{number}/select"):
            if isinstance(part, str):
                material = None
            else:
                material = part.material
            if material is not None and material not in known:
                listed = ", ".join(sorted(known)) or "none"
                message = f"'{obj.name}' has no material '{material}'; it has {listed}"
                yield Finding(Fault.TARGET_NOT_FOUND, message, f"{place}/material", "Select by a material that it has.")
        if isinstance(edit, AssignMaterial):
            known.add(edit.material)
