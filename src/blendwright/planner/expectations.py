"""What the scene should be after a request, and whether it is. Names are patterns: a model chooses its own."""

from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatchcase
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from blendwright.app.open_scene import OpenScene
from blendwright.planner.scene_summary import collection_names, read_scene

PAGE = 1000


class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class ObjectsExpected(Strict):
    """So many objects of a name and a type; with `size` or `location`, at least one of them must have it."""

    name: str = Field(default="*", description="A pattern of the name, whatever its case: * and ?.")
    type: Literal["MESH", "CURVE", "FONT", "EMPTY", "LIGHT", "CAMERA"] | None = None
    at_least: int = Field(default=1, ge=0)
    at_most: int | None = Field(default=None, ge=0)
    size: tuple[float, float, float] | None = Field(default=None, description="Along X, Y and Z, in metres.")
    location: tuple[float, float, float] | None = None
    tolerance: float = Field(default=0.05, gt=0, description="In metres, or that part of a size, whichever is more.")
    parent: str | None = Field(default=None, description="A pattern of the parent's name, of all of them.")
    modifier: str | None = Field(default=None, description="A modifier's type that one of them must have.")


class Expectations(Strict):
    objects: tuple[ObjectsExpected, ...] = ()
    materials: tuple[str, ...] = Field(default=(), description="Patterns, each of at least one material.")
    collections: tuple[str, ...] = Field(default=(), description="Patterns, each of at least one collection.")
    camera: bool | None = Field(default=None, description="Whether there is a camera to render through.")
    gates: tuple[str, ...] = Field(
        default=(), description="Patterns of objects whose node trees must pass their gates."
    )

    @model_validator(mode="after")
    def _something(self) -> Expectations:
        if self == Expectations.model_construct():
            raise ValueError("nothing is expected")
        return self


def unmet_expectations(opened: OpenScene, expected: Expectations) -> tuple[str, ...]:
    """What the scene lacks, in sentences; none means that it is as expected."""
    return tuple(_unmet(opened, expected))


def _unmet(opened: OpenScene, expected: Expectations) -> Iterator[str]:
    scene = read_scene(opened, "scene.snapshot", {"limit": PAGE})
    objects: list[dict[str, Any]] = scene["objects"]["items"]
    for group in expected.objects:
        yield from _objects(opened, objects, group)
    for kind, patterns in (("materials", expected.materials), ("collections", expected.collections)):
        names = list(collection_names(scene[kind]["items"]))
        for pattern in patterns:
            if not any(_fits(name, pattern) for name in names):
                yield f"there is none among the {kind} named {pattern}"
    if expected.camera is not None and (scene["render"]["camera"] is not None) != expected.camera:
        yield "there is no camera to render through" if expected.camera else "there is a camera"
    for pattern in expected.gates:
        matches = [each["name"] for each in objects if _fits(each["name"], pattern)]
        if not matches:
            yield f"there is no object named {pattern} whose gates could be gates"
        for name in matches:
            gates = opened.outcome("geonodes.gates", {"object_name": name})
            if not gates.ok or gates.result is None or not gates.result["success"]:
                yield f"the gates of {name} are not passed: {gates.message}".removesuffix(": ")


def _objects(opened: OpenScene, objects: list[dict[str, Any]], expected: ObjectsExpected) -> Iterator[str]:
    matches = [
        each for each in objects
        if _fits(each["name"], expected.name) and (expected.type is None or each["type"] == expected.type)
    ]  # fmt: skip
    what = f"{expected.type or 'object'} named {expected.name}"
    if len(matches) < expected.at_least:
        yield f"{what}: {len(matches)}, expected at least {expected.at_least}"
    if expected.at_most is not None and len(matches) > expected.at_most:
        yield f"{what}: {len(matches)}, expected at most {expected.at_most}"
    if not matches:
        return
    if expected.location is not None:
        locations = [each["transform"]["location"] for each in matches]
        if not any(_near(location, expected.location, expected.tolerance) for location in locations):
            yield f"{what}: none is at {list(expected.location)}, but at {locations[:5]}"
    if expected.size is not None:
        sizes = [read_scene(opened, "mesh.measure", {"object": each["name"]})["dimensions"] for each in matches]
        if not any(_near(size, expected.size, expected.tolerance) for size in sizes):
            yield f"{what}: none has the size {list(expected.size)}, but {[list(size) for size in sizes[:5]]}"
    if expected.parent is not None:
        for each in matches:
            if each["parent"] is None or not _fits(each["parent"]["object"], expected.parent):
                yield f"{each['name']} has no parent named {expected.parent}"
    if expected.modifier is not None:
        types = {modifier["type"] for each in matches for modifier in each["modifiers"]}
        if expected.modifier not in types:
            yield f"{what}: none has a modifier {expected.modifier}"


def _fits(name: str, pattern: str) -> bool:
    return fnmatchcase(name.casefold(), pattern.casefold())


def _near(actual: Any, expected: tuple[float, float, float], tolerance: float) -> bool:
    pairs = zip(actual, expected, strict=True)
    return all(abs(have - want) <= max(tolerance, tolerance * abs(want)) for have, want in pairs)
