"""Floats and file paths in their canonical form.

Every float of the fingerprint passes through this module. It stays exact, except that -0.0 becomes 0.0 and every NaN becomes the
same NaN. A path hashes the same whether Blender keeps it absolute or relative to the .blend, because saving turns one into the
other. This module must not touch the file system.
"""

import math
import posixpath
import re
from collections.abc import Iterable
from typing import Any

import bpy
import numpy as np

_NAN = math.nan
_plus_zero = (0.0).__add__
_data: Any = bpy.data
_MAX_CACHED_TUPLES = 4096
_resolves_upward = False

# Blender's temporary directory, the default of some caches. Its name changes with every session.
_SESSION_DIRECTORY = re.compile(r"/blender_\w{6}(?=/|$)")


def fold(value: float) -> float:
    """Return a float with -0.0 as 0.0 and one NaN for all."""
    if value == value:
        return value + 0.0
    return _NAN


def fold_all(values: Iterable[float]) -> tuple[float, ...]:
    """Return several floats, each folded as by `fold`."""
    folded = tuple(map(_plus_zero, values))
    total = sum(folded)
    # The sum is NaN if a value is NaN, and also for opposite infinities.
    if total == total:
        return folded
    return tuple([value if value == value else _NAN for value in folded])


class _Folded(dict[tuple[float, ...], tuple[float, ...]]):
    """A cache from tuples of floats to their folded tuples."""

    def __missing__(self, values: tuple[float, ...]) -> tuple[float, ...]:
        if len(self) >= _MAX_CACHED_TUPLES:
            self.clear()
        folded = self[values] = fold_all(values)
        return folded


# Cached `fold_all` for values that most datablocks share, such as defaults. Equal tuples have equal folded tuples.
FOLDED = _Folded()


def fold_array(values: Any) -> Any:
    """Fold a numpy array of floats in place and return it."""
    values += values.dtype.type(0)
    # The sum of squares is NaN only if an element is NaN. This is cheaper than testing each element.
    with np.errstate(over="ignore", invalid="ignore"):
        squares = np.dot(values, values)
    if squares != squares:
        values[np.isnan(values)] = _NAN
    return values


def folded_bytes(values: Any) -> bytes:
    """Return the bytes of a short array of single-precision floats, folded."""
    raw: bytes = values.tobytes()
    if may_need_fold(raw):
        return fold_array(np.asarray(values)).tobytes()
    return raw


def may_need_fold(raw: bytes) -> bool:
    """Return True if single-precision floats may contain a NaN or a negative zero. Checking bytes is faster than checking numbers.

    Each of these ends with one of three bytes. A few other numbers do too, and are then folded without effect.
    """
    ends = raw[3::4]
    return 0x80 in ends or 0x7F in ends or 0xFF in ends


def resolve_upward_paths() -> None:
    """Resolve paths that lead above the directory of the .blend (`//../x`) from now on, for a process that has the user's file open.

    A window hashes the same scene as a worker that opened a copy of the user's file, and in the copy these paths are absolute.
    """
    global _resolves_upward
    _resolves_upward = True


def canonical_path(path: str, owner: Any) -> str:
    """Return the hashed form of a datablock's path: `//` below the directory of the .blend, absolute elsewhere, empty for none.

    A path that leads above the directory of the .blend is hashed unchanged. Each worker keeps the .blend in its private directory,
    so the same path leads elsewhere in every worker. The exception is a path that leads up to the root and down from there.
    Linked datablocks are different: their library stays in its directory.
    """
    if not path:
        return ""
    library = owner.library
    if library:
        file = library.filepath
    else:
        file = _data.filepath
    base = posixpath.dirname(_slashes(file))
    path = _slashes(path)
    if path.startswith("//") and not path.startswith("//.."):
        return "//" + posixpath.normpath(path[2:])
    if path.startswith("//"):
        if not base:
            return path  # relative to a file that has never been saved
        if not library and not _resolves_upward and not _reaches_root(path, base):
            return path
        path = posixpath.join(base, path[2:])
    path = posixpath.normpath(path)
    if base and path.startswith(f"{base}/"):
        return "//" + path[len(base) + 1 :]
    # Saving turns an empty path into a relative one that leads to the root.
    if path == "/":
        return ""
    return _SESSION_DIRECTORY.sub("/blender", path)


def _reaches_root(path: str, base: str) -> bool:
    """Return True if a path such as `//../../x` leads up from `base` to the root, so that no directory name in `base` counts."""
    upward = posixpath.normpath(path[2:]).split("/").count("..")
    return upward >= base.count("/")


def _slashes(path: str) -> str:
    return path.replace("\\", "/")
