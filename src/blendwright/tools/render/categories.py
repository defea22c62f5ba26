"""Categories of objects for render.annotations, from the arguments or from a custom property of the objects."""

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

MAX_CATEGORIES = 1000
# Largest number that fits into a pixel of the 16-bit picture of categories.
MAX_ID = 65_535
MAX_KEYPOINTS = 128
# The custom property that names the category of an object.
PROPERTY = "category"

CategoryName = Annotated[InnerName, Field(min_length=1)]


class Keypoint(Args):
    """A named point of each object of a category.

    Without `at`, `vertex_group` or `bone`, it is the child empty whose custom property `keypoint` has this name.
    """

    name: CategoryName = Field(description="Name of the keypoint.")
    at: Vector3 | None = optional("Position in the object's own space.")
    vertex_group: CategoryName | None = optional("Vertex group with the keypoint at its centre.")
    bone: CategoryName | None = optional("Bone with the keypoint at its head.")

    @field_validator("vertex_group", "bone")
    @classmethod
    def _check_one_position(cls, value: str | None, info: ValidationInfo) -> str | None:
        if value is not None and any(info.data.get(field) is not None for field in ("at", "vertex_group")):
            raise PydanticCustomError("one_place", "give only one of at, vertex_group and bone")
        return value


class Category(Args):
    """A category with its objects. Objects whose custom property `category` is its name belong to it too."""

    name: CategoryName = Field(description="Name of the category.")
    id: int | None = optional("Number of the category. Default: its position in the list, from 1 on.", ge=1, le=MAX_ID)
    objects: list[ObjectName] = Field(default=[], description="Objects that belong to it.")
    collections: list[CollectionName] = Field(
        default=[], description="Collections whose objects belong to it, with their child collections."
    )
    keypoints: Annotated[list[Keypoint], Field(max_length=MAX_KEYPOINTS)] = Field(
        default=[], description="Points of each of its objects."
    )
    skeleton: list[Annotated[tuple[CategoryName, CategoryName], Field(strict=False)]] = Field(
        default=[], description="Pairs of connected keypoints, by name."
    )

    @field_validator("keypoints")
    @classmethod
    def _check_names(cls, value: list[Keypoint]) -> list[Keypoint]:
        if len({keypoint.name for keypoint in value}) < len(value):
            raise PydanticCustomError("same_name", "each keypoint must have a different name")
        return value

    @field_validator("skeleton")
    @classmethod
    def _check_pairs(cls, value: list[tuple[str, str]], info: ValidationInfo) -> list[tuple[str, str]]:
        names = [keypoint.name for keypoint in info.data.get("keypoints", ())]
        for pair in value:
            for name in pair:
                if name not in names:
                    cure = did_you_mean(name, names, otherwise="Name keypoints of this category.")
                    message = "keypoint '{name}' does not exist; {cure}"
                    raise PydanticCustomError("no_keypoint", message, {"name": name, "cure": cure})
        return value


Categories = Annotated[list[Category], Field(max_length=MAX_CATEGORIES)]


def different(categories: list[Category]) -> list[Category]:
    """Return the categories. Raise PydanticCustomError if two of them share a name, a number or an object."""
    object_names: list[object] = []
    for category in categories:
        object_names += set(category.objects)
    claims: dict[str, list[object]] = {
        "name": [category.name for category in categories],
        "id": [category.id for category in categories if category.id is not None],
        "object": object_names,
    }
    for what, values in claims.items():
        for value in values:
            if values.count(value) > 1:
                context = {"what": what, "value": str(value)}
                raise PydanticCustomError("two_categories", "{what} '{value}' is in two categories", context)
    return categories


def numbered(scene: Scene, categories: Sequence[Category]) -> dict[str, int]:
    """Return the number of each category by name.

    Categories that only custom properties name come last, sorted by name.
    """
    requested: dict[str, int | None] = {category.name: category.id for category in categories}
    for name in sorted({name for _, name in _properties(scene)} - requested.keys()):
        requested[name] = None
    used = {number for number in requested.values() if number is not None}
    free = (number for number in range(1, MAX_ID + 1) if number not in used)
    numbers: dict[str, int] = {}
    for name, number in requested.items():
        if number is None:
            number = next(free)
        numbers[name] = number
    return numbers


