"""Random trees out of the catalogue, valid by construction, as NODE_TREE payloads. The same seed gives the same tree.

Nodes come in an order, and links go from earlier ones to later ones, so there are no cycles. What is inside a zone stays inside. A
field goes only where fields are taken, and where that is not known, only what is surely a single value goes.
"""

from __future__ import annotations

import random
import string
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, cast

from blendwright.nodes.catalogue.load import Catalogue
from blendwright.nodes.catalogue.model import VALUELESS, Layout, NodeType, Property, SocketType

TARGET = {"object_name": "Cube", "modifier_name": "GeometryNodes", "node_group_name": "Random"}
# Nodes whose sockets are not in the catalogue, or that need something else to be there.
LEFT_OUT = {"NodeGroupInput", "NodeGroupOutput", "GeometryNodeGroup", "NodeReroute", "NodeFrame"}
INTERFACE = (
    "NodeSocketFloat",
    "NodeSocketInt",
    "NodeSocketBool",
    "NodeSocketVector",
    "NodeSocketColor",
    "NodeSocketString",
)
# Blender removes items by itself where the first is on, and the second has to agree with what is linked.
STRUCTURE = ("structure_type",)
ITEM_PROPERTIES_LEFT_OUT = ("auto_remove", *STRUCTURE)
DATABLOCKS = ("OBJECT", "COLLECTION", "MATERIAL", "IMAGE", "FONT", "SOUND")


@dataclass
class Grown:
    """A node of the tree so far."""

    id: str
    type: NodeType
    layout: Layout
    inputs: list[SocketType]
    outputs: list[SocketType]
    # Outputs of a zone's input node go to its output node only.
    only_to: str | None = None
    # Identifiers of outputs that are surely single values.
    single: set[str] = field(default_factory=set[str])


def random_payload(seed: int, catalogue: Catalogue, size: int = 12) -> dict[str, Any]:
    """A NODE_TREE payload for a new node group."""
    return TreeGrower(random.Random(seed), catalogue).grow(size)


