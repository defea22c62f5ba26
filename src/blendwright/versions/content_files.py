"""Content of scenes as workers have written it to files: datablocks, their structs, and long lists of numbers beside them."""

from __future__ import annotations

import math
import os
import stat
import sys
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import orjson

from blendwright.util.no_follow import READ_PLAIN
from blendwright.values.errors import RebuildFailed
from blendwright.wire.remote_scene import RemoteScene

FILE = "content.jsonl"
# Another Blender rounds elsewhere: numbers that agree to this share are the same.
TOLERANCE = 1e-5

# Of the list of a scene, and of its numbers: a scene of 100,000 objects stays far below.
MOST_BYTES = 2 << 30

Key = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Struct:
    """A part of a datablock: its RNA type and its values."""

    type: str
    values: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Content:
    """Datablocks by kind and name, each as structs by path; `numbers` is the file of their long lists."""

    blocks: Mapping[Key, Mapping[str, Struct]]
    numbers: Path


def read_content(worker: RemoteScene, keys: Sequence[Key] | None = None) -> Content:
    """The content of these datablocks of the worker's scene, or of all. What it read is gone with the next call."""
    worker.content(FILE, keys)
    path = worker.require_process().scratch / FILE
    blocks: dict[Key, Mapping[str, Struct]] = {}
    try:
        with _plain_file(path) as lines:
            for line in lines:
                entry = orjson.loads(line)
                structs = {place: Struct(part["type"], part["values"]) for place, part in entry["structs"].items()}
                blocks[tuple(entry["key"])] = structs
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise RebuildFailed(
            f"Blender {worker.profile.version_string} listed the scene in a way that cannot be read"
        ) from error
    return Content(blocks, path.with_suffix(".arrays"))


def is_array(value: Any) -> bool:
    return isinstance(value, dict) and "array" in value


@dataclass(frozen=True, slots=True)
class ArrayDifference:
    """How two lists of numbers differ, in words: what the one has, what the other."""

    old: str
    new: str


def array_difference(
    old: Mapping[str, Any], new: Mapping[str, Any], ours: Path, theirs: Path
) -> ArrayDifference | None:
    """None where they hold the same numbers, within the tolerance."""
    if old.get("digest") is not None and old.get("digest") == new.get("digest"):
        return None
    if old["count"] != new["count"]:
        return ArrayDifference(_size(old), _size(new))
    first, second = _numbers(old, ours), _numbers(new, theirs)
    differing = [place for place, (a, b) in enumerate(zip(first, second, strict=True)) if not close(a, b)]
    if not differing:
        return None
    at, width = differing[0], old["width"]
    element = f"element {at // width}" + (f", component {at % width}" if width > 1 else "")
    distances = [abs(first[place] - second[place]) for place in differing]
    most = max(distance if math.isfinite(distance) else math.inf for distance in distances)
    summary = f"{len(differing)} of {len(first)} numbers differ, by {most:g} at most"
    return ArrayDifference(f"{element}: {first[at]:g}", f"{element}: {second[at]:g} ({summary})")


def close(one: float, other: float, tolerance: float = TOLERANCE) -> bool:
    return one == other or math.isclose(one, other, rel_tol=tolerance, abs_tol=tolerance) or one != one != other


def _plain_file(path: Path) -> BinaryIO:
    """A file of a worker's scratch: no link and no pipe that it may have left there, and nothing without an end."""
    try:
        opened = os.fdopen(os.open(path, READ_PLAIN), "rb")
    except OSError as error:
        raise RebuildFailed(f"what Blender listed of the scene cannot be read: {error.strerror}") from error
    status = os.fstat(opened.fileno())
    if not stat.S_ISREG(status.st_mode) or status.st_size > MOST_BYTES:
        opened.close()
        raise RebuildFailed(f"what Blender listed of the scene is more than {MOST_BYTES} bytes")
    return opened


def _size(entry: Mapping[str, Any]) -> str:
    return f"{entry['count'] // entry['width']} elements"


def _numbers(entry: Mapping[str, Any], file: Path) -> Sequence[float]:
    if "values" in entry:
        return [float(value) for value in entry["values"]]
    numbers: array[float] | array[int]
    if entry["array"] == "f4":
        numbers = array("f")
    else:
        numbers = array("i")
    with _plain_file(file) as opened:
        opened.seek(entry["offset"])
        numbers.frombytes(opened.read(entry["count"] * 4))
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers
