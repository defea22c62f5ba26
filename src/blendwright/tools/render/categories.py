"""Which object is of which category, for render.annotations: as the arguments say, or by a custom property of the objects."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated

from pydantic import Field, ValidationInfo, field_validator
from pydantic_core import PydanticCustomError

from blendwright.tool_api import Block, Findings, Kind, Scene
from blendwright.tool_api.annotations import KeypointSource, Labels
from blendwright.tool_api.arguments import Args, InnerName, Vector3, optional
from blendwright.tool_api.mentions import CollectionName, ObjectName
from blendwright.tools.checks import conflict, existing
from blendwright.tools.render.annotation_document import AnnotatedCategory
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding, did_you_mean

MOST_CATEGORIES = 1000
LARGEST_ID = 65_535
MOST_KEYPOINTS = 128
# The custom property that names the category of an object.
PROPERTY = "category"

CategoryName = Annotated[InnerName, Field(min_length=1)]


class Keypoint(Args):
    """A named point of everything of a category. Without a place it is an empty below the object, whose custom property `keypoint` is
    the name."""

    name: CategoryName = Field(description="Its name.")
    at: Vector3 | None = optional("Its place in the object's own space.")
    vertex_group: CategoryName | None = optional("It is in the middle of this vertex group.")
    bone: CategoryName | None = optional("It is the head of this bone.")

    @field_validator("vertex_group", "bone")
    @classmethod
    def _one_place(cls, value: str | None, info: ValidationInfo) -> str | None:
        if value is not None and any(info.data.get(other) is not None for other in ("at", "vertex_group")):
            raise PydanticCustomError("one_place", "give one of at, vertex_group and bone")
        return value


class Category(Args):
    """A category, and what belongs to it beside the objects whose custom property `category` is its name."""

    name: CategoryName = Field(description="Its name.")
    id: int | None = optional("Its number; by default its place in the list.", ge=1, le=LARGEST_ID)
    objects: list[ObjectName] = Field(default=[], description="Objects that belong to it.")
    collections: list[CollectionName] = Field(
        default=[], description="All objects in these, and in collections in them, belong to it."
    )
    keypoints: Annotated[list[Keypoint], Field(max_length=MOST_KEYPOINTS)] = Field(
        default=[], description="Points of each of its objects."
    )
    skeleton: list[Annotated[tuple[CategoryName, CategoryName], Field(strict=False)]] = Field(
        default=[], description="Pairs of keypoints that are joined, by name."
    )

    @field_validator("keypoints")
    @classmethod
    def _different(cls, value: list[Keypoint]) -> list[Keypoint]:
        if len({each.name for each in value}) < len(value):
            raise PydanticCustomError("same_name", "each keypoint has a name of its own")
        return value

    @field_validator("skeleton")
    @classmethod
    def _known(cls, value: list[tuple[str, str]], info: ValidationInfo) -> list[tuple[str, str]]:
        names = [each.name for each in info.data.get("keypoints", ())]
        for name in (name for pair in value for name in pair):
            if name not in names:
                cure = did_you_mean(name, names, otherwise="Name keypoints of this category.")
                raise PydanticCustomError(
                    "no_keypoint", "there is no keypoint '{name}'; {cure}", {"name": name, "cure": cure}
                )
        return value


Categories = Annotated[list[Category], Field(max_length=MOST_CATEGORIES)]


def different(categories: list[Category]) -> list[Category]:
    """Raises PydanticCustomError where two have a name, a number or an object in common."""
    claims: dict[str, list[object]] = {
        "name": [category.name for category in categories],
        "id": [category.id for category in categories if category.id is not None],
        "object": [name for category in categories for name in set(category.objects)],
    }
    for what, values in claims.items():
        twice = next((value for value in values if values.count(value) > 1), None)
        if twice is not None:
            told = {"what": what, "value": str(twice)}
            raise PydanticCustomError("two_categories", "{what} '{value}' is in two categories", told)
    return categories


def numbered(scene: Scene, categories: Sequence[Category]) -> dict[str, int]:
    """The number of each category, those that only objects name behind the others in the order of names."""
    given = {category.name: category.id for category in categories}
    more = sorted({name for _, name in _properties(scene)} - given.keys())
    taken = {number for number in given.values() if number is not None}
    free = (number for number in range(1, LARGEST_ID + 1) if number not in taken)
    return {
        name: number if number is not None else next(free)
        for name, number in (*given.items(), *((name, None) for name in more))
    }


def labels(scene: Scene, categories: Sequence[Category]) -> Labels:
    """An object belongs to the category that names it, else to that of its property, else to the first that has a collection of it."""
    numbers = numbered(scene, categories)
    belongs: dict[str, int] = {}
    for category in reversed(categories):
        for name in category.collections:
            collection = scene.require(Kind.COLLECTION, name)
            belongs.update(dict.fromkeys((obj.name for obj in collection.all_objects), numbers[category.name]))
    belongs.update({obj.name: numbers[name] for obj, name in _properties(scene)})
    for category in categories:
        belongs.update(dict.fromkeys(category.objects, numbers[category.name]))
    keypoints = {
        numbers[category.name]: tuple(
            KeypointSource(each.name, each.at, each.vertex_group, each.bone) for each in category.keypoints
        )
        for category in categories
    }
    return Labels(belongs, keypoints)


def described(scene: Scene, categories: Sequence[Category]) -> list[AnnotatedCategory]:
    """As annotations.json has them."""
    by_name = {category.name: category for category in categories}
    found: list[AnnotatedCategory] = []
    for name, number in sorted(numbered(scene, categories).items(), key=lambda each: each[1]):
        category = by_name.get(name)
        if category:
            points = [each.name for each in category.keypoints]
        else:
            points = []
        if category:
            pairs = category.skeleton
        else:
            pairs = []
        joined = [(points.index(one) + 1, points.index(other) + 1) for one, other in pairs]
        found.append(AnnotatedCategory(id=number, name=name, keypoints=points, skeleton=joined))
    return found


def category_problems(scene: Scene, categories: Sequence[Category]) -> Findings:
    """What the categories name and the scene has not."""
    at = "/categories"
    complete = True
    for number, category in enumerate(categories):
        for part, kind in (("objects", Kind.OBJECT), ("collections", Kind.COLLECTION)):
            for place, name in enumerate(getattr(category, part)):
                found = yield from existing(scene, kind, name, f"{at}/{number}/{part}/{place}")
                complete = complete and found is not None
    if not complete:
        return
    belongs = labels(scene, categories).categories
    if not categories and not belongs:
        cure = f"Give categories, or name one in the custom property '{PROPERTY}' of objects with object.set_property."
        yield conflict("no object has a category", at, cure)
    numbers = numbered(scene, categories)
    for number, category in enumerate(categories):
        objects = [scene.require(Kind.OBJECT, name) for name, each in belongs.items() if each == numbers[category.name]]
        for place, point in enumerate(category.keypoints if objects else ()):
            yield from _keypoint_problems(objects, point, f"{at}/{number}/keypoints/{place}")


def _keypoint_problems(objects: list[Block], point: Keypoint, at: str) -> Findings:
    """What a keypoint names and no object of its category has."""
    if point.vertex_group is not None:
        known = sorted({group.name for obj in objects for group in obj.vertex_groups})
        if point.vertex_group not in known:
            cure = did_you_mean(
                point.vertex_group, known, otherwise="Make it with vertex_group.set, or give another place."
            )
            message = f"no object of the category has a vertex group '{point.vertex_group}'"
            yield Finding(Fault.TARGET_NOT_FOUND, message, f"{at}/vertex_group", cure)
    if point.bone is not None:
        rigs = [rig for obj in objects for rig in rigs_of(obj)]
        known = sorted({bone.name for rig in rigs for bone in rig.data.bones})
        if point.bone not in known:
            cure = did_you_mean(
                point.bone, known, otherwise="Name a bone of an armature that the object is, hangs on or is bound to."
            )
            yield Finding(
                Fault.TARGET_NOT_FOUND, f"no object of the category has a bone '{point.bone}'", f"{at}/bone", cure
            )


def rigs_of(obj: Block) -> list[Block]:
    """The armatures whose bones are an object's: itself, what deforms it, what it hangs on."""
    candidates = [obj, *(each.object for each in obj.modifiers if each.type == "ARMATURE"), obj.parent]
    return [rig for rig in candidates if rig is not None and rig.type == "ARMATURE"]


def _properties(scene: Scene) -> Iterator[tuple[Block, str]]:
    for obj in scene.blocks(Kind.OBJECT):
        name = obj.get(PROPERTY)
        if isinstance(name, str) and name:
            yield obj, name