class TreeGrower:
    def __init__(self, rng: random.Random, catalogue: Catalogue) -> None:
        self.rng = rng
        self.catalogue = catalogue
        self.operations: list[dict[str, Any]] = []
        self.nodes: list[Grown] = []
        self.linked: set[tuple[str, str]] = set()

    def grow(self, size: int) -> dict[str, Any]:
        usable = self.usable()
        self.interface()
        while len(self.nodes) < size:
            kind = self.rng.choice(usable)
            grown = self._zone(kind) if kind.zone_output else [self._plain(kind)]
            for node in grown:
                self._set_values(node)
                self._link_inputs(node)
                self.nodes.append(node)
        self._frame()
        self.finish()
        return {"target": TARGET, "operations": self.operations}

    def usable(self) -> list[NodeType]:
        return [node for node in self.catalogue.all() if node.bl_idname not in LEFT_OUT and not node.zone_input]

    # ------------------------------------------------------------------ nodes

    def _create(self, kind: NodeType) -> str:
        node_id = f"n{len(self.operations)}"
        place = [self.rng.randrange(-900, 900), self.rng.randrange(-900, 900)]
        self._do("create_node", node_id=node_id, bl_idname=kind.bl_idname, location=place)
        return node_id

    def _plain(self, kind: NodeType) -> Grown:
        node_id = self._create(kind)
        values = self._deciding(node_id, kind)
        for name, prop in kind.properties.items():
            if name not in (*kind.deciding, *STRUCTURE) and self.rng.random() < 0.5:
                sized = replace(prop, size=values[prop.sized_by]) if prop.sized_by else prop
                for value in self.property_value(sized):
                    self.set_property(node_id, name, value)
        (layout,) = kind.layouts_for(values)
        node = Grown(node_id, kind, layout, list(layout.inputs), list(layout.outputs))
        for items in kind.items.values():
            self._items(node, node, items.name)
        return node

    def property_value(self, prop: Property) -> Iterator[Any]:
        return random_value(self.rng, prop)

    def _zone(self, kind: NodeType) -> list[Grown]:
        end = self.catalogue.find(kind.zone_output or "")
        assert end is not None
        start = Grown(
            self._create(kind), kind, kind.layouts[0], list(kind.layouts[0].inputs), list(kind.layouts[0].outputs)
        )
        close = Grown(self._create(end), end, end.layouts[0], list(end.layouts[0].inputs), list(end.layouts[0].outputs))
        for items in end.items.values():
            self._items(close, start, items.name)
        self.set_property(start.id, "paired_output", close.id)
        start.only_to = close.id
        return [start, close]

    def _deciding(self, node_id: str, kind: NodeType) -> dict[str, Any]:
        values = kind.defaults()
        if kind.deciding and self.rng.random() < 0.7:
            words = self.rng.choice(list(kind.settings))
            for name, word in zip(kind.deciding, words, strict=True):
                values[name] = {"BOOLEAN": "true".__eq__, "INT": int}.get(kind.properties[name].type, str)(word)
                self.set_property(node_id, name, values[name])
        return values

    def _items(self, node: Grown, partner: Grown, name: str) -> None:
        items = node.type.items[name]
        listed: list[dict[str, Any]] = [dict(item) for item in items.default]
        if self.rng.random() < 0.8:
            kinds = [
                word for word, kind in items.types.items() if kind not in ("NodeSocketBundle", "NodeSocketClosure")
            ]
            listed = []
            for number in range(self.rng.randint(1, 3)):
                item: dict[str, Any] = {"name": f"{name[:4]}_{number}"} if items.named else {}
                if items.type_key:
                    item[items.type_key] = self.rng.choice(kinds)
                for prop in items.properties.values():
                    if prop.name not in ITEM_PROPERTIES_LEFT_OUT and self.rng.random() < 0.3:
                        for value in random_value(self.rng, prop):
                            item[prop.name] = value
                listed.append(item)
            self.set_property(node.id, name, listed)
        for number, item in enumerate(listed):
            for each in items.sockets:
                holder = node if each.on == "self" else partner
                said = items.types.get(str(item.get(items.type_key or "")), "")
                kind = {"item": said, "data_type": node.layout.outputs[0].type if node.layout.outputs else ""}.get(
                    each.type, each.type
                )
                label = str(item["name"]) if items.named else str(number)
                # Grids and lists are no fields.
                gives = "other" if any(word in node.type.bl_idname for word in ("Grid", "ToList")) else None
                socket = SocketType(label, label, kind, self.catalogue.kind(kind), gives=gives, by_name=True)
                (holder.inputs if each.side == "inputs" else holder.outputs).append(socket)

    def _frame(self) -> None:
        """A frame around some nodes."""
        node_id = self._id("NodeFrame")
        self.set_property(node_id, "label", "Frame")
        for node in self.rng.sample(self.nodes, 2):
            self.set_property(node.id, "parent", node_id)

    def _id(self, bl_idname: str) -> str:
        kind = self.catalogue.find(bl_idname)
        assert kind is not None
        return self._create(kind)

    # ------------------------------------------------------------------ values and links

    def interface(self) -> None:
        geometry = {"name": "Geometry", "socket_type": "NodeSocketGeometry"}
        inputs: list[dict[str, Any]] = [geometry]
        for number in range(self.rng.randint(0, 4)):
            kind = self.rng.choice(INTERFACE)
            socket: dict[str, Any] = {"name": f"Input {number}", "socket_type": kind}
            socket["default"] = self._value(SocketType("", "", kind, self.catalogue.kind(kind)))
            inputs.append(socket)
        self._do("set_group_io", inputs=inputs, outputs=[geometry], replace=True)
        kind = self.catalogue.find("NodeGroupInput")
        assert kind is not None
        outputs = [
            SocketType(
                each["name"], each["name"], each["socket_type"], self.catalogue.kind(each["socket_type"]), by_name=True
            )
            for each in inputs
        ]
        self.nodes.append(Grown("group_input", kind, kind.layouts[0], [], outputs))

    def _set_values(self, node: Grown) -> None:
        for socket in node.inputs:
            # The items of a menu switch are in its list, and nodes that import go and look for the file.
            menu = socket.kind == "MENU" and not socket.items
            file = socket.kind == "STRING" and "Import" in node.type.bl_idname
            if socket.kind in (*VALUELESS, *DATABLOCKS) or socket.by_name or menu or file:
                continue
            if self.rng.random() < 0.5:
                self._do("set_input_default", node_id=node.id, socket=socket.key, value=self._value(socket))

    def _value(self, socket: SocketType) -> Any:
        rng = self.rng
        low = -1000 if socket.soft_min is None else max(socket.soft_min, -1000)
        high = 1000 if socket.soft_max is None else min(socket.soft_max, 1000)
        held: Any = socket.default
        size = len(cast("list[float]", held)) if isinstance(held, list) else 3
        match socket.kind:
            case "VALUE":
                return _float(rng, low, high)
            case "INT":
                return rng.randint(int(low), int(high))
            case "BOOLEAN":
                return rng.random() < 0.5
            case "STRING":
                return _text(rng)
            case "MENU":
                return rng.choice(socket.items or ("",))
            case "INT_VECTOR":
                return [rng.randint(int(low), int(high)) for _ in range(size)]
            case "RGBA":
                return [_float(rng, 0, 1) for _ in range(4)]
            case _:
                return [_float(rng, low, high) for _ in range(size)]

    def _link_inputs(self, node: Grown) -> None:
        for socket in node.inputs:
            for _ in range(self.rng.randint(1, 3) if socket.multi else 1):
                fitting = list(self.fitting(node, socket))
                if fitting and self.rng.random() < 0.6:
                    source, output = self.rng.choice(fitting)
                    self.link(source, output, node.id, socket)
        self._learn(node)

    def fitting(self, node: Grown, target: SocketType) -> Iterator[tuple[Grown, SocketType]]:
        for source in self.nodes:
            if source.only_to not in (None, node.id):
                continue
            for output in source.outputs:
                if not self.catalogue.converts(output.kind, target.kind) or output.kind == "MENU":
                    continue
                if (source.id + output.key, node.id + target.key) in self.linked:
                    continue
                sure = output.key in source.single or not _varies(output)
                field = target.takes == "field" and output.gives != "other"
                if (sure or field) and target.takes != "other":
                    yield source, output

    def link(self, source: Grown, output: SocketType, to: str, target: SocketType) -> None:
        self.linked.add((source.id + output.key, to + target.key))
        ends = {"from": {"node_id": source.id, "socket": output.key}, "to": {"node_id": to, "socket": target.key}}
        self.operations.append({"op": "link", **ends})

    def _learn(self, node: Grown) -> None:
        """Which of its outputs are surely single: those that say so, and those that follow inputs with nothing linked to them."""
        linked = {end for _, end in self.linked}
        for output in node.outputs:
            follows = output.gives if isinstance(output.gives, tuple) else ()
            free = bool(follows) and not any(node.id + each in linked for each in follows)
            if output.gives == "single" or free:
                node.single.add(output.key)

    def finish(self) -> None:
        ends = [(node, socket) for node in self.nodes for socket in node.outputs
                if socket.kind == "GEOMETRY" and node.only_to is None]  # fmt: skip
        node, socket = ends[-1]
        geometry = SocketType("Geometry", "Geometry", "NodeSocketGeometry", "GEOMETRY", by_name=True)
        self.link(node, socket, "group_output", geometry)

    def set_property(self, node_id: str, name: str, value: Any) -> None:
        self._do("set_property", node_id=node_id, property=name, value=value)

    def _do(self, op: str, **fields: Any) -> None:
        self.operations.append({"op": op, **fields})


