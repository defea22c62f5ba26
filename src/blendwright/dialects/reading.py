"""Strict JSON: bytes become a document with exactly one meaning, or findings. Never an exception.

Refused are duplicate keys, NaN and infinities, text behind the document, what is no UTF-8, integers that no receiver can
hold exactly, and documents too deep or too large.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any, cast

import orjson

from blendwright.plan.collector import collector_paused
from blendwright.schemas.check import MOST_FINDINGS
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding, pointer_of
from blendwright.values.json_values import DEEPEST, foreign_values

# A plan of 100,000 operations has some 20 MB.
LARGEST = 64 * 1024 * 1024
# RFC 8785 writes numbers as IEEE 754 doubles: beyond this an integer has no canonical form.
LARGEST_EXACT = 2**53 - 1

Read = tuple[Any, tuple[Finding, ...]]


@collector_paused()
def read_json(text: bytes, *, any_value: bool = False) -> Read:
    """The document and no findings, or None and all of them. `any_value`: its reader minds depths and numbers, as that of a
    result does, whose outputs may hold what no plan may."""
    if len(text) > LARGEST:
        return _refused(f"the document has more than {LARGEST >> 20} MB", "Split it into several.")
    try:
        orjson.loads(text)  # strict in all respects but duplicate keys
    except orjson.JSONDecodeError as error:
        if "depth" in str(error):
            return _refused(f"nested deeper than {DEEPEST} levels", "Use less nesting.")
        return _refused(f"this is not JSON: {error}", "Give one JSON document in UTF-8, and nothing else.")
    duplicates: dict[int, tuple[dict[str, Any], list[str]]] = {}

    def join(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) != len(pairs):
            counts = Counter(key for key, _ in pairs)
            duplicates[id(found)] = found, [key for key, count in counts.items() if count > 1]
        return found

    try:
        document: Any = json.loads(text, object_pairs_hook=join)
    except RecursionError:
        return _refused(f"nested deeper than {DEEPEST} levels", "Use less nesting.")
    except ValueError as error:
        # Python refuses to read integers of thousands of digits.
        return _refused(f"this cannot be read: {error}", "Give smaller numbers.")
    findings = () if any_value else non_interoperable_values(document)
    if not findings and duplicates:
        findings = tuple(islice(_duplicates(document, (), duplicates), MOST_FINDINGS))
        # Inside a value that a later duplicate replaced, there is no place left to point to.
        findings = findings or (Finding(Fault.SCHEMA_INVALID, "a key is given more than once", "", "Give it once."),)
    return (None, findings) if findings else (document, ())


def non_interoperable_values(document: Any) -> tuple[Finding, ...]:
    """What in a document is no JSON that every receiver reads alike; one from Python can hold anything."""
    if _plain(document):
        return ()
    found = tuple(islice(foreign_values(document, Fault.SCHEMA_INVALID), MOST_FINDINGS))
    return found or tuple(islice(_inexact(document, ()), MOST_FINDINGS))


_type: Callable[[Any], Any] = type


def _plain(document: Any) -> bool:
    """The quick answer for nearly every document, level by level: nothing in it deserves a closer look."""
    level: list[Any] = [document]
    for _ in range(DEEPEST):
        below: list[Any] = []
        for value, kind in zip(level, map(_type, level), strict=True):
            if kind is str:
                if not value.isascii():
                    return False
            elif kind is float:
                if value - value != 0.0:
                    return False
            elif kind is int:
                if not -LARGEST_EXACT <= value <= LARGEST_EXACT:
                    return False
            elif kind is dict:
                for key in value:
                    if type(key) is not str or not key.isascii():
                        return False
                below += value.values()
            elif kind is list:
                below += value
            elif value is not None and kind is not bool:
                return False
        if not below:
            return True
        level = below
    return False


def _inexact(value: Any, path: tuple[str | int, ...]) -> Iterator[Finding]:
    if isinstance(value, int):
        if abs(value) > LARGEST_EXACT:
            message = f"the integer {value} is beyond what every JSON reader holds exactly"
            yield Finding(Fault.SCHEMA_INVALID, message, pointer_of(path), "Give a smaller number, or text.")
    elif isinstance(value, dict):
        for key, item in cast("dict[str, Any]", value).items():
            if not isinstance(item, (str, float)):
                yield from _inexact(item, (*path, key))
    elif isinstance(value, (list, tuple)):
        for place, item in enumerate(cast("list[Any]", value)):
            if not isinstance(item, (str, float)):
                yield from _inexact(item, (*path, place))


def _duplicates(
    value: Any, path: tuple[str | int, ...], marked: dict[int, tuple[dict[str, Any], list[str]]]
) -> Iterator[Finding]:
    if isinstance(value, dict):
        known = cast("dict[str, Any]", value)
        for key in marked.get(id(known), (known, []))[1]:
            message = f"the key '{key[:60]}' is given more than once"
            yield Finding(Fault.SCHEMA_INVALID, message, pointer_of((*path, key)), "Give every key once.")
        for key, item in known.items():
            yield from _duplicates(item, (*path, key), marked)
    elif isinstance(value, list):
        for place, item in enumerate(cast("list[Any]", value)):
            yield from _duplicates(item, (*path, place), marked)


def _refused(message: str, cure: str) -> Read:
    return None, (Finding(Fault.SCHEMA_INVALID, message, "", cure),)
