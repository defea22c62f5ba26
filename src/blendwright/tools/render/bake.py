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
# What is no colour: as values, not as sRGB stores them.
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
    object: ObjectName = Field(description="Mesh object whose UV map is baked to.")
    type: Literal["AO", "NORMAL", "DIFFUSE", "ROUGHNESS", "EMIT", "COMBINED"] = Field(description="What is baked.")
    image: Annotated[Name, ensures(Kind.IMAGE)] = Field(
        description="Image that gets it, replaced where it is there; made when there is none of that name."
    )
    size: Annotated[tuple[Side, Side], Field(strict=False)] = Field(
        default=(1024, 1024), description="Width and height of a new image."
    )
    float: bool = Field(default=False, description="Whether a new image has 32 bits per channel.")
    from_objects: Annotated[list[ObjectName], Field(min_length=1, max_length=100)] | None = optional(
        "Detailed objects whose surface is baked to it, instead of its own."
    )
    cage_extrusion: LengthFloat = Field(
        default=0.0, description="How far outside the object rays towards from_objects begin, in metres."
    )
    max_ray_distance: LengthFloat = Field(default=0.0, description="How far they reach; 0 for any distance.")
    uv_map: AttributeName | None = optional("UV map to bake by; the active one when left out.")
    lighting: bool = Field(default=False, description="Bake light into DIFFUSE, instead of the plain colour.")
    samples: int = Field(default=16, ge=1, le=4096, description="Samples per pixel.")
    denoise: bool = Field(default=False, description="Remove the noise of AO, COMBINED and DIFFUSE with lighting.")
    ao_distance: PositiveFloat | None = optional(
        "How far AO looks for what shades, in metres; that of the world (10 unless set) when left out."
    )
    margin: int = Field(default=16, ge=0, le=64, description="Pixels that islands are continued by.")
    seed: Seed = Field(default=0, description="Seed of the noise.")

    @field_validator("denoise", "ao_distance")
    @classmethod
    def _of_this_type(cls, value: Any, info: ValidationInfo) -> Any:
        kind = info.data.get("type")
        if info.field_name == "ao_distance" and value is not None and kind not in (None, "AO"):
            raise PydanticCustomError("only_ao", "only AO takes an ao_distance; the type is {type}", {"type": kind})
        if info.field_name == "denoise" and value and kind in ("NORMAL", "ROUGHNESS", "EMIT"):
            raise PydanticCustomError("no_noise", "{type} has no noise", {"type": kind})
        return value

    @field_validator("from_objects")
    @classmethod
    def _others(cls, value: list[str] | None, info: ValidationInfo) -> list[str] | None:
        if value is not None and info.data.get("object") in value:
            raise PydanticCustomError("bake_itself", "from_objects are others than the object")
        return value


class Baked(Result):
    image: str = Field(description="Name of the image.")
    size: tuple[int, int] = Field(description="Width and height in pixels.")
    color_space: str = Field(description="Its colour space: Non-Color for AO, NORMAL and ROUGHNESS.")
    uv_map: str = Field(description="The UV map that was baked by.")
    created: bool = Field(description="True when the image is new.")
    notes: list[str] = Field(default=[], description="What may surprise about it: all black, all white.")


class Bake(Tool[BakeArgs, Baked]):
    """Bake ambient occlusion, normals, colour, roughness, emission or all light of a mesh into an image, by its UV map.

    From its own surface, or from detailed objects around it (high to low, tangent space). Done with CYCLES on the processor, whatever the
    engine; the image is packed. Materials and selection stay as they are."""

    name = "render.bake"
    time_limit = "render_seconds"
    # Not replayable: a picture that is not packed may have changed since, and nobody waits for a second bake after a crash.
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
        noisy = args.type in ("AO", "COMBINED") or args.lighting
        if noisy:
            return Determinism.SEEDED
        return Determinism.DETERMINISTIC

    def check(self, scene: Scene, args: BakeArgs) -> Findings:
        obj = yield from existing_object(scene, args.object, "/object", "MESH")
        if obj is not None:
            yield from _hidden(obj, "/object")
            yield from _uv_problems(args, obj)
        for index, name in enumerate(args.from_objects or ()):
            source = yield from existing_object(
                scene, name, f"/from_objects/{index}", "MESH", "CURVE", "SURFACE", "FONT"
            )
            if source is not None:
                yield from _hidden(source, f"/from_objects/{index}")
        image = scene.find(Kind.IMAGE, args.image)
        if image is None:
            yield from scene.name_conflicts(Kind.IMAGE, args.image, "/image")
        elif (image.colorspace_settings.name == DATA) != (args.type in VALUES) and not image.is_float:
            message = f"image '{args.image}' is {image.colorspace_settings.name}, which does not fit {args.type}"
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
        yield from differs(
            "whether its pixels are kept", (True, False), (image.packed_file is not None, image.is_dirty), "/image"
        )
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
        yield conflict(f"'{obj.name}' has no UV map, which says where on the image each face is", "/object", cure)
    elif args.uv_map is not None and args.uv_map not in names:
        yield conflict(f"'{obj.name}' has no UV map '{args.uv_map}'", "/uv_map", f"UV maps: {', '.join(names)}.")


def _hidden(obj: Block, at: str) -> Findings:
    if obj.hide_render or obj.hide_viewport or not obj.users_collection:
        message = f"'{obj.name}' is hidden in renders or viewports, and cannot be baked"
        yield conflict(message, at, "Show it with object.set_visibility.")


# Brighter than this is white to eight bits, darker than that black.
WHITE, BLACK = 254.5 / 255, 0.5 / 255


def _notes(scene: Scene, args: BakeArgs, image: Block) -> list[str]:
    """What looks like a mistake in a picture that is one colour."""
    found = scene.brightness_range(image)
    black, white = found is None or found[1] < BLACK, found is not None and found[0] > WHITE
    if args.type == "AO" and white:
        return [
            "All of it is white: nothing is near enough to shade it. Give a larger ao_distance, or bake with other objects around."
        ]
    if args.type == "AO" and black:
        return [
            "All of it is black: the faces lie in others or look inward. Give a smaller ao_distance, or turn them with mesh.clean."
        ]
    if black and args.type == "COMBINED":
        return [*darkness_notes(scene, "CYCLES"), "All of it is black."][:1]
    if black and args.from_objects:
        return ["All of it is black: no ray met from_objects. Give a larger cage_extrusion."]
    if black and args.type in ("DIFFUSE", "EMIT"):
        return ["All of it is black."]
    return []
