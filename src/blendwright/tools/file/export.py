from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any, cast

from pydantic import Field, field_validator, model_validator
from pydantic_core import PydanticCustomError

from blendwright.tool_api import Block, Example, Findings, Kind, Scene, Tool
from blendwright.tool_api.arguments import Args, Result, WritePath, optional
from blendwright.tool_api.mentions import CollectionName, ObjectName
from blendwright.tool_api.promises import SAFE_IDEMPOTENT_WRITE, Determinism
from blendwright.tools.checks import conflict, differs, existing_object, missing_target_collection, target_collection
from blendwright.tools.file.formats import EXPORTS, SURFACES_ONLY, WITH_SURFACE, extension_of, form_of, known_extension
from blendwright.tools.file.profiles import EXTENSIONS, Profile, differences, scene_problems
from blendwright.values.errors import StepError
from blendwright.values.faults import Fault
from blendwright.wire.file_facts import FileFacts

# Largest number of names in a list of a call or result.
MAX_NAMES = 1000
# Formats whose files of equal scenes differ in bytes.
VARYING_FORMATS = frozenset({"blend", "usd", "fbx", "alembic"})
CUBE = ("mesh.create_primitive", {"kind": "cube", "name": "Box"})
EMPTY = ("object.create_empty", {"name": "Pivot"})
PROPS = ("collection.create", {"name": "Props"})
PROP = ("mesh.create_primitive", {"kind": "cube", "name": "Prop", "collection": "Props"})


class ExportArgs(Args):
    path: WritePath = Field(
        description="File to write: .glb, .fbx, .obj, .stl, .ply, .usd, .usda, .usdc, .usdz, .abc or .blend."
    )
    objects: Annotated[list[ObjectName], Field(min_length=1, max_length=MAX_NAMES)] | None = optional(
        "Objects to export, without their children. Default: the whole scene."
    )
    collection: CollectionName | None = optional(
        "Instead of objects: export the objects of this collection and of its child collections."
    )
    profile: Profile | None = optional(
        "Purpose of the file: game (.glb, .fbx), film (.usdz, .usd, .abc) or print (.stl in millimetres, closed). "
        "Another Blender then reads the file back, and it is delivered only if its contents match the scene."
    )
    overwrite: bool = Field(
        default=False, description="True to replace an existing file; the call is then destructive."
    )

    @field_validator("path")
    @classmethod
    def _known_format(cls, path: str) -> str:
        return known_extension(path, EXPORTS)

    @model_validator(mode="after")
    def _options_match(self) -> ExportArgs:
        if self.profile is not None and extension_of(self.path) not in EXTENSIONS[self.profile]:
            endings = " or ".join(f".{extension}" for extension in EXTENSIONS[self.profile])
            raise PydanticCustomError(
                "profile_format",
                "profile {profile} needs a file of type {fitting}",
                {"profile": self.profile, "fitting": endings},
            )
        if self.objects is not None and self.collection is not None:
            raise PydanticCustomError("objects_or_collection", "give either objects or collection, not both")
        return self


class Cleaned(Result):
    """Code that the scene contains and the exported file does not."""

    what: str = Field(description="Registered text, scripted driver, style module or OSL script.")
    kind: str = Field(description="Kind of the datablock that contains it.")
    name: str = Field(description="Name of that datablock.")
    where: str = Field(description="Location in the datablock: the property of a driver, or the name of a node.")


class Texture(Result):
    """A picture that is connected to an input of a material."""

    material: str = Field(description="Name of the material.")
    input: str = Field(description="Input of the material's shader.")
    image: str = Field(description="Name of the image.")
    width: int = Field(description="Width in pixels.")
    height: int = Field(description="Height in pixels.")


