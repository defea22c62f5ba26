"""Spellings of other Blenders: an edit that names a property or socket as another supported Blender does, in the words of the one at hand.

Only what means the same is respelled: a setting that became an input (or was one not yet), an identifier that lost its number.
Anything else is left as it is, and found to be wrong where it always was. Every respelling is told.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from blendwright.nodes import edits
from blendwright.nodes.catalogue.load import VERSIONS, Catalogue, catalogue
from blendwright.nodes.catalogue.model import NodeType, Side, SocketType, TreeKind
from blendwright.values.findings import pointer_of

_RESOLUTION = {"resolution_mode": "Resolution Mode"}
# Node type -> property -> the input that holds the same in newer Blenders. Their choices stand in the same order.
SETTINGS_AS_INPUTS: Mapping[str, Mapping[str, str]] = {
    # Blender 5.0
    "FunctionNodeMatchString": {"operation": "Operation"},
    "GeometryNodeDistributePointsInVolume": {"mode": "Mode"},
    "GeometryNodeFillCurve": {"mode": "Mode"},
    "GeometryNodeFilletCurve": {"mode": "Mode"},
    "GeometryNodeMergeByDistance": {"mode": "Mode"},
    "GeometryNodeMeshToVolume": _RESOLUTION,
    "GeometryNodePointsToVolume": _RESOLUTION,
    "GeometryNodeRaycast": {"mapping": "Interpolation"},
    "GeometryNodeRemoveAttribute": {"pattern_mode": "Pattern Mode"},
    "GeometryNodeResampleCurve": {"mode": "Mode"},
    "GeometryNodeSampleGrid": {"interpolation_mode": "Interpolation"},
    "GeometryNodeScaleElements": {"scale_mode": "Scale Mode"},
    "GeometryNodeSetCurveNormal": {"mode": "Mode"},
    "GeometryNodeSubdivisionSurface": {"uv_smooth": "UV Smooth", "boundary_smooth": "Boundary Smooth"},
    "GeometryNodeTransform": {"mode": "Mode"},
    "GeometryNodeTriangulate": {"quad_method": "Quad Method", "ngon_method": "N-gon Method"},
    "GeometryNodeUVUnwrap": {"method": "Method"},
    "GeometryNodeVolumeToMesh": _RESOLUTION,
    # Blender 5.1
    "GeometryNodeStringToCurves": {
        "align_x": "Align X",
        "align_y": "Align Y",
        "pivot_mode": "Pivot Point",
        "overflow": "Overflow",
        "font": "Font",
    },
}
# Node type -> property -> its other name; each is understood where the other one is at home.
PROPERTIES: Mapping[str, Mapping[str, str]] = {
    "GeometryNodeListGetItem": {"data_type": "socket_type", "socket_type": "data_type"},  # Blender 5.1
}
_KINDS = {"INT": "NodeSocketInt", "VEC3": "NodeSocketVector", "COL": "NodeSocketColor", "STR": "NodeSocketString"}
_NUMBERED = {"001": "NodeSocketFloat", "002": "NodeSocketInt", "003": "NodeSocketBool"}
# Node type -> identifier -> what it is called without its number, and of which type that must be to be the same socket.
# The other way round needs no table: on an older Blender the name means the one that is available.
SOCKETS: Mapping[str, Mapping[str, tuple[str, str]]] = {
    # Blender 5.2
    "FunctionNodeCompare": {f"{side}_{word}": (side, kind) for side in "AB" for word, kind in _KINDS.items()},
    "FunctionNodeRandomValue": {
        f"{name}_{number}": (name, kind) for name in ("Min", "Max", "Value") for number, kind in _NUMBERED.items()
    },
}


class Nodes(NamedTuple):
    """What is asked of a tree as it is at this point: the type of a node, and the available sockets by identifier with their types."""

    type_of: Callable[[str], str | None]
    sockets_of: Callable[[str, Side], Mapping[str, str]]


class Respelled(NamedTuple):
    """The edits that take the place of one, and what is to be told of it."""

    edits: list[edits.Edit]
    notes: list[str]


def respelled(edit: edits.Edit, words: Catalogue, nodes: Nodes) -> Respelled:
    """An edit in the words of the catalogue at hand; the edit itself where it is spelled so already."""
    speller = _Speller(words, nodes)
    return Respelled(list(speller.edits(edit)), speller.notes)


class _Speller:
    def __init__(self, words: Catalogue, nodes: Nodes) -> None:
        self._words = words
        self._nodes = nodes
        self.notes: list[str] = []

    def edits(self, edit: edits.Edit) -> Iterator[edits.Edit]:
        match edit:
            case edits.AddNode() if edit.properties:
                yield from self._added(edit)
            case edits.SetProperty():
                yield self._property(edit, self._nodes.type_of(edit.id))
            case edits.SetInput():
                yield self._input(edit)
            case edits.Link():
                yield edit._replace(
                    source=self._socket(edit.source, "outputs"), target=self._socket(edit.target, "inputs")
                )
            case edits.Unlink():
                if edit.source:
                    source = self._socket(edit.source, "outputs")
                else:
                    source = None
                if edit.target:
                    target = self._socket(edit.target, "inputs")
                else:
                    target = None
                yield edit._replace(source=source, target=target)
            case _:
                yield edit

    def _added(self, edit: edits.AddNode) -> Iterator[edits.Edit]:
        """The node with the properties that it has here, then the others as inputs."""
        own: dict[str, Any] = {}
        inputs: list[edits.SetInput] = []
        for name, value in edit.properties.items():
            at = edit.at + "/properties" + pointer_of([name])
            setting = self._property(edits.SetProperty(at, edit.id, name, value), edit.bl_idname)
            if isinstance(setting, edits.SetInput):
                inputs.append(setting)
            else:
                own[setting.name] = setting.value
        yield edit._replace(properties=own)
        yield from inputs

    def _property(self, edit: edits.SetProperty, bl_idname: str | None) -> edits.SetProperty | edits.SetInput:
        if bl_idname:
            node_type = self._words.find(bl_idname)
        else:
            node_type = None
        if node_type is None or edit.name in node_type.properties or edit.name in node_type.items:
            return edit
        other_name = PROPERTIES.get(node_type.bl_idname, {}).get(edit.name)
        if other_name is not None and edit.value in _own_choices(node_type, other_name):
            self._note(edit.at, f"property '{edit.name}'", node_type, f"'{other_name}'")
            return edit._replace(name=other_name)
        key = SETTINGS_AS_INPUTS.get(node_type.bl_idname, {}).get(edit.name)
        if key:
            socket = _input_of(node_type, key)
        else:
            socket = None
        if key is None or socket is None:
            return edit
        if socket.items is None:
            value = edit.value
        else:
            value = _same_place(edit.value, _choices(node_type, edit.name, self._words.tree_kind), socket.items)
        if value is None:
            return edit
        self._note(edit.at, f"property '{edit.name}' {edit.value!r}", node_type, f"input '{key}' {value!r}")
        ref = edits.SocketRef(edit.id, key, edit.at + "/node_id", edit.at + "/property")
        return edits.SetInput(edit.at, ref, value)

    def _input(self, edit: edits.SetInput) -> edits.SetInput | edits.SetProperty:
        bl_idname = self._nodes.type_of(edit.socket.node)
        if bl_idname:
            node_type = self._words.find(bl_idname)
        else:
            node_type = None
        if node_type is None or _input_of(node_type, edit.socket.socket) is not None:
            return edit._replace(socket=self._socket(edit.socket, "inputs"))
        settings = SETTINGS_AS_INPUTS.get(node_type.bl_idname, {})
        name = next((name for name, key in settings.items() if key == edit.socket.socket), None)
        if name is None or name not in node_type.properties:
            return edit._replace(socket=self._socket(edit.socket, "inputs"))
        prop = node_type.properties[name]
        if prop.type != "ENUM":
            value = edit.value
        else:
            value = _same_place(edit.value, _items(node_type, edit.socket.socket, self._words.tree_kind), prop.items)
        if value is None:
            return edit
        self._note(edit.at, f"input '{edit.socket.socket}' {edit.value!r}", node_type, f"property '{name}' {value!r}")
        return edits.SetProperty(edit.at, edit.socket.node, name, value)

    def _socket(self, ref: edits.SocketRef, side: Side) -> edits.SocketRef:
        bl_idname = self._nodes.type_of(ref.node)
        renamed = SOCKETS.get(bl_idname or "", {}).get(ref.socket)
        if renamed is None:
            return ref
        key, kind = renamed
        available = self._nodes.sockets_of(ref.node, side)
        if ref.socket in available or available.get(key) != kind:
            return ref
        self.notes.append(f"{ref.socket_at}: '{ref.socket}' of {bl_idname} is '{key}' in Blender {self._words.blender}")
        return ref._replace(socket=key)

    def _note(self, at: str, given: str, node_type: NodeType, here: str) -> None:
        self.notes.append(f"{at}: {given} of {node_type.bl_idname} is {here} in Blender {self._words.blender}")


def _input_of(node_type: NodeType, key: str) -> SocketType | None:
    inputs = (socket for layout in node_type.layouts for socket in (*layout.inputs, *layout.off))
    return next((socket for socket in inputs if key in (socket.identifier, socket.name)), None)


def _own_choices(node_type: NodeType, name: str) -> tuple[str, ...]:
    if name in node_type.properties:
        return node_type.properties[name].items
    return ()


def _choices(node_type: NodeType, name: str, kind: TreeKind) -> tuple[str, ...]:
    """What a property takes in the newest Blender that has it."""
    others = (catalogue(version, kind).find(node_type.bl_idname) for version in VERSIONS)
    return next((other.properties[name].items for other in others if other and name in other.properties), ())


def _items(node_type: NodeType, key: str, kind: TreeKind) -> tuple[str, ...]:
    """What a menu offers in the newest Blender that has it as an input."""
    others = (catalogue(version, kind).find(node_type.bl_idname) for version in VERSIONS)
    found = (_input_of(other, key) for other in others if other)
    return next((socket.items for socket in found if socket and socket.items), ())


def _same_place(value: Any, given: tuple[str, ...], here: tuple[str, ...]) -> str | None:
    """The word that stands where the given one does in the other list. Newer Blenders have added choices at the end only."""
    if value in given:
        place = given.index(value)
    else:
        place = len(here)
    if place < len(here):
        return here[place]
    return None
