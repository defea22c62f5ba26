"""Editing of node trees: each edit is checked before it is written and compared afterwards.

The caller must own the tree: a new one, or a copy that will replace the original. A node's id is its name, which is saved
in the file and is part of the fingerprint. The ids that a sort of tree reserves ('group_input', 'group_output', 'output')
also select the matching nodes of a tree where these have other names.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from typing import Any

from blendwright.nodes import edits
from blendwright.nodes.catalogue.load import catalogue_for
from blendwright.nodes.catalogue.model import Side
from blendwright.nodes.node_kinds import ENDS, FRAME, INPUT, OUTPUT, ZONES
from blendwright.nodes.payloads import GROUP_INPUT, GROUP_OUTPUT
from blendwright.nodes.spellings import Nodes, Respelled, respelled
from blendwright.nodes.tree_sorts import ACTIVE_OUTPUT, GEOMETRY_GROUP, TreeSort
from blendwright.tool_api.scene import Block, Kind, Scene
from blendwright.tools.node_trees import graph, properties, sockets, values
from blendwright.tools.node_trees.graph import NodeGraph, graph_of
from blendwright.tools.node_trees.interface import InterfaceEditor
from blendwright.tools.node_trees.values import invalid
from blendwright.values.errors import StepError
from blendwright.values.faults import Fault
from blendwright.values.findings import did_you_mean

MENU, MENU_VALUE = "FunctionNodeInputMenu", "value"


class TreeEditor:
    """An editor that writes to `tree`. `group` is the node group or tree that `tree` is, or that it will replace."""

    def __init__(self, scene: Scene, tree: Block, group: Block, sort: TreeSort = GEOMETRY_GROUP) -> None:
        self._scene = scene
        self._sort = sort
        self._tree = tree
        self._group = group
        self._interface = InterfaceEditor(scene, tree)
        # Values of nodes that supply a menu: id, name of an item, JSON pointer.
        self._menus: list[tuple[str, Any, str]] = []
        self.notes: list[str] = []
        """One sentence for each payload spelling that belongs to another Blender version."""

    def apply_all(self, changes: Iterable[edits.Edit]) -> None:
        """Apply edits in their order. Defaults of menus come last, when the tree has their items."""
        words = catalogue_for(self._scene.version, self._sort.kind)
        nodes = Nodes(self._type_of, self._sockets_of)
        for edit in changes:
            if words:
                native = respelled(edit, words, nodes)
            else:
                native = Respelled([edit], [])
            self.notes += native.notes
            for native_edit in native.edits:
                self._apply(native_edit)
        for node_id, value, at in self._menus:
            properties.write_property(self._scene, self._node(node_id, at), MENU_VALUE, value, at, group=self._group)
        self._interface.finish()

    def _type_of(self, node_id: str) -> str | None:
        node = self.find(node_id)
        if node is None:
            return None
        return node.bl_idname

    def _sockets_of(self, node_id: str, side: Side) -> Mapping[str, str]:
        node = self._node(node_id, "")
        return {socket.identifier: socket.bl_idname for socket in sockets.available_sockets(getattr(node, side))}

    def _apply(self, edit: edits.Edit) -> None:
        match edit:
            case edits.RemoveAll():
                self._remove_all()
            case edits.AddNode():
                self._add(edit)
            case edits.RemoveNode():
                if edit.missing_ok:
                    node = self.find(edit.id)
                else:
                    node = self._node(edit.id, f"{edit.at}/node_id")
                if node is not None:
                    self._remove(node)
            case edits.SetProperty():
                node = self._node(edit.id, f"{edit.at}/node_id")
                self._set_property(node, edit.name, edit.value, f"{edit.at}/value")
            case edits.SetInput():
                self._set_input(edit)
            case edits.Link():
                self._link(self._socket(edit.source, "outputs"), self._socket(edit.target, "inputs"), edit.at)
            case edits.Unlink():
                self._unlink(edit)
            case edits.SetInterface():
                self._interface.write(edit)
            case edits.EnsureSingleGroupIO():
                self._ensure_single_io()
            case edits.RemoveUnused():
                for name in unused_nodes(self._tree, graph_of(self._tree)):
                    self._tree.nodes.remove(self._tree.nodes[name])

    # ------------------------------------------------------------------ nodes

    def find(self, node_id: str) -> Block | None:
        if node_id in self._sort.given:
            return graph.given_node(self._tree, node_id, self._sort.given[node_id])
        return self._tree.nodes.get(node_id)

    def _node(self, node_id: str, at: str) -> Block:
        node = self.find(node_id)
        if node is None:
            names = [node.name for node in self._tree.nodes]
            cure = did_you_mean(node_id, names, otherwise=f"Create it first, or name one of the {len(names)} nodes.")
            raise StepError.of(Fault.TARGET_NOT_FOUND, f"node '{node_id}' does not exist", at=at, cure=cure)
        return node

    def _add(self, edit: edits.AddNode) -> None:
        node = self.find(edit.id)
        if node is None:
            node = self._create(edit.id, edit.bl_idname, f"{edit.at}/bl_idname")
        elif not edit.exist_ok and not self._sort.is_given(edit.id, edit.bl_idname):
            message = f"node '{edit.id}' already exists"
            cure = "Choose another id, or delete the node first."
            raise StepError.of(Fault.SCENE_CONFLICT, message, at=edit.id_at, cure=cure)
        elif node.bl_idname != edit.bl_idname:
            message = f"node '{edit.id}' is a {node.bl_idname}, not a {edit.bl_idname}"
            cure = "Use another id, or remove the node first."
            raise StepError.of(Fault.SCENE_CONFLICT, message, at=edit.id_at, cure=cure)
        self._set_properties(node, edit.properties, f"{edit.at}/properties")
        x, y = edit.location
        if x is None:
            x = node.location[0]
        if y is None:
            y = node.location[1]
        node.location = (x, y)

    def _create(self, node_id: str, bl_idname: str, at: str) -> Block:
        fonts = self._scene.names(Kind.FONT)
        try:
            node = self._tree.nodes.new(bl_idname)
        except RuntimeError as error:
            message = f"a {self._sort.kind} tree has no nodes of type '{bl_idname}'"
            raise values.refused_by_blender(message, error, at) from error
        node.name = node_id
        node.location = (0.0, 0.0)
        node.select = False
        if bl_idname == self._sort.output_type and bl_idname in ENDS - {INPUT, OUTPUT}:
            self._activate(node)  # a caller that adds an output expects it to be the active one
        self._adopt_new_fonts(node, fonts)
        return node

    def _adopt_new_fonts(self, node: Block, known_names: Container[str]) -> None:
        """Adopt the built-in font, which Blender adds as a datablock together with the first node that writes text."""
        fonts = [getattr(node, "font", None)]
        # Since Blender 5.1 the font is the value of an input.
        fonts += [socket.default_value for socket in node.inputs if socket.type == "FONT"]
        for font in fonts:
            if font is not None and font.name not in known_names:
                self._scene.adopt(Kind.FONT, font, font.name)

    def _activate(self, node: Block) -> None:
        if not hasattr(node, ACTIVE_OUTPUT):
            return
        for output in self._same_type_nodes(node):
            output.is_active_output = False
        node.is_active_output = True

    def _remove_all(self) -> None:
        """Replace all nodes by new, empty ones with the reserved ids, so that no data of an old node stays."""
        self._tree.nodes.clear()
        for node_id, bl_idname in self._sort.given.items():
            self._create(node_id, bl_idname, "")

    def _remove(self, node: Block) -> None:
        outgoing = [link for link in self._tree.links if link.from_node == node]
        touched = [link.to_socket for link in outgoing if link.to_socket.is_multi_input]
        self._tree.nodes.remove(node)
        for socket in touched:
            self._renumber(socket)

    def _set_properties(self, node: Block, values: Mapping[str, Any], at: str) -> None:
        if not values:
            return
        names = sorted(values)
        catalogue = catalogue_for(self._scene.version, self._sort.kind)
        if catalogue:
            node_type = catalogue.find(node.bl_idname)
            if node_type:
                names = node_type.in_order(values)
        for name in names:
            self._set_property(node, name, values[name], f"{at}/{name}")

    def _set_property(self, node: Block, name: str, value: Any, at: str) -> None:
        if name == properties.PARENT:
            self._set_parent(node, value, at)
        elif name == properties.PAIRED and node.bl_idname in ZONES:
            self._pair(node, value, at)
        elif name == ACTIVE_OUTPUT and node.bl_idname == self._sort.output_type and value is True:
            self._activate(node)
        elif node.bl_idname == MENU and name == MENU_VALUE:
            self._menus.append((node.name, value, at))
        else:
            properties.write_property(self._scene, node, name, value, at, group=self._group)

    def _set_parent(self, node: Block, value: Any, at: str) -> None:
        if value is None:
            frame = None
        else:
            frame = self._node(str(value), at)
        if frame is not None and (frame.bl_idname != FRAME or frame == node):
            message = f"'{value}' is a {frame.bl_idname}, not a frame around '{node.name}'"
            raise invalid(message, at, "Name a NodeFrame.")
        # Blender keeps the position on the screen and changes the location, which is relative to the frame.
        location = tuple(node.location)
        node.parent = frame
        if node.parent != frame:  # Blender silently refuses a frame that is inside the node
            cure = "Take it out of that frame first: set its parent to null."
            raise invalid(f"frame '{value}' is inside '{node.name}' itself", at, cure)
        node.location = location

    def _pair(self, node: Block, value: Any, at: str) -> None:
        if value is None:
            raise invalid("the first node of a zone needs its last node", at, "Give the id of the last node.")
        last = self._node(str(value), at)
        if node.paired_output == last:
            return
        if last.bl_idname != ZONES[node.bl_idname] or not node.pair_with_output(last):
            cure = f"Name a {ZONES[node.bl_idname]} that ends no other zone."
            raise invalid(f"'{value}' ({last.bl_idname}) cannot end the zone that '{node.name}' begins", at, cure)

    def _set_input(self, edit: edits.SetInput) -> None:
        socket = self._socket(edit.socket, "inputs", off=True)
        if not values.has_value(socket):
            message = f"input '{edit.socket.socket}' of node '{socket.node.name}' has no value of its own"
            raise invalid(message, edit.socket.socket_at, "Link an output to it.")
        values.write_socket_value(self._scene, socket, socket.type, edit.value, f"{edit.at}/value")

    # ------------------------------------------------------------------ links

    def _socket(self, ref: edits.SocketRef, side: Side, *, off: bool = False) -> Block:
        node = self._node(ref.node, ref.node_at)
        return sockets.find_socket(node, getattr(node, side), ref.socket, ref.socket_at, off=off)

    def _link(self, source: Block, target: Block, at: str) -> None:
        """Link an output to an input. Cycles are allowed here: a gate reports them, and a later edit may remove them."""
        if target.is_linked and any(link.from_socket == source for link in target.links):
            return  # linking again would change the order in a multi-input socket (Blender 5.0)
        link = self._tree.links.new(source, target)
        if link is None or (not link.is_valid and not self._closes_cycle(source.node, target.node)):
            message = (
                f"'{source.name}' of '{source.node.name}' ({source.type}) cannot be linked to "
                f"'{target.name}' of '{target.node.name}' ({target.type})"
            )
            cure = "Link sockets of the same type, or add a node that converts between them."
            raise invalid(message, at, cure)

    def _closes_cycle(self, source: Block, target: Block) -> bool:
        return target.name in graph_of(self._tree).upstream_of([source.name])

    def _unlink(self, edit: edits.Unlink) -> None:
        ends = [end for end in (edit.source, edit.target) if end is not None]
        if edit.missing_ok and any(self.find(end.node) is None for end in ends):
            return
        source = target = None
        if edit.source:
            source = self._socket(edit.source, "outputs")
        if edit.target:
            target = self._socket(edit.target, "inputs")
        if not self._remove_links(source, target) and not edit.missing_ok:
            cure = "Leave the operation out."
            raise StepError.of(Fault.TARGET_NOT_FOUND, "this link does not exist", at=edit.at, cure=cure)

    def _remove_links(self, source: Block | None, target: Block | None) -> int:
        """Remove the links between two sockets, or all links of one socket. Return the number of removed links."""
        if target is not None:
            socket = target
        else:
            socket = source
        assert socket is not None
        removed = [link for link in socket.links if source is None or link.from_socket == source]
        uneven = {link.to_socket for link in removed if link.to_socket.is_multi_input}
        for link in removed:
            self._tree.links.remove(link)
        for multi_input in uneven:
            self._renumber(multi_input)
        return len(removed)

    def _renumber(self, socket: Block) -> None:
        """Close the gaps in the numbering of a multi-input socket, because a later link would fall into a gap."""
        links = links_in_order(socket)
        if [link.multi_input_sort_id for link in links] == list(range(len(links))):
            return
        sources = [(link.from_socket, link.is_muted) for link in links]
        for link in links:
            self._tree.links.remove(link)
        for source, muted in sources:
            self._tree.links.new(source, socket).is_muted = muted

    # ------------------------------------------------------------------ group inputs and outputs

    def _ensure_single_io(self) -> None:
        """Keep one group input and one group output: move the links of further ones to the first, then remove these."""
        first = self._ensure_group_node(GROUP_INPUT, INPUT, (-200.0, 0.0))
        for node in self._same_type_nodes(first):
            for output in node.outputs:
                for target in [link.to_socket for link in output.links]:
                    self._replace_source(target, output, _same_socket(output, first.outputs))
            self._remove(node)
        last = self._ensure_group_node(GROUP_OUTPUT, OUTPUT, (200.0, 0.0))
        for node in self._same_type_nodes(last):
            for target in node.inputs:
                into = _same_socket(target, last.inputs)
                if target.is_linked and not into.is_linked:
                    self._tree.links.new(target.links[0].from_socket, into)
            self._remove(node)
        last.is_active_output = True

    def _ensure_group_node(self, node_id: str, bl_idname: str, location: tuple[float, float]) -> Block:
        node = self.find(node_id)
        if node is None:
            node = self._create(node_id, bl_idname, "")
            node.location = location
        return node

    def _same_type_nodes(self, node: Block) -> list[Block]:
        return [
            candidate for candidate in self._tree.nodes if candidate.bl_idname == node.bl_idname and candidate != node
        ]

    def _replace_source(self, target: Block, old: Block, new: Block) -> None:
        """Replace the source of one link of an input. All links of the input keep their order."""
        sources = [link.from_socket for link in links_in_order(target)]
        self._remove_links(None, target)
        for source in sources:
            if source == old:
                source = new
            self._tree.links.new(source, target)


def unused_nodes(tree: Block, links: NodeGraph) -> list[str]:
    """Return the sorted names of nodes that lead to no output of the group.

    Group inputs, group outputs and frames around used nodes count as used.
    """
    used = links.upstream_of([name for name, kind in links.types.items() if kind in ENDS])
    frames: set[str] = set()
    for node in tree.nodes:
        parent = node.parent
        if parent is not None and node.bl_idname != FRAME and node.name in used:
            while parent is not None and parent.name not in frames:
                frames.add(parent.name)
                parent = parent.parent
    return sorted(links.types.keys() - used - frames)


def links_in_order(socket: Block) -> list[Block]:
    """Return the links of a socket in the order of their creation."""
    return sorted(socket.links, key=lambda link: link.multi_input_sort_id)


def _same_socket(socket: Block, candidates: Sequence[Block]) -> Block:
    return next(candidate for candidate in candidates if candidate.identifier == socket.identifier)
