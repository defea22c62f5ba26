"""Checks of links: types that do not convert, cycles, and fields that lead to an input for single values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from blendwright.nodes.catalogue.model import SocketType
from blendwright.nodes.checks.simulated_tree import REROUTE, LinkEnd, LinkEnds, SimulatedTree
from blendwright.nodes.checks.sockets import matching_sockets
from blendwright.nodes.checks.values import invalid
from blendwright.values.findings import Finding

LinkPointers = Mapping[LinkEnds, str]


def conversion_problems(tree: SimulatedTree, source: SocketType, target: SocketType, at: str) -> Iterator[Finding]:
    """Yield a finding if the source's kind of value does not convert to the target's."""
    if tree.catalogue.converts(source.kind, target.kind):
        return
    fit = ", ".join(kind.lower() for kind in tree.catalogue.converted_to(source.kind))
    message = f"output '{source.name}' ({source.kind.lower()}) cannot be linked to input '{target.name}' ({target.kind.lower()})"
    yield invalid(message, at, f"A {source.kind.lower()} output fits inputs of type {fit}.")


def cycle_problems(tree: SimulatedTree, pointers: LinkPointers) -> Iterator[Finding]:
    """Yield a finding for each link of the payload that closes a cycle, in the payload's order."""
    cure = "Leave it out."
    if tree.catalogue.tree_kind == "geometry":
        cure = "Leave it out; to repeat something, use a repeat zone."

    following: dict[str, set[str]] = {}
    for source, target in _on_cycles(list(tree.links)):
        if source.node == target.node or _leads(following, target.node, source.node):
            pointer = pointers.get((source, target), "")
            yield invalid(f"a link from '{source.node}' to '{target.node}' closes a cycle", pointer, cure)
        else:
            following.setdefault(source.node, set()).add(target.node)


def _on_cycles(links: list[LinkEnds]) -> list[LinkEnds]:
    """Return the links that may be part of a cycle.

    Repeatedly remove links that begin at a node without incoming links or end at a node without outgoing links.
    """
    remaining = links
    while True:
        starts: set[str] = set()
        ends: set[str] = set()
        for source, target in remaining:
            starts.add(source.node)
            ends.add(target.node)

        narrowed = [link for link in remaining if link[0].node in ends and link[1].node in starts]
        if len(narrowed) == len(remaining):
            return narrowed
        remaining = narrowed


def _leads(following: Mapping[str, set[str]], start: str, goal: str) -> bool:
    """Return True if links lead from the start node to the goal."""
    seen, waiting = {start}, [start]
    while waiting:
        for node in following.get(waiting.pop(), ()):
            if node == goal:
                return True
            if node not in seen:
                seen.add(node)
                waiting.append(node)
    return False


def field_problems(tree: SimulatedTree, pointers: LinkPointers) -> Iterator[Finding]:
    """Yield a finding for each link of the payload that leads a field into an input for single values."""
    fields = _FieldAnalysis(tree)
    for (source, target), pointer in pointers.items():
        if (source, target) not in fields.links or target.node not in tree.nodes:
            continue
        sockets = matching_sockets(target.key, tree.sockets(target.node, "inputs").known)
        if len(sockets) == 1 and sockets[0].takes == "single" and fields.is_field(source):
            message = f"output '{source.key}' of '{source.node}' is a field, and input '{sockets[0].name}' takes a single value"
            cure = "Sample or capture the field first, or link a single value."
            yield invalid(message, pointer, cure)


class _FieldAnalysis:
    """An analysis of which outputs are fields, as far as that is certain."""

    def __init__(self, tree: SimulatedTree) -> None:
        self._tree = tree
        self._known: dict[LinkEnd, bool | None] = {}
        self.links = tree.links
        self._into: dict[str, list[LinkEnds]] = {}
        for link in tree.links:
            self._into.setdefault(link[1].node, []).append(link)

    def is_field(self, end: LinkEnd) -> bool | None:
        """Return whether an output is a field; None if that is uncertain."""
        if end not in self._known:
            # A repeated query during the analysis means a cycle, which has a finding already.
            self._known[end] = None
            self._known[end] = self._analyse(end)
        return self._known[end]

    def _analyse(self, end: LinkEnd) -> bool | None:
        node = self._tree.nodes.get(end.node)
        if node is None:
            return None
        incoming = self._into.get(end.node, [])
        if node.type.bl_idname == REROUTE:
            if incoming:
                return self.is_field(incoming[0][0])
            return None
        sockets = matching_sockets(end.key, self._tree.sockets(end.node, "outputs").known)
        if len(sockets) != 1:
            return None
        gives = sockets[0].gives
        match gives:
            case "field":
                return True
            case "single":
                return False
            case "implicit":
                if not incoming:
                    return True
                return self._any(incoming) or None
            case tuple():
                return self._any([link for link in incoming if link[1].key in gives])
            case _:
                return None

    def _any(self, links: list[LinkEnds]) -> bool | None:
        answers = [self.is_field(source) for source, _ in links]
        if True in answers:
            return True
        if None in answers:
            return None
        return False
