"""Tool place.scatter"""

from __future__ import annotations

import math
from collections.abc import Iterable
from random import Random
from typing import Annotated

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from blendwright.tool_api.arguments import (
    Args,
    BoundedFloat,
    LengthFloat,
    Name,
    PositiveFloat,
    Result,
    Seed,
    optional,
    renamed,
)
from blendwright.tool_api.mentions import CollectionName, Mention, ObjectName, Role, mentions
from blendwright.tool_api.promises import SAFE_IDEMPOTENT_WRITE, Determinism
from blendwright.tool_api.scene import Block, Kind, Point, Scene
from blendwright.tool_api.tool import Example, Findings, Tool
from blendwright.tools.checks import invalid, missing_target_collection, same, target_collection
from blendwright.tools.place.surface import Hit, Surface, mask_problems, surface_problems
from blendwright.tools.place.surface_mask import Mask
from blendwright.tools.world_space import world_matrix
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding

GROUND = ("mesh.create_primitive", {"kind": "grid", "name": "Ground", "size": 10, "cells": 4})
STONE = ("mesh.create_primitive", {"kind": "ico_sphere", "name": "Stone", "radius": 0.2, "subdivisions": 1})
STAGE = (GROUND, STONE)
STONES = {"object": "Stone", "target": "Ground"}
SPACING = {"scale_range": [0.5, 2], "min_distance": 1}
CORNER = {"low": [0, 0, -1], "high": [5, 5, 1]}
MAX_COPIES = 10_000

# Location, XYZ rotation in radians, and scale of one copy.
Placement = tuple[Point, Point, Point]
ScaleRange = Annotated[tuple[PositiveFloat, PositiveFloat], Field(strict=False)]


class ScatterArgs(Args):
    object: ObjectName = renamed(
        "object", "source", description="Name of the object to copy; the copies share its data."
    )
    target: ObjectName = Field(description="Name of the object whose surface gets the copies.")
    count: Annotated[int, Field(ge=1, le=MAX_COPIES)] = Field(description="Number of copies.")
    seed: Seed = Field(default=0, description="Random seed; equal seeds give equal positions.")
    prefix: Annotated[Name, Field(max_length=200)] = Field(
        description="Copies are named prefix_0001, prefix_0002 and so on."
    )
    collection: CollectionName | None = optional("Collection to link the copies to. Default: the scene's own.")
    align_to_normal: bool = Field(default=False, description="Tilt each copy's Z axis to the direction of the surface.")
    random_yaw: bool = Field(default=True, description="Rotate each copy about its Z axis at random.")
    scale_range: ScaleRange = Field(
        default=(1.0, 1.0), description="Smallest and largest scale, relative to the source."
    )
    min_distance: LengthFloat = Field(default=0.0, description="Smallest distance between origins in metres.")
    offset: BoundedFloat = Field(
        default=0.0, description="Distance of the origins from the surface in metres; negative sinks in."
    )
    mask: Mask | None = optional("The part of the surface to use: by height, direction, region or attribute.")

    @model_validator(mode="after")
    def range_is_ordered(self) -> ScatterArgs:
        if self.scale_range[0] > self.scale_range[1]:
            raise PydanticCustomError("range", "'scale_range' must start with the smaller value")
        return self

    def copy_name(self, number: int) -> str:
        return f"{self.prefix}_{number + 1:04d}"


class Scattered(Result):
    """The copies that a scatter created."""

    objects: list[str] = Field(description="Names of the copies, in order.")
    created: bool = Field(description="False if equal copies already existed; then nothing was written.")


