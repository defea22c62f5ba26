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

MOST_NAMES = 1000
UNLIKE_BYTES = frozenset({"blend", "usd", "fbx", "alembic"})
CUBE = ("mesh.create_primitive", {"kind": "cube", "name": "Box"})
EMPTY = ("object.create_empty", {"name": "Pivot"})
PROPS = ("collection.create", {"name": "Props"})
PROP = ("mesh.create_primitive", {"kind": "cube", "name": "Prop", "collection": "Props"})


class ExportArgs(Args):
    path: WritePath = Field(
        description="File to write: .glb, .fbx, .obj, .stl, .ply, .usd, .usda, .usdc, .usdz, .abc or .blend."
    )
    objects: Annotated[list[ObjectName], Field(min_length=1, max_length=MOST_NAMES)] | None = optional(
        "Objects to export, without their children; the whole scene when left out."
    )
    collection: CollectionName | None = optional(
        "Export what this collection and those in it hold, instead of objects."
    )
    profile: Profile | None = optional(
        "What it is for; the file is then read back by another Blender, and delivered only where it holds what the "
        "scene does: game (.glb, .fbx), film (.usdz, .usd, .abc) or print (.stl in millimetres, closed)."
    )
    overwrite: bool = Field(
        default=False, description="Whether a file that is there may be replaced; the call is then destructive."
    )

    @field_validator("path")
    @classmethod
    def _known_format(cls, path: str) -> str:
        return known_extension(path, EXPORTS)

    @model_validator(mode="after")
    def _fitting(self) -> ExportArgs:
        if self.profile is not None and extension_of(self.path) not in EXTENSIONS[self.profile]:
            fitting = " or ".join(f".{extension}" for extension in EXTENSIONS[self.profile])
            raise PydanticCustomError(
                "profile_format", "profile {profile} is for {fitting}", {"profile": self.profile, "fitting": fitting}
            )
        if self.objects is not None and self.collection is not None:
            raise PydanticCustomError("objects_or_collection", "give objects or a collection, not both")
        return self


class Cleaned(Result):
    """Code that the scene carries and the file does not."""

    what: str = Field(description="Registered text, scripted driver, style module or OSL script.")
    kind: str = Field(description="Kind of the datablock that carries it.")
    name: str = Field(description="Name of that datablock.")
    where: str = Field(description="Where in it: the property of a driver, the name of a node.")


class Texture(Result):
    """A picture on an input of a material."""

    material: str = Field(description="The material.")
    input: str = Field(description="The input of its shader.")
    image: str = Field(description="The picture.")
    width: int = Field(description="Width in pixels.")
    height: int = Field(description="Height in pixels.")


class Holds(Result):
    """What is in a file, or must be."""

    shapes: list[str] = Field(max_length=MOST_NAMES, description="Names of the objects that have faces.")
    shapes_total: int = Field(description="How many these are, also where the list was cut.")
    triangles: int = Field(description="Triangles, after modifiers.")
    open_edges: int = Field(description="Edges that have fewer than two faces.")
    low: list[float] = Field(description="Lowest corner of all, in metres.")
    high: list[float] = Field(description="Highest corner.")
    uv_maps: int = Field(description="UV maps of all shapes together.")
    uv_low: list[float] = Field(description="Lowest UV coordinates.")
    uv_high: list[float] = Field(description="Highest UV coordinates.")
    materials: list[str] = Field(description="Materials of faces.")
    textures: list[Texture] = Field(description="Pictures on materials.")


class Exported(Result):
    """What an export wrote."""

    path: str = Field(description="The file, as it was named in the arguments.")
    objects: int = Field(ge=0, description="How many objects it holds.")
    left_out: list[str] = Field(
        max_length=MOST_NAMES,
        description="Objects of the scene that are not in it: hidden, or of a type that the format lacks.",
    )
    left_out_total: int = Field(ge=0, description="How many these are, also where the list was cut.")
    bytes: int = Field(ge=1, description="Size of the file.")
    cleaned: list[Cleaned] = Field(
        max_length=MOST_NAMES,
        description="Code of the scene that a .blend goes without: texts stay as plain text, drivers are muted.",
    )
    cleaned_total: int = Field(ge=0, description="How many these are, also where the list was cut.")
    proven: bool = Field(description="Whether another Blender has read the file and found what `holds` says.")
    holds: Holds | None = Field(description="With a profile: what is in the file, or is to be where it was not proven.")


