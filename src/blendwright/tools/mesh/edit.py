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
MAX_OPERATIONS = 200


class EditArgs(Args):
    object: ObjectName = Field(description="Name of the mesh object. Objects that share its mesh change too.")
    operations: list[Edit] = Field(
        min_length=1, max_length=MAX_OPERATIONS, description="Operations, applied in this order; either all or none."
    )


class MeshCounts(Result):
    vertices: int = Field(description="Number of vertices.")
    edges: int = Field(description="Number of edges.")
    faces: int = Field(description="Number of faces.")


class MeshEdited(Result):
    """A mesh before and after the operations."""

    object: str = Field(description="Name of the object.")
    before: MeshCounts = Field(description="Counts of the mesh before.")
    after: MeshCounts = Field(description="Counts of the mesh after.")
    open_edges: int = Field(description="Number of edges without exactly two faces; 0 for a closed surface.")
    operations: list[str] = Field(description="For each operation, its selection and the change of the mesh's counts.")
    separated: list[str] = Field(default=[], description="Names of the separated objects.")


class EditMesh(Tool[EditArgs, MeshEdited]):
    """Model a mesh by operations on selectors: extrude, inset, bevel, subdivide, cut, bridge, fill, dissolve, weld,
    delete, separate, normals, mark, triangulate, move, material, shade, remesh, decimate.

    A selector describes elements: the direction of their normal, the box they are in, material, attribute, marks, open or
    sharp edges, or the name that an earlier operation of the list gave to its result.
    """

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
        known_names: list[str] = []
        separated: dict[str, int] = {}
        for number, edit in enumerate(args.operations):
            at = f"/operations/{number}"
            for name, pointer in names_used(edit.select, f"{at}/select"):
                if name not in known_names:
                    fix = did_you_mean(name, [*WORDS, *known_names], otherwise="Give an earlier operation that name.")
                    yield invalid(f"no earlier operation has named a selection '{name}'", pointer, fix)
            if number == 0:
                yield from _nothing_before(edit, f"{at}/select")
            if edit.name in WORDS:
                yield invalid(f"'{edit.name}' is a reserved word of selectors", f"{at}/name", "Use another name.")
            new_names = [LAST]
            if edit.name is not None:
                new_names.append(edit.name)
            known_names = [name for name in known_names if name.removesuffix(SIDES) not in new_names] + new_names
            if isinstance(edit, (Extrude, Inset)):
                known_names += [name + SIDES for name in new_names]
            if isinstance(edit, Separate):
                first = separated.setdefault(edit.new_name, number)
                if first != number:
                    message = f"/operations/{first} already creates an object '{edit.new_name}'"
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
        steps = scene.edit_mesh(obj, args.operations, world_matrix(scene, obj))
        separated = [edit.new_name for edit in args.operations if isinstance(edit, Separate)]
        for name in separated:
            collections = scene.collections_of(obj)
            copy = scene.adopt(Kind.OBJECT, obj.copy(), name)
            copy.use_fake_user = False
            copy.data = scene.require(Kind.MESH, name)
            for collection in collections:
                scene.link(collection, copy)
        return MeshEdited(
            object=args.object,
            before=before,
            after=counts_of(obj.data),
            open_edges=open_edges(obj.data),
            operations=[_summary(step) for step in steps],
            separated=separated,
        )

    def verify(self, scene: Scene, args: EditArgs, result: MeshEdited) -> Findings:
        mesh = required_object(scene, args.object, "/object").data
        yield from differs("its counts", result.after.model_dump(), counts_of(mesh).model_dump(), "/operations")
        for number, edit in enumerate(args.operations):
            at = f"/operations/{number}"
            if isinstance(edit, Separate):
                part = scene.find(Kind.OBJECT, edit.new_name)
                has_faces = part is not None and len(part.data.polygons) > 0
                yield from differs("that the new object has faces", True, has_faces, f"{at}/new_name")
            if isinstance(edit, AssignMaterial):
                yield from differs(
                    "that the mesh has the material", True, edit.material in mesh.materials, f"{at}/material"
                )


def shape_key_conflicts(obj: Block) -> Findings:
    """Yield a finding if an object's mesh has shape keys."""
    if obj.data.shape_keys is not None:
        message = f"the mesh of '{obj.name}' has shape keys, which a change of its vertices would break"
        yield conflict(message, "/object", "Remove the shape keys first, or edit a deep copy without them.")


def counts_of(mesh: Block) -> MeshCounts:
    return MeshCounts(vertices=len(mesh.vertices), edges=len(mesh.edges), faces=len(mesh.polygons))


def open_edges(mesh: Block) -> int:
    """Return the number of edges without exactly two faces."""
    edges = array("i", bytes(4 * len(mesh.loops)))
    mesh.loops.foreach_get("edge_index", edges)
    closed = sum(1 for uses in Counter(edges).values() if uses == 2)
    return len(mesh.edges) - closed


def _summary(done: EditDone) -> str:
    """Return one line about an operation, such as `extrude 1 of 6 faces: +4 vertices, +8 edges, +4 faces`."""
    differences = zip(done.grown, ("vertices", "edges", "faces"), strict=True)
    changes = ", ".join(f"{number:+d} {word}" for number, word in differences if number)
    summary = f"{done.op} {done.selected} of {done.total} {done.domain}"
    if changes:
        return f"{summary}: {changes}"
    return summary


def _nothing_before(edit: AnyEdit, at: str) -> Findings:
    """Yield a finding if the first operation's selector refers to the result of an operation before it."""
    for part, pointer in selector_parts(edit.select, at):
        if isinstance(part, str):
            words = [part]
        else:
            words = [part.inside, part.outside]
        if LAST in words:
            yield invalid(
                "the first operation cannot use 'last', because no operation precedes it",
                pointer,
                "Select by criteria, or 'all'.",
            )


def _missing_parts(obj: Block, args: EditArgs) -> Findings:
    """Yield findings for materials that a selector names, but that neither the object nor an earlier operation
    provides.
    """
    material_names = {slot.material.name for slot in obj.material_slots if slot.material is not None}
    for number, edit in enumerate(args.operations):
        for part, pointer in selector_parts(edit.select, f"/operations/{number}/select"):
            if isinstance(part, str) or part.material is None:
                continue
            if part.material not in material_names:
                names = ", ".join(sorted(material_names)) or "none"
                message = f"'{obj.name}' has no material '{part.material}'; it has {names}"
                yield Finding(Fault.TARGET_NOT_FOUND, message, f"{pointer}/material", "Select by an existing material.")
        if isinstance(edit, AssignMaterial):
            material_names.add(edit.material)