class Holds(Result):
    """The contents of an exported file, actual or required."""

    shapes: list[str] = Field(max_length=MAX_NAMES, description="Names of the objects with faces.")
    shapes_total: int = Field(description="Their number, even if the list is shortened.")
    triangles: int = Field(description="Number of triangles, after modifiers.")
    open_edges: int = Field(description="Number of edges with fewer than two faces.")
    low: list[float] = Field(description="Minimum corner of the bounds, in metres.")
    high: list[float] = Field(description="Maximum corner of the bounds, in metres.")
    uv_maps: int = Field(description="Number of UV maps of all shapes together.")
    uv_low: list[float] = Field(description="Minimum UV coordinates.")
    uv_high: list[float] = Field(description="Maximum UV coordinates.")
    materials: list[str] = Field(description="Names of the materials that faces use.")
    textures: list[Texture] = Field(description="Textures of the materials.")


class Exported(Result):
    """The result of an export."""

    path: str = Field(description="Path of the file, as in the arguments.")
    objects: int = Field(ge=0, description="Number of objects in the file.")
    left_out: list[str] = Field(
        max_length=MAX_NAMES,
        description="Objects of the scene that are not in the file: hidden, or of a type that the format does not "
        "support.",
    )
    left_out_total: int = Field(ge=0, description="Their number, even if the list is shortened.")
    bytes: int = Field(ge=1, description="Size of the file.")
    cleaned: list[Cleaned] = Field(
        max_length=MAX_NAMES,
        description="Code of the scene that the .blend file does not run: texts stay as plain text, drivers are muted.",
    )
    cleaned_total: int = Field(ge=0, description="Their number, even if the list is shortened.")
    proven: bool = Field(
        description="Whether another Blender has read the file back and found the contents in `holds`."
    )
    holds: Holds | None = Field(
        description="Only with a profile: the contents of the file; if not proven, the expected contents."
    )


class ExportFile(Tool[ExportArgs, Exported]):
    """Write the scene, or some of its objects, to a file: GLB, FBX, OBJ, STL, PLY, USD, Alembic or .blend.

    The result is a single file: OBJ has no materials, and textures are either embedded (GLB, FBX) or missing. Modifiers
    are applied, except in a .blend file, which contains everything unchanged except code that would run when it is
    opened. A .blend file of named objects contains these and their dependencies, but no scene.
    """

    name = "file.export"
    destructive_with = ("overwrite",)
    promises = (
        SAFE_IDEMPOTENT_WRITE.but(determinism=Determinism.NONDETERMINISTIC, replayable=False)
        .writes_to()
        .needs("scene_read", "file_write")
    )
    examples = (
        Example({"path": "box.glb", "profile": "game"}, CUBE, EMPTY),
        Example({"path": "box.stl", "objects": ["Box"], "profile": "print"}, CUBE, EMPTY),
        Example({"path": "box.usdz", "profile": "film"}, CUBE),
        Example({"path": "box.fbx", "collection": "Props"}, PROPS, PROP),
        Example({"path": "box.abc"}, CUBE),
        Example({"path": "scene.blend"}, CUBE),
    )

    def determinism_for(self, args: ExportArgs) -> Determinism:
        """Return NONDETERMINISTIC for formats whose files contain addresses, paths or times."""
        if form_of(args.path) in VARYING_FORMATS:
            return Determinism.NONDETERMINISTIC
        return Determinism.DETERMINISTIC

    def check(self, scene: Scene, args: ExportArgs) -> Findings:
        missing = missing_target_collection(scene, args.collection)
        yield from missing
        if missing:
            return
        may_be_empty = form_of(args.path) == "blend" and args.collection is None
        if args.objects is None and not may_be_empty and not _exportable(scene, args)[0]:
            source = "the scene"
            if args.collection:
                source = f"collection '{args.collection}'"
            message = f"{source} contains nothing that this format can store"
            yield conflict(message, "/path", "Create something visible first.")
        for index, name in enumerate(args.objects or ()):
            at = f"/objects/{index}"
            obj = yield from existing_object(scene, name, at)
            if obj is not None:
                yield from _object_problems(scene, args, obj, at)
        if args.profile is not None and all(scene.find(Kind.OBJECT, name) for name in args.objects or ()):
            yield from scene_problems(args.profile, scene.file_facts(_exportable(scene, args)[0]))

    def apply(self, scene: Scene, args: ExportArgs) -> Exported:
        form, path = form_of(args.path), scene.output_file(args.path)
        exported, left_out = _exportable(scene, args)
        selection: list[Block] | None = exported
        if form == "blend" and args.objects is None and args.collection is None:
            selection = None  # the whole file
        cleaned = scene.export_file(path, form, selection, args.profile)
        size = _size(path)
        if size == 0:
            raise StepError.of(Fault.EXECUTION_FAILED, "Blender wrote no file", at="/path", cure="Try another format.")

        holds = None
        if args.profile is not None:
            holds = _holds(scene.file_facts(exported))
        return Exported(
            path=args.path,
            objects=len(exported),
            left_out=left_out[:MAX_NAMES],
            left_out_total=len(left_out),
            bytes=size,
            cleaned=[Cleaned.model_validate(asdict(entry)) for entry in cleaned[:MAX_NAMES]],
            cleaned_total=len(cleaned),
            proven=False,
            holds=holds,
        )

    def verify(self, scene: Scene, args: ExportArgs, result: Exported) -> Findings:
        yield from differs("the size of the file", result.bytes, _size(scene.output_file(args.path)), "/path")

    def reads_back(self, args: ExportArgs) -> tuple[str, str] | None:
        if args.profile is None:
            return None
        return (form_of(args.path), args.profile)

    def read_back(
        self, args: ExportArgs, result: Mapping[str, Any], found: FileFacts
    ) -> tuple[Mapping[str, Any], Findings]:
        wanted = {name: value for name, value in result["holds"].items() if name != "shapes_total"}
        facts = cast("FileFacts", {**wanted, "unmapped": []})
        if result["holds"]["shapes_total"] > MAX_NAMES:
            if len(found["shapes"]) == result["holds"]["shapes_total"]:
                facts["shapes"] = found["shapes"]
            else:
                facts["shapes"] = []
        holds = _holds(found).model_dump(mode="json")
        return {**result, "proven": True, "holds": holds}, differences(form_of(args.path), facts, found)