class ExportFile(Tool[ExportArgs, Exported]):
    """Write the scene, or some of its objects, to a file: GLB, FBX, OBJ, STL, PLY, USD, Alembic or .blend.

    One file is written: OBJ goes without materials, and textures are inside a GLB or FBX or not at all. Modifiers are applied,
    except in a .blend, which holds everything as it is but for code that would run where it is opened; with objects named it holds
    those and what they need, and no scene."""

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
        """A .blend holds addresses and times, USD and FBX paths and times: two files of equal scenes differ in bytes."""
        if form_of(args.path) in UNLIKE_BYTES:
            return Determinism.NONDETERMINISTIC
        return Determinism.DETERMINISTIC

    def check(self, scene: Scene, args: ExportArgs) -> Findings:
        missing = missing_target_collection(scene, args.collection)
        yield from missing
        if missing:
            return
        may_be_empty = form_of(args.path) == "blend" and args.collection is None
        if args.objects is None and not may_be_empty and not _exportable(scene, args)[0]:
            if args.collection:
                what = f" of collection '{args.collection}'"
            else:
                what = ""
            yield conflict(
                f"there is nothing{what} to export in this format", "/path", "Create something visible first."
            )
        for index, name in enumerate(args.objects or ()):
            at = f"/objects/{index}"
            obj = yield from existing_object(scene, name, at)
            if obj is not None:
                yield from _object_problems(scene, args, obj, at)
        if args.profile is not None and all(scene.find(Kind.OBJECT, name) for name in args.objects or ()):
            yield from scene_problems(args.profile, scene.file_facts(_exportable(scene, args)[0]))

    def apply(self, scene: Scene, args: ExportArgs) -> Exported:
        form, path = form_of(args.path), scene.output_file(args.path)
        chosen, left_out = _exportable(scene, args)
        whole = form == "blend" and args.objects is None and args.collection is None
        carried = scene.export_file(path, form, None if whole else chosen, args.profile)
        size = _size(path)
        if not size:
            raise StepError.of(Fault.EXECUTION_FAILED, "Blender wrote no file", at="/path", cure="Try another format.")
        return Exported(
            path=args.path,
            objects=len(chosen),
            left_out=left_out[:MOST_NAMES],
            left_out_total=len(left_out),
            bytes=size,
            cleaned=[Cleaned.model_validate(asdict(entry)) for entry in carried[:MOST_NAMES]],
            cleaned_total=len(carried),
            proven=False,
            holds=None if args.profile is None else _holds(scene.file_facts(chosen)),
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
        if result["holds"]["shapes_total"] > MOST_NAMES:
            if len(found["shapes"]) == result["holds"]["shapes_total"]:
                facts["shapes"] = found["shapes"]
            else:
                facts["shapes"] = []
        holds = _holds(found).model_dump(mode="json")
        return {**result, "proven": True, "holds": holds}, differences(form_of(args.path), facts, found)


def _holds(facts: FileFacts) -> Holds:
    known = {name: value for name, value in facts.items() if name != "unmapped"}
    return Holds.model_validate({**known, "shapes": facts["shapes"][:MOST_NAMES], "shapes_total": len(facts["shapes"])})


def _exportable(scene: Scene, args: ExportArgs) -> tuple[list[Block], list[str]]:
    """The objects that go into the file, and the names of those that do not although the whole scene was asked for."""
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
    """Why an object cannot be in the file."""
    form = form_of(args.path)
    if form == "blend":
        return
    if form in SURFACES_ONLY and obj.type not in WITH_SURFACE:
        message = f"'{obj.name}' is of type {obj.type}, which {form.upper()} cannot hold"
        yield conflict(message, at, "Leave it out, or export to .glb, .fbx, .usd or .blend.")
    if not scene.evaluated(obj).is_evaluated:
        message = f"'{obj.name}' is hidden or not in the scene, so there is nothing evaluated to export"
        yield conflict(message, at, "Show it in the viewport and link it to a collection, or leave it out.")


def _size(path: str) -> int:
    file = Path(path)
    if file.is_file():
        return file.stat().st_size
    return 0
