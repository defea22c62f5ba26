"""What a request should have led to, and whether a scene has it. Names are patterns: a model chooses its own."""

from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatchcase
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from blendwright.app.open_scene import OpenScene
from blendwright.values.errors import EnvironmentUnfit

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
    """What is not as expected, in sentences; none means that all is."""
    return tuple(_unmet(opened, expected))


def _unmet(opened: OpenScene, expected: Expectations) -> Iterator[str]:
    scene = _read(opened, "scene.snapshot", {"limit": PAGE})
    objects: list[dict[str, Any]] = scene["objects"]["items"]
    for wanted in expected.objects:
        yield from _objects(opened, objects, wanted)
    for kind, patterns in (("materials", expected.materials), ("collections", expected.collections)):
        names = list(_names(scene[kind]["items"]))
        for pattern in patterns:
            if not any(_fits(name, pattern) for name in names):
                yield f"there is none among the {kind} named {pattern}"
    if expected.camera is not None and (scene["render"]["camera"] is not None) != expected.camera:
        yield "there is no camera to render through" if expected.camera else "there is a camera"
    for pattern in expected.gates:
        found = [each["name"] for each in objects if _fits(each["name"], pattern)]
        if not found:
            yield f"there is no object named {pattern} whose gates could be judged"
        for name in found:
            judged = opened.outcome("geonodes.gates", {"object_name": name})
            if not judged.ok or judged.result is None or not judged.result["success"]:
                yield f"the gates of {name} are not passed: {judged.message}".removesuffix(": ")


def _objects(opened: OpenScene, objects: list[dict[str, Any]], wanted: ObjectsExpected) -> Iterator[str]:
    found = [
        each for each in objects
        if _fits(each["name"], wanted.name) and (wanted.type is None or each["type"] == wanted.type)
    ]  # fmt: skip
    what = f"{wanted.type or 'object'} named {wanted.name}"
    if len(found) < wanted.at_least:
        yield f"{what}: {len(found)}, expected at least {wanted.at_least}"
    if wanted.at_most is not None and len(found) > wanted.at_most:
        yield f"{what}: {len(found)}, expected at most {wanted.at_most}"
    if not found:
        return
    if wanted.location is not None:
        places = [each["transform"]["location"] for each in found]
        if not any(_near(place, wanted.location, wanted.tolerance) for place in places):
            yield f"{what}: none is at {list(wanted.location)}, but at {places[:5]}"
    if wanted.size is not None:
        sizes = [_read(opened, "mesh.measure", {"object": each["name"]})["dimensions"] for each in found]
        if not any(_near(size, wanted.size, wanted.tolerance) for size in sizes):
            yield f"{what}: none has the size {list(wanted.size)}, but {[list(size) for size in sizes[:5]]}"
    if wanted.parent is not None:
        for each in found:
            if each["parent"] is None or not _fits(each["parent"]["object"], wanted.parent):
                yield f"{each['name']} has no parent named {wanted.parent}"
    if wanted.modifier is not None:
        types = {modifier["type"] for each in found for modifier in each["modifiers"]}
        if wanted.modifier not in types:
            yield f"{what}: none has a modifier {wanted.modifier}"


def _read(opened: OpenScene, tool: str, args: dict[str, Any]) -> dict[str, Any]:
    outcome = opened.outcome(tool, args)
    if not outcome.ok or outcome.result is None:
        raise EnvironmentUnfit(f"the scene cannot be looked at: {outcome.message}")
    return dict(outcome.result)


def _names(items: list[dict[str, Any]]) -> Iterator[str]:
    for item in items:
        yield item["name"]
        yield from _names(item.get("children", []))


def _fits(name: str, pattern: str) -> bool:
    return fnmatchcase(name.casefold(), pattern.casefold())


def _near(found: Any, wanted: tuple[float, float, float], tolerance: float) -> bool:
    pairs = zip(found, wanted, strict=True)
    return all(abs(have - want) <= max(tolerance, tolerance * abs(want)) for have, want in pairs)
