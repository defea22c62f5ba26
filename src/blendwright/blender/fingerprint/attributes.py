"""Geometry attributes in bulk.

The content covers all attributes of a mesh, hair curves, a point cloud or a drawing: names, domains, types and values. It is sorted
by name and leaves out selections. Python must not loop over elements here, except for strings.
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
# Unbound methods. `list.method` would first look for an RNA property and a function of that name.
foreach_get = _types.bpy_prop_collection.foreach_get
names_of = _types.bpy_prop_collection.keys
_items = _types.bpy_prop_collection.items
_domain, _data = attrgetter("domain"), attrgetter("data")

# The number of bytes up to which an array takes part as it is, not as a hash.
SMALL = 4096
# The number of bytes from which hashing on another thread is faster (hashlib releases the interpreter lock).
_HUGE_BYTES = 1 << 20
_MAX_PENDING_HASHES = 16
_EXCLUDED_PREFIXES = tuple(EXCLUDED_ATTRIBUTES)
_MAX_CACHED_NAME_LISTS = 1024
_names_cache: dict[tuple[tuple[str, ...], tuple[str, ...]], tuple[str, ...]] = {}
_MAX_ARRAYS_PER_DTYPE = 256
_DTYPES = {"FLOAT": "<f4", "INT": "<i4", "BOOLEAN": "?"}


def blob(array: Any) -> bytes:
    """Return an array's bytes, or their SHA-256 hash above SMALL bytes."""
    if array.nbytes <= SMALL:
        return array.tobytes()
    return hashlib.sha256(array).digest()


@cache
def _threads() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(max_workers=2, thread_name_prefix="fingerprint")


class Rooms(dict[int, Any]):
    """Reusable arrays of one dtype by length, as targets of `foreach_get`. Small ones are used again, because `Blobs` copies them.

    Each is a memoryview of a numpy array (`obj`), because Blender copies to a view faster.
    """

    def __init__(self, dtype: str) -> None:
        super().__init__()
        self.dtype = np.dtype(dtype)

    def __missing__(self, count: int) -> Any:
        array: Any = np.empty(count, self.dtype)
        room = memoryview(array)
        if count <= SMALL // 4:
            if len(self) >= _MAX_ARRAYS_PER_DTYPE:
                self.clear()
            self[count] = room
        return room


ROOMS = {dtype: Rooms(dtype) for dtype in _DTYPES.values()}


class Blobs:
    """A collector of arrays that appends the result of `blob` to lists and hashes huge arrays on other threads."""

    def __init__(self) -> None:
        self._pending: list[tuple[list[Any], int, Future[bytes]]] = []

    def add(self, array: Any, out: list[Any]) -> None:
        """Append an array's blob to `out`. For a huge array, append a placeholder that `finish` fills in."""
        if array.nbytes <= SMALL:
            out.append(array.tobytes())
        elif array.nbytes < _HUGE_BYTES:
            out.append(blob(array))
        else:
            if len(self._pending) >= _MAX_PENDING_HASHES:
                self.finish()
            self._pending.append((out, len(out), _threads().submit(blob, array)))
            out.append(None)

    def add_floats(self, array: Any, out: list[Any]) -> None:
        """Append the blob of an array of floats after folding them."""
        if array.nbytes <= SMALL:
            out.append(folded_bytes(array))
        else:
            self.add(fold_array(np.asarray(array)), out)

    def finish(self) -> None:
        """Wait for the pending hashes and put them into their lists."""
        for out, index, digest in self._pending:
            out[index] = digest.result()
        self._pending.clear()


@cache
def _element(attribute_class: type) -> tuple[str, int, str | None, str]:
    """Return (value property, width, dtype, attribute type) for the elements of an attribute class."""
    owner: Any = attribute_class
    properties = owner.bl_rna.properties["data"].fixed_type.properties
    value = next(p for p in properties if p.identifier != "rna_type")
    if getattr(value, "is_array", False):
        width = value.array_length
    else:
        width = 1
    return value.identifier, width, _DTYPES.get(value.type), owner.bl_rna.identifier


def hashed_names(names: Iterable[str], without: tuple[str, ...] = ()) -> tuple[str, ...]:
    """Return the names of the attributes to hash, sorted. The result is cached, because most meshes have the same names."""
    key = (tuple(names), without)
    hashed = _names_cache.get(key)
    if hashed is None:
        if len(_names_cache) > _MAX_CACHED_NAME_LISTS:
            _names_cache.clear()
        counted = (name for name in key[0] if name not in without and not name.startswith(_EXCLUDED_PREFIXES))
        hashed = _names_cache[key] = tuple(sorted(counted))
    return hashed


def can_be_looked_up(names: Sequence[str]) -> bool:
    """Return True if each name identifies one attribute. Names must be unique, and lookup fails for a name that is not UTF-8."""
    return len({*names}) == len(names) and all(map(str.isascii, names))


def all_by_name(attributes: Any) -> dict[str, Any]:
    return dict(_items(attributes))


def encode_attributes(attributes: Any, out: list[Any]) -> None:
    """Append all attributes except selections."""
    blobs = Blobs()
    stored = all_by_name(attributes)
    for name in hashed_names(stored):
        add_attributes(name, (stored[name],), (out,), blobs)
    blobs.finish()


def add_attributes(name: str, attributes: Sequence[Any], outs: Sequence[list[Any]], blobs: Blobs) -> set[str]:
    """Append the attribute with this name of one or several owners, and return its types."""
    types: set[str] = set()
    # Do one kind of read for all owners before the next kind, as in `batches.py`.
    owners = zip(attributes, [*map(_domain, attributes)], [*map(_data, attributes)], outs, strict=True)
    for attribute, domain, data, out in owners:
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
        foreach_get(data, value, room.obj)  # Blender sets some types number by number, which a view does not accept
        if dtype == "<f4":
            blobs.add_floats(room, out)
        else:
            blobs.add(room, out)
    return types
