"""Floats in their canonical form: exact, with -0.0 folded into 0.0 and one NaN.

Responsible for: every float that enters the fingerprint passes here.
"""

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

_NAN = math.nan
_plus_zero = (0.0).__add__
_NEGATIVE_ZERO = b"\x00\x00\x00\x80"


def fold(value: float) -> float:
    return value + 0.0 if value == value else _NAN


def fold_all(values: Iterable[float]) -> tuple[float, ...]:
    folded = tuple(map(_plus_zero, values))
    total = sum(folded)
    # The sum is NaN when a value is, and for opposite infinities too.
    return folded if total == total else tuple([value if value == value else _NAN for value in folded])


def fold_array(values: Any) -> Any:
    """Fold a numpy array of floats in place."""
    values += values.dtype.type(0)
    # The sum of squares is NaN only when an element is: cheaper than testing each.
    squares = np.dot(values, values)
    if squares != squares:
        values[np.isnan(values)] = _NAN
    return values


def folded_bytes(values: Any) -> bytes:
    """The bytes of a short array of single-precision floats, folded."""
    raw: bytes = values.tobytes()
    return fold_array(values).tobytes() if may_need_fold(raw) else raw


def may_need_fold(raw: bytes) -> bool:
    """Whether there may be a NaN or a negative zero among single-precision floats: bytes tell that sooner than numbers.

    Every NaN has one of these two bytes; other numbers may have them too, and are then folded for nothing."""
    if 0x7F in raw or 0xFF in raw:
        return True
    place = raw.find(_NEGATIVE_ZERO)
    while place >= 0:
        if place % 4 == 0:
            return True
        place = raw.find(_NEGATIVE_ZERO, place + 1)  # bytes of two numbers that only look like one
    return False
