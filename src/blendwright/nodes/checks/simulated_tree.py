"""A simulation of a tree after the edits so far, as far as it can be known without Blender.

If the initial tree is unknown, an id that no edit has created may belong to it, and the checks do not judge it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, cast

from blendwright.nodes.catalogue.load import Catalogue
from blendwright.nodes.catalogue.model import ItemSocket, NodeType, Side, SocketType
from blendwright.nodes.payloads import InterfaceSocket
from blendwright.nodes.tree import Interface, Tree
from blendwright.nodes.tree_sorts import GEOMETRY_GROUP, GROUP_NODES, TreeSort

REROUTE, FRAME = "NodeReroute", "NodeFrame"
GROUP_INPUT, GROUP_OUTPUT = "NodeGroupInput", "NodeGroupOutput"
MENU_ITEMS = "enum_items"
# Node types whose outputs depend on the scene's passes or on the image's layers.
SOCKETS_FROM_FILE = frozenset({"CompositorNodeRLayers", "CompositorNodeImage", "CompositorNodeCryptomatteV2"})


@dataclass(slots=True)
class SimulatedNode:
    """A node of a known type. `values` holds the properties set so far; a deciding property missing from it is unknown."""

    type: NodeType
    values: dict[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True)
class LinkEnd:
    """An end of a link: a node and the key of its socket."""

    node: str
    key: str


LinkEnds = tuple[LinkEnd, LinkEnd]


@dataclass(frozen=True, slots=True)
class Sockets:
    """The sockets on one side of a node. `complete` is False if it may have further sockets that are unknown."""

    known: tuple[SocketType, ...]
    off: tuple[SocketType, ...] = ()
    complete: bool = True


class SimulatedTree:
    """A tree as far as it is known, with methods that apply edits."""

    def __init__(
        self, catalogue: Catalogue, tree: Tree | None, groups: Mapping[str, Interface], sort: TreeSort = GEOMETRY_GROUP
    ) -> None:
        self.catalogue = catalogue
        self.sort = sort
        self.group_node = GROUP_NODES[catalogue.tree_kind]
        self.open = tree is None
        self.nodes: dict[str, SimulatedNode] = {}
        self.removed: set[str] = set()
        # Nodes whose type is in no catalogue.
        self.untyped: set[str] = set()
        self.links: dict[LinkEnds, None] = {}
        # The source of the last link into each input, so that a new link can replace it.
        self._last_source: dict[LinkEnd, LinkEnd] = {}
        self.interface: dict[Side, list[InterfaceSocket] | None] = {"inputs": None, "outputs": None}
        self._groups = groups
        # Given nodes of an unknown tree. They may be missing from it.
        self._assumed: set[str] = set()
        if tree is None:
            self._add_given()
            self._assumed.update(sort.given)
        else:
            self._load(tree)

    def _load(self, tree: Tree) -> None:
        self.interface = {"inputs": list(tree.interface.inputs), "outputs": list(tree.interface.outputs)}
        for node in tree.nodes:
            if self.add(node.id, node.bl_idname):
                self.nodes[node.id].values.update(node.properties)
        for link in tree.links:
            ends = LinkEnd(link.source.node_id, link.source.socket), LinkEnd(link.target.node_id, link.target.socket)
            self.connect(*ends, replaces=False)

    # ------------------------------------------------------------------ nodes

    def _add_given(self) -> None:
        for node_id, bl_idname in self.sort.given.items():
            self.add(node_id, bl_idname)

    def remove_all(self) -> None:
        """Remove all nodes except the given ones. From now on everything except the group's interface is known."""
        self.open = False
        self.nodes.clear()
        self.links.clear()
        self._last_source.clear()
        self.removed.clear()
        self.untyped.clear()
        self._assumed.clear()
        self._add_given()

    def add(self, node_id: str, bl_idname: str) -> bool:
        """Add a new node. Return False if the catalogue lacks its type, so that only its id is known."""
        self.removed.discard(node_id)
        self._assumed.discard(node_id)
        node_type = self.catalogue.find(bl_idname)
        if node_type is None:
            self.untyped.add(node_id)
            return False
        self.nodes[node_id] = SimulatedNode(node_type, node_type.defaults())
        return True

    def remove(self, node_id: str) -> None:
        self.nodes.pop(node_id, None)
        self.untyped.discard(node_id)
        self.removed.add(node_id)
        self.disconnect(lambda link: node_id in (link[0].node, link[1].node))

    def may_exist(self, node_id: str) -> bool:
        exists = node_id in self.nodes or node_id in self.untyped
        return exists or (self.open and node_id not in self.removed)

    def is_assumed(self, node_id: str, bl_idname: str) -> bool:
        """Return True if the tree only probably has this node, because most trees have it."""
        return self.open and node_id in self._assumed and self.sort.given[node_id] == bl_idname

    def frames_around(self, node_id: str) -> set[str]:
        """Return the ids of the known frames around a node."""
        frames: set[str] = set()
        while node_id in self.nodes:
            parent = self.nodes[node_id].values.get("parent")
            if not isinstance(parent, str) or parent in frames:
                break
            frames.add(parent)
            node_id = parent
        return frames

    def connect(self, source: LinkEnd, target: LinkEnd, *, replaces: bool) -> None:
        """Add a link. With `replaces`, the input takes only one link, so the previous one goes."""
        if replaces and target in self._last_source:
            self.links.pop((self._last_source[target], target), None)
        self.links[source, target] = None
        self._last_source[target] = source

    def disconnect(self, matches: Callable[[LinkEnds], bool]) -> None:
        self.links = {link: None for link in self.links if not matches(link)}

    def set_property(self, node_id: str, name: str, value: Any) -> None:
        """Record that a property was set, and forget deciding properties that cannot go together with its value."""
        node = self.nodes[node_id]
        node.values[name] = value
        deciding = node.type.deciding
        while name in deciding and not node.type.layouts_for(node.values):
            resettable = [prop for prop in deciding if prop != name and prop in node.values]
            if not resettable:
                return
            del node.values[resettable[-1]]

    # ------------------------------------------------------------------ sockets

    def sockets(self, node_id: str, side: Side) -> Sockets:
        """Return the sockets on one side of a node of this tree, as far as they are known."""
        node = self.nodes[node_id]
        layouts = node.type.layouts_for(node.values)
        fixed = _unique(chain.from_iterable(layout.side(side) for layout in layouts))
        off: tuple[SocketType, ...] = ()
        if side == "inputs":
            off = _unique(chain.from_iterable(layout.off for layout in layouts))

        dynamic, complete = self._dynamic_sockets(node_id, node, side)
        sockets = [self._with_items(node, socket) for socket in fixed]
        return Sockets((*sockets, *dynamic), off, complete and len(layouts) == 1)

    def _dynamic_sockets(self, node_id: str, node: SimulatedNode, side: Side) -> tuple[list[SocketType], bool]:
        """Return the sockets that the type does not fix, and whether that is all of them.

        They come from the group's interface, from another group or from lists of items.
        """
        name = node.type.bl_idname
        if name == GROUP_INPUT:
            if side == "inputs":
                return [], True
            return self._interface_sockets(self.interface["inputs"])
        if name == GROUP_OUTPUT:
            if side == "outputs":
                return [], True
            return self._interface_sockets(self.interface["outputs"])
        if name in SOCKETS_FROM_FILE:
            return [], False
        if name == self.group_node:
            return self._nested_sockets(node, side)
        return self._all_item_sockets(node_id, node, side)

    def _nested_sockets(self, node: SimulatedNode, side: Side) -> tuple[list[SocketType], bool]:
        used: Any = node.values.get("node_tree")
        if used is None and not self.open:
            return [], True
        interface = self._groups.get(str(used))
        if interface is None:
            return [], False
        if side == "inputs":
            return self._interface_sockets(interface.inputs)
        return self._interface_sockets(interface.outputs)

    def _interface_sockets(self, sockets: Sequence[InterfaceSocket] | None) -> tuple[list[SocketType], bool]:
        if sockets is None:
            return [], False
        typed: list[SocketType] = []
        for socket in sockets:
            if socket.socket_type in self.catalogue.interface_types:
                typed.append(self._socket_by_name(socket.name, socket.socket_type))
        return typed, len(typed) == len(sockets)

    def _all_item_sockets(self, node_id: str, node: SimulatedNode, side: Side) -> tuple[list[SocketType], bool]:
        sockets = list(self._item_sockets(node, node, "self", side))
        if node.type.zone_output is None:
            return sockets, True
        partner = self.nodes.get(str(node.values.get("paired_output")))
        if partner is None or partner.type.bl_idname != node.type.zone_output:
            # In an unknown tree, the node may have a partner. Without a partner, it has almost no sockets.
            return sockets, False
        return [*sockets, *self._item_sockets(partner, node, "partner", side)], True

    def _item_sockets(self, holder: SimulatedNode, node: SimulatedNode, on: str, side: Side) -> Iterable[SocketType]:
        for items in holder.type.items.values():
            values: Any = holder.values.get(items.name, items.default)
            templates = [template for template in items.sockets if template.on == on and template.side == side]
            for number, item in enumerate(cast("Iterable[dict[str, Any]]", values)):
                item_type = items.types.get(str(item.get(items.type_key or "")))
                for template in templates:
                    kind = self._item_type(template, item_type, node)
                    if kind is None:
                        continue
                    name = str(number)
                    if items.named:
                        name = str(item["name"])
                    yield self._socket_by_name(name, kind)

    def _item_type(self, template: ItemSocket, item_type: str | None, node: SimulatedNode) -> str | None:
        if template.type == "item":
            return item_type
        if template.type != "data_type":
            return template.type
        # The item has the type of the node's first output.
        layouts = node.type.layouts_for(node.values)
        outputs = {layout.outputs[0].type for layout in layouts if layout.outputs}
        if len(outputs) == 1:
            return outputs.pop()
        return None

    def _socket_by_name(self, name: str, socket_type: str) -> SocketType:
        return SocketType(name, name, socket_type, self.catalogue.kind(socket_type), by_name=True)

    def _with_items(self, node: SimulatedNode, socket: SocketType) -> SocketType:
        """Return the socket; the menu of a menu switch gets the items that the node lists."""
        if socket.kind != "MENU" or MENU_ITEMS not in node.type.items:
            return socket
        items: Any = node.values.get(MENU_ITEMS, node.type.items[MENU_ITEMS].default)
        names = tuple(str(item.get("name")) for item in cast("Iterable[dict[str, Any]]", items))
        return SocketType(socket.identifier, socket.name, socket.type, socket.kind, items=names, takes=socket.takes)


def _unique(sockets: Iterable[SocketType]) -> tuple[SocketType, ...]:
    """Return the first socket of each identifier and type; layouts may repeat a socket with other field rules."""
    unique: dict[tuple[str, str], SocketType] = {}
    for socket in sockets:
        unique.setdefault((socket.identifier, socket.type), socket)
    return tuple(unique.values())