class Scatter(Tool[ScatterArgs, Scattered]):
    """Scatter copies of an object over the surface of another: random but repeatable, evenly by area, with a minimum distance."""

    name = "place.scatter"
    promises = (
        SAFE_IDEMPOTENT_WRITE.but(determinism=Determinism.SEEDED)
        .writes_to(Kind.OBJECT, Kind.COLLECTION)
        .needs("object_write")
    )
    examples = (
        Example({**STONES, "count": 12, "seed": 7, "prefix": "Pebble"}, *STAGE),
        Example({**STONES, "count": 8, "prefix": "Rock", "align_to_normal": True, **SPACING}, *STAGE),
        Example({**STONES, "count": 5, "prefix": "Moss", "mask": {"direction": [0, 0, 1], "region": CORNER}}, *STAGE),
    )

    def mentions_for(self, args: ScatterArgs) -> Iterable[Mention]:
        yield from mentions(args)
        for number in range(args.count):
            yield Mention(Role.MAKES, Kind.OBJECT.blocks, args.copy_name(number), at="/prefix")

    def check(self, scene: Scene, args: ScatterArgs) -> Findings:
        problems = list(scene.missing(Kind.OBJECT, args.object, "/object"))
        problems += surface_problems(scene, args.target, "/target")
        problems += missing_target_collection(scene, args.collection)
        if not problems:
            problems += mask_problems(scene, args.target, args.mask, "/mask")
        yield from problems
        if problems:
            return
        placements = _placements(scene, args)
        if not placements and args.mask is not None:
            yield invalid(f"the mask selects no part of the surface of '{args.target}'", "/mask", "Widen the mask.")
        elif len(placements) < args.count:
            if args.min_distance:
                at = "/min_distance"
            else:
                at = "/target"
            message = (
                f"the surface has room for only {len(placements)} of {args.count} copies {args.min_distance:g} m apart"
            )
            yield invalid(message, at, "Use a smaller 'min_distance' or 'count'.")
        elif not _all_in_place(scene, args, placements):
            for number in range(args.count):
                conflicts = list(scene.name_conflicts(Kind.OBJECT, args.copy_name(number), "/prefix"))
                if conflicts:
                    yield conflicts[0]  # one finding is enough, because all would have the same fix
                    return

    def apply(self, scene: Scene, args: ScatterArgs) -> Scattered:
        names = [args.copy_name(number) for number in range(args.count)]
        if scene.find(Kind.OBJECT, names[0]) is not None:
            return Scattered(objects=names, created=False)
        placements = _placements(scene, args)
        source = scene.require(Kind.OBJECT, args.object, "/object")
        collection = target_collection(scene, args.collection)
        for name, placement in zip(names, placements, strict=True):
            copy = scene.adopt(Kind.OBJECT, source.copy(), name)
            _reset_copy(copy)
            copy.location, copy.rotation_euler, copy.scale = placement
            scene.link(collection, copy)
        return Scattered(objects=names, created=True)

    def verify(self, scene: Scene, args: ScatterArgs, result: Scattered) -> Findings:
        if not _all_in_place(scene, args, _placements(scene, args)):
            yield Finding(Fault.SCENE_CONFLICT, "a copy is missing or not at its position", "/prefix")


def _placements(scene: Scene, args: ScatterArgs) -> list[Placement]:
    """Return the placements of the copies. The list is shorter than requested if the surface has no room for all."""
    surface = Surface(scene, scene.require(Kind.OBJECT, args.target, "/target"), args.mask)
    if not surface.area:
        return []
    matrix = world_matrix(scene, scene.require(Kind.OBJECT, args.object, "/object"))
    random = Random(args.seed)
    hits = surface.random_points(random, args.count, args.min_distance)
    return [_placement(scene, args, hit, matrix, random) for hit in hits]


def _placement(scene: Scene, args: ScatterArgs, hit: Hit, matrix: Block, random: Random) -> Placement:
    # Always draw both numbers, so that an option does not change the copies that follow.
    yaw, share = random.random() * math.tau, random.random()
    up, normal = scene.vector((0.0, 0.0, 1.0)), scene.vector(hit.normal)
    rotation = matrix.to_quaternion()
    if args.random_yaw:
        rotation = scene.euler((0.0, 0.0, yaw)).to_quaternion() @ rotation
    if args.align_to_normal:
        rotation = up.rotation_difference(normal) @ rotation
    low, high = args.scale_range
    x, y, z = scene.vector(hit.point) + normal * args.offset
    i, j, k = rotation.to_euler("XYZ")
    sx, sy, sz = matrix.to_scale() * (low + (high - low) * share)
    return (x, y, z), (i, j, k), (sx, sy, sz)


def _reset_copy(copy: Block) -> None:
    """Make a copy independent and visible: remove animation, parent, constraints, hiding and delta transforms."""
    copy.animation_data_clear()
    copy.parent = None
    for constraint in list(copy.constraints):
        copy.constraints.remove(constraint)
    copy.hide_viewport = copy.hide_render = False
    copy.rotation_mode = "XYZ"
    copy.delta_location = (0.0, 0.0, 0.0)
    copy.delta_rotation_euler = (0.0, 0.0, 0.0)
    copy.delta_rotation_quaternion = (1.0, 0.0, 0.0, 0.0)
    copy.delta_scale = (1.0, 1.0, 1.0)


def _all_in_place(scene: Scene, args: ScatterArgs, placements: list[Placement]) -> bool:
    """Return True if every copy is at its placement, with the source's data and in its collection."""
    data = scene.require(Kind.OBJECT, args.object, "/object").data
    collection = target_collection(scene, args.collection)
    for number, placement in enumerate(placements):
        copy = scene.find(Kind.OBJECT, args.copy_name(number))
        if copy is None or copy.data != data or not scene.is_in(collection, copy):
            return False
        if not all(map(same, placement, (copy.location, copy.rotation_euler, copy.scale))):
            return False
    return True
