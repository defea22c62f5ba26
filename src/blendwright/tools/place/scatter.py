"""place.scatter"""

from __future__ import annotations

import math
from collections.abc import Iterable
from itertools import islice
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
MOST = 10_000

# Where one copy stands: location, rotation, scale.
Spot = tuple[Point, Point, Point]
ScaleRange = Annotated[tuple[PositiveFloat, PositiveFloat], Field(strict=False)]


class ScatterArgs(Args):
    object: ObjectName = renamed(
        "object", "source", description="Name of the object to repeat; the copies share its data."
    )
    target: ObjectName = Field(description="Name of the object on whose surface they are put.")
    count: Annotated[int, Field(ge=1, le=MOST)] = Field(description="How many copies.")
    seed: Seed = Field(default=0, description="Equal seeds give equal places.")
    prefix: Annotated[Name, Field(max_length=200)] = Field(
        description="Copies are named prefix_0001, prefix_0002 and so on."
    )
    collection: CollectionName | None = optional("Collection to link them to; the scene's own when left out.")
    align_to_normal: bool = Field(default=False, description="Tilt each copy's Z axis to the direction of the surface.")
    random_yaw: bool = Field(default=True, description="Turn each copy about its Z axis at random.")
    scale_range: ScaleRange = Field(default=(1.0, 1.0), description="Least and greatest scale, relative to the source.")
    min_distance: LengthFloat = Field(default=0.0, description="Least distance between origins in metres.")
    offset: BoundedFloat = Field(
        default=0.0, description="Distance of the origins from the surface in metres; negative sinks in."
    )
    mask: Mask | None = optional("The part of the surface to use: by height, direction, region or attribute.")

    @model_validator(mode="after")
    def range_is_ordered(self) -> ScatterArgs:
        if self.scale_range[0] > self.scale_range[1]:
            raise PydanticCustomError("range", "'scale_range' starts with the lesser value")
        return self

    def copy_name(self, number: int) -> str:
        return f"{self.prefix}_{number + 1:04d}"


class Scattered(Result):
    """The copies that a scatter made."""

    objects: list[str] = Field(description="Names of the copies, in order.")
    created: bool = Field(description="False when equal copies were there already and nothing was written.")


class Scatter(Tool[ScatterArgs, Scattered]):
    """Scatter copies of an object over the surface of another: random but repeatable, evenly by area, at a least distance."""

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
        problems += () if problems else mask_problems(scene, args.target, args.mask, "/mask")
        yield from problems
        if problems:
            return
        spots = _spots(scene, args)
        if not spots and args.mask is not None:
            yield invalid(f"the mask leaves nothing of the surface of '{args.target}'", "/mask", "Widen the mask.")
        elif len(spots) < args.count:
            distance = f"{args.min_distance:g} m from all others"
            message = f"only {len(spots)} of {args.count} copies were found a place {distance}"
            if args.min_distance:
                at = "/min_distance"
            else:
                at = "/target"
            yield invalid(message, at, "Use a smaller 'min_distance' or 'count'.")
        elif not _all_in_place(scene, args, spots):
            names = (args.copy_name(number) for number in range(args.count))
            conflicts = (finding for name in names for finding in scene.name_conflicts(Kind.OBJECT, name, "/prefix"))
            yield from islice(conflicts, 1)  # the others would say the same

    def apply(self, scene: Scene, args: ScatterArgs) -> Scattered:
        names = [args.copy_name(number) for number in range(args.count)]
        if scene.find(Kind.OBJECT, names[0]) is not None:
            return Scattered(objects=names, created=False)
        spots = _spots(scene, args)
        source = scene.require(Kind.OBJECT, args.object, "/object")
        collection = target_collection(scene, args.collection)
        for name, spot in zip(names, spots, strict=True):
            copy = scene.adopt(Kind.OBJECT, source.copy(), name)
            _reset_copy(copy)
            copy.location, copy.rotation_euler, copy.scale = spot
            scene.link(collection, copy)
        return Scattered(objects=names, created=True)

    def verify(self, scene: Scene, args: ScatterArgs, result: Scattered) -> Findings:
        if not _all_in_place(scene, args, _spots(scene, args)):
            yield Finding(Fault.SCENE_CONFLICT, "not all copies are where they should be", "/prefix")


def _spots(scene: Scene, args: ScatterArgs) -> list[Spot]:
    """Where the copies go; fewer than asked when there is no room for all."""
    surface = Surface(scene, scene.require(Kind.OBJECT, args.target, "/target"), args.mask)
    if not surface.area:
        return []
    matrix = world_matrix(scene, scene.require(Kind.OBJECT, args.object, "/object"))
    random = Random(args.seed)
    hits = surface.random_points(random, args.count, args.min_distance)
    return [_spot(scene, args, hit, matrix, random) for hit in hits]


def _spot(scene: Scene, args: ScatterArgs, hit: Hit, matrix: Block, random: Random) -> Spot:
    # Both numbers are always drawn, so that an option does not move the copies that follow.
    yaw, share = random.random() * math.tau, random.random()
    up, normal = scene.vector((0.0, 0.0, 1.0)), scene.vector(hit.normal)
    turn = matrix.to_quaternion()
    if args.random_yaw:
        turn = scene.euler((0.0, 0.0, yaw)).to_quaternion() @ turn
    if args.align_to_normal:
        turn = up.rotation_difference(normal) @ turn
    low, high = args.scale_range
    x, y, z = scene.vector(hit.point) + normal * args.offset
    i, j, k = turn.to_euler("XYZ")
    sx, sy, sz = matrix.to_scale() * (low + (high - low) * share)
    return (x, y, z), (i, j, k), (sx, sy, sz)


def _reset_copy(copy: Block) -> None:
    """A copy stands by itself: nothing but its own channels moves it, and it is seen even where the source is a hidden model."""
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


def _all_in_place(scene: Scene, args: ScatterArgs, spots: list[Spot]) -> bool:
    """Whether every copy is in its place, with the source's data and in its collection."""
    data = scene.require(Kind.OBJECT, args.object, "/object").data
    collection = target_collection(scene, args.collection)
    for number, spot in enumerate(spots):
        copy = scene.find(Kind.OBJECT, args.copy_name(number))
        if copy is None or copy.data != data or not scene.is_in(collection, copy):
            return False
        if not all(map(same, spot, (copy.location, copy.rotation_euler, copy.scale))):
            return False
    return True
