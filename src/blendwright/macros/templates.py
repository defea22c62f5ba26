"""{{input}} in the arguments of a step: found, and replaced. Whole values keep their type; inside a text they are written out."""

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
# Stands for the value at hand in a step that is repeated.
EACH = "each"


@dataclass(frozen=True, slots=True)
class Use:
    """One place where an input is used. `whole`: the value is nothing but the template. `name` is None where braces hold none."""

    pointer: str
    name: str | None
    whole: bool


@dataclass(frozen=True, slots=True)
class Bound:
    """The value of an input, or arguments without templates. `sources` leads from places in it to the caller's pointers they
    came from; "" is the whole."""

    value: Any
    sources: Mapping[str, str]


def uses(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[Use]:
    """Every template in a document."""
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
    """The value with every template replaced. All of them are known: that was checked when the macro was loaded."""
    sources: dict[str, str] = {}
    return Bound(_fill(value, bound, (), sources), sources)


def sources_within(sources: Mapping[str, str], pointer: str) -> dict[str, str]:
    """The sources of a value, seen from inside of it at a pointer."""
    inner = {key.removeprefix(pointer): there for key, there in sources.items() if key.startswith(pointer + "/")}
    whole = caller_pointer(pointer, sources)
    if whole is None:
        return inner
    return {"": whole, **inner}


def _fill(value: Any, bound: Mapping[str, Bound], path: tuple[str | int, ...], sources: dict[str, str]) -> Any:
    if isinstance(value, str):
        whole = TEMPLATE.fullmatch(value)
        if whole is None:
            return TEMPLATE.sub(lambda match: _written(bound[match[1]].value), value)
        origin = bound[whole[1]]
        if origin.sources:
            base = pointer_of(path)
            sources.update({base + key: pointer for key, pointer in origin.sources.items()})
        return origin.value
    if isinstance(value, dict):
        members = cast("dict[str, Any]", value)
        return {key: _fill(item, bound, (*path, key), sources) for key, item in members.items()}
    if isinstance(value, list):
        listed = cast("list[Any]", value)
        return [_fill(item, bound, (*path, index), sources) for index, item in enumerate(listed)]
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
