from __future__ import annotations

import hashlib
import json
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, field_validator

from blendwright.tool_api import Block, Example, Findings, Kind, Scene, Tool
from blendwright.tool_api.annotations import PictureLayer
from blendwright.tool_api.arguments import Args, Result, Seed, optional
from blendwright.tool_api.mentions import ObjectName
from blendwright.tool_api.promises import READ_ONLY, Determinism
from blendwright.tools.checks import conflict, differs, existing_object, invalid
from blendwright.tools.render.annotation_document import DOCUMENT, FORMAT, AnnotationDocument
from blendwright.tools.render.categories import Categories, Category, category_problems, described, different, labels
from blendwright.tools.render.rendering import FrameNumber, engine_id, engine_name, keep_pixels_only, render_picture
from blendwright.tools.render.still import MAX_PIXELS, STAGE, Pixels
from blendwright.tools.world_space import world_matrix
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding

# Largest number of pictures that one call renders.
MAX_PICTURES = 100
# Largest dot product of two axes of a camera's matrix. A skewed camera would show another picture than its intrinsics describe.
MAX_AXIS_SKEW = 1e-3
BOX = {"name": "box", "objects": ["Box"], "keypoints": [{"name": "corner", "at": [1, 1, 1]}]}
LAYERS: tuple[PictureLayer, ...] = ("INSTANCES", "CATEGORIES", "DEPTH", "NORMALS")


class AnnotationsArgs(Args):
    categories: Categories = Field(
        default=[], description="Categories to annotate. Default: those in the custom property 'category' of objects."
    )
    cameras: Annotated[list[ObjectName], Field(min_length=1, max_length=MAX_PICTURES)] | None = optional(
        "Perspective cameras to look through, instead of the scene's own."
    )
    frames: Annotated[list[FrameNumber], Field(min_length=1, max_length=MAX_PICTURES)] | None = optional(
        "Frames to render, instead of the current one."
    )
    resolution: Annotated[tuple[Pixels, Pixels], Field(strict=False)] | None = optional(
        "Width and height in pixels, instead of the scene's."
    )
    layers: list[PictureLayer] = Field(default=list(LAYERS), description="Layers to write in addition to the colours.")
    engine: Literal["WORKBENCH", "CYCLES"] | None = optional("Engine for the colours, instead of the scene's.")
    samples: int | None = optional("Samples per pixel of CYCLES, instead of the scene's.", ge=1, le=100_000)
    denoise: bool = Field(default=True, description="Remove the noise of CYCLES.")
    seed: Seed = Field(default=0, description="Seed of the noise of CYCLES.")
    artifact: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]{0,95}$")] = Field(
        default="annotations", description="Name of the folder among the workspace's artifacts."
    )

    @field_validator("categories")
    @classmethod
    def _check_categories(cls, value: list[Category]) -> list[Category]:
        return different(value)


class CategoryCount(Result):
    """The number of instances of a category in the pictures."""

    category: str = Field(description="Name of the category.")
    instances: int = Field(description="Number of instances in the scene, counted once per picture.")
    visible: int = Field(description="How many of them the pictures show.")


class AnnotationsWritten(Result):
    artifact: str = Field(description="Name of the folder among the workspace's artifacts.")
    document: str = Field(description="Name of the file in the folder that describes the pictures.")
    pictures: int = Field(description="Number of pictures.")
    width: int = Field(description="Width in pixels.")
    height: int = Field(description="Height in pixels.")
    engine: str = Field(description="Engine that rendered the colours.")
    categories: list[CategoryCount] = Field(description="The annotated categories.")
    notes: list[str] = Field(default=[], description="Unexpected results, such as dark pictures.")
    sha256: str = Field(description="Hash of the names and contents of all files in the folder.")


