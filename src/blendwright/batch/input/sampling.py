"""Values drawn for a parameter: the same for the same seed, name and row, on every machine and whatever other columns there are.

The generator and the arithmetic are those that programs have (`random` and `math` in them), which round alike everywhere.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from typing import Any, cast

import rfc8785

from blendwright.programs import exact_math

_MASK = (1 << 64) - 1


class Chance:
    """A stream of numbers that follows from what it is for: SplitMix64, started from a hash."""

    def __init__(self, *purpose: Any) -> None:
        start = hashlib.sha256(rfc8785.dumps(cast("Any", list(purpose)))).digest()
        self.state = int.from_bytes(start[:8], "big")

    def bits(self) -> int:
        self.state = (self.state + 0x9E3779B97F4A7C15) & _MASK
        mixed = self.state
        mixed = ((mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
        mixed = ((mixed ^ (mixed >> 27)) * 0x94D049BB133111EB) & _MASK
        return mixed ^ (mixed >> 31)

    def unit(self) -> float:
        """From 0 to below 1."""
        return (self.bits() >> 11) / 9007199254740992.0

    def whole(self, low: int, high: int) -> int:
        """Both ends are among them."""
        return low + (self.bits() * (high - low + 1) >> 64)


def uniform(chance: Chance, low: float, high: float) -> float:
    return low + (high - low) * chance.unit()


def log_uniform(chance: Chance, low: float, high: float) -> float:
    """As likely between 1 and 10 as between 10 and 100."""
    least, most = exact_math.log(low), exact_math.log(high)
    return min(high, max(low, exact_math.exp(least + (most - least) * chance.unit())))


def normal(chance: Chance, mean: float, deviation: float, low: float | None, high: float | None) -> float:
    """What lies beyond a bound is drawn to it."""
    radius = exact_math.sqrt(-2.0 * exact_math.log(1.0 - chance.unit()))
    value = mean + deviation * radius * exact_math.cos(2 * math.pi * chance.unit())
    return min(math.inf if high is None else high, max(-math.inf if low is None else low, value))


def chance_for(seed: int, name: str, row: Mapping[str, Any], sample: int) -> Chance:
    """Of one parameter in one row: `row` are its given values, `sample` counts the rows that have the same ones."""
    return Chance(seed, name, dict(row), sample)
