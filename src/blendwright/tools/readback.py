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


def close(asked: float, held: float) -> bool:
    return math.isclose(asked, held, rel_tol=RELATIVE, abs_tol=ABSOLUTE)


def same(asked: Any, held: Any) -> bool:
    """Equal within single precision, element by element."""
    if isinstance(asked, bool) or asked is None or isinstance(asked, str):
        return asked == held
    if isinstance(asked, (int, float)):
        return isinstance(held, (int, float)) and close(asked, held)
    if isinstance(asked, Sequence):
        parts = cast("Sequence[Any]", asked)
        return len(parts) == len(held) and all(same(one, other) for one, other in zip(parts, held, strict=True))
    return asked == held


def differs(what: str, asked: Any, held: Any, at: str) -> Iterator[Finding]:
    """A finding when a value is not what was asked for."""
    if isinstance(asked, tuple) and asked == tuple(held):
        return  # most values come back exactly, and most calls ask for plain ones
    if not same(asked, held):
        cure = "Use another name, or change the one that is there."
        yield Finding(Fault.SCENE_CONFLICT, f"{what} is {_shown(held)}, not {_shown(asked)}", at, cure)


def _shown(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.6g}"
    if hasattr(value, "__len__") and not isinstance(value, (str, bytes)):
        return "(" + ", ".join(_shown(part) for part in value) + ")"
    return repr(value)
