"""Check of a complete payload without Blender: apply its edits to a simulated tree and collect all findings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

from blendwright.nodes import edits
from blendwright.nodes.catalogue.load import VERSIONS, Catalogue, catalogue, catalogue_for
from blendwright.nodes.catalogue.model import Property, Side, SocketType
from blendwright.nodes.catalogue.search import suggest_node_type
from blendwright.nodes.checks.interface import apply_interface, interface_problems
from blendwright.nodes.checks.links import conversion_problems, cycle_problems, field_problems
from blendwright.nodes.checks.simulated_tree import FRAME, REROUTE, LinkEnd, LinkEnds, SimulatedTree
from blendwright.nodes.checks.sockets import find_socket, unknown_node
from blendwright.nodes.checks.values import invalid, item_list_problems, property_problems, socket_value_problems
from blendwright.nodes.spellings import Nodes, respelled
from blendwright.nodes.tree import Interface, Tree
from blendwright.nodes.tree_payloads import NodesTarget
from blendwright.nodes.tree_sorts import ACTIVE_OUTPUT, GEOMETRY_GROUP, TreeSort, sort_of
from blendwright.values.findings import Finding, did_you_mean, pointer_of

# Findings of one payload in one answer.
MAX_FINDINGS = 100


def check_payload(
    payload: edits.Payload,
    catalogue: Catalogue,
    tree: Tree | None = None,
    groups: Mapping[str, Interface] | None = None,
) -> list[Finding]:
    """Return the findings of a payload, as far as they can be known; at most MAX_FINDINGS.

    `tree` is the tree before the edits; for a new one, give `new_tree()`. Without a tree, the check does not judge
    nodes that the payload does not create. `groups` holds the interfaces of node groups that the payload may nest.
    """
    version = [int(part) for part in catalogue.blender.split(".")]
    simulated = SimulatedTree(catalogue, tree, groups or {}, sort_of_target(payload, version))
    return list(islice(_PayloadCheck(payload, simulated).findings(), MAX_FINDINGS))


def sort_of_target(payload: edits.Payload, blender: Sequence[int] | None) -> TreeSort:
    """Return the sort of tree that a payload changes."""
    target = payload.target
    if isinstance(target, NodesTarget):
        return sort_of(target.owner, target.kind, blender)
    return GEOMETRY_GROUP


def check_payload_for(payload: edits.Payload, blender: Sequence[int] | None) -> list[Finding]:
    """Return the findings of a payload for a Blender version, when the tree is unknown.

    Without a version, report only payloads that no supported Blender accepts. A version without a catalogue gives no findings,
    because Blender itself checks the payload later.
    """
    kind = sort_of_target(payload, blender).kind
    if blender is not None:
        node_types = catalogue_for(blender, kind)
        if node_types is None:
            return []
        return check_payload(payload, node_types)

    # Most payloads pass with the newest catalogue, so the older ones are rarely needed.
    newest_findings = check_payload(payload, catalogue(VERSIONS[0], kind))
    if not newest_findings:
        return []
    for version in VERSIONS[1:]:
        if not check_payload(payload, catalogue(version, kind)):
            return []
    return newest_findings


class _PayloadCheck:
    def __init__(self, payload: edits.Payload, tree: SimulatedTree) -> None:
        self._payload = payload
        self._tree = tree
        self._link_pointers: dict[LinkEnds, str] = {}
        # Pointer of the operation that removes the tree's output.
        self._output_removed_at: str | None = None

    def findings(self) -> Iterator[Finding]:
        nodes = Nodes(self._type_of, self._sockets_of)
        for edit in edits.edits_of(self._payload):
            for local_edit in respelled(edit, self._tree.catalogue, nodes).edits:
                yield from self._check(local_edit)
        yield from self._lost_output()
        yield from cycle_problems(self._tree, self._link_pointers)
        yield from field_problems(self._tree, self._link_pointers)

    def _type_of(self, node_id: str) -> str | None:
        node = self._tree.nodes.get(node_id)
        if node is None:
            return None
        return node.type.bl_idname

    def _sockets_of(self, node_id: str, side: Side) -> Mapping[str, str]:
        return {socket.identifier: socket.type for socket in self._tree.sockets(node_id, side).known}

    def _check(self, edit: edits.Edit) -> Iterator[Finding]:
        match edit:
            case edits.AddNode():
                yield from self._add(edit)
            case edits.RemoveNode():
                if not edit.missing_ok and not self._tree.may_exist(edit.id):
                    yield unknown_node(self._tree, edit.id, edit.at + "/node_id")
                if self._type_of(edit.id) == self._tree.sort.output_type:
                    self._output_removed_at = edit.at
                self._tree.remove(edit.id)
            case edits.SetProperty():
                if edit.id in self._tree.nodes:
                    at = edit.at + "/value"
                    yield from self._property(edit.id, edit.name, edit.value, edit.at + "/property", at)
                elif not self._tree.may_exist(edit.id):
                    yield unknown_node(self._tree, edit.id, edit.at + "/node_id")
            case edits.SetInput():
                socket = find_socket(self._tree, edit.socket, "inputs", off=True)
                if isinstance(socket, Finding):
                    yield socket
                elif socket is not None and not self._is_reroute(edit.socket.node):
                    yield from socket_value_problems(socket, edit.value, edit.at + "/value")
            case edits.Link():
                yield from self._link(edit)
            case edits.Unlink():
                yield from self._unlink(edit)
            case edits.RemoveAll():
                self._tree.remove_all()
            case edits.SetInterface() | edits.EnsureSingleGroupIO() if not self._tree.sort.has_interface:
                owner = self._tree.sort.label
                yield invalid(f"a {owner} has no group sockets", edit.at, "Leave it out, or make a group of its own.")
            case edits.SetInterface():
                yield from interface_problems(self._tree, edit)
                apply_interface(self._tree, edit)
            case edits.EnsureSingleGroupIO() | edits.RemoveUnused():
                pass  # their effect depends on the tree

    # ------------------------------------------------------------------ nodes

    def _add(self, edit: edits.AddNode) -> Iterator[Finding]:
        node = self._tree.nodes.get(edit.id)
        exists = node is not None or edit.id in self._tree.untyped

        if node is not None and self._tree.sort.is_given(edit.id, edit.bl_idname):
            return  # it means the existing node
        if exists and self._tree.is_assumed(edit.id, edit.bl_idname):
            self._tree.remove(edit.id)
            exists, node = False, None
        if exists and not edit.exist_ok:
            message = f"there is already a node with the id '{edit.id}'"
            yield invalid(message, edit.id_at, "Choose another id, or delete that node first.")
            return
        if node is not None and node.type.bl_idname != edit.bl_idname:
            message = f"'{edit.id}' is a {node.type.bl_idname}, not a {edit.bl_idname}"
            cure = "Choose another id, or remove that node first."
            yield invalid(message, edit.at + "/bl_idname", cure)
            return
        if node is None and not self._tree.add(edit.id, edit.bl_idname):
            catalogue = self._tree.catalogue
            message = f"Blender {catalogue.blender} has no node type '{edit.bl_idname}' for {catalogue.tree_kind} nodes"
            cure = suggest_node_type(catalogue, edit.bl_idname)
            yield invalid(message, edit.at + "/bl_idname", cure)
            return
        for name in self._tree.nodes[edit.id].type.in_order(edit.properties):
            at = edit.at + "/properties" + pointer_of([name])
            yield from self._property(edit.id, name, edit.properties[name], at, at)

    def _property(self, node_id: str, name: str, value: Any, name_at: str, at: str) -> Iterator[Finding]:
        node = self._tree.nodes[node_id]
        if name in node.type.items:
            problems = list(item_list_problems(node.type.items[name], value, at))
        elif name in node.type.properties:
            choices = node.type.choices(name, node.values)
            prop = node.type.properties[name]
            if prop.sized_by is not None:
                prop = replace(prop, size=node.values.get(prop.sized_by, prop.size))
            problems = list(property_problems(prop, value, choices, at))
            problems = problems or list(self._reference_problems(node_id, name, value, at))
        elif name == ACTIVE_OUTPUT and node.type.bl_idname == self._tree.sort.output_type:
            problems = list(property_problems(Property(name, "BOOLEAN"), value, (), at))
        else:
            names = [*node.type.properties, *node.type.items]
            cure = did_you_mean(name, names, otherwise=f"It has: {', '.join(names)}.")
            yield invalid(f"'{node_id}' ({node.type.bl_idname}) has no property '{name}'", name_at, cure)
            return
        yield from problems
        if not problems:
            self._tree.set_property(node_id, name, value)

    def _reference_problems(self, node_id: str, name: str, value: Any, at: str) -> Iterator[Finding]:
        """Yield findings about properties that name another node or a node group."""
        node = self._tree.nodes[node_id]
        if name == "node_tree" and node.type.bl_idname == self._tree.group_node:
            target = self._payload.target
            if isinstance(target, NodesTarget):
                changed_group = target.group
            else:
                changed_group = target.node_group_name
            if value is not None and value == changed_group:
                yield invalid(f"node group '{value}' cannot hold itself", at, "Name another node group.")
            return

        expected = {"paired_output": node.type.zone_output, "parent": FRAME}.get(name)
        if expected is None or value is None:
            return

        referenced = self._tree.nodes.get(value)
        if referenced is None:
            if not self._tree.may_exist(value):
                yield unknown_node(self._tree, value, at)
        elif referenced.type.bl_idname != expected or value == node_id:
            message = f"'{name}' of '{node_id}' takes a {expected}, and '{value}' is a {referenced.type.bl_idname}"
            yield invalid(message, at, self._fix_for_reference(expected))
        elif name == "paired_output":
            for user_id, user in self._tree.nodes.items():
                if user_id != node_id and user.values.get("paired_output") == value:
                    message = f"'{value}' is already the output of the zone of '{user_id}'"
                    yield invalid(message, at, "Add an output node for each zone.")
        elif node_id in self._tree.frames_around(value):
            message = f"frame '{value}' is inside '{node_id}' itself"
            yield invalid(message, at, "Take it out of that frame first: set its parent to null.")

    def _fix_for_reference(self, bl_idname: str) -> str:
        fitting = [node_id for node_id, node in self._tree.nodes.items() if node.type.bl_idname == bl_idname]
        if not fitting:
            return f"Create a {bl_idname} first."
        return f"Name one of: {', '.join(fitting)}."

    def _lost_output(self) -> Iterator[Finding]:
        """Yield a finding if the payload removes the output that a material, world, light or compositor needs."""
        sort = self._tree.sort
        if self._tree.open or self._output_removed_at is None or sort.has_interface:
            return
        if all(node.type.bl_idname != sort.output_type for node in self._tree.nodes.values()):
            message = f"the {sort.label} would have no output"
            yield invalid(message, self._output_removed_at, f"Leave it out, or create a {sort.output_type}.")

    # ------------------------------------------------------------------ links

    def _link(self, edit: edits.Link) -> Iterator[Finding]:
        source = find_socket(self._tree, edit.source, "outputs")
        target = find_socket(self._tree, edit.target, "inputs")
        problems = [end for end in (source, target) if isinstance(end, Finding)]
        yield from problems
        if problems:
            return

        ends = self._end(edit.source, source), self._end(edit.target, target)
        rerouted = self._is_reroute(edit.source.node) or self._is_reroute(edit.target.node)
        if isinstance(source, SocketType) and isinstance(target, SocketType) and not rerouted:
            problems = list(conversion_problems(self._tree, source, target, edit.at))
            yield from problems
            if problems:
                return

        replaces = isinstance(target, SocketType) and not target.multi
        self._tree.connect(*ends, replaces=replaces)
        self._link_pointers[ends] = edit.at

    def _unlink(self, edit: edits.Unlink) -> Iterator[Finding]:
        ends: list[LinkEnd | None] = []
        sides: tuple[tuple[edits.SocketRef | None, Side], ...] = ((edit.source, "outputs"), (edit.target, "inputs"))
        for ref, side in sides:
            if ref is None:
                ends.append(None)
                continue
            socket = find_socket(self._tree, ref, side)
            if isinstance(socket, Finding):
                yield socket
                return
            ends.append(self._end(ref, socket))
        source, target = ends
        self._tree.disconnect(lambda link: source in (None, link[0]) and target in (None, link[1]))

    def _end(self, ref: edits.SocketRef, socket: SocketType | Finding | None) -> LinkEnd:
        if not isinstance(socket, SocketType) or socket.by_name:
            return LinkEnd(ref.node, ref.socket)
        return LinkEnd(ref.node, socket.identifier)

    def _is_reroute(self, node_id: str) -> bool:
        return node_id in self._tree.nodes and self._tree.nodes[node_id].type.bl_idname == REROUTE
