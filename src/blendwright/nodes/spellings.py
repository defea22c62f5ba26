"""Translation of edits between Blender versions: a property or socket named as in another supported Blender gets its
local name.

Blendwright only translates names with the same meaning: a setting that became an input or was one later, or an
identifier that lost its number. It leaves all other edits unchanged, so the checks report them as usual. It reports
every translation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from blendwright.nodes import edits
from blendwright.nodes.catalogue.load import VERSIONS, Catalogue, catalogue
from blendwright.nodes.catalogue.model import NodeType, Side, SocketType, TreeKind
from blendwright.values.findings import pointer_of

_RESOLUTION = {"resolution_mode": "Resolution Mode"}
# Node type -> property -> the input that replaces it in newer Blenders. Both list their choices in the same order.
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
# Node type -> property -> its name in other versions. Each version accepts both names.
PROPERTIES: Mapping[str, Mapping[str, str]] = {
    "GeometryNodeListGetItem": {"data_type": "socket_type", "socket_type": "data_type"},  # Blender 5.1
}
_KINDS = {"INT": "NodeSocketInt", "VEC3": "NodeSocketVector", "COL": "NodeSocketColor", "STR": "NodeSocketString"}
_NUMBERED = {"001": "NodeSocketFloat", "002": "NodeSocketInt", "003": "NodeSocketBool"}
# Node type -> identifier -> its name without the number, and the type that a socket must have to be the same one.
# The opposite direction needs no table: on an older Blender the name means the available socket.
SOCKETS: Mapping[str, Mapping[str, tuple[str, str]]] = {
    # Blender 5.2
    "FunctionNodeCompare": {f"{side}_{word}": (side, kind) for side in "AB" for word, kind in _KINDS.items()},
    "FunctionNodeRandomValue": {
        f"{name}_{number}": (name, kind) for name in ("Min", "Max", "Value") for number, kind in _NUMBERED.items()
    },
}


class Nodes(NamedTuple):
    """Queries about the tree before an edit: the type of a node (None: unknown), and the types of available sockets by
    identifier.
    """

    type_of: Callable[[str], str | None]
    sockets_of: Callable[[str, Side], Mapping[str, str]]


class Respelled(NamedTuple):
    """The edits that replace one edit, with a note about each translated name."""

    edits: list[edits.Edit]
    notes: list[str]


def respelled(edit: edits.Edit, words: Catalogue, nodes: Nodes) -> Respelled:
    """Translate an edit into the names of the catalogue `words`; return it unchanged if no name differs."""
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
                source, target = edit.source, edit.target
                if source:
                    source = self._socket(source, "outputs")
                if target:
                    target = self._socket(target, "inputs")
                yield edit._replace(source=source, target=target)
            case _:
                yield edit

    def _added(self, edit: edits.AddNode) -> Iterator[edits.Edit]:
        """Yield the node with the properties that it has in this Blender, then its other properties as inputs."""
        properties: dict[str, Any] = {}
        inputs: list[edits.SetInput] = []
        for name, value in edit.properties.items():
            at = edit.at + "/properties" + pointer_of([name])
            setting = self._property(edits.SetProperty(at, edit.id, name, value), edit.bl_idname)
            if isinstance(setting, edits.SetInput):
                inputs.append(setting)
            else:
                properties[setting.name] = setting.value
        yield edit._replace(properties=properties)
        yield from inputs

    def _property(self, edit: edits.SetProperty, bl_idname: str | None) -> edits.SetProperty | edits.SetInput:
        node_type = self._node_type(bl_idname)
        if node_type is None or edit.name in node_type.properties or edit.name in node_type.items:
            return edit

        renamed = PROPERTIES.get(node_type.bl_idname, {}).get(edit.name)
        if renamed is not None and edit.value in _own_choices(node_type, renamed):
            self._note(edit.at, f"property '{edit.name}'", node_type, f"'{renamed}'")
            return edit._replace(name=renamed)

        key = SETTINGS_AS_INPUTS.get(node_type.bl_idname, {}).get(edit.name)
        if not key:
            return edit
        socket = _input_of(node_type, key)
        if socket is None:
            return edit

        value = edit.value
        if socket.items is not None:
            value = _same_choice(value, _choices(node_type, edit.name, self._words.tree_kind), socket.items)
        if value is None:
            return edit
        self._note(edit.at, f"property '{edit.name}' {edit.value!r}", node_type, f"input '{key}' {value!r}")
        ref = edits.SocketRef(edit.id, key, edit.at + "/node_id", edit.at + "/property")
        return edits.SetInput(edit.at, ref, value)

    def _input(self, edit: edits.SetInput) -> edits.SetInput | edits.SetProperty:
        node_type = self._node_type(self._nodes.type_of(edit.socket.node))
        if node_type is None or _input_of(node_type, edit.socket.socket) is not None:
            return edit._replace(socket=self._socket(edit.socket, "inputs"))

        name = _setting_of_input(node_type.bl_idname, edit.socket.socket)
        if name is None or name not in node_type.properties:
            return edit._replace(socket=self._socket(edit.socket, "inputs"))

        prop = node_type.properties[name]
        value = edit.value
        if prop.type == "ENUM":
            value = _same_choice(value, _items(node_type, edit.socket.socket, self._words.tree_kind), prop.items)
        if value is None:
            return edit
        self._note(edit.at, f"input '{edit.socket.socket}' {edit.value!r}", node_type, f"property '{name}' {value!r}")
        return edits.SetProperty(edit.at, edit.socket.node, name, value)

    def _node_type(self, bl_idname: str | None) -> NodeType | None:
        if not bl_idname:
            return None
        return self._words.find(bl_idname)

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

    def _note(self, at: str, foreign_name: str, node_type: NodeType, local_name: str) -> None:
        self.notes.append(
            f"{at}: {foreign_name} of {node_type.bl_idname} is {local_name} in Blender {self._words.blender}"
        )


def _input_of(node_type: NodeType, key: str) -> SocketType | None:
    for layout in node_type.layouts:
        for socket in (*layout.inputs, *layout.off):
            if key in (socket.identifier, socket.name):
                return socket
    return None


def _setting_of_input(bl_idname: str, key: str) -> str | None:
    """Return the property that older Blenders have instead of this input."""
    for name, input_key in SETTINGS_AS_INPUTS.get(bl_idname, {}).items():
        if input_key == key:
            return name
    return None


def _own_choices(node_type: NodeType, name: str) -> tuple[str, ...]:
    if name in node_type.properties:
        return node_type.properties[name].items
    return ()


def _choices(node_type: NodeType, name: str, kind: TreeKind) -> tuple[str, ...]:
    """Return the choices of a property in the newest Blender that has it; empty if none has it."""
    for version in VERSIONS:
        version_type = catalogue(version, kind).find(node_type.bl_idname)
        if version_type and name in version_type.properties:
            return version_type.properties[name].items
    return ()


def _items(node_type: NodeType, key: str, kind: TreeKind) -> tuple[str, ...]:
    """Return the items of a menu input in the newest Blender that has it; empty if none has it."""
    for version in VERSIONS:
        version_type = catalogue(version, kind).find(node_type.bl_idname)
        if version_type is None:
            continue
        socket = _input_of(version_type, key)
        if socket and socket.items:
            return socket.items
    return ()


def _same_choice(value: Any, foreign: tuple[str, ...], local: tuple[str, ...]) -> str | None:
    """Return the choice at the same position in the local list, or None if there is none.

    Positions agree because newer Blenders only append choices.
    """
    if value not in foreign:
        return None
    position = foreign.index(value)
    if position >= len(local):
        return None
    return local[position]
