from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

from pydantic import Field, field_validator

from blendwright.tool_api import Block, Example, Findings, Kind, Scene, Tool
from blendwright.tool_api.arguments import Args, Result, WritePath, optional
from blendwright.tool_api.mentions import ObjectName
from blendwright.tool_api.promises import SAFE_IDEMPOTENT_WRITE, Determinism
from blendwright.tools.checks import conflict, differs, existing_object
from blendwright.tools.file.formats import EXPORTS, SURFACES_ONLY, WITH_SURFACE, form_of, known_extension
from blendwright.values.errors import StepError
from blendwright.values.faults import Fault

MOST_NAMES = 1000
CUBE = ("mesh.create_primitive", {"kind": "cube", "name": "Box"})
EMPTY = ("object.create_empty", {"name": "Pivot"})


class ExportArgs(Args):
    path: WritePath = Field(description="File to write: .glb, .obj, .stl, .ply, .usd, .usda, .usdc or .blend.")
    objects: Annotated[list[ObjectName], Field(min_length=1, max_length=MOST_NAMES)] | None = optional(
        "Objects to export, without their children; the whole scene when left out."
    )
    overwrite: bool = Field(
        default=False, description="Whether a file that is there may be replaced; the call is then destructive."
    )

    @field_validator("path")
    @classmethod
    def _known_format(cls, path: str) -> str:
        return known_extension(path, EXPORTS)


class Cleaned(Result):
    """Code that the scene carries and the file does not."""

    what: str = Field(description="Registered text, scripted driver, style module or OSL script.")
    kind: str = Field(description="Kind of the datablock that carries it.")
    name: str = Field(description="Name of that datablock.")
    where: str = Field(description="Where in it: the property of a driver, the name of a node.")


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


class ExportFile(Tool[ExportArgs, Exported]):
    """Write the scene, or some of its objects, to a file: GLB, OBJ, STL, PLY, USD or .blend.

    One file is written: OBJ goes without materials, and textures are inside a GLB or not at all. Modifiers are applied,
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
        Example({"path": "box.glb"}, CUBE, EMPTY),
        Example({"path": "box.stl", "objects": ["Box"]}, CUBE, EMPTY),
        Example({"path": "scene.blend"}, CUBE),
    )

    def determinism_for(self, args: ExportArgs) -> Determinism:
        """A .blend holds addresses and times, USD its paths: two files of equal scenes differ in bytes."""
        return Determinism.NONDETERMINISTIC if form_of(args.path) in ("blend", "usd") else Determinism.DETERMINISTIC

    def check(self, scene: Scene, args: ExportArgs) -> Findings:
        if args.objects is None:
            if form_of(args.path) != "blend" and not _exportable(scene, args)[0]:
                cure = "Create something visible first."
                yield conflict("there is nothing to export in this format", "/path", cure)
            return
        for index, name in enumerate(args.objects):
            at = f"/objects/{index}"
            obj = yield from existing_object(scene, name, at)
            if obj is not None:
                yield from _object_problems(scene, args, obj, at)

    def apply(self, scene: Scene, args: ExportArgs) -> Exported:
        form, path = form_of(args.path), scene.output_file(args.path)
        chosen, left_out = _exportable(scene, args)
        whole = form == "blend" and args.objects is None
        carried = scene.export_file(path, form, None if whole else chosen)
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
        )

    def verify(self, scene: Scene, args: ExportArgs, result: Exported) -> Findings:
        yield from differs("the size of the file", result.bytes, _size(scene.output_file(args.path)), "/path")


def _exportable(scene: Scene, args: ExportArgs) -> tuple[list[Block], list[str]]:
    """The objects that go into the file, and the names of those that do not although the whole scene was asked for."""
    if args.objects is not None:
        return [scene.require(Kind.OBJECT, name) for name in dict.fromkeys(args.objects)], []
    everything = list(scene.blocks(Kind.OBJECT))
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
        yield conflict(message, at, "Leave it out, or export to .glb, .usd or .blend.")
    if not scene.evaluated(obj).is_evaluated:
        message = f"'{obj.name}' is hidden or not in the scene, so there is nothing evaluated to export"
        yield conflict(message, at, "Show it in the viewport and link it to a collection, or leave it out.")


def _size(path: str) -> int:
    file = Path(path)
    return file.stat().st_size if file.is_file() else 0
