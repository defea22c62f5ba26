"""Operation keys and ids. A key is what makes two operations the same; anyone can recompute it from the plan."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from typing import Any

import orjson
import rfc8785

from blendwright.values.canonical import digest

# Between these, orjson and RFC 8785 spell a number that is no integer alike: without an exponent.
SMALLEST, LARGEST = 1e-3, 1e15
# What both spell alike in any case.
PLAIN = frozenset({str, bool, type(None)})
# The digit of a UUID that says which kind it is keeps two of its bits.
VARIANT = {digit: "89ab"[int(digit, 16) & 3] for digit in "0123456789abcdef"}


def operation_key(request_id: str, operation_id: str, args: Mapping[str, Any]) -> str:
    """sha256 of the RFC 8785 form of both ids and the canonical arguments."""
    return hashlib.sha256(canonical([request_id, operation_id, dict(args)])).hexdigest()


def canonical(value: Any) -> bytes:
    """RFC 8785. Nearly everything is written by orjson, which is twenty times faster, after numbers are put in its words."""
    try:
        return orjson.dumps(_alike(value), option=orjson.OPT_SORT_KEYS)
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
