"""Operation keys and ids. A key is what makes two operations the same; anyone can recompute it from the plan."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from typing import Any

import orjson
import rfc8785

from blendwright.values.canonical import digest

# Nothing but what JSON has: orjson knows dates and the like too, which no plan can hold.
PLAINLY = (
    orjson.OPT_SORT_KEYS
    | orjson.OPT_PASSTHROUGH_DATACLASS
    | orjson.OPT_PASSTHROUGH_DATETIME
    | orjson.OPT_PASSTHROUGH_SUBCLASS
)
# Between these, orjson and RFC 8785 spell a number that is no integer alike: without an exponent.
SMALLEST, LARGEST = 1e-3, 1e15
# With so many digits in a row a number may not be what a double holds.
UNSURE = b"0" * 16
ANY_DIGIT = bytes.maketrans(b"123456789", b"000000000")
# What both spell alike in any case.
PLAIN = frozenset({str, bool, type(None)})
# The digit of a UUID that says which kind it is keeps two of its bits.
VARIANT = {digit: "89ab"[int(digit, 16) & 3] for digit in "0123456789abcdef"}


def operation_key(request_id: str, operation_id: str, args: Mapping[str, Any]) -> str:
    """sha256 of the RFC 8785 form of both ids and the canonical arguments."""
    return hashlib.sha256(canonical([request_id, operation_id, dict(args)])).hexdigest()


def canonical(value: Any) -> bytes:
    """RFC 8785. Nearly everything is written by orjson, which is twenty times faster, and put in the words of the RFC."""
    try:
        return _reworded(orjson.dumps(value, option=PLAINLY)) or orjson.dumps(_alike(value), option=PLAINLY)
    except (_Unlike, TypeError):
        pass
    try:
        return rfc8785.dumps(value)
    except rfc8785.CanonicalizationError:
        # An integer beyond what a double holds: plans cannot have one, and the key of a single call is never asked for again.
        return digest(value).encode()


def new_id() -> str:
    """For a call (`mcp_call_id`) or a committed mutation (`blender_mutation_id`)."""
    return new_ids(1)[0]


def new_ids(count: int) -> list[str]:
    """Random UUIDs (RFC 9562, version 4) by their digits: the class takes five times as long, and every operation has two."""
    drawn = os.urandom(16 * count).hex()
    return [
        f"{drawn[at : at + 12]}4{drawn[at + 13 : at + 16]}{VARIANT[drawn[at + 16]]}{drawn[at + 17 : at + 32]}"
        for at in range(0, 32 * count, 32)
    ]


def _reworded(raw: bytes) -> bytes | None:
    """What orjson wrote, without the `.0` of whole numbers; None where more may differ. Bytes tell sooner than values."""
    if b"\\" in raw or not raw.isascii() or not raw.endswith((b"]", b"}")):
        return None  # a quote may be inside a text, keys may be sorted otherwise, or it is a number with no end to it
    parts = raw.split(b'"')
    outside = b'"'.join(parts[::2])  # every second part is a text or a key
    exponents = outside.count(b"e") - outside.count(b"true") - outside.count(b"false")
    if exponents or b"-0.0" in outside or UNSURE in outside.translate(ANY_DIGIT):
        return None  # numbers that the two may spell differently
    for end in (b",", b"]", b"}"):
        outside = outside.replace(b".0" + end, end)
    parts[::2] = outside.split(b'"')
    return b'"'.join(parts)


class _Unlike(Exception):
    """The two may spell this differently."""


def _alike(value: Any) -> Any:
    """The value in a form that both spell alike: RFC 8785 has no 1.0, and sorts keys by UTF-16."""
    kind = value.__class__
    if kind is float:
        return _number(value)
    if kind is dict:
        if not "".join(value).isascii():
            raise _Unlike
        return {key: item if item.__class__ in PLAIN else _alike(item) for key, item in value.items()}
    if kind is list or kind is tuple:
        return [_number(item) if item.__class__ is float else _alike(item) for item in value]
    if kind in PLAIN or (kind is int and -LARGEST < value < LARGEST):
        return value
    raise _Unlike


def _number(value: float) -> float:
    if -LARGEST < value < LARGEST:
        if value.is_integer():
            return int(value)
        if value >= SMALLEST or value <= -SMALLEST:
            return value
    raise _Unlike
