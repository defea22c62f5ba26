"""Geometry attributes in bulk.

Responsible for: names, domains, types and values of all attributes of a mesh, hair curves, a point cloud or a drawing,
sorted by name, without selections. Must not loop in Python over elements, except for strings.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache
from typing import Any

import numpy as np

from blendwright.blender.fingerprint.canonical import fold_array, folded_bytes
from blendwright.blender.fingerprint.exclusions import EXCLUDED_ATTRIBUTES

_SMALL = 4096
# From this size on it pays to hash on other threads (hashlib lets go of the interpreter lock).
_HUGE = 1 << 20
_OUT = tuple(EXCLUDED_ATTRIBUTES)
_MOST_CACHED = 1024
_names_cache: dict[tuple[str, ...], tuple[str, ...]] = {}
_MOST_ROOMS = 256
_DTYPES = {"FLOAT": "<f4", "INT": "<i4", "BOOLEAN": "?"}


def blob(array: Any) -> bytes:
    """An array's bytes, or their hash when they are many."""
    return array.tobytes() if array.nbytes <= _SMALL else hashlib.sha256(array).digest()


@cache
def _threads() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(max_workers=2, thread_name_prefix="fingerprint")


class Rooms(dict[int, Any]):
    """Arrays of one type by length, to be read into and given to `Blobs`, which copies the small ones: their room serves again."""

    def __init__(self, dtype: str) -> None:
        super().__init__()
        self.dtype = np.dtype(dtype)

    def __missing__(self, count: int) -> Any:
        array = np.empty(count, self.dtype)
        if count <= _SMALL // 4:
            if len(self) >= _MOST_ROOMS:
                self.clear()
            self[count] = array
        return array


ROOMS = {dtype: Rooms(dtype) for dtype in _DTYPES.values()}


class Blobs:
    """Collects arrays as `blob` does, hashing huge ones meanwhile on other threads."""

    def __init__(self, out: list[Any]) -> None:
        self._out = out
        self._pending: list[tuple[int, Future[bytes]]] = []

    def add(self, array: Any) -> None:
        if array.nbytes <= _SMALL:
            self._out.append(array.tobytes())
        elif array.nbytes < _HUGE:
            self._out.append(blob(array))
        else:
            self._pending.append((len(self._out), _threads().submit(blob, array)))
            self._out.append(None)

    def add_floats(self, array: Any) -> None:
        if array.nbytes <= _SMALL:
            self._out.append(folded_bytes(array))
        else:
            self.add(fold_array(array))

    def finish(self) -> None:
        for all_names, digest in self._pending:
            self._out[all_names] = digest.result()


@cache
def _element(attribute_class: type) -> tuple[str, int, str | None, str]:
    """(property, width, dtype) of an attribute's elements, and its type; the first property is the value."""
    owner: Any = attribute_class
    properties = owner.bl_rna.properties["data"].fixed_type.properties
    value = next(p for p in properties if p.identifier != "rna_type")
    width = value.array_length if getattr(value, "is_array", False) else 1
    return value.identifier, width, _DTYPES.get(value.type), owner.bl_rna.identifier


def hashed_names(names: Iterable[str]) -> tuple[str, ...]:
    """The names that count, sorted; kept, because most meshes have the same ones."""
    all_names = tuple(names)
    hashed = _names_cache.get(all_names)
    if hashed is None:
        if len(_names_cache) > _MOST_CACHED:
            _names_cache.clear()
        hashed = _names_cache[all_names] = tuple(sorted(name for name in all_names if not name.startswith(_OUT)))
    return hashed


def encode_attributes(attributes: Any, out: list[Any]) -> None:
    """All attributes but selections."""
    blobs = Blobs(out)
    stored = dict(attributes.items())
    add_attributes(stored, hashed_names(stored), out, blobs)
    blobs.finish()


def add_attributes(attributes: Mapping[str, Any], names: Sequence[str], out: list[Any], blobs: Blobs) -> set[str]:
    """The attributes of these names; returns the types among them."""
    types: set[str] = set()
    for name in names:
        attribute = attributes[name]
        value, width, dtype, type_name = _element(attribute.__class__)
        types.add(type_name)
        data = attribute.data
        count = len(data)
        out.append((name, attribute.domain, type_name, count))
        if not count:
            continue
        if dtype is None:
            out.append([getattr(element, value) for element in data])
            continue
        array = ROOMS[dtype][count * width]
        data.foreach_get(value, array)
        if dtype == "<f4":
            blobs.add_floats(array)
        else:
            blobs.add(array)
    return types
