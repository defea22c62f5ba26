"""What is wrong with links: types that do not convert, cycles, fields where a single value is wanted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from blendwright.nodes.catalogue.model import SocketType
from blendwright.nodes.checks.simulated_tree import REROUTE, LinkEnd, LinkEnds, SimulatedTree
from blendwright.nodes.checks.sockets import matching_sockets
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding

Places = Mapping[LinkEnds, str]


def conversion_problems(tree: SimulatedTree, source: SocketType, target: SocketType, at: str) -> Iterator[Finding]:
    """Whether a value of the one can become a value of the other."""
    if tree.catalogue.converts(source.kind, target.kind):
        return
    fit = ", ".join(kind.lower() for kind in tree.catalogue.converted_to(source.kind))
    message = f"output '{source.name}' ({source.kind.lower()}) cannot be linked to input '{target.name}' ({target.kind.lower()})"
    yield Finding(Fault.ARGS_INVALID, message, at, f"A {source.kind.lower()} output fits inputs of type {fit}.")


def cycle_problems(tree: SimulatedTree, places: Places) -> Iterator[Finding]:
    """The links of the payload that close a cycle, in its order."""
    following: dict[str, set[str]] = {}
    for source, target in _on_cycles(list(tree.links)):
        place = places.get((source, target))
        if source.node == target.node or _leads(following, target.node, source.node):
            message = f"a link from '{source.node}' to '{target.node}' closes a cycle"
            cure = "Leave it out; to repeat something, use a repeat zone."
            yield Finding(Fault.ARGS_INVALID, message, place or "", cure)
        else:
            following.setdefault(source.node, set()).add(target.node)


def _on_cycles(links: list[LinkEnds]) -> list[LinkEnds]:
    """The links that are left when those are taken away that begin or end at a node with nothing before or behind it."""
    left = links
    while True:
        starts, ends = {source.node for source, _ in left}, {target.node for _, target in left}
        kept = [link for link in left if link[0].node in ends and link[1].node in starts]
        if len(kept) == len(left):
            return kept
        left = kept


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


def field_problems(tree: SimulatedTree, places: Places) -> Iterator[Finding]:
    """Links of the payload that bring a field to an input that takes single values only."""
    fields = _Fields(tree)
    for (source, target), place in places.items():
        if (source, target) not in fields.links or target.node not in tree.nodes:
            continue
        found = matching_sockets(target.key, tree.sockets(target.node, "inputs").known)
        if len(found) == 1 and found[0].takes == "single" and fields.is_field(source):
            message = (
                f"output '{source.key}' of '{source.node}' is a field, and input '{found[0].name}' takes a single value"
            )
            cure = "Sample or capture the field first, or link a single value."
            yield Finding(Fault.ARGS_INVALID, message, place, cure)


class _Fields:
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
            self._known[end] = self._judged(end)
        return self._known[end]

    def _judged(self, end: LinkEnd) -> bool | None:
        node = self._tree.nodes.get(end.node)
        if node is None:
            return None
        arriving = self._into.get(end.node, [])
        if node.type.bl_idname == REROUTE:
            return self.is_field(arriving[0][0]) if arriving else None
        found = matching_sockets(end.key, self._tree.sockets(end.node, "outputs").known)
        gives = found[0].gives if len(found) == 1 else None
        match gives:
            case "field":
                return True
            case "single":
                return False
            case "implicit":
                return True if not arriving else self._any(arriving) or None
            case tuple():
                return self._any([link for link in arriving if link[1].key in gives])
            case _:
                return None

    def _any(self, links: list[LinkEnds]) -> bool | None:
        answers = [self.is_field(source) for source, _ in links]
        return True if True in answers else None if None in answers else False