def _holds(facts: FileFacts) -> Holds:
    values = {name: value for name, value in facts.items() if name != "unmapped"}
    return Holds.model_validate({**values, "shapes": facts["shapes"][:MAX_NAMES], "shapes_total": len(facts["shapes"])})


def _exportable(scene: Scene, args: ExportArgs) -> tuple[list[Block], list[str]]:
    """Return the objects to export, and the names of objects that the format cannot store.

    If the call names objects, the second list is empty.
    """
    if args.objects is not None:
        return [scene.require(Kind.OBJECT, name) for name in dict.fromkeys(args.objects)], []
    everything = [*scene.blocks(Kind.OBJECT), *scene.linked_objects()]
    if args.collection is not None:
        members = {obj.name for obj in target_collection(scene, args.collection).all_objects}
        everything = [obj for obj in everything if obj.name in members]
    if form_of(args.path) == "blend":
        return everything, []
    left_out = [obj for obj in everything if any(_object_problems(scene, args, obj, ""))]
    unfit = set(left_out)
    return [obj for obj in everything if obj not in unfit], [obj.name for obj in left_out]


def _object_problems(scene: Scene, args: ExportArgs, obj: Block, at: str) -> Findings:
    """Yield findings if an object cannot be stored in the requested format."""
    form = form_of(args.path)
    if form == "blend":
        return
    if form in SURFACES_ONLY and obj.type not in WITH_SURFACE:
        message = f"'{obj.name}' is of type {obj.type}, which {form.upper()} cannot store"
        yield conflict(message, at, "Leave it out, or export to .glb, .fbx, .usd or .blend.")
    if not scene.evaluated(obj).is_evaluated:
        message = f"'{obj.name}' is hidden or not in the scene, so Blender does not evaluate it"
        yield conflict(message, at, "Show it in the viewport and link it to a collection, or leave it out.")


def _size(path: str) -> int:
    file = Path(path)
    if file.is_file():
        return file.stat().st_size
    return 0
