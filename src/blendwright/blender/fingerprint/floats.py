"""Floats in their canonical form: exact, with -0.0 folded into 0.0 and one NaN.

Responsible for: every float that enters the fingerprint passes here.
"""

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

_NAN = math.nan


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
