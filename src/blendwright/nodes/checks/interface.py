"""Checks of the sockets that a payload gives its group, and their application to the simulated tree."""

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

# Blender's identifiers of interface sockets.
IDENTIFIER = re.compile(r"(Socket|Input|Output)_[0-9]+")
NUMBER = re.compile(r"#[0-9]+$")
RANGED = ("VALUE", "INT", "VECTOR")
SIDES: tuple[Side, Side] = ("inputs", "outputs")


def interface_problems(tree: SimulatedTree, edit: SetInterface) -> Iterator[Finding]:
    """Yield a finding for each invalid listed socket and for each socket to remove that is ambiguous or missing."""
    for side in SIDES:
        for number, socket in enumerate(edit.listed[side] or ()):
            yield from _socket_problems(tree, socket, f"{edit.at}/{side}/{number}")

        existing = tree.interface[side]
        for number, key in enumerate(edit.removed[side]):
            if existing is None:
                break
            yield from _removal_problems(existing, side, key, f"{edit.at}/remove_{side}/{number}")
            existing = _without(existing, key)


def _removal_problems(existing: Sequence[InterfaceSocket], side: Side, key: str, at: str) -> Iterator[Finding]:
    matches = _positions(existing, key)
    if len(matches) > 1:
        message = f"{len(matches)} {side} of the group are called '{key}'"
        yield invalid(message, at, f"Say which: '{key}#1' is the first.")
    elif not matches and not IDENTIFIER.fullmatch(key):
        names = [socket.name for socket in existing]
        cure = did_you_mean(key, names, otherwise=f"It has: {', '.join(names) or 'none'}.")
        yield Finding(Fault.TARGET_NOT_FOUND, f"the group has no {side[:-1]} '{key}'", at, cure)


def _socket_problems(tree: SimulatedTree, socket: InterfaceSocket, at: str) -> Iterator[Finding]:
    types = tree.catalogue.interface_types
    if socket.socket_type not in types:
        cure = did_you_mean(socket.socket_type, types, otherwise=f"One of: {', '.join(types)}.")
        base_type = next(filter(socket.socket_type.startswith, types), None)
        if base_type:
            cure = f"Use '{base_type}', and 'subtype' for the rest."
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
        size = None
        if socket.dimensions and kind == "VECTOR":
            size = [0.0] * socket.dimensions
        socket_type = SocketType(
            socket.name, socket.name, socket.socket_type, kind, default=size, min=socket.min, max=socket.max
        )
        yield from socket_value_problems(socket_type, socket.default, at + "/default")


def apply_interface(tree: SimulatedTree, edit: SetInterface) -> None:
    """Apply the edit to the simulated tree, and drop the links of removed sockets."""
    for side in SIDES:
        existing, wanted = tree.interface[side], edit.listed[side]
        counts_before = _counts_by_name(existing)

        for key in edit.removed[side]:
            if existing is not None:
                existing = _without(existing, key)
        if wanted is not None and edit.replace:
            existing = list(wanted)
        elif existing is not None:
            existing = _merged(existing, wanted or ())
        tree.interface[side] = existing

        counts_after = _counts_by_name(existing)
        removed_names = {name for name, count in counts_before.items() if counts_after[name] < count}
        _drop_links(tree, side, removed_names)


def _counts_by_name(sockets: Sequence[InterfaceSocket] | None) -> Counter[str]:
    return Counter(socket.name for socket in sockets or ())


def _positions(existing: Sequence[InterfaceSocket], key: str) -> list[int]:
    return positions_named([socket.name for socket in existing], key)


def _without(existing: list[InterfaceSocket], key: str) -> list[InterfaceSocket] | None:
    """Return the sockets without the one that the key means; None if only Blender knows which one that is."""
    positions = _positions(existing, key)
    if not positions:
        if IDENTIFIER.fullmatch(key):
            return None
        return existing
    return [socket for index, socket in enumerate(existing) if index not in positions]


def _merged(existing: Sequence[InterfaceSocket], wanted: Sequence[InterfaceSocket]) -> list[InterfaceSocket]:
    """Return the existing sockets with each wanted socket in the position of the first unused one of its name.

    Wanted sockets without such a position come last.
    """
    merged, used = list(existing), set[int]()
    for socket in wanted:
        free = [index for index in _positions(existing, socket.name) if index not in used]
        if free:
            merged[free[0]] = socket
            used.add(free[0])
        else:
            merged.append(socket)
    return merged


def _drop_links(tree: SimulatedTree, side: Side, removed_names: set[str]) -> None:
    if side == "inputs":
        holder, end = GROUP_INPUT, 0
    else:
        holder, end = GROUP_OUTPUT, 1
    ids = {node_id for node_id, node in tree.nodes.items() if node.type.bl_idname == holder}
    tree.disconnect(lambda link: link[end].node in ids and NUMBER.sub("", link[end].key) in removed_names)
