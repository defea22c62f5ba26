"""A tree as it would be after the edits so far, as far as that can be known without Blender.

Where the tree at the start is not known, ids that no edit has created may be nodes of it, and nothing is said about them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from blendwright.nodes.catalogue.load import Catalogue
from blendwright.nodes.catalogue.model import ItemSocket, NodeType, Side, SocketType
from blendwright.nodes.payloads import InterfaceSocket
from blendwright.nodes.tree import Interface, Tree
from blendwright.nodes.tree_sorts import GEOMETRY_GROUP, GROUP_NODES, TreeSort

REROUTE, FRAME = "NodeReroute", "NodeFrame"
GROUP_INPUT, GROUP_OUTPUT = "NodeGroupInput", "NodeGroupOutput"
MENU_ITEMS = "enum_items"
# Which outputs these have depends on the scene's passes, or on the image's layers.
SOCKETS_FROM_FILE = frozenset({"CompositorNodeRLayers", "CompositorNodeImage", "CompositorNodeCryptomatteV2"})


@dataclass(slots=True)
class SimulatedNode:
    """A node of a known type. `values` are properties that were set; a deciding property that is not in it is not known."""

    type: NodeType
    values: dict[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True)
class LinkEnd:
    """One end of a link."""

    node: str
    key: str


LinkEnds = tuple[LinkEnd, LinkEnd]


@dataclass(frozen=True, slots=True)
class Sockets:
    """The sockets on one side of a node. Not `complete` where others may be there that we do not know."""

    known: tuple[SocketType, ...]
    off: tuple[SocketType, ...] = ()
    complete: bool = True


class SimulatedTree:
    """What is known of a tree, and how edits change it."""

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
        # The last link into an input, to be found again when another takes its place.
        self._last_source: dict[LinkEnd, LinkEnd] = {}
        self.interface: dict[Side, list[InterfaceSocket] | None] = {"inputs": None, "outputs": None}
        self._groups = groups
        # Group nodes of a tree that is not known: it may have reset them.
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
        """Only the given nodes are left; from here on everything but the group's interface is known."""
        self.open = False
        for held in (self.nodes, self.links, self._last_source):
            held.clear()
        for names in (self.removed, self.untyped, self._assumed):
            names.clear()
        self._add_given()

    def add(self, node_id: str, bl_idname: str) -> bool:
        """A new node; False when its type is not known, and then nothing is known of it."""
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
        """Whether a node is taken to be there only because most trees have it."""
        return self.open and node_id in self._assumed and self.sort.given[node_id] == bl_idname

    def frames_around(self, node_id: str) -> set[str]:
        """The frames that a node is in, as far as they are known."""
        frames: set[str] = set()
        while node_id in self.nodes:
            parent = self.nodes[node_id].values.get("parent")
            if not isinstance(parent, str) or parent in frames:
                break
            frames.add(parent)
            node_id = parent
        return frames

    def connect(self, source: LinkEnd, target: LinkEnd, *, replaces: bool) -> None:
        """Add a link; with `replaces` the input takes only one, so that the link before it is gone."""
        if replaces and target in self._last_source:
            self.links.pop((self._last_source[target], target), None)
        self.links[source, target] = None
        self._last_source[target] = source

    def disconnect(self, matches: Callable[[LinkEnds], bool]) -> None:
        self.links = {link: None for link in self.links if not matches(link)}

    def set_property(self, node_id: str, name: str, value: Any) -> None:
        """A property was set. Others that do not go with it any more take a value that we do not know."""
        node = self.nodes[node_id]
        node.values[name] = value
        deciding = node.type.deciding
        while name in deciding and not node.type.layouts_for(node.values):
            reset = next((each for each in reversed(deciding) if each != name and each in node.values), None)
            if reset is None:
                return
            del node.values[reset]

    # ------------------------------------------------------------------ sockets

    def sockets(self, node_id: str, side: Side) -> Sockets:
        """What is known of the sockets on one side of a known node."""
        node = self.nodes[node_id]
        layouts = node.type.layouts_for(node.values)
        fixed = _unique(socket for layout in layouts for socket in layout.side(side))
        if side == "inputs":
            off = _unique(socket for layout in layouts for socket in layout.off)
        else:
            off = ()
        extra, complete = self._dynamic_sockets(node_id, node, side)
        own = tuple(self._with_items(node, socket) for socket in fixed)
        return Sockets((*own, *extra), off, complete and len(layouts) == 1)

    def _dynamic_sockets(self, node_id: str, node: SimulatedNode, side: Side) -> tuple[list[SocketType], bool]:
        """Sockets that are not fixed by the type: of the group's interface, of another group, of items."""
        name = node.type.bl_idname
        if name in (GROUP_INPUT, GROUP_OUTPUT):
            if side != ("outputs" if name == GROUP_INPUT else "inputs"):
                return [], True
            return self._interface_sockets(self.interface["inputs" if name == GROUP_INPUT else "outputs"])
        if name in SOCKETS_FROM_FILE:
            return [], False
        if name == self.group_node:
            used: Any = node.values.get("node_tree")
            if used is None and not self.open:
                return [], True
            inner = self._groups.get(str(used))
            sockets = (inner.inputs if side == "inputs" else inner.outputs) if inner else None
            return self._interface_sockets(sockets)
        return self._all_item_sockets(node_id, node, side)

    def _interface_sockets(self, sockets: Sequence[InterfaceSocket] | None) -> tuple[list[SocketType], bool]:
        if sockets is None:
            return [], False
        typed = [each for each in sockets if each.socket_type in self.catalogue.interface_types]
        return [self._socket_by_name(each.name, each.socket_type) for each in typed], len(typed) == len(sockets)

    def _all_item_sockets(self, node_id: str, node: SimulatedNode, side: Side) -> tuple[list[SocketType], bool]:
        own = list(self._item_sockets(node, node, "self", side))
        if node.type.zone_output is None:
            return own, True
        partner = self.nodes.get(str(node.values.get("paired_output")))
        if partner is None or partner.type.bl_idname != node.type.zone_output:
            # In a tree that is not known from the start it may have one; otherwise it shows next to nothing.
            return own, False
        return [*own, *self._item_sockets(partner, node, "partner", side)], True

    def _item_sockets(self, holder: SimulatedNode, node: SimulatedNode, on: str, side: Side) -> Iterable[SocketType]:
        for items in holder.type.items.values():
            listed: Any = holder.values.get(items.name, items.default)
            for number, item in enumerate(cast("Iterable[dict[str, Any]]", listed)):
                for template in items.sockets:
                    if template.on == on and template.side == side:
                        item_type = items.types.get(str(item.get(items.type_key or "")))
                        kind = self._item_type(template, item_type, node)
                        if kind is not None:
                            yield self._socket_by_name(str(item["name"]) if items.named else str(number), kind)

    def _item_type(self, template: ItemSocket, item_type: str | None, node: SimulatedNode) -> str | None:
        if template.type == "item":
            return item_type
        if template.type != "data_type":
            return template.type
        # The node's own type: that of its output.
        layouts = node.type.layouts_for(node.values)
        outputs = [layout.outputs[0].type for layout in layouts if layout.outputs]
        if len(set(outputs)) == 1:
            return outputs[0]
        return None

    def _socket_by_name(self, name: str, socket_type: str) -> SocketType:
        return SocketType(name, name, socket_type, self.catalogue.kind(socket_type), by_name=True)

    def _with_items(self, node: SimulatedNode, socket: SocketType) -> SocketType:
        """The menu of a menu switch has the items that the node lists."""
        if socket.kind != "MENU" or MENU_ITEMS not in node.type.items:
            return socket
        listed: Any = node.values.get(MENU_ITEMS, node.type.items[MENU_ITEMS].default)
        names = tuple(str(item.get("name")) for item in cast("Iterable[dict[str, Any]]", listed))
        return SocketType(socket.identifier, socket.name, socket.type, socket.kind, items=names, takes=socket.takes)


def _unique(sockets: Iterable[SocketType]) -> tuple[SocketType, ...]:
    """Without those that differ only in what fields do: of several possible layouts, one of each identifier and type."""
    unique: dict[tuple[str, str], SocketType] = {}
    for socket in sockets:
        unique.setdefault((socket.identifier, socket.type), socket)
    return tuple(unique.values())