def random_value(rng: random.Random, prop: Property) -> Iterator[Any]:
    """A value that the property takes; none for those that name something else."""
    low, high = (-1000 if prop.min is None else prop.min), (1000 if prop.max is None else prop.max)
    match prop.type:
        case "BOOLEAN":
            yield rng.random() < 0.5
        case "INT":
            whole = [rng.randint(int(max(low, -10_000)), int(min(high, 10_000))) for _ in range(prop.size or 1)]
            yield whole if prop.size else whole[0]
        case "FLOAT" if prop.name == "width":
            yield float(rng.randint(150, 300))
        case "FLOAT" if prop.name != "location":
            numbers = [_float(rng, low, high) for _ in range(prop.size or 1)]
            yield numbers if prop.size else numbers[0]
        case "STRING":
            yield _text(rng)
        case "ENUM" if prop.several:
            yield sorted(rng.sample(prop.items, rng.randint(0, len(prop.items))))
        case "ENUM":
            yield rng.choice(prop.items)
        case _:
            return


def _varies(socket: SocketType) -> bool:
    """Whether it may be a field, as far as its type tells."""
    if socket.kind == "STRING":
        return socket.gives not in (None, "single")
    fields = ("VALUE", "INT", "BOOLEAN", "VECTOR", "RGBA", "ROTATION", "MATRIX")
    return socket.gives == "other" or (socket.kind in fields and socket.gives != "single")


def _float(rng: random.Random, low: float, high: float) -> float:
    """Quarters are the same in single and double precision."""
    return low + round(rng.random() * (high - low) * 4) / 4 if high - low > 1 else rng.choice((low, high))


def _text(rng: random.Random) -> str:
    return "".join(rng.choice(string.ascii_letters + " äß") for _ in range(rng.randint(0, 12)))


def operations_of(payload: Mapping[str, Any], op: str) -> list[tuple[int, dict[str, Any]]]:
    """The operations of a kind, with their numbers."""
    return [(number, each) for number, each in enumerate(payload["operations"]) if each["op"] == op]
