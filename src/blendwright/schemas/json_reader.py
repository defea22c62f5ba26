"""The only reader of JSON from outside: plans, arguments, macros, contracts, results, answers of models.

Text becomes a value with exactly one meaning, or findings; never an exception. The reader refuses duplicate keys, NaN
and infinities, text after the document, invalid UTF-8, integers that some receivers round, and documents that are too
deep or too large. `non_interoperable_values` applies the same rules to values that come from Python instead of text.

orjson parses the text, and one pass over the value looks for anything suspicious. Only then does a slower second parse
find the problem and its location.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import nullcontext
from itertools import islice
from typing import Any, cast

import orjson

from blendwright.util.gc_pause import LARGE_TEXT, gc_paused
from blendwright.values.faults import Fault
from blendwright.values.findings import MOST_FINDINGS, Finding, pointer_of

# Bytes of a document. A plan of 100,000 operations has about 20 MB.
LARGEST = 64 * 1024 * 1024
# Levels of nesting: far more than any known argument needs, and few enough for every reader of the wire protocol.
DEEPEST = 64
# RFC 8785 writes numbers as IEEE 754 doubles: beyond this an integer has no canonical form.
LARGEST_EXACT = 2**53 - 1
# orjson reads an integer beyond 64 bits as a float, which is at least this large.
SMALLEST_ROUNDED = 2.0**63

TOO_DEEP = f"nested deeper than {DEEPEST} levels"
LESS_NESTING = "Use less nesting."

Read = tuple[Any, tuple[Finding, ...]]
# Objects with duplicate keys by identity, each with these keys.
_Duplicates = Mapping[int, tuple[dict[str, Any], list[str]]]


def read_json(text: bytes | str, *, any_value: bool = False) -> Read:
    """Return the value without findings, or None with all findings.

    With `any_value`, any depth and any number is valid, because the outputs in a result may hold values that no plan
    may.
    """
    if isinstance(text, str):
        text = text.encode(errors="surrogatepass")
    if len(text) > LARGEST:
        return _refused(f"the document has more than {LARGEST >> 20} MB", "Split it into several.")
    try:
        with gc_paused() if len(text) >= LARGE_TEXT else nullcontext():
            document: Any = orjson.loads(text)  # strict in all respects but duplicate keys
    except orjson.JSONDecodeError as error:
        if "depth" in str(error):
            return _refused(TOO_DEEP, LESS_NESTING)
        # A number that is too large for a double. Python's parser continues, which gives its location.
        if "infinity" in str(error):
            return _read_closely(text, any_value=False)
        return _refused(f"this is not JSON: {error}", "Give one JSON document in UTF-8, and nothing else.")
    # Every colon of the text separates a key or is part of a string. The value lacks a duplicate key and its colon. Only an
    # escaped colon could balance that.
    if b"\\u00" not in text and _colons(document) == text.count(b":"):
        return document, ()
    return _read_closely(text, any_value)


def non_interoperable_values(document: Any) -> tuple[Finding, ...]:
    """Return findings about the parts of a value that are not JSON, or that receivers may read differently."""
    if _colons(document) is not None:
        return ()
    return tuple(islice(_problems(document, (), {}), MOST_FINDINGS))


_type: Callable[[Any], Any] = type


def _colons(document: Any) -> int | None:
    """Return the number of colons in a value's JSON text, counted level by level; None if it needs a closer check."""
    colons = 0
    level: list[Any] = [document]
    for _ in range(DEEPEST):
        below: list[Any] = []
        for value, kind in zip(level, map(_type, level), strict=True):
            if kind is str:
                if not value.isascii() and not _is_unicode(value):
                    return None
                colons += value.count(":")
            elif kind is float:
                if not -SMALLEST_ROUNDED < value < SMALLEST_ROUNDED:
                    return None
            elif kind is int:
                if not -LARGEST_EXACT <= value <= LARGEST_EXACT:
                    return None
            elif kind is dict:
                try:
                    keys = "".join(value)
                except TypeError:
                    return None
                if not keys.isascii() and not _is_unicode(keys):
                    return None
                colons += len(value) + keys.count(":")
                below += value.values()
            elif kind is list:
                below += value
            elif value is not None and kind is not bool:
                return None
        if not below:
            return colons
        level = below
    return None


