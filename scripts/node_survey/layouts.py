"""Which sockets a node has with which settings.

Some properties decide which sockets are available and of what type. They are found by trying, alone and together with those
already found; then each combination of their values is looked at once. Combinations with the same sockets share a layout.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any

from node_survey.properties import is_small
from node_survey.scratch import Scratch, Settings, choices
from node_survey.sockets import describe_socket, real_sockets


def deciding(scratch: Scratch, bl_idname: str, properties: Mapping[str, Any]) -> list[str]:
    """The properties that change sockets, or what other properties take; those that change what others take come first."""
    values = {name: _values(described) for name, described in properties.items()}
    values = {name: options for name, options in values.items() if len(options) > 1}
    found: list[str] = []
    while more := _one_more(scratch, bl_idname, values, found):
        found.append(more)
    for first, second in product(values, repeat=2):
        if first != second and _decides_choices(scratch, bl_idname, first, values[first], second):
            rest = [name for name in found if name not in (first, second)]
            found = [first, second, *rest] if second not in found else [first, *[n for n in found if n != first]]
    return found


def combinations(
    scratch: Scratch, bl_idname: str, names: list[str], settings: Settings = ()
) -> Iterator[tuple[tuple[str, Any], ...]]:
    """Every combination of values that Blender takes when they are set in this order."""
    if not names:
        yield tuple(settings)
        return
    with scratch.node(bl_idname, settings) as node:
        value = getattr(node, names[0])
        options: list[Any] = choices(node, names[0]) if isinstance(value, str) else numbers(node, names[0])
    for option in options:
        yield from combinations(scratch, bl_idname, names[1:], [*settings, (names[0], option)])


def signature(node: Any) -> tuple[Any, ...]:
    return tuple(
        tuple((socket.identifier, socket.name, socket.bl_idname, socket.is_unavailable) for socket in side)
        for side in (node.inputs, node.outputs)
    )


def layout(node: Any) -> dict[str, list[dict[str, Any]]]:
    """The available inputs and outputs, and the inputs that are there but not available."""
    inputs, outputs = real_sockets(node.inputs), real_sockets(node.outputs)
    return {
        "inputs": [describe_socket(socket) for socket in inputs if not socket.is_unavailable],
        "outputs": [describe_socket(socket) for socket in outputs if not socket.is_unavailable],
        "off": [describe_socket(socket) for socket in inputs if socket.is_unavailable],
    }


def numbers(node: Any, name: str) -> list[Any]:
    """What a switch or a small whole number can be."""
    prop = node.bl_rna.properties[name]
    return [False, True] if prop.type == "BOOLEAN" else [*range(prop.hard_min, prop.hard_max + 1)]


def _values(described: Mapping[str, Any]) -> list[Any]:
    if described["type"] == "BOOLEAN" and "size" not in described:
        return [False, True]
    if described["type"] == "INT" and "size" not in described and is_small(described):
        return [*range(described["min"], described["max"] + 1)]
    return [] if described.get("several") else described.get("items", [])


def _one_more(scratch: Scratch, bl_idname: str, values: Mapping[str, list[Any]], found: list[str]) -> str | None:
    for settings in product(*[[(name, option) for option in values[name]] for name in found]):
        before = _tried(scratch, bl_idname, settings)
        if before is None:
            continue
        for name, options in values.items():
            if name in found:
                continue
            for option in options:
                after = _tried(scratch, bl_idname, [*settings, (name, option)])
                if after is not None and after != before:
                    return name
    return None


def _tried(scratch: Scratch, bl_idname: str, settings: Settings) -> tuple[Any, ...] | None:
    try:
        with scratch.node(bl_idname, settings) as node:
            return signature(node)
    except TypeError:
        return None


def _decides_choices(scratch: Scratch, bl_idname: str, first: str, options: list[Any], second: str) -> bool:
    seen: set[tuple[str, ...]] = set()
    for option in options:
        with scratch.node(bl_idname) as node:
            if not isinstance(getattr(node, second), str):
                return False
            setattr(node, first, option)
            seen.add(tuple(choices(node, second)))
    return len(seen) > 1
