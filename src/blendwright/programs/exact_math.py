"""Mathematics for programs: equal arguments give equal bits on every machine.

The C libraries of two systems may round a sine differently, and then the same program would give different plans. These
functions compute with integers, as fixed-point numbers with many more bits than a float, and round once.
"""

from __future__ import annotations

import math
from collections.abc import Callable

BITS = 110
ONE = 1 << BITS
# Largest angle in radians or degrees. Beyond it, neighbouring floats are a large part of a turn apart.
LARGEST_ANGLE = 1e12
# Below this, a sine, a tangent and their inverses equal their argument to the last bit.
TINY = 2.0**-28
LARGEST_POWER = 1024
# Additional bits for removing the full turns of a large angle.
MORE_BITS = 60


def _arctan_of_inverse(number: int) -> int:
    power = total = (ONE << MORE_BITS) // number
    divisor, sign = 1, -1
    while power:
        power //= number * number
        divisor += 2
        total += sign * (power // divisor)
        sign = -sign
    return total


_LONG_PI = 4 * (4 * _arctan_of_inverse(5) - _arctan_of_inverse(239))
PI = _LONG_PI >> MORE_BITS


def _fixed(value: float) -> int:
    numerator, denominator = value.as_integer_ratio()
    return (numerator << BITS) // denominator


def _sine_and_cosine(angle: float) -> tuple[int, int]:
    """Return the sine and cosine of an angle in radians.

    It is split into quarter turns and a rest of at most an eighth.
    """
    if not abs(angle) <= LARGEST_ANGLE:
        raise ValueError(f"{angle} is too large for an exact angle in radians")
    quarters, remainder = divmod((_fixed(angle) << MORE_BITS) + _LONG_PI // 4, _LONG_PI // 2)
    return _on_circle(quarters, (remainder - _LONG_PI // 4) >> MORE_BITS)


def _on_circle(quarters: int, remainder: int) -> tuple[int, int]:
    square = remainder * remainder >> BITS
    term = cosine = ONE
    sine_term = sine = remainder
    index = 1
    while term not in (0, -1):  # -1 is the floor of a small negative number
        term = -(term * square >> BITS) // (index * (index + 1))
        sine_term = -(sine_term * square >> BITS) // ((index + 1) * (index + 2))
        cosine, sine, index = cosine + term, sine + sine_term, index + 2
    return ((sine, cosine), (cosine, -sine), (-sine, -cosine), (-cosine, sine))[quarters % 4]


def _of_degrees(degrees: float) -> tuple[int, int]:
    """Return the sine and cosine of an angle in degrees, exact at whole quarter turns."""
    if not abs(degrees) <= LARGEST_ANGLE:
        raise ValueError(f"{degrees} is too large for an exact angle in degrees")
    quarters, remainder = divmod(_fixed(degrees) + 45 * ONE, 90 * ONE)
    return _on_circle(quarters, (remainder - 45 * ONE) * PI // (180 * ONE))


def sin_deg(degrees: float) -> float:
    return _of_degrees(degrees)[0] / ONE


def cos_deg(degrees: float) -> float:
    return _of_degrees(degrees)[1] / ONE


def sin(angle: float) -> float:
    if abs(angle) < TINY:
        return angle
    return _sine_and_cosine(angle)[0] / ONE


def cos(angle: float) -> float:
    return _sine_and_cosine(angle)[1] / ONE


def tan(angle: float) -> float:
    if abs(angle) < TINY:
        return angle
    sine, cosine = _sine_and_cosine(angle)
    return sine / cosine


def _arctan(y: int, x: int) -> int:
    """Return the angle of the point (x, y). x must not be negative, and not both may be zero."""
    sign = 1
    if y < 0:
        sign = -1
    if abs(y) > x:
        return sign * (PI // 2) - sign * _arctan(x, abs(y))

    tangent = (abs(y) << BITS) // x
    for _ in range(3):  # each round halves the angle, which shortens the series
        tangent = (tangent << BITS) // (ONE + math.isqrt((ONE << BITS) + tangent * tangent))
    square = tangent * tangent >> BITS
    power = total = tangent
    divisor, term_sign = 1, -1
    while power:
        power = power * square >> BITS
        divisor += 2
        total += term_sign * (power // divisor)
        term_sign = -term_sign
    return total * 8 * sign


def atan(value: float) -> float:
    if abs(value) < TINY:
        return value
    numerator, denominator = value.as_integer_ratio()
    return _arctan(numerator, denominator) / ONE


def atan2(y: float, x: float) -> float:
    if not y and not x:
        return 0.0
    (up, up_parts), (right, right_parts) = y.as_integer_ratio(), x.as_integer_ratio()
    up, right = up * right_parts, right * up_parts
    if right >= 0:
        if abs(y) >= TINY * abs(x):
            return _arctan(up, right) / ONE
        return y / x
    half_turn = PI
    if up < 0:
        half_turn = -PI
    return (half_turn - _arctan(up, -right)) / ONE


def asin(value: float) -> float:
    if not -1 <= value <= 1:
        raise ValueError(f"{value} is not the sine of an angle: it is not between -1 and 1")
    if abs(value) < TINY:
        return value
    return _arcsine(value) / ONE


def acos(value: float) -> float:
    if not -1 <= value <= 1:
        raise ValueError(f"{value} is not the cosine of an angle: it is not between -1 and 1")
    return (PI // 2 - _arcsine(value)) / ONE


def _arcsine(value: float) -> int:
    sine = _fixed(value)
    return _arctan(sine, math.isqrt((ONE << BITS) - sine * sine))


def _logarithm(value: float) -> int:
    fraction, exponent = math.frexp(value)
    if fraction < 0.75:
        fraction, exponent = fraction * 2, exponent - 1
    part = _fixed(fraction)
    return _inverse_hyperbolic((part - ONE << BITS) // (part + ONE)) + exponent * LOG_2


def _inverse_hyperbolic(ratio: int) -> int:
    """Return the logarithm of (1 + ratio) / (1 - ratio)."""
    if ratio < 0:
        sign = -1
    else:
        sign = 1
    power = total = abs(ratio)
    square = power * power >> BITS
    divisor = 1
    while power:
        power = power * square >> BITS
        divisor += 2
        total += power // divisor
    return 2 * total * sign


LOG_2 = _inverse_hyperbolic(ONE // 3)
_LOG_10 = _logarithm(10.0)


def log(value: float) -> float:
    if not 0 < value < math.inf:
        raise ValueError(f"{value} has no logarithm")
    return _logarithm(value) / ONE


def log10(value: float) -> float:
    if not 0 < value < math.inf:
        raise ValueError(f"{value} has no logarithm")
    return _logarithm(value) / _LOG_10


def _exponential(exponent: int) -> float:
    doublings, remainder = divmod(exponent, LOG_2)
    if doublings > LARGEST_POWER:
        raise ValueError("the result is too large for a number")
    if doublings < -2 * LARGEST_POWER:
        return 0.0
    result = term = ONE
    index = 1
    while term:
        term = (term * remainder >> BITS) // index
        result, index = result + term, index + 1
    if doublings >= 0:
        return (result << doublings) / ONE
    return result / (ONE << -doublings)


def exp(value: float) -> float:
    if abs(value) > LARGEST_POWER:
        if value < 0:
            return 0.0
        raise ValueError("the result is too large for a number")
    return _exponential(_fixed(value))


def pow(base: float, exponent: float) -> float:
    if exponent == int(exponent) and abs(exponent) <= LARGEST_POWER:
        return _whole_power(base, int(exponent))
    if base < 0:
        raise ValueError(f"{base} to the power of {exponent} is not a real number")
    if not base:
        if exponent < 0:
            raise ValueError(f"0 to the power of {exponent} is not a number")
        return 0.0
    return _exponential(_fixed(exponent) * _logarithm(base) >> BITS)


def _whole_power(base: float, exponent: int) -> float:
    numerator, denominator = base.as_integer_ratio()
    if exponent < 0:
        if not numerator:
            raise ValueError(f"0 to the power of {exponent} is not a number")
        numerator, denominator = denominator, numerator
    try:
        return numerator ** abs(exponent) / denominator ** abs(exponent)
    except OverflowError:
        raise ValueError("the result is too large for a number") from None


def sqrt(value: float) -> float:
    if not 0 <= value < math.inf:
        raise ValueError(f"{value} has no square root")
    return math.sqrt(value)  # IEEE 754 defines every bit of it


FUNCTIONS: dict[str, Callable[..., float]] = {
    "acos": acos,
    "asin": asin,
    "atan": atan,
    "atan2": atan2,
    "cos": cos,
    "cos_deg": cos_deg,
    "exp": exp,
    "log": log,
    "log10": log10,
    "pow": pow,
    "sin": sin,
    "sin_deg": sin_deg,
    "sqrt": sqrt,
    "tan": tan,
}
