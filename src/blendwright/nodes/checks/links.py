"""Checks links: types that do not convert, cycles, and fields where an input takes a single value."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from blendwright.nodes.catalogue.model import SocketType
from blendwright.nodes.checks.simulated_tree import REROUTE, LinkEnd, LinkEnds, SimulatedTree
from blendwright.nodes.checks.sockets import matching_sockets
from blendwright.nodes.checks.values import invalid
from blendwright.values.findings import Finding

LinkPointers = Mapping[LinkEnds, str]


def conversion_problems(tree: SimulatedTree, source: SocketType, target: SocketType, at: str) -> Iterator[Finding]:
    """Whether a value of the one can become a value of the other."""
    if tree.catalogue.converts(source.kind, target.kind):
        return
    fit = ", ".join(kind.lower() for kind in tree.catalogue.converted_to(source.kind))
    message = f"output '{source.name}' ({source.kind.lower()}) cannot be linked to input '{target.name}' ({target.kind.lower()})"
    yield invalid(message, at, f"A {source.kind.lower()} output fits inputs of type {fit}.")


def cycle_problems(tree: SimulatedTree, pointers: LinkPointers) -> Iterator[Finding]:
    """The links of the payload that close a cycle, in its order."""
    following: dict[str, set[str]] = {}
    for source, target in _on_cycles(list(tree.links)):
        pointer = pointers.get((source, target))
        if source.node == target.node or _leads(following, target.node, source.node):
            geometry = tree.catalogue.tree_kind == "geometry"
            if geometry:
                cure = "Leave it out; to repeat something, use a repeat zone."
            else:
                cure = "Leave it out."
            yield invalid(f"a link from '{source.node}' to '{target.node}' closes a cycle", pointer or "", cure)
        else:
            following.setdefault(source.node, set()).add(target.node)


def _on_cycles(links: list[LinkEnds]) -> list[LinkEnds]:
    """The links that are left when those are taken away that begin or end at a node with nothing before or behind it."""
    remaining = links
    while True:
        starts, ends = {source.node for source, _ in remaining}, {target.node for _, target in remaining}
        narrowed = [link for link in remaining if link[0].node in ends and link[1].node in starts]
        if len(narrowed) == len(remaining):
            return narrowed
        remaining = narrowed


def _leads(following: Mapping[str, set[str]], start: str, goal: str) -> bool:
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
    """Links of the payload that bring a field to an input that takes single values only."""
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
    """Which outputs are fields, as far as that is sure."""

    def __init__(self, tree: SimulatedTree) -> None:
        self._tree = tree
        self._known: dict[LinkEnd, bool | None] = {}
        self.links = tree.links
        self._into: dict[str, list[LinkEnds]] = {}
        for link in tree.links:
            self._into.setdefault(link[1].node, []).append(link)

    def is_field(self, end: LinkEnd) -> bool | None:
        if end not in self._known:
            # What is asked for again on the way is a cycle, and that has its own finding.
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
        if len(sockets) == 1:
            gives = sockets[0].gives
        else:
            gives = None
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
