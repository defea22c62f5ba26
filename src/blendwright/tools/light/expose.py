from __future__ import annotations

import math
from collections.abc import Generator

from pydantic import Field

from blendwright.tool_api import Block, Example, Findings, Kind, Scene
from blendwright.tool_api.arguments import Args, Result, optional, renamed
from blendwright.tool_api.mentions import ObjectName
from blendwright.tool_api.promises import SAFE_IDEMPOTENT_WRITE
from blendwright.tools.bounding_boxes import subject
from blendwright.tools.checks import existing_objects, invalid
from blendwright.tools.settings import SetsObjectSettings, Setting, Settings
from blendwright.tools.world_space import world_matrix
from blendwright.values.findings import Finding

BOX = ("mesh.create_primitive", {"kind": "cube", "name": "Box"})
KEY = ("light.create", {"name": "Key", "type": "AREA", "location": [3, -4, 5]})
SUN = ("light.create", {"name": "Sun", "type": "SUN"})

# Light type -> power in watts that results in 1 W/m² at a distance of 1 m, facing the light. An area light emits with
# the
# cosine of the angle, a point or spot light equally in all directions.
WATTS_PER_IRRADIANCE = {"AREA": math.pi, "POINT": 4.0 * math.pi, "SPOT": 4.0 * math.pi}


class ExposeArgs(Args):
    object: ObjectName = renamed("object", "name", description="Name of the light object.")
    objects: list[ObjectName] = renamed(
        "objects",
        "targets",
        default=[],
        max_length=1000,
        description="Objects to light. Without any: all rendered objects.",
    )
    brightness: float = Field(
        default=3.0,
        ge=0.0,
        le=1e6,
        description="Light that arrives at the centre of the objects, in watts per square metre; typical for a key "
        "light is 3.",
    )
    softness: float | None = optional(
        "Size of the light source, in radii of the sphere around the objects; larger gives softer shadows. Not for a "
        "SUN.",
        gt=0.0,
        le=100.0,
    )


class Exposed(Result):
    light: str = Field(description="Name of the light object.")
    energy: float = Field(description="Its power in watts; for a SUN in watts per square metre.")
    distance: float = Field(description="Distance from the light to the centre of the objects, in metres.")
    changed: bool = Field(description="False if the light already had these settings.")


class Expose(SetsObjectSettings[ExposeArgs, Exposed]):
    """Set a light's power and size by the light that arrives at objects.

    A lighting set-up then looks the same at every scale. Objects that share the light data change together.
    """

    name = "light.expose"
    promises = SAFE_IDEMPOTENT_WRITE.writes_to(Kind.LIGHT).needs("object_write")
    examples = (
        Example({"object": "Key", "objects": ["Box"], "brightness": 4, "softness": 1.5}, BOX, KEY),
        Example({"object": "Sun", "brightness": 3}, BOX, SUN),
    )

    object_types = ("LIGHT",)

    def find_target(self, scene: Scene, args: ExposeArgs) -> Generator[Finding, None, Block | None]:
        light = yield from super().find_target(scene, args)
        targets = yield from existing_objects(scene, args.objects, "/objects")
        if targets is None:
            return None
        return light

    def problems(self, scene: Scene, args: ExposeArgs, target: Block) -> Findings:
        if args.softness is not None and target.data.type == "SUN":
            message = "softness does not apply to a SUN, which has no size"
            yield invalid(message, "/softness", "Leave it out, and set angle_deg with light.set.")

    def result(self, scene: Scene, args: ExposeArgs, target: Block, changed: bool) -> Exposed:
        energy, distance = target.data.energy, _distance(scene, args, target)
        return Exposed(light=args.object, energy=energy, distance=distance, changed=changed)

    def settings(self, scene: Scene, args: ExposeArgs, target: Block) -> Settings:
        light = target.data
        if light.type == "SUN":
            yield Setting(light, "energy", args.brightness, "/brightness")
            return
        distance = max(1e-3, _distance(scene, args, target))
        yield Setting(
            light, "energy", args.brightness * WATTS_PER_IRRADIANCE[light.type] * distance * distance, "/brightness"
        )
        if args.softness is not None:
            size = args.softness * subject(scene, args.objects, args.object).radius
            attribute = "shadow_soft_size"
            if light.type == "AREA":
                attribute = "size"
            yield Setting(light, attribute, size, "/softness")


def _distance(scene: Scene, args: ExposeArgs, obj: Block) -> float:
    return math.dist(world_matrix(scene, obj).translation, subject(scene, args.objects, args.object).center)
