from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Annotated, Literal

from pydantic import Field, field_validator, model_validator
from pydantic_core import PydanticCustomError

from blendwright.tool_api.arguments import Args, Name, ReadPath, Result, optional
from blendwright.tool_api.file_port import Arrival
from blendwright.tool_api.mentions import CollectionName
from blendwright.tool_api.promises import SAFE_ONE_TIME_WRITE, Determinism, Idempotence, Revert
from blendwright.tool_api.scene import Kind, Scene
from blendwright.tool_api.tool import Example, Findings, Tool
from blendwright.tools.checks import differs, invalid, missing_target_collection, target_collection
from blendwright.tools.file.contents import MAX_NAMES, Renamed, by_kind, collision, missing_contents
from blendwright.tools.file.formats import IMPORTS, form_of, known_extension, truncation_problems
from blendwright.values.errors import StepError
from blendwright.values.faults import Fault

Appendable = Literal[
    "actions", "armatures", "cameras", "collections", "curves", "images", "lights", "materials", "meshes", "node_groups",
    "objects", "textures", "worlds",
]  # fmt: skip

CRATE = ("mesh.create_primitive", {"kind": "cube", "name": "Crate"})
NO_CRATE = ("object.delete", {"object": "Crate"})
GLB = ("file.export", {"path": "crate.glb"})
LIBRARY = ("file.export", {"path": "crate.blend"})
OBJ = ("file.export", {"path": "crate.obj"})


class Append(Args):
    """A datablock of a .blend file, to append with its dependencies."""

    kind: Appendable = Field(description="Kind of datablock.")
    name: Name = Field(description="Its name in the file.")


class ImportArgs(Args):
    path: ReadPath = Field(
        description="File to import: .glb, .gltf, .obj, .stl, .ply, .usd, .usda, .usdc, .fbx, .abc or .blend."
    )
    collection: CollectionName | None = optional(
        "Collection for the imported objects. Default: the scene's own collection."
    )
    append: Annotated[list[Append], Field(max_length=MAX_NAMES)] | None = optional(
        "Only for .blend files: datablocks to append. Default: all objects of the file."
    )
    on_collision: Literal["refuse", "rename"] = Field(
        default="refuse",
        description="If a name is in use: refuse the call, or rename the imported datablock (the result lists it).",
    )

    @field_validator("path")
    @classmethod
    def _known_format(cls, path: str) -> str:
        return known_extension(path, IMPORTS)

    @field_validator("append")
    @classmethod
    def _something_to_append(cls, value: list[Append] | None) -> list[Append] | None:
        if value is not None and not value:
            raise PydanticCustomError(
                "append_nothing", "append must not be empty; leave it out for all objects of the file"
            )
        return value

    @model_validator(mode="after")
    def _append_from_blend_only(self) -> ImportArgs:
        if self.append is not None and form_of(self.path) != "blend":
            raise PydanticCustomError("append_other", "append works only for .blend files; leave it out")
        return self


class Imported(Result):
    """The datablocks that an import added."""

    objects: list[str] = Field(
        max_length=MAX_NAMES, description=f"Names of the new objects, sorted, at most {MAX_NAMES}."
    )
    counts: dict[str, int] = Field(description="Number of new datablocks by kind.")
    came_along: dict[str, list[str]] = Field(
        description=f"Names of other new datablocks by kind: meshes, materials, images, actions …; at most {MAX_NAMES} "
        "of each."
    )
    renamed: list[Renamed] = Field(
        max_length=MAX_NAMES, description="Datablocks that have another name than in the file."
    )
    truncated: bool = Field(description="Whether a list was shortened; the counts are complete.")


class ImportFile(Tool[ImportArgs, Imported]):
    """Import the contents of a file into the scene: glTF, OBJ, STL, PLY, USD, FBX, Alembic, or datablocks of a .blend
    file.

    Only this file is read: embedded textures and buffers are imported, separate files next to it are not. A name that
    is in use is a conflict unless on_collision is rename; nothing silently becomes `.001`.
    """

    name = "file.import"
    promises = (
        SAFE_ONE_TIME_WRITE.but(determinism=Determinism.NONDETERMINISTIC, revert=Revert.MEMFILE, replayable=False)
        .writes_to(*Kind)
        .needs("file_read", "object_write", "mesh_write", "material_write")
    )
    makes_others = True
    examples = (
        Example({"path": "crate.glb"}, CRATE, GLB, NO_CRATE),
        Example({"path": "crate.blend", "append": [{"kind": "objects", "name": "Crate"}]}, CRATE, LIBRARY, NO_CRATE),
        Example({"path": "crate.obj", "on_collision": "rename"}, CRATE, OBJ),
    )

    def idempotence_for(self, args: ImportArgs) -> Idempotence:
        if args.on_collision == "rename":
            return Idempotence.ACCUMULATING
        return Idempotence.NON_IDEMPOTENT

    def determinism_for(self, args: ImportArgs) -> Determinism:
        """Return NONDETERMINISTIC for formats other than .blend.

        Their importers let Blender order the edges of large meshes, and that order depends on the number of processor
        cores.
        """
        if form_of(args.path) == "blend":
            return Determinism.DETERMINISTIC
        return Determinism.NONDETERMINISTIC

    def check(self, scene: Scene, args: ImportArgs) -> Findings:
        yield from missing_target_collection(scene, args.collection)
        path, form = scene.input_file(args.path), form_of(args.path)
        yield from truncation_problems(path, form)
        if form == "blend":
            yield from _missing_contents(args, scene.blend_contents(path))

    def apply(self, scene: Scene, args: ImportArgs) -> Imported:
        path, form = scene.input_file(args.path), form_of(args.path)
        contents = None
        if form == "blend":
            contents = _requested_contents(args, scene.blend_contents(path))
        arrivals = scene.import_file(path, form, target_collection(scene, args.collection), contents)
        if not arrivals:
            fix = "Check the file: it is empty, or its type does not match its name."
            raise StepError.of(Fault.EXECUTION_FAILED, "the file contained no datablocks", at="/path", cure=fix)
        renamed = [arrival for arrival in arrivals if arrival.name != arrival.origin]
        if renamed and args.on_collision == "refuse":
            raise StepError(collision([(arrival.kind, arrival.origin) for arrival in renamed], "/path"))
        return _imported(arrivals, renamed)

    def verify(self, scene: Scene, args: ImportArgs, result: Imported) -> Findings:
        for name in result.objects:
            yield from differs(f"the presence of '{name}'", True, scene.find(Kind.OBJECT, name) is not None, "/path")
        for entry in result.renamed:
            yield from differs(
                f"the presence of '{entry.new}'", True, scene.find(entry.kind, entry.new) is not None, "/path"
            )


def _missing_contents(args: ImportArgs, contents: Mapping[Kind, Sequence[str]]) -> Findings:
    if args.append is not None:
        yield from missing_contents([(entry.kind, entry.name) for entry in args.append], contents, "/append")
    elif not contents[Kind.OBJECT]:
        yield invalid("the file contains no objects", "/append", "Name the datablocks to append in 'append'.")


def _requested_contents(args: ImportArgs, contents: Mapping[Kind, Sequence[str]]) -> dict[Kind, list[str]]:
    if args.append is None:
        return {Kind.OBJECT: list(contents[Kind.OBJECT])}
    return by_kind((entry.kind, entry.name) for entry in args.append)


def _imported(arrivals: Sequence[Arrival], renamed: Sequence[Arrival]) -> Imported:
    counts = Counter(arrival.kind.value for arrival in arrivals)
    names_by_kind: dict[str, list[str]] = {kind: [] for kind in sorted(counts)}
    for arrival in sorted(arrivals, key=lambda arrival: arrival.name):
        names_by_kind[arrival.kind.value].append(arrival.name)
    objects = names_by_kind.pop(Kind.OBJECT.value, [])
    return Imported(
        objects=objects[:MAX_NAMES],
        counts=dict(sorted(counts.items())),
        came_along={kind: names[:MAX_NAMES] for kind, names in names_by_kind.items()},
        renamed=[Renamed(kind=entry.kind, old=entry.origin, new=entry.name) for entry in renamed[:MAX_NAMES]],
        truncated=max(len(objects), len(renamed), *map(len, names_by_kind.values())) > MAX_NAMES,
    )
