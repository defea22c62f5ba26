"""Editing a tree: the operations that both payloads share, each checked and read back.

Works on a tree that may be written freely: a new one, or a draft. A node's id is its name, which is saved with the file and is part
of the fingerprint; 'group_input' and 'group_output' also mean the group's own nodes where those are called otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from blendwright.nodes.catalogue.load import catalogue_for
from blendwright.nodes.payloads.parts import GROUP_INPUT, GROUP_OUTPUT
from blendwright.tool_api.effects import Kind
from blendwright.tool_api.scene import Block, Scene
from blendwright.tools.node_trees import properties, sockets, values
from blendwright.tools.node_trees.graph import (
    FRAME,
    INPUT,
    OUTPUT,
    ZONES,
    NodeGraph,
    active_output,
    first_input,
    graph_of,
)
from blendwright.tools.node_trees.interface import InterfaceEditor
from blendwright.values.errors import StepError
from blendwright.values.faults import Fault
from blendwright.values.findings import did_you_mean


class TreeEditor:
    """`tree` is written; `group` is the node group that it is or will take the place of."""

    def __init__(self, scene: Scene, tree: Block, group: Block) -> None:
        self._scene = scene
        self._tree = tree
        self._group = group
        self.group_io = InterfaceEditor(scene, tree)

    # ------------------------------------------------------------------ nodes

    def find(self, node_id: str) -> Block | None:
        if node_id == GROUP_INPUT:
            return first_input(self._tree)
        if node_id == GROUP_OUTPUT:
            return active_output(self._tree)
        return self._tree.nodes.get(node_id)

    def node(self, node_id: str, at: str) -> Block:
        found = self.find(node_id)
        if found is None:
            known = [node.name for node in self._tree.nodes]
            cure = did_you_mean(
                node_id, known, otherwise=f"Create it first, or name one of the {len(known)} there are."
            )
            raise StepError.of(Fault.TARGET_NOT_FOUND, f"there is no node '{node_id}'", at=at, cure=cure)
        return found

    def create(self, node_id: str, bl_idname: str, location: Sequence[float], at: str, id_at: str) -> Block:
        if self.find(node_id) is not None:
            message = f"there is already a node '{node_id}'"
            raise StepError.of(Fault.SCENE_CONFLICT, message, at=id_at, cure="Choose another id, or delete it first.")
        fonts = self._scene.names(Kind.FONT)
        try:
            node = self._tree.nodes.new(bl_idname)
        except RuntimeError as error:
            message = f"a geometry tree has no nodes of type '{bl_idname}'"
            raise values.refused_by_blender(message, error, at) from error
        node.name = node_id
        node.location = location
        node.select = False
        font = getattr(node, "font", None)
        # The first node that writes text brings the built-in font along as a datablock.
        if font is not None and font.name not in fonts:
            self._scene.adopt(Kind.FONT, font, font.name)
        return node

    def remove(self, node: Block) -> None:
        touched = [link.to_socket for link in self._tree.links if link.from_node == node and _is_multi(link.to_socket)]
        self._tree.nodes.remove(node)
        for socket in touched:
            self._renumber(socket)

    def set_properties(self, node: Block, given: Mapping[str, Any], at: str) -> None:
        known = catalogue_for(self._scene.version)
        kind = known.find(node.bl_idname) if known else None
        for name in kind.in_order(given) if kind else sorted(given):
            self.set_property(node, name, given[name], f"{at}/{name}")

    def set_property(self, node: Block, name: str, value: Any, at: str) -> None:
        if name == properties.PARENT:
            self._set_parent(node, value, at)
        elif name == properties.PAIRED and node.bl_idname in ZONES:
            self._pair(node, value, at)
        else:
            properties.write_property(self._scene, node, name, value, at, group=self._group)

    def _set_parent(self, node: Block, value: Any, at: str) -> None:
        frame = None if value is None else self.node(str(value), at)
        if frame is not None and (frame.bl_idname != FRAME or frame == node):
            message = f"'{value}' is a {frame.bl_idname}, not a frame around '{node.name}'"
            raise StepError.of(Fault.ARGS_INVALID, message, at=at, cure="Name a NodeFrame.")
        # Blender keeps the place on the screen and changes the location, which is relative to the frame.
        location = tuple(node.location)
        node.parent = frame
        if node.parent != frame:  # in silence, where the frame is inside the node
            message = f"frame '{value}' is inside '{node.name}' itself"
            cure = "Take it out of that frame first: set its parent to null."
            raise StepError.of(Fault.ARGS_INVALID, message, at=at, cure=cure)
        node.location = location

    def _pair(self, node: Block, value: Any, at: str) -> None:
        if value is None:
            message = "the first node of a zone needs its last"
            raise StepError.of(Fault.ARGS_INVALID, message, at=at, cure="Give the id of the last node.")
        last = self.node(str(value), at)
        if node.paired_output == last:
            return
        if last.bl_idname != ZONES[node.bl_idname] or not node.pair_with_output(last):
            message = f"'{value}' ({last.bl_idname}) cannot end the zone that '{node.name}' begins"
            cure = f"Name a {ZONES[node.bl_idname]} that ends no other zone."
            raise StepError.of(Fault.ARGS_INVALID, message, at=at, cure=cure)

    def set_input(self, node: Block, key: str, value: Any, at: str, value_at: str) -> None:
        socket = sockets.find_socket(node, node.inputs, key, at, off=True)
        if not values.has_value(socket):
            message = f"input '{key}' of node '{node.name}' holds no value"
            raise StepError.of(Fault.ARGS_INVALID, message, at=at, cure="Link something to it.")
        values.write_socket_value(self._scene, socket, socket.type, value, value_at)

    # ------------------------------------------------------------------ links

    def output(self, node: Block, key: str, at: str) -> Block:
        return sockets.find_socket(node, node.outputs, key, at)

    def input(self, node: Block, key: str, at: str) -> Block:
        return sockets.find_socket(node, node.inputs, key, at)

    def link(self, source: Block, target: Block, at: str) -> None:
        """Link an output to an input. Circles are made as asked: a gate tells, and another link may undo them."""
        if target.is_linked and any(link.from_socket == source for link in target.links):
            return  # linking again would spoil the order in a multi-input socket (Blender 5.0)
        link = self._tree.links.new(source, target)
        if link is None or (not link.is_valid and not self._goes_round(source.node, target.node)):
            message = (
                f"'{source.name}' of '{source.node.name}' ({source.type}) cannot be linked to "
                f"'{target.name}' of '{target.node.name}' ({target.type})"
            )
            cure = "Link sockets of the same type, or put a node that converts between them."
            raise StepError.of(Fault.ARGS_INVALID, message, at=at, cure=cure)

    def _goes_round(self, source: Block, target: Block) -> bool:
        return target.name in graph_of(self._tree).leading_to([source.name])

    def unlink(self, source: Block | None, target: Block | None) -> int:
        """Remove the links between two sockets, or all of one; how many there were."""
        of = target if target is not None else source
        assert of is not None
        gone = [link for link in of.links if source is None or link.from_socket == source]
        uneven = {link.to_socket for link in gone if _is_multi(link.to_socket)}
        for link in gone:
            self._tree.links.remove(link)
        for socket in uneven:
            self._renumber(socket)
        return len(gone)

    def _renumber(self, socket: Block) -> None:
        """Links of a multi-input socket are numbered, and removing one leaves a gap that the next one falls into."""
        links = links_in_order(socket)
        if [link.multi_input_sort_id for link in links] == list(range(len(links))):
            return
        kept = [(link.from_socket, link.is_muted) for link in links]
        for link in links:
            self._tree.links.remove(link)
        for source, muted in kept:
            self._tree.links.new(source, socket).is_muted = muted

    # ------------------------------------------------------------------ the whole

    def ensure_single_io(self) -> None:
        """One group input and one group output: the links of others move to the first, and the others go."""
        first = first_input(self._tree)
        if first is None:
            first = self.create(GROUP_INPUT, INPUT, (-200.0, 0.0), "", "")
        for node in [node for node in self._tree.nodes if node.bl_idname == INPUT and node != first]:
            for output in node.outputs:
                for target in [link.to_socket for link in output.links]:
                    self._move(output, target, _twin(output, first.outputs), target)
            self.remove(node)
        last = active_output(self._tree)
        if last is None:
            last = self.create(GROUP_OUTPUT, OUTPUT, (200.0, 0.0), "", "")
        for node in [node for node in self._tree.nodes if node.bl_idname == OUTPUT and node != last]:
            for target in node.inputs:
                into = _twin(target, last.inputs)
                if target.is_linked and not into.is_linked:
                    self._tree.links.new(target.links[0].from_socket, into)
            self.remove(node)
        last.is_active_output = True

    def _move(self, source: Block, target: Block, new_source: Block, new_target: Block) -> None:
        order = [link.from_socket for link in links_in_order(target)]
        self.unlink(None, target)
        for each in order:
            self._tree.links.new(new_source if each == source else each, new_target)

    def cleanup(self) -> list[str]:
        """Remove the nodes that do not lead to an output; their names."""
        unused = unused_nodes(self._tree, graph_of(self._tree))
        for name in unused:
            self._tree.nodes.remove(self._tree.nodes[name])
        return unused

    def finish(self) -> None:
        self.group_io.finish()


def unused_nodes(tree: Block, wiring: NodeGraph) -> list[str]:
    """The nodes that lead to no output of the group, in order; group nodes and frames around others do not count."""
    used = wiring.leading_to([name for name, kind in wiring.types.items() if kind in (INPUT, OUTPUT)])
    frames: set[str] = set()
    for node in tree.nodes:
        parent = node.parent
        if parent is not None and node.bl_idname != FRAME and node.name in used:
            while parent is not None and parent.name not in frames:
                frames.add(parent.name)
                parent = parent.parent
    return sorted(wiring.types.keys() - used - frames)


def links_in_order(socket: Block) -> list[Block]:
    """The links of a socket, in the order in which they were made."""
    return sorted(socket.links, key=lambda link: link.multi_input_sort_id)


def _is_multi(socket: Block) -> bool:
    return socket.is_multi_input


def _twin(socket: Block, others: Sequence[Block]) -> Block:
    return next(other for other in others if other.identifier == socket.identifier)
