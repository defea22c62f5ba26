from __future__ import annotations

from contextlib import ExitStack
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationInfo, field_validator
from pydantic_core import PydanticCustomError

from blendwright.tool_api import Block, Example, Findings, Kind, Scene, Tool
from blendwright.tool_api.arguments import Args, AttributeName, LengthFloat, Name, PositiveFloat, Result, Seed, optional
from blendwright.tool_api.mentions import ObjectName, ensures
from blendwright.tool_api.promises import SAFE_IDEMPOTENT_WRITE, Determinism
from blendwright.tools.checks import conflict, differs, existing_object
from blendwright.tools.image.color_spaces import DATA
from blendwright.tools.render.darkness import darkness_notes

Side = Annotated[int, Field(ge=4, le=8192)]
# Types whose pixels are data and not colours, so that the image has no sRGB colour space.
VALUES = frozenset({"AO", "NORMAL", "ROUGHNESS"})
SHAPE = ("mesh.create_primitive", {"kind": "plane", "name": "Low"})
UVS = (
    "mesh.set_attribute",
    {"object": "Low", "name": "UVMap", "type": "FLOAT2", "domain": "CORNER",
     "values": [[0.05, 0.05], [0.95, 0.05], [0.95, 0.95], [0.05, 0.95]]},
)  # fmt: skip
BALL = ("mesh.create_primitive", {"kind": "uv_sphere", "name": "High", "radius": 0.6, "location": [0, 0, 0.1]})
RED = ("material.ensure_principled", {"name": "Red", "base_color": [0.8, 0.1, 0.1], "roughness": 0.3})
DRESSED = ("material.assign", {"object": "Low", "material": "Red"})
SMALL = {"size": [16, 16], "samples": 2, "margin": 2}


class BakeArgs(Args):
    object: ObjectName = Field(
        description="Name of the mesh object whose UV map determines the positions in the image."
    )
    type: Literal["AO", "NORMAL", "DIFFUSE", "ROUGHNESS", "EMIT", "COMBINED"] = Field(description="What to bake.")
    image: Annotated[Name, ensures(Kind.IMAGE)] = Field(
        description="Image to bake to. An existing one is overwritten; otherwise a new one is created."
    )
    size: Annotated[tuple[Side, Side], Field(strict=False)] = Field(
        default=(1024, 1024), description="Width and height of a new image."
    )
    float: bool = Field(default=False, description="Whether a new image has 32 bits per channel.")
    from_objects: Annotated[list[ObjectName], Field(min_length=1, max_length=100)] | None = optional(
        "Detailed objects whose surface is baked, instead of the object's own."
    )
    cage_extrusion: LengthFloat = Field(
        default=0.0, description="Distance outside the object where rays towards from_objects start, in metres."
    )
    max_ray_distance: LengthFloat = Field(
        default=0.0, description="Largest length of these rays in metres; 0 is unlimited."
    )
    uv_map: AttributeName | None = optional("UV map to use. Default: the active one.")
    lighting: bool = Field(default=False, description="Include light in DIFFUSE, instead of the plain colour.")
    samples: int = Field(default=16, ge=1, le=4096, description="Samples per pixel.")
    denoise: bool = Field(default=False, description="Remove the noise of AO, COMBINED and DIFFUSE with lighting.")
    ao_distance: PositiveFloat | None = optional(
        "Largest distance of surfaces that shade in AO, in metres. Default: that of the world (10 unless set)."
    )
    margin: int = Field(default=16, ge=0, le=64, description="Number of pixels by which UV islands are extended.")
    seed: Seed = Field(default=0, description="Seed of the noise.")

    @field_validator("denoise", "ao_distance")
    @classmethod
    def _check_type(cls, value: Any, info: ValidationInfo) -> Any:
        kind = info.data.get("type")
        if info.field_name == "ao_distance" and value is not None and kind not in (None, "AO"):
            raise PydanticCustomError("only_ao", "ao_distance is only for AO; the type is {type}", {"type": kind})
        if info.field_name == "denoise" and value and kind in ("NORMAL", "ROUGHNESS", "EMIT"):
            raise PydanticCustomError("no_noise", "type {type} has no noise to remove", {"type": kind})
        return value

    @field_validator("from_objects")
    @classmethod
    def _check_sources(cls, value: list[str] | None, info: ValidationInfo) -> list[str] | None:
        if value is not None and info.data.get("object") in value:
            raise PydanticCustomError("bake_itself", "from_objects must not include the object itself")
        return value


