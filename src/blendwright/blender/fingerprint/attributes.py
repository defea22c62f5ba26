"""Geometry attributes in bulk.

Responsible for: names, domains, types and values of all attributes of a mesh, hair curves, a point cloud or a drawing,
sorted by name, without selections. Must not loop in Python over elements, except for strings.
"""

import hashlib
from collections.abc import Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache
from operator import attrgetter
from typing import Any

import bpy
import numpy as np

from blendwright.blender.fingerprint.canonical import fold_array, folded_bytes
from blendwright.blender.fingerprint.exclusions import EXCLUDED_ATTRIBUTES

_types: Any = bpy.types
# Methods without their list: asked for by name, the list first looks for a property and a function of that name.
foreach_get = _types.bpy_prop_collection.foreach_get
names_of = _types.bpy_prop_collection.keys
_items = _types.bpy_prop_collection.items
_domain, _data = attrgetter("domain"), attrgetter("data")

SMALL = 4096
# From this size on it pays to hash on other threads (hashlib lets go of the interpreter lock).
_HUGE = 1 << 20
_MOST_PENDING = 16
_OUT = tuple(EXCLUDED_ATTRIBUTES)
_MOST_CACHED = 1024
_names_cache: dict[tuple[tuple[str, ...], tuple[str, ...]], tuple[str, ...]] = {}
_MOST_ROOMS = 256
_DTYPES = {"FLOAT": "<f4", "INT": "<i4", "BOOLEAN": "?"}


def blob(array: Any) -> bytes:
    """An array's bytes, or their hash when they are many."""
    if array.nbytes <= SMALL:
        return array.tobytes()
    return hashlib.sha256(array).digest()


@cache
def _threads() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(max_workers=2, thread_name_prefix="fingerprint")


class Rooms(dict[int, Any]):
    """Arrays of one type by length, to be read into and given to `Blobs`, which copies the small ones: their room serves again.

    They are views of the memory of an array of numpy (`obj`): Blender copies to a view in less time."""

    def __init__(self, dtype: str) -> None:
        super().__init__()
        self.dtype = np.dtype(dtype)

    def __missing__(self, count: int) -> Any:
        array: Any = np.empty(count, self.dtype)
        room = memoryview(array)
        if count <= SMALL // 4:
            if len(self) >= _MOST_ROOMS:
                self.clear()
            self[count] = room
        return room


ROOMS = {dtype: Rooms(dtype) for dtype in _DTYPES.values()}


class Blobs:
    """Collects arrays as `blob` does, hashing huge ones meanwhile on other threads."""

    def __init__(self) -> None:
        self._pending: list[tuple[list[Any], int, Future[bytes]]] = []

    def add(self, array: Any, out: list[Any]) -> None:
        if array.nbytes <= SMALL:
            out.append(array.tobytes())
        elif array.nbytes < _HUGE:
            out.append(blob(array))
        else:
            if len(self._pending) >= _MOST_PENDING:
                self.finish()
            self._pending.append((out, len(out), _threads().submit(blob, array)))
            out.append(None)

    def add_floats(self, array: Any, out: list[Any]) -> None:
        if array.nbytes <= SMALL:
            out.append(folded_bytes(array))
        else:
            self.add(fold_array(np.asarray(array)), out)

    def finish(self) -> None:
        for out, place, digest in self._pending:
            out[place] = digest.result()
        self._pending.clear()


@cache
def _element(attribute_class: type) -> tuple[str, int, str | None, str]:
    """(property, width, dtype) of an attribute's elements, and its type; the first property is the value."""
    owner: Any = attribute_class
    properties = owner.bl_rna.properties["data"].fixed_type.properties
    value = next(p for p in properties if p.identifier != "rna_type")
    if getattr(value, "is_array", False):
        width = value.array_length
    else:
        width = 1
    return value.identifier, width, _DTYPES.get(value.type), owner.bl_rna.identifier


def hashed_names(names: Iterable[str], without: tuple[str, ...] = ()) -> tuple[str, ...]:
    """The names that count, sorted; kept, because most meshes have the same ones."""
    key = (tuple(names), without)
    hashed = _names_cache.get(key)
    if hashed is None:
        if len(_names_cache) > _MOST_CACHED:
            _names_cache.clear()
        counted = (name for name in key[0] if name not in without and not name.startswith(_OUT))
        hashed = _names_cache[key] = tuple(sorted(counted))
    return hashed


def can_be_looked_up(names: Sequence[str]) -> bool:
    """Whether each name leads to its attribute: not where two share one; and Blender takes no name that is not UTF-8."""
    return len({*names}) == len(names) and all(map(str.isascii, names))


def all_by_name(attributes: Any) -> dict[str, Any]:
    return dict(_items(attributes))


def encode_attributes(attributes: Any, out: list[Any]) -> None:
    """All attributes but selections."""
    blobs = Blobs()
    stored = all_by_name(attributes)
    for name in hashed_names(stored):
        add_attributes(name, (stored[name],), (out,), blobs)
    blobs.finish()


def add_attributes(name: str, attributes: Sequence[Any], outs: Sequence[list[Any]], blobs: Blobs) -> set[str]:
    """The attribute of this name of one or several owners; returns its types."""
    types: set[str] = set()
    # One sort of reading after the other, as in `batches.py`.
    several = zip(attributes, [*map(_domain, attributes)], [*map(_data, attributes)], outs, strict=True)
    for attribute, domain, data, out in several:
        value, width, dtype, type_name = _element(attribute.__class__)
        types.add(type_name)
        count = len(data)
        out.append((name, domain, type_name, count))
        if not count:
            continue
        if dtype is None:
            out.append([getattr(element, value) for element in data])
            continue
        room = ROOMS[dtype][count * width]
        foreach_get(data, value, room.obj)  # some types are set number by number, which a view does not take
        if dtype == "<f4":
            blobs.add_floats(room, out)
        else:
            blobs.add(room, out)
    return types
