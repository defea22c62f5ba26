"""Whether a document is JSON at all, before any schema looks at it.

A caller from Python can hand over what no JSON text can say (NaN, lone surrogates, other types, endless nesting). Schema
libraries stumble over such values or quietly read them as something else, so they are found here, each with its pointer.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, cast

from blendwright.values.faults import Fault
from blendwright.values.findings import Finding, pointer_of

# Far deeper than any argument we know, and well within what every reader of the wire takes.
DEEPEST = 64
# What the wire carries.
SMALLEST_INTEGER, LARGEST_INTEGER = -(2**63), 2**64 - 1

# Where, what, and the cure.
Problem = tuple[tuple[str | int, ...], str, str]


def foreign_values(document: Any, fault: Fault) -> Iterator[Finding]:
    """Everything in a document that is no JSON value, or none that can be carried."""
    for path, message, cure in _problems(document, 0):
        yield Finding(fault, message, pointer_of(path), cure)


def _problems(value: Any, depth: int) -> list[Problem]:
    found: list[Problem] = []
    if not isinstance(value, (dict, list, tuple)):
        message_and_cure = _of_scalar(value)
        if message_and_cure:
            found.append(((), *message_and_cure))
    elif depth == DEEPEST:
        found.append(((), f"nested deeper than {DEEPEST} levels", "Use less nesting."))
    elif isinstance(value, dict):
        for key, item in cast("dict[Any, Any]", value).items():
            if not isinstance(key, str) or _of_scalar(key):
                found.append(((), f"the key {ascii(key)[:60]} is no JSON string", "Use text for keys."))
            else:
                found += _under(key, item, depth)
    else:
        for place, item in enumerate(cast("list[Any]", value)):
            # A mesh has hundreds of thousands of numbers: finite ones are passed over without a call.
            if type(item) is not float or item - item != 0.0:
                found += _under(place, item, depth)
    return found


def _under(key: str | int, item: Any, depth: int) -> list[Problem]:
    problems = _problems(item, depth + 1)
    return [((key, *path), message, cure) for path, message, cure in problems] if problems else problems


def _of_scalar(value: Any) -> tuple[str, str] | None:
    """What is wrong with a value that holds no others, and the cure."""
    if isinstance(value, str):
        if not value.isascii() and not _encodes(value):
            return "a text with a lone surrogate, which is no Unicode", "Give proper Unicode text."
    elif isinstance(value, float):
        if not math.isfinite(value):
            return f"{value} is not a finite number", "Give a finite number."
    elif isinstance(value, int):
        if not SMALLEST_INTEGER <= value <= LARGEST_INTEGER:
            return "an integer of more than 64 bits", "Give a smaller number, or one with a decimal point."
    elif value is not None:
        known = "Give text, a number, true, false, null, a list or an object."
        return f"a value of type {type(value).__name__} is not JSON", known
    return None


def _encodes(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