class Baked(Result):
    image: str = Field(description="Name of the image.")
    size: tuple[int, int] = Field(description="Width and height in pixels.")
    color_space: str = Field(description="Its colour space: Non-Color for AO, NORMAL and ROUGHNESS.")
    uv_map: str = Field(description="Name of the UV map that was used.")
    created: bool = Field(description="True if the image is new.")
    notes: list[str] = Field(default=[], description="Unexpected results, such as an image that is all black or white.")


class Bake(Tool[BakeArgs, Baked]):
    """Bake ambient occlusion, normals, colour, roughness, emission or all light of a mesh into an image, by its UV map.

    The source is the mesh's own surface, or detailed objects around it (high to low, tangent space). CYCLES bakes on the
    processor, whatever the scene's engine is, and the image is packed. Materials and selection stay unchanged.
    """

    name = "render.bake"
    time_limit = "render_seconds"
    # Not replayable: a picture file that is not packed may have changed since, and a second bake after a crash would take long.
    version = 2
    promises = (
        SAFE_IDEMPOTENT_WRITE.but(determinism=Determinism.SEEDED, replayable=False)
        .writes_to(Kind.IMAGE)
        .needs("render", "material_write")
    )
    examples = (
        Example({"object": "Low", "type": "AO", "image": "Shade", **SMALL}, SHAPE, UVS, BALL),
        Example(
            {"object": "Low", "type": "NORMAL", "image": "Bumps", "from_objects": ["High"], "cage_extrusion": 1, **SMALL},
            SHAPE, UVS, BALL,
        ),
        Example(
            {"object": "Low", "type": "AO", "image": "Shade", "ao_distance": 0.5, "denoise": True, **SMALL}, SHAPE, UVS, BALL
        ),
        Example({"object": "Low", "type": "DIFFUSE", "image": "Paint", **SMALL}, SHAPE, UVS, RED, DRESSED),
        Example(
            {"object": "Low", "type": "ROUGHNESS", "image": "Paint", "float": True, **SMALL}, SHAPE, UVS, RED, DRESSED
        ),
        Example(
            {"object": "Low", "type": "EMIT", "image": "Old", **SMALL}, SHAPE, UVS, RED, DRESSED,
            ("image.create", {"name": "Old", "size": [8, 8]}),
        ),
    )  # fmt: skip

    def determinism_for(self, args: BakeArgs) -> Determinism:
        if args.type in ("AO", "COMBINED") or args.lighting:
            return Determinism.SEEDED
        return Determinism.DETERMINISTIC

    def check(self, scene: Scene, args: BakeArgs) -> Findings:
        obj = yield from existing_object(scene, args.object, "/object", "MESH")
        if obj is not None:
            yield from _visibility_problems(obj, "/object")
            yield from _uv_problems(args, obj)
        for index, name in enumerate(args.from_objects or ()):
            source = yield from existing_object(
                scene, name, f"/from_objects/{index}", "MESH", "CURVE", "SURFACE", "FONT"
            )
            if source is not None:
                yield from _visibility_problems(source, f"/from_objects/{index}")
        image = scene.find(Kind.IMAGE, args.image)
        if image is None:
            yield from scene.name_conflicts(Kind.IMAGE, args.image, "/image")
        elif (image.colorspace_settings.name == DATA) != (args.type in VALUES) and not image.is_float:
            color_space = image.colorspace_settings.name
            message = f"image '{args.image}' has the colour space {color_space}, which does not fit {args.type}"
            yield conflict(message, "/image", "Give the name of a new image.")

    def apply(self, scene: Scene, args: BakeArgs) -> Baked:
        obj = scene.require(Kind.OBJECT, args.object, "/object")
        image = scene.find(Kind.IMAGE, args.image)
        created = image is None
        if image is None:
            options = {"alpha": False, "float_buffer": args.float, "is_data": args.type in VALUES}
            image = scene.create(Kind.IMAGE, args.image, *args.size, **options)
        else:
            scene.edit(image)
        with ExitStack() as temporary:
            cycles = {"device": "CPU", "seed": args.seed, "use_animated_seed": False, "samples": args.samples}
            cycles |= {"use_adaptive_sampling": False, "time_limit": 0.0}
            temporary.enter_context(scene.temporarily(scene.active.render, engine="CYCLES"))
            temporary.enter_context(scene.temporarily(scene.active.cycles, **cycles))
            sources = [scene.require(Kind.OBJECT, name) for name in args.from_objects or ()]
            if args.ao_distance is not None:
                world = scene.active.world or temporary.enter_context(scene.temporary(Kind.WORLD))
                temporary.enter_context(scene.temporarily(scene.active, world=world))
                temporary.enter_context(scene.temporarily(world.light_settings, distance=args.ao_distance))
            scene.bake(obj, image, args.type, sources=sources, **_options(args, obj))
        if args.denoise:
            scene.denoise_image(image)
        return Baked(
            image=args.image,
            size=tuple(image.size),
            color_space=image.colorspace_settings.name,
            uv_map=_uv_map(args, obj),
            created=created,
            notes=_notes(scene, args, image),
        )

    def verify(self, scene: Scene, args: BakeArgs, result: Baked) -> Findings:
        image = scene.require(Kind.IMAGE, args.image, "/image")
        yield from differs("that its pixels are packed", True, image.packed_file is not None, "/image")
        yield from differs("that it has changes that are not packed", False, image.is_dirty, "/image")
        if result.created:
            yield from differs("its size", args.size, tuple(image.size), "/size")


