"""Checks the sockets that a payload gives its group, and applies them to the simulated tree."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from blendwright.nodes.catalogue.model import Side, SocketType
from blendwright.nodes.checks.simulated_tree import GROUP_INPUT, GROUP_OUTPUT, SimulatedTree
from blendwright.nodes.checks.values import invalid, socket_value_problems
from blendwright.nodes.edits import SetInterface
from blendwright.nodes.payloads import InterfaceSocket, positions_named
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding, did_you_mean

# How Blender calls the sockets of an interface among themselves.
IDENTIFIER = re.compile(r"(Socket|Input|Output)_[0-9]+")
NUMBER = re.compile(r"#[0-9]+$")
RANGED = ("VALUE", "INT", "VECTOR")
SIDES: tuple[Side, Side] = ("inputs", "outputs")


def interface_problems(tree: SimulatedTree, edit: SetInterface) -> Iterator[Finding]:
    """What is wrong with the sockets that are listed, and with those to be removed."""
    for side in SIDES:
        for number, socket in enumerate(edit.listed[side] or ()):
            yield from _socket_problems(tree, socket, f"{edit.at}/{side}/{number}")
        existing = tree.interface[side]
        for number, key in enumerate(edit.removed[side]):
            if existing is None:
                break
            at, matches = f"{edit.at}/remove_{side}/{number}", _positions(existing, key)
            if len(matches) > 1:
                message = f"{len(matches)} {side} of the group are called '{key}'"
                yield invalid(message, at, f"Say which: '{key}#1' is the first.")
            elif not matches and not IDENTIFIER.fullmatch(key):
                names = [socket.name for socket in existing]
                cure = did_you_mean(key, names, otherwise=f"It has: {', '.join(names) or 'none'}.")
                yield Finding(Fault.TARGET_NOT_FOUND, f"the group has no {side[:-1]} '{key}'", at, cure)
            existing = _without(existing, key)


def _socket_problems(tree: SimulatedTree, socket: InterfaceSocket, at: str) -> Iterator[Finding]:
    types = tree.catalogue.interface_types
    if socket.socket_type not in types:
        base = next((each for each in types if socket.socket_type.startswith(each)), None)
        cure = did_you_mean(socket.socket_type, types, otherwise=f"One of: {', '.join(types)}.")
        if base:
            cure = f"Use '{base}', and 'subtype' for the rest."
        yield invalid(f"a group has no sockets of type '{socket.socket_type}'", at + "/socket_type", cure)
        return
    kind = tree.catalogue.kind(socket.socket_type)
    if kind not in RANGED:
        for name in ("min", "max"):
            if getattr(socket, name) is not None:
                message = f"a socket of type '{socket.socket_type}' has no '{name}'"
                yield invalid(message, f"{at}/{name}", "Leave it out.")
    elif socket.min is not None and socket.max is not None and socket.min > socket.max:
        yield invalid("'min' is greater than 'max'", at + "/min", "Give the smaller one as 'min'.")
    if socket.default is not None:
        if socket.dimensions and kind == "VECTOR":
            size = [0.0] * socket.dimensions
        else:
            size = None
        socket_type = SocketType(
            socket.name, socket.name, socket.socket_type, kind, default=size, min=socket.min, max=socket.max
        )
        yield from socket_value_problems(socket_type, socket.default, at + "/default")


def apply_interface(tree: SimulatedTree, edit: SetInterface) -> None:
    """Apply the edit to the simulated tree. Links of sockets that are removed go with them."""
    for side in SIDES:
        existing, listed = tree.interface[side], edit.listed[side]
        names_before = Counter(socket.name for socket in existing or ())
        for key in edit.removed[side]:
            if existing is None:
                existing = None
            else:
                existing = _without(existing, key)
        if listed is not None and edit.replace:
            existing = list(listed)
        elif existing is not None:
            existing = _merged(existing, listed or ())
        tree.interface[side] = existing
        names_after = Counter(socket.name for socket in existing or ())
        _drop_links(tree, side, {name for name, count in names_before.items() if names_after[name] < count})


def _positions(existing: Sequence[InterfaceSocket], key: str) -> list[int]:
    return positions_named([socket.name for socket in existing], key)


def _without(existing: list[InterfaceSocket], key: str) -> list[InterfaceSocket] | None:
    """What is left when a socket is removed; None where only Blender knows which one is meant."""
    positions = _positions(existing, key)
    if not positions:
        if IDENTIFIER.fullmatch(key):
            return None
        return existing
    return [socket for index, socket in enumerate(existing) if index not in positions]


def _merged(existing: Sequence[InterfaceSocket], listed: Sequence[InterfaceSocket]) -> list[InterfaceSocket]:
    """Each that is listed takes the place of the first of its name that no other has taken; those without one come last."""
    merged, used = list(existing), set[int]()
    for socket in listed:
        free = next((index for index in _positions(existing, socket.name) if index not in used), None)
        if free is None:
            merged.append(socket)
        else:
            merged[free] = socket
            used.add(free)
    return merged


def _drop_links(tree: SimulatedTree, side: Side, removed_names: set[str]) -> None:
    holder, end = (GROUP_INPUT, 0) if side == "inputs" else (GROUP_OUTPUT, 1)
    ids = {node_id for node_id, node in tree.nodes.items() if node.type.bl_idname == holder}
    tree.disconnect(lambda link: link[end].node in ids and NUMBER.sub("", link[end].key) in removed_names)