def _read_closely(text: bytes, any_value: bool) -> Read:
    duplicates: dict[int, tuple[dict[str, Any], list[str]]] = {}

    def join(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        joined = dict(pairs)
        if len(joined) != len(pairs):
            counts = Counter(key for key, _ in pairs)
            duplicates[id(joined)] = joined, [key for key, count in counts.items() if count > 1]
        return joined

    try:
        document: Any = json.loads(text, object_pairs_hook=join)
        # With any value allowed, only duplicates can be wrong, so most documents need no walk.
        findings: tuple[Finding, ...] = ()
        if duplicates or not any_value:
            problems = _problems(document, (), duplicates, any_value)
            findings = tuple(islice(problems, MOST_FINDINGS))
    except RecursionError:
        return _refused(TOO_DEEP, LESS_NESTING)
    except ValueError as error:
        # Python refuses to read integers of thousands of digits.
        return _refused(f"this cannot be read: {error}", "Give smaller numbers.")
    if duplicates and not findings:
        # A later duplicate replaced the value that contained these keys, so no pointer leads to them.
        findings = (_wrong("a key is given more than once", (), "Give it once."),)
    if findings:
        return (None, findings)
    return (document, ())


def _problems(
    value: Any, path: tuple[str | int, ...], duplicates: _Duplicates, any_value: bool = False
) -> Iterator[Finding]:
    """Yield findings about everything that is not JSON, or that receivers may read differently, in the document's
    order.
    """
    if not isinstance(value, (dict, list, tuple)):
        problem = _problem_of_scalar(value)
        if problem is not None and not (any_value and isinstance(value, int)):
            yield _wrong(problem[0], path, problem[1])
    elif len(path) == DEEPEST and not any_value:
        yield _wrong(TOO_DEEP, path, LESS_NESTING)
    elif isinstance(value, dict):
        members = cast("dict[Any, Any]", value)
        for key in duplicates.get(id(members), (members, []))[1]:
            yield _wrong(f"the key '{key[:60]}' is given more than once", (*path, key), "Give every key once.")
        for key, item in members.items():
            if not isinstance(key, str) or _problem_of_scalar(key):
                yield _wrong(f"the key {ascii(key)[:60]} is no JSON string", path, "Use text for keys.")
            else:
                yield from _problems(item, (*path, key), duplicates, any_value)
    else:
        for index, item in enumerate(cast("list[Any]", value)):
            yield from _problems(item, (*path, index), duplicates, any_value)


def _problem_of_scalar(value: Any) -> tuple[str, str] | None:
    """Return the problem of a scalar value and its fix, or None."""
    if isinstance(value, str):
        if not value.isascii() and not _is_unicode(value):
            return "a string with a lone surrogate, which is not valid Unicode", "Give valid Unicode text."
    elif isinstance(value, float):
        if not math.isfinite(value):
            return f"{value} is not a finite number", "Give a finite number."
    elif isinstance(value, int):
        if abs(value) > LARGEST_EXACT:
            # Python refuses to write integers of thousands of digits.
            shown = "of more than 64 bits"
            if abs(value) < 2**64:
                shown = str(value)
            message = f"the integer {shown} is too large for every JSON reader to hold exactly"
            return message, "Give a smaller number, one with a decimal point, or text."
    elif value is not None:
        cure = "Give text, a number, true, false, null, a list or an object."
        return f"a value of type {type(value).__name__} is not JSON", cure
    return None


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _wrong(message: str, path: tuple[str | int, ...], cure: str) -> Finding:
    return Finding(Fault.SCHEMA_INVALID, message, pointer_of(path), cure)


def _refused(message: str, cure: str) -> Read:
    return None, (_wrong(message, (), cure),)
