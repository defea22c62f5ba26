"""Filters of objects by name, type and collection, and pages of lists, for `scene.snapshot` and `scene.find`."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Annotated, Literal, TypeVar

from pydantic import Field

from blendwright.tool_api.arguments import NAME_BYTES, Args, optional
from blendwright.tool_api.mentions import CollectionName
from blendwright.tool_api.scene import Block, Kind, Scene
from blendwright.tools.checks import target_collection

T = TypeVar("T")

ObjectType = Literal[
    "MESH", "CURVE", "SURFACE", "META", "FONT", "CURVES", "POINTCLOUD", "VOLUME", "GREASEPENCIL", "ARMATURE", "LATTICE",
    "EMPTY", "LIGHT", "LIGHT_PROBE", "CAMERA", "SPEAKER",
]  # fmt: skip


class Paged(Args):
    """Arguments of tools that return results page by page, with filters on objects."""

    name: Annotated[str, Field(min_length=1, max_length=NAME_BYTES)] | None = optional(
        "Only objects whose whole name matches; * is any text, ? any one character; case-sensitive."
    )
    type: ObjectType | None = optional("Only objects of this type.")
    collection: CollectionName | None = optional("Only objects in this collection or its descendants.")
    offset: int = Field(default=0, ge=0, description="Start of the page, counted from 0 in the order of names.")
    limit: int = Field(default=200, ge=1, le=1000, description="Largest number of entries on the page.")


def matching(scene: Scene, args: Paged) -> Iterator[Block]:
    """Yield the objects that pass the filters, sorted by name."""
    match = None
    if args.name is not None:
        match = name_pattern(args.name).match
    members: set[str] | None = None
    if args.collection:
        inside = target_collection(scene, args.collection).all_objects
        members = {obj.name for obj in inside if obj.library is None}
    for obj in _candidates(scene, args.name):
        if match is not None and match(obj.name) is None:
            continue
        if (members is None or obj.name in members) and (args.type is None or obj.type == args.type):
            yield obj


def _candidates(scene: Scene, name: str | None) -> Iterable[Block]:
    """Return all objects, or only the one of that name if the pattern has no wildcard, which is fast in large scenes."""
    if name is None or "*" in name or "?" in name:
        return scene.blocks(Kind.OBJECT)
    obj = scene.find(Kind.OBJECT, name)
    if obj is None:
        return ()
    return (obj,)


def page(entries: Sequence[T], args: Paged) -> Sequence[T]:
    return entries[args.offset : args.offset + args.limit]


def next_offset(args: Paged, *totals: int) -> int | None:
    """Return the offset of the next page, or None if no list has entries after this page."""
    end = args.offset + args.limit
    if any(total > end for total in totals):
        return end
    return None


def name_pattern(wildcards: str) -> re.Pattern[str]:
    """Return the pattern for a name with the wildcards * and ?. A bracket stands for itself.

    fnmatch never retries the text of a star after the text behind the star has matched, so matching is always fast.
    """
    return re.compile(fnmatch.translate(wildcards.replace("[", "[[]")))
