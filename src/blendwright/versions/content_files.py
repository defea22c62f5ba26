"""Scene content in files that workers have written: datablocks, their structs, and long lists of numbers in a
separate file.
"""

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
# The relative tolerance for equal numbers, because Blenders round differently.
TOLERANCE = 1e-5

# The maximum size of a content file in bytes. A scene of 100,000 objects stays far below.
MAX_CONTENT_BYTES = 2 << 30

Key = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Struct:
    """A part of a datablock: its RNA type and its values."""

    type: str
    values: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Content:
    """Datablocks by kind and name, each with its structs by path. `numbers` is the file with their long lists."""

    blocks: Mapping[Key, Mapping[str, Struct]]
    numbers: Path


def read_content(worker: RemoteScene, keys: Sequence[Key] | None = None) -> Content:
    """Return the content of these datablocks of the worker's scene, or of all.

    The next call overwrites the file of the numbers.
    """
    worker.content(FILE, keys)
    file = worker.require_process().scratch / FILE
    blocks: dict[Key, Mapping[str, Struct]] = {}
    try:
        with _plain_file(file) as lines:
            for line in lines:
                entry = orjson.loads(line)
                structs = {path: Struct(part["type"], part["values"]) for path, part in entry["structs"].items()}
                blocks[tuple(entry["key"])] = structs
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise RebuildFailed(
            f"Blender {worker.profile.version_string} wrote scene content in an invalid format"
        ) from error
    return Content(blocks, file.with_suffix(".arrays"))


def is_array(value: Any) -> bool:
    return isinstance(value, dict) and "array" in value


@dataclass(frozen=True, slots=True)
class ArrayDifference:
    """A difference of two lists of numbers, described in words for each side."""

    old: str
    new: str


def array_difference(
    old: Mapping[str, Any], new: Mapping[str, Any], ours: Path, theirs: Path
) -> ArrayDifference | None:
    """Return the difference of two lists of numbers, or None if they are equal within the tolerance."""
    if old.get("digest") is not None and old.get("digest") == new.get("digest"):
        return None
    if old["count"] != new["count"]:
        return ArrayDifference(_size(old), _size(new))
    first, second = _numbers(old, ours), _numbers(new, theirs)
    differing = [index for index, (a, b) in enumerate(zip(first, second, strict=True)) if not close(a, b)]
    if not differing:
        return None

    index, width = differing[0], old["width"]
    element = f"element {index // width}"
    if width > 1:
        element += f", component {index % width}"
    largest = 0.0
    for position in differing:
        distance = abs(first[position] - second[position])
        if not math.isfinite(distance):
            distance = math.inf
        largest = max(largest, distance)
    summary = f"{len(differing)} of {len(first)} numbers differ, by {largest:g} at most"
    return ArrayDifference(f"{element}: {first[index]:g}", f"{element}: {second[index]:g} ({summary})")


def close(first: float, second: float, tolerance: float = TOLERANCE) -> bool:
    """Return whether two numbers are equal within the tolerance. If the first number is NaN, they count as equal."""
    if math.isnan(first):
        return True
    return first == second or math.isclose(first, second, rel_tol=tolerance, abs_tol=tolerance)


def _plain_file(path: Path) -> BinaryIO:
    """Open a file in a worker's scratch. Raise RebuildFailed for a link, a pipe or a file above the size limit."""
    try:
        opened = os.fdopen(os.open(path, READ_PLAIN), "rb")
    except OSError as error:
        raise RebuildFailed(f"the scene content from Blender cannot be read: {error.strerror}") from error
    status = os.fstat(opened.fileno())
    if not stat.S_ISREG(status.st_mode) or status.st_size > MAX_CONTENT_BYTES:
        opened.close()
        raise RebuildFailed(f"the scene content from Blender is not a file of at most {MAX_CONTENT_BYTES} bytes")
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
