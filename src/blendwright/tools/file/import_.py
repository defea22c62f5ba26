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
from blendwright.tools.file.contents import MOST_NAMES, Renamed, by_kind, collision, missing_contents
from blendwright.tools.file.formats import IMPORTS, form_of, known_extension, truncation_problems
from blendwright.values.errors import StepError
from blendwright.values.faults import Fault

Appendable = Literal[
    "actions", "armatures", "cameras", "collections", "curves", "images", "lights", "materials", "meshes", "node_groups",
    "objects", "textures", "worlds",
]  # fmt: skip

CRATE = ("mesh.create_primitive", {"kind": "cube", "name": "Crate"})
NO_CRATE = ("object.delete", {"object": "Crate"})
GLB, LIBRARY, OBJ = (("file.export", {"path": f"crate.{extension}"}) for extension in ("glb", "blend", "obj"))


class Append(Args):
    """One datablock of a .blend file; what it needs comes with it."""

    kind: Appendable = Field(description="Kind of datablock.")
    name: Name = Field(description="Its name in the file.")


class ImportArgs(Args):
    path: ReadPath = Field(
        description="File to import: .glb, .gltf, .obj, .stl, .ply, .usd, .usda, .usdc, .fbx, .abc or .blend."
    )
    collection: CollectionName | None = optional("Collection to put it into; the scene's own when left out.")
    append: Annotated[list[Append], Field(max_length=MOST_NAMES)] | None = optional(
        "For .blend only: what to append; all objects of the file when left out."
    )
    on_collision: Literal["refuse", "rename"] = Field(
        default="refuse", description="When a name is taken: refuse, or rename what is imported (the result lists it)."
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
                "append_nothing", "append names nothing; leave it out for all objects of the file"
            )
        return value

    @model_validator(mode="after")
    def _append_from_blend_only(self) -> ImportArgs:
        if self.append is not None and form_of(self.path) != "blend":
            raise PydanticCustomError("append_other", "append is for .blend files only; leave it out")
        return self


class Imported(Result):
    """What an import brought."""

    objects: list[str] = Field(
        max_length=MOST_NAMES, description=f"Names of the new objects, sorted, at most {MOST_NAMES}."
    )
    counts: dict[str, int] = Field(description="How many new datablocks there are, by kind.")
    came_along: dict[str, list[str]] = Field(
        description=f"Names of what else came, by kind: meshes, materials, images, actions …; at most {MOST_NAMES} "
        "of each."
    )
    renamed: list[Renamed] = Field(max_length=MOST_NAMES, description="What has another name than in its file.")
    truncated: bool = Field(description="Whether a list was cut; the counts are complete.")


class ImportFile(Tool[ImportArgs, Imported]):
    """Bring the contents of a file into the scene: glTF, OBJ, STL, PLY, USD, FBX, Alembic, or datablocks of a .blend file.

    One file is read: textures or buffers beside it are not found, those inside it are. A name that is taken is a conflict
    unless renaming is allowed; nothing ever becomes `.001` silently."""

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
        """Importers of other formats leave the edges of large meshes to Blender, whose order depends on the processor's cores."""
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
        if form == "blend":
            contents = _requested_contents(args, scene.blend_contents(path))
        else:
            contents = None
        arrivals = scene.import_file(path, form, target_collection(scene, args.collection), contents)
        if not arrivals:
            cure = "Look into the file: it is empty, or not what its name says."
            raise StepError.of(Fault.EXECUTION_FAILED, "the file brought nothing", at="/path", cure=cure)
        renamed = [arrival for arrival in arrivals if arrival.name != arrival.origin]
        if renamed and args.on_collision == "refuse":
            raise StepError(collision([(each.kind, each.origin) for each in renamed], "/path"))
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
        yield invalid("the file holds no objects", "/append", "Name what to append with 'append'.")


def _requested_contents(args: ImportArgs, contents: Mapping[Kind, Sequence[str]]) -> dict[Kind, list[str]]:
    if args.append is None:
        return {Kind.OBJECT: list(contents[Kind.OBJECT])}
    return by_kind((entry.kind, entry.name) for entry in args.append)


def _imported(arrivals: Sequence[Arrival], renamed: Sequence[Arrival]) -> Imported:
    objects = sorted(arrival.name for arrival in arrivals if arrival.kind is Kind.OBJECT)
    counts = Counter(arrival.kind.value for arrival in arrivals)
    others = {kind: sorted(each.name for each in arrivals if each.kind.value == kind) for kind in sorted(counts)}
    others.pop(Kind.OBJECT.value, None)
    return Imported(
        objects=objects[:MOST_NAMES],
        counts=dict(sorted(counts.items())),
        came_along={kind: names[:MOST_NAMES] for kind, names in others.items()},
        renamed=[Renamed(kind=entry.kind, old=entry.origin, new=entry.name) for entry in renamed[:MOST_NAMES]],
        truncated=max(len(objects), len(renamed), *map(len, others.values())) > MOST_NAMES,
    )
