"""Templates like {{input}} in the arguments of a step: search and replacement.

A whole value keeps its type; in a string it becomes text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, cast

from blendwright.values.findings import pointer_of
from blendwright.values.plan import caller_pointer

TEMPLATE = re.compile(r"\{\{([a-z][a-z0-9_]*)\}\}")
BRACES = re.compile(r"\{\{|\}\}")
# Name of the current value in a repeated step.
EACH = "each"


@dataclass(frozen=True, slots=True)
class Use:
    """A use of an input. `whole` is True if the value is only the template. `name` is None if the braces hold no name."""

    pointer: str
    name: str | None
    whole: bool


@dataclass(frozen=True, slots=True)
class Bound:
    """The value of an input, or arguments without templates.

    `sources` maps pointers in the value to the caller's pointers that they came from; "" is the whole value.
    """

    value: Any
    sources: Mapping[str, str]


def uses(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[Use]:
    """Yield every use of a template in a document."""
    if isinstance(value, str):
        pointer = pointer_of(path)
        match = TEMPLATE.fullmatch(value)
        if match:
            yield Use(pointer, match[1], whole=True)
            return
        for match in TEMPLATE.finditer(value):
            yield Use(pointer, match[1], whole=False)
        if BRACES.search(TEMPLATE.sub("", value)):
            yield Use(pointer, None, whole=False)
    else:
        for key, item in _items(value):
            yield from uses(item, (*path, key))


def fill(value: Any, bound: Mapping[str, Bound]) -> Bound:
    """Return the value with every template replaced. Loading has checked that all names are known."""
    sources: dict[str, str] = {}
    return Bound(_fill(value, bound, (), sources), sources)


def sources_within(sources: Mapping[str, str], pointer: str) -> dict[str, str]:
    """Return the sources of the part at a pointer, relative to that part."""
    part_sources: dict[str, str] = {}
    source = caller_pointer(pointer, sources)
    if source is not None:
        part_sources[""] = source
    for key, origin in sources.items():
        if key.startswith(pointer + "/"):
            part_sources[key.removeprefix(pointer)] = origin
    return part_sources


def _fill(value: Any, bound: Mapping[str, Bound], path: tuple[str | int, ...], sources: dict[str, str]) -> Any:
    if isinstance(value, str):
        template = TEMPLATE.fullmatch(value)
        if template is None:
            return TEMPLATE.sub(lambda match: _written(bound[match[1]].value), value)
        origin = bound[template[1]]
        if origin.sources:
            base = pointer_of(path)
            for key, pointer in origin.sources.items():
                sources[base + key] = pointer
        return origin.value
    if isinstance(value, dict):
        members = cast("dict[str, Any]", value)
        return {key: _fill(item, bound, (*path, key), sources) for key, item in members.items()}
    if isinstance(value, list):
        items = cast("list[Any]", value)
        return [_fill(item, bound, (*path, index), sources) for index, item in enumerate(items)]
    return value


def _written(value: Any) -> str:
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False)


def _items(value: Any) -> Iterator[tuple[str | int, Any]]:
    if isinstance(value, dict):
        yield from cast("dict[str, Any]", value).items()
    elif isinstance(value, list):
        yield from enumerate(cast("list[Any]", value))