class Annotations(Tool[AnnotationsArgs, AnnotationsWritten]):
    """Render training pictures with masks, depth, normals, boxes, keypoints and the camera, to a folder of artifacts.

    `annotations.json` in the folder has the schema annotations.v1. An object is one instance. Each copy that nodes or
    collection instances make is an instance too, if the repeated object has a category itself. Masks have no smooth edges: a
    pixel belongs to whatever the ray through its centre hits.
    """

    name = "render.annotations"
    time_limit = "render_seconds"
    promises = READ_ONLY.but(determinism=Determinism.SEEDED).needs("scene_read", "render")
    examples = (
        Example({"categories": [BOX], "cameras": ["Camera"]}, *STAGE),
        Example(
            {"engine": "WORKBENCH", "resolution": [32, 24], "layers": ["INSTANCES"]},
            *STAGE,
            ("object.set_property", {"object": "Box", "key": "category", "value": "box"}),
            ("camera.set_active", {"object": "Camera"}),
        ),
    )

    def determinism_for(self, args: AnnotationsArgs) -> Determinism:
        if args.engine == "WORKBENCH":
            return Determinism.DETERMINISTIC
        return Determinism.SEEDED

    def seed_for(self, args: AnnotationsArgs) -> int | None:
        return args.seed

    def check(self, scene: Scene, args: AnnotationsArgs) -> Findings:
        yield from _camera_problems(scene, args)
        yield from category_problems(scene, args.categories)
        count = len(args.cameras or (1,)) * len(args.frames or (1,))
        if count > MAX_PICTURES:
            message = f"the call would render {count} pictures, and the limit is {MAX_PICTURES}"
            yield Finding(Fault.LIMIT_EXCEEDED, message, "/frames", "Render them in several calls.")
        width, height = _size(scene, args)
        if width * height > MAX_PIXELS:
            message = f"the pictures would have {width} by {height} pixels, more than {MAX_PIXELS} in total"
            yield Finding(Fault.LIMIT_EXCEEDED, message, "/resolution", "Lower the resolution.")
        engine = _engine(scene, args)
        if engine != "CYCLES" and args.samples is not None:
            cure = "Leave samples out, or set engine to CYCLES."
            yield invalid(f"samples is for CYCLES; the engine is {engine}", "/samples", cure)

    def apply(self, scene: Scene, args: AnnotationsArgs) -> AnnotationsWritten:
        document_file = scene.artifact(f"{args.artifact}/{DOCUMENT}")
        pictures: list[dict[str, Any]] = []
        notes: dict[str, None] = {}
        for frame in args.frames or [scene.active.frame_current]:
            with ExitStack() as temporary:
                if args.frames is not None:
                    temporary.enter_context(scene.at_frame(frame))
                _set_up(scene, args, temporary)
                for camera in _cameras(scene, args):
                    picture = _picture(scene, args, camera, len(pictures), notes)
                    pictures.append({**picture, "frame": frame})
        document = AnnotationDocument.model_validate(
            {"format": FORMAT, "categories": described(scene, args.categories), "pictures": pictures}
        )
        text = json.dumps(document.model_dump(mode="json"), ensure_ascii=False, separators=(",", ":"))
        Path(document_file).write_text(text + "\n", encoding="utf-8")
        return AnnotationsWritten(
            artifact=args.artifact,
            document=DOCUMENT,
            pictures=len(pictures),
            width=document.pictures[0].width,
            height=document.pictures[0].height,
            engine=_engine(scene, args),
            categories=_counts(document),
            notes=list(notes),
            sha256=_folder_hash(Path(document_file).parent, document),
        )

    def verify(self, scene: Scene, args: AnnotationsArgs, result: AnnotationsWritten) -> Findings:
        size = (result.width, result.height)
        yield from differs("the size of the pictures", _size(scene, args), size, "/resolution")


def _cameras(scene: Scene, args: AnnotationsArgs) -> list[Block]:
    if args.cameras is None:
        return [scene.active.camera]
    return [scene.require(Kind.OBJECT, name, f"/cameras/{number}") for number, name in enumerate(args.cameras)]


def _camera_problems(scene: Scene, args: AnnotationsArgs) -> Findings:
    at = "/cameras"
    if args.cameras is None and scene.active.camera is None:
        yield conflict("the scene has no camera", at, "Name cameras, or call camera.set_active first.")
        return
    names = args.cameras or [scene.active.camera.name]
    for number, name in enumerate(names):
        camera_at = at
        if args.cameras is not None:
            camera_at = f"{at}/{number}"
        camera = yield from existing_object(scene, name, camera_at, "CAMERA")
        if camera is None:
            continue
        if camera.data.type != "PERSP":
            message = f"'{name}' is a camera of type {camera.data.type}, which has no intrinsics"
            yield conflict(message, camera_at, "Make it a perspective camera with camera.set, or name another one.")
        elif not _is_square(world_matrix(scene, camera)):
            message = f"'{name}' is mirrored, skewed or of zero size, because of its own scale or its parents' scale"
            yield conflict(message, camera_at, "Clear its parent, and set its scale to 1.")


