"""Comparing what was asked with what Blender holds: the base of every `verify` and of every idempotent `check`."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, cast

from blendwright.values.faults import Fault
from blendwright.values.findings import Finding

# Blender keeps single-precision floats: a value that was asked for in double precision comes back rounded.
RELATIVE = 1e-5
ABSOLUTE = 1e-6


def close(expected: float, actual: float) -> bool:
    return math.isclose(expected, actual, rel_tol=RELATIVE, abs_tol=ABSOLUTE)


def same(expected: Any, actual: Any) -> bool:
    """Equal within single precision, element by element."""
    if isinstance(expected, bool) or expected is None or isinstance(expected, str):
        return expected == actual
    if isinstance(expected, (int, float)):
        return isinstance(actual, (int, float)) and close(expected, actual)
    if isinstance(expected, Sequence):
        parts = cast("Sequence[Any]", expected)
        return len(parts) == len(actual) and all(same(one, other) for one, other in zip(parts, actual, strict=True))
    return expected == actual


def differs(what: str, expected: Any, actual: Any, at: str) -> Iterator[Finding]:
    """A finding when a value is not what was asked for."""
    if isinstance(expected, tuple) and expected == tuple(actual):
        return  # most values come back exactly, and most calls ask for plain ones
    if not same(expected, actual):
        cure = "Use another name, or change the one that is there."
        yield Finding(Fault.SCENE_CONFLICT, f"{what} is {_shown(actual)}, not {_shown(expected)}", at, cure)


def _shown(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.6g}"
    if hasattr(value, "__len__") and not isinstance(value, (str, bytes)):
        return "(" + ", ".join(_shown(part) for part in value) + ")"
    return repr(value)