def _options(args: BakeArgs, obj: Block) -> dict[str, Any]:
    options: dict[str, Any] = {
        "margin": args.margin,
        "margin_type": "EXTEND",
        "normal_space": "TANGENT",
        "cage_extrusion": args.cage_extrusion,
        "max_ray_distance": args.max_ray_distance,
        "uv_layer": _uv_map(args, obj),
    }
    if args.type == "DIFFUSE":
        if args.lighting:
            options["pass_filter"] = {"COLOR", "DIRECT", "INDIRECT"}
        else:
            options["pass_filter"] = {"COLOR"}
    if args.type == "COMBINED":
        options["pass_filter"] = {"EMIT", "DIRECT", "INDIRECT", "COLOR", "DIFFUSE", "GLOSSY", "TRANSMISSION"}
    return options


def _uv_map(args: BakeArgs, obj: Block) -> str:
    return args.uv_map or obj.data.uv_layers.active.name


def _uv_problems(args: BakeArgs, obj: Block) -> Findings:
    names = [layer.name for layer in obj.data.uv_layers]
    if not names:
        cure = "Unwrap it first, or give it a UV map with mesh.set_attribute (FLOAT2 of CORNER)."
        yield conflict(f"'{obj.name}' has no UV map, which gives each face its position on the image", "/object", cure)
    elif args.uv_map is not None and args.uv_map not in names:
        yield conflict(f"'{obj.name}' has no UV map '{args.uv_map}'", "/uv_map", f"UV maps: {', '.join(names)}.")


def _visibility_problems(obj: Block, at: str) -> Findings:
    if obj.hide_render or obj.hide_viewport or not obj.users_collection:
        message = f"'{obj.name}' is hidden in renders or viewports, and cannot be baked"
        yield conflict(message, at, "Show it with object.set_visibility.")


# Eight bits per channel show values above the first as white, and values below the second as black.
WHITE, BLACK = 254.5 / 255, 0.5 / 255


def _notes(scene: Scene, args: BakeArgs, image: Block) -> list[str]:
    """Return a note if the image is one colour, which usually is a mistake."""
    brightness = scene.brightness_range(image)
    is_black = brightness is None or brightness[1] < BLACK
    is_white = brightness is not None and brightness[0] > WHITE
    if args.type == "AO" and is_white:
        cure = "Give a larger ao_distance, or bake with other objects around."
        return [f"The image is all white: no surface is near enough to shade it. {cure}"]
    if args.type == "AO" and is_black:
        cure = "Give a smaller ao_distance, or flip the faces with mesh.clean."
        return [f"The image is all black: the faces are inside other objects or point inward. {cure}"]
    if is_black and args.type == "COMBINED":
        return [*darkness_notes(scene, "CYCLES"), "The image is all black."][:1]
    if is_black and args.from_objects:
        return ["The image is all black: no ray hit from_objects. Give a larger cage_extrusion."]
    if is_black and args.type in ("DIFFUSE", "EMIT"):
        return ["The image is all black."]
    return []