def _is_square(matrix: Block) -> bool:
    axes = [axis.normalized() for axis in matrix.to_3x3().col]
    if min(axis.length for axis in matrix.to_3x3().col) < 1e-9 or matrix.determinant() < 0.0:
        return False
    return all(abs(axes[first].dot(axes[second])) < MAX_AXIS_SKEW for first, second in ((0, 1), (0, 2), (1, 2)))


def _engine(scene: Scene, args: AnnotationsArgs) -> str:
    return args.engine or engine_name(scene.active.render.engine)


def _size(scene: Scene, args: AnnotationsArgs) -> tuple[int, int]:
    render = scene.active.render
    percentage = render.resolution_percentage
    return args.resolution or (render.resolution_x * percentage // 100, render.resolution_y * percentage // 100)


def _set_up(scene: Scene, args: AnnotationsArgs, temporary: ExitStack) -> None:
    """Prepare the scene for rendering until `temporary` is closed."""
    render = scene.active.render
    width, height = _size(scene, args)
    size = {"resolution_x": width, "resolution_y": height, "resolution_percentage": 100, "use_border": False}
    # Effects on the whole picture could displace objects in it, and dithering would add noise.
    plain = dict.fromkeys(("use_compositing", "use_sequencer", "use_stamp"), False)
    engine: dict[str, str] = {}
    if args.engine is not None:
        engine["engine"] = engine_id(args.engine, scene.version)
    temporary.enter_context(scene.temporarily(render, **size, **plain, **engine, dither_intensity=0.0))
    if _engine(scene, args) == "CYCLES":
        values: dict[str, Any] = {"device": "CPU", "seed": args.seed, "use_animated_seed": False, "time_limit": 0.0}
        values["use_denoising"] = args.denoise
        if args.samples is not None:
            values["samples"] = args.samples
        temporary.enter_context(scene.temporarily(scene.active.cycles, **values))


def _picture(scene: Scene, args: AnnotationsArgs, camera: Block, number: int, notes: dict[str, None]) -> dict[str, Any]:
    """Render one picture with its layers. Return its entry for annotations.json.

    Files are named by the picture's number, because names of objects may not be valid file names. Notes about the picture
    are added to `notes`.
    """

    def file(ending: str) -> tuple[str, str]:
        name = f"{number:04}_{ending}"
        return name, scene.artifact(f"{args.artifact}/{name}")

    names: dict[str, str | None] = dict.fromkeys(("instances", "categories", "depth", "depth_m", "normals"))
    files: dict[PictureLayer, list[str]] = {}
    for layer in LAYERS:
        if layer in args.layers:
            name, path = file(f"{layer.lower()}.png")
            names[layer.lower()], files[layer] = name, [path]
    if "DEPTH" in files:
        names["depth_m"], path = file("depth.npy")
        files["DEPTH"].append(path)
    color, path = file("color.png")
    entry = scene.annotate(labels(scene, args.categories), camera, files, f"{path}.passes.exr")
    engine = _engine(scene, args)
    rendered = render_picture(scene, path, camera, engine, artifact=color)
    keep_pixels_only(path)
    notes.update(dict.fromkeys(rendered.notes))
    return {**entry, "engine": engine, "files": {**names, "color": color}}


def _counts(document: AnnotationDocument) -> list[CategoryCount]:
    counts: list[CategoryCount] = []
    for category in document.categories:
        total = visible = 0
        for picture in document.pictures:
            for instance in picture.instances:
                if instance.category_id == category.id:
                    total += 1
                    if instance.visible_pixels > 0:
                        visible += 1
        counts.append(CategoryCount(category=category.name, instances=total, visible=visible))
    return counts


def _folder_hash(folder: Path, document: AnnotationDocument) -> str:
    names = [DOCUMENT]
    for picture in document.pictures:
        names += [name for name in picture.files.model_dump().values() if name is not None]
    digest = hashlib.sha256()
    for name in sorted(names):
        digest.update(f"{name} {hashlib.sha256((folder / name).read_bytes()).hexdigest()}\n".encode())
    return digest.hexdigest()
