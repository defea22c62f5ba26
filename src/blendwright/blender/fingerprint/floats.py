"""Floats in their canonical form: exact, with -0.0 folded into 0.0.

Responsible for: every float that enters the fingerprint passes here.
"""

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

_NAN = math.nan
_ZERO = np.float32(0)


def fold(value: float) -> float:
    return value + 0.0 if value == value else _NAN


def fold_all(values: Iterable[float]) -> tuple[float, ...]:
    return tuple([value + 0.0 if value == value else _NAN for value in values])


def fold_array(values: Any) -> Any:
    """Fold a numpy array of 32-bit floats in place. A NaN keeps its bits, which Blender saves as they are."""
    values += _ZERO
    return values
