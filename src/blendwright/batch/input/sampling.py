"""Sampled parameter values. Equal seed, parameter name and row give an equal value on every machine, whatever other columns exist.

The generator and the arithmetic are those of the programs' modules `random` and `math`, which round equally on all machines.
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
    """A SplitMix64 stream of random numbers, seeded with a hash of its purpose."""

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
        """Return a number from 0 (included) to 1 (excluded)."""
        return (self.bits() >> 11) / 9007199254740992.0

    def whole(self, low: int, high: int) -> int:
        """Return a whole number between two bounds, both included."""
        return low + (self.bits() * (high - low + 1) >> 64)


def uniform(chance: Chance, low: float, high: float) -> float:
    return low + (high - low) * chance.unit()


def log_uniform(chance: Chance, low: float, high: float) -> float:
    """Return a number between two bounds with a uniform logarithm: 1 to 10 is as likely as 10 to 100."""
    log_low, log_high = exact_math.log(low), exact_math.log(high)
    return min(high, max(low, exact_math.exp(log_low + (log_high - log_low) * chance.unit())))


def normal(chance: Chance, mean: float, deviation: float, low: float | None, high: float | None) -> float:
    """Return a normally distributed number. A value beyond a bound becomes the bound."""
    radius = exact_math.sqrt(-2.0 * exact_math.log(1.0 - chance.unit()))
    value = mean + deviation * radius * exact_math.cos(2 * math.pi * chance.unit())
    if low is not None:
        value = max(low, value)
    if high is not None:
        value = min(high, value)
    return value


def chance_for(seed: int, name: str, row: Mapping[str, Any], sample: int) -> Chance:
    """Return the stream for one parameter of one row. `row` are the fixed values, `sample` counts the cases with the same values."""
    return Chance(seed, name, dict(row), sample)
