"""Floats and file paths in their canonical form.

Responsible for: every float that enters the fingerprint passes here, exact, with -0.0 folded into 0.0 and one NaN; and a path hashes
alike whether Blender keeps it absolute or relative to the .blend (saving turns one into the other). Must not touch the file system.
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
_MOST_CACHED = 4096
_resolves_upward = False

# Blender's directory for temporary files, which some caches have as their default, has a new name in every session.
_SESSION_DIRECTORY = re.compile(r"/blender_\w{6}(?=/|$)")


def fold(value: float) -> float:
    if value == value:
        return value + 0.0
    return _NAN


def fold_all(values: Iterable[float]) -> tuple[float, ...]:
    folded = tuple(map(_plus_zero, values))
    total = sum(folded)
    # The sum is NaN when a value is, and for opposite infinities too.
    if total == total:
        return folded
    return tuple([value if value == value else _NAN for value in folded])


class _Folded(dict[tuple[float, ...], tuple[float, ...]]):
    def __missing__(self, values: tuple[float, ...]) -> tuple[float, ...]:
        if len(self) >= _MOST_CACHED:
            self.clear()
        folded = self[values] = fold_all(values)
        return folded


# `fold_all` for values that most datablocks share, as those of a new one. Tuples that are equal fold to the same.
FOLDED = _Folded()


def fold_array(values: Any) -> Any:
    """Fold a numpy array of floats in place."""
    values += values.dtype.type(0)
    # The sum of squares is NaN only when an element is: cheaper than testing each.
    with np.errstate(over="ignore", invalid="ignore"):
        squares = np.dot(values, values)
    if squares != squares:
        values[np.isnan(values)] = _NAN
    return values


def folded_bytes(values: Any) -> bytes:
    """The bytes of a short array of single-precision floats, folded."""
    raw: bytes = values.tobytes()
    if may_need_fold(raw):
        return fold_array(np.asarray(values)).tobytes()
    return raw


def may_need_fold(raw: bytes) -> bool:
    """Whether there may be a NaN or a negative zero among single-precision floats: bytes tell that sooner than numbers.

    Each has one of these as its last byte; a few other numbers have them too, and are then folded for nothing."""
    ends = raw[3::4]
    return 0x80 in ends or 0x7F in ends or 0xFF in ends


def resolve_upward_paths() -> None:
    """Resolve paths that lead above the directory of the .blend (`//../x`) from now on. For a process that holds the user's own file.

    A window hashes the same scene as a worker that opened a copy of the user's file, and in the copy these paths are absolute."""
    global _resolves_upward
    _resolves_upward = True


def canonical_path(path: str, owner: Any) -> str:
    """Return the form in which a datablock's path is hashed: `//` below the directory of the .blend, absolute elsewhere, empty for none.

    A path that leads above the directory of the .blend is hashed as it is written. A worker keeps the .blend in a directory of its own,
    so the same path leads elsewhere in every worker. The exception is a path that leads up to the root and down from there.
    Linked datablocks are different: their library stays in its directory."""
    if not path:
        return ""
    library = owner.library
    base = posixpath.dirname(_slashes(library.filepath if library else _data.filepath))
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
    """Whether a path such as `//../../x` leads up from `base` to the root, so that no name of a directory in `base` counts."""
    upward = posixpath.normpath(path[2:]).split("/").count("..")
    return upward >= base.count("/")


def _slashes(path: str) -> str:
    return path.replace("\\", "/")
