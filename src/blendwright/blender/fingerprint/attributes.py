"""Geometry attributes in bulk.

Responsible for: names, domains, types and values of all attributes of a mesh, hair curves, a point cloud or a drawing,
sorted by name, without selections. Must not loop in Python over elements, except for strings.
"""

import hashlib
from collections.abc import Container
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache, lru_cache
from typing import Any

import numpy as np

from blendwright.blender.fingerprint.floats import fold_array
from blendwright.blender.fingerprint.skips import ATTRIBUTES_OUT

_SMALL = 4096
# From this size on it pays to hash on other threads (hashlib lets go of the interpreter lock).
_HUGE = 1 << 20
_OUT = tuple(ATTRIBUTES_OUT)
_DTYPES = {"FLOAT": "<f4", "INT": "<i4", "BOOLEAN": "?"}


def blob(array: Any) -> bytes:
    """An array's bytes, or their hash when they are many."""
    return array.tobytes() if array.nbytes <= _SMALL else hashlib.sha256(array).digest()


@cache
def _threads() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(max_workers=2, thread_name_prefix="fingerprint")


class Blobs:
    """Collects arrays as `blob` does, hashing huge ones meanwhile on other threads."""

    def __init__(self, out: list[Any]) -> None:
        self._out = out
        self._pending: list[tuple[int, Future[bytes]]] = []

    def add(self, array: Any) -> None:
        if array.nbytes < _HUGE:
            self._out.append(blob(array))
            return
        self._pending.append((len(self._out), _threads().submit(blob, array)))
        self._out.append(None)

    def finish(self) -> None:
        for place, digest in self._pending:
            self._out[place] = digest.result()


@cache
def _element(attribute_class: type) -> tuple[str, int, str | None, str]:
    """(property, width, dtype) of an attribute's elements, and its type; the first property is the value."""
    owner: Any = attribute_class
    properties = owner.bl_rna.properties["data"].fixed_type.properties
    value = next(p for p in properties if p.identifier != "rna_type")
    width = value.array_length if getattr(value, "is_array", False) else 1
    return value.identifier, width, _DTYPES.get(value.type), owner.bl_rna.identifier


@lru_cache(maxsize=1024)
def _taking_part(names: tuple[str, ...]) -> tuple[tuple[int, str], ...]:
    """Index and name of the attributes that count, sorted by name; kept, because most meshes have the same ones."""
    counted = [(name, index) for index, name in enumerate(names) if not name.startswith(_OUT)]
    return tuple((index, name) for name, index in sorted(counted))


def encode_attributes(attributes: Any, out: list[Any]) -> None:
    """All attributes but selections."""
    blobs = Blobs(out)
    add_attributes(attributes, out, blobs)
    blobs.finish()


def add_attributes(attributes: Any, out: list[Any], blobs: Blobs, without: Container[str] = ()) -> bool:
    """All attributes but selections and those that are read elsewhere; tells whether there were any."""
    any_read = False
    found = attributes.values()
    for index, name in _taking_part(tuple([attribute.name for attribute in found])):
        if name in without:
            continue
        any_read = True
        attribute = found[index]
        value, width, dtype, type_name = _element(attribute.__class__)
        data = attribute.data
        count = len(data)
        out.append((name, attribute.domain, type_name, count))
        if not count:
            continue
        if dtype is None:
            out.append([getattr(element, value) for element in data])
            continue
        array = np.empty(count * width, dtype)
        data.foreach_get(value, array)
        if dtype == "<f4":
            fold_array(array)
        if array.nbytes <= _SMALL:
            out.append(array.tobytes())
        else:
            blobs.add(array)
    return any_read