def labels(scene: Scene, categories: Sequence[Category]) -> Labels:
    """Return the category of each object, and the keypoints of each category.

    An object belongs to the category that names it, else to the one in its custom property, else to the first category with
    a collection that contains it.
    """
    numbers = numbered(scene, categories)
    belongs: dict[str, int] = {}
    for category in reversed(categories):
        for name in category.collections:
            collection = scene.require(Kind.COLLECTION, name)
            belongs.update(dict.fromkeys((obj.name for obj in collection.all_objects), numbers[category.name]))
    belongs.update({obj.name: numbers[name] for obj, name in _properties(scene)})
    for category in categories:
        belongs.update(dict.fromkeys(category.objects, numbers[category.name]))
    keypoints: dict[int, tuple[KeypointSource, ...]] = {}
    for category in categories:
        sources = [KeypointSource(point.name, point.at, point.vertex_group, point.bone) for point in category.keypoints]
        keypoints[numbers[category.name]] = tuple(sources)
    return Labels(belongs, keypoints)


def described(scene: Scene, categories: Sequence[Category]) -> list[AnnotatedCategory]:
    """Return the categories as annotations.json contains them, sorted by number."""
    by_name = {category.name: category for category in categories}
    entries: list[AnnotatedCategory] = []
    for name, number in sorted(numbered(scene, categories).items(), key=lambda item: item[1]):
        points: list[str] = []
        skeleton: list[tuple[int, int]] = []
        category = by_name.get(name)
        if category:
            points = [keypoint.name for keypoint in category.keypoints]
            for start, end in category.skeleton:
                skeleton.append((points.index(start) + 1, points.index(end) + 1))
        entries.append(AnnotatedCategory(id=number, name=name, keypoints=points, skeleton=skeleton))
    return entries


def category_problems(scene: Scene, categories: Sequence[Category]) -> Findings:
    """Yield findings for objects, collections, vertex groups and bones that the categories name and the scene lacks."""
    at = "/categories"
    complete = True
    for number, category in enumerate(categories):
        for part, kind in (("objects", Kind.OBJECT), ("collections", Kind.COLLECTION)):
            for index, name in enumerate(getattr(category, part)):
                block = yield from existing(scene, kind, name, f"{at}/{number}/{part}/{index}")
                complete = complete and block is not None
    if not complete:
        return
    belongs = labels(scene, categories).categories
    if not categories and not belongs:
        cure = f"Give categories, or name one in the custom property '{PROPERTY}' of objects with object.set_property."
        yield conflict("no object has a category", at, cure)
    numbers = numbered(scene, categories)
    for index, category in enumerate(categories):
        number = numbers[category.name]
        objects = [scene.require(Kind.OBJECT, name) for name, owner in belongs.items() if owner == number]
        if not objects:
            continue
        for point_index, point in enumerate(category.keypoints):
            yield from _keypoint_problems(objects, point, f"{at}/{index}/keypoints/{point_index}")


def _keypoint_problems(objects: list[Block], point: Keypoint, at: str) -> Findings:
    """Yield findings for a vertex group or bone of a keypoint that no object of the category has."""
    if point.vertex_group is not None:
        group_names: set[str] = set()
        for obj in objects:
            group_names.update(group.name for group in obj.vertex_groups)
        if point.vertex_group not in group_names:
            otherwise = "Create it with vertex_group.set, or give another position."
            cure = did_you_mean(point.vertex_group, sorted(group_names), otherwise=otherwise)
            message = f"no object of the category has a vertex group '{point.vertex_group}'"
            yield Finding(Fault.TARGET_NOT_FOUND, message, f"{at}/vertex_group", cure)
    if point.bone is not None:
        bone_names: set[str] = set()
        for obj in objects:
            for rig in rigs_of(obj):
                bone_names.update(bone.name for bone in rig.data.bones)
        if point.bone not in bone_names:
            otherwise = "Name a bone of an armature that is the object itself, its parent, or that deforms it."
            cure = did_you_mean(point.bone, sorted(bone_names), otherwise=otherwise)
            message = f"no object of the category has a bone '{point.bone}'"
            yield Finding(Fault.TARGET_NOT_FOUND, message, f"{at}/bone", cure)


def rigs_of(obj: Block) -> list[Block]:
    """Return the armatures with bones that an object's keypoints can use: itself, its deforming armatures, and its parent."""
    deforming = [modifier.object for modifier in obj.modifiers if modifier.type == "ARMATURE"]
    candidates = [obj, *deforming, obj.parent]
    return [rig for rig in candidates if rig is not None and rig.type == "ARMATURE"]


def _properties(scene: Scene) -> Iterator[tuple[Block, str]]:
    for obj in scene.blocks(Kind.OBJECT):
        name = obj.get(PROPERTY)
        if isinstance(name, str) and name:
            yield obj, name
