"""Floats in their canonical form: exact, with -0.0 folded into 0.0 and one NaN.

Responsible for: every float that enters the fingerprint passes here.
"""

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

_NAN = math.nan
_NEGATIVE_ZERO = b"\x00\x00\x00\x80"


def fold(value: float) -> float:
    return value + 0.0 if value == value else _NAN


def fold_all(values: Iterable[float]) -> tuple[float, ...]:
    return tuple([value + 0.0 if value == value else _NAN for value in values])


def fold_array(values: Any) -> Any:
    """Fold a numpy array of floats in place."""
    values += values.dtype.type(0)
    # The sum of squares is NaN only when an element is: cheaper than testing each.
    squares = np.dot(values, values)
    if squares != squares:
        values[np.isnan(values)] = _NAN
    return values


def folded_bytes(values: Any) -> bytes:
    """The bytes of a short array of single-precision floats, folded. Most need none, and bytes tell that sooner than numbers.

    Every NaN has one of the two bytes; other numbers may have them, and bytes of two numbers may look like a negative zero:
    then the array is folded for nothing."""
    raw: bytes = values.tobytes()
    if 0x7F in raw or 0xFF in raw or raw.find(_NEGATIVE_ZERO) >= 0:
        raw = fold_array(values).tobytes()
    return raw
