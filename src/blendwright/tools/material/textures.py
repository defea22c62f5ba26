"""Image textures of a Principled BSDF: the arguments, the nodes built from them, and reading them back.

Each input with a texture has a source: an image, possibly through nodes that compute a normal or a product. Sources are
plain values, so that the wanted and the actual source can be compared.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Annotated, Any, Literal, NamedTuple, TypeAlias

from blendwright.tool_api import Block, Findings, Kind, Name, Scene
from blendwright.tool_api.arguments import Args, optional
from blendwright.tool_api.mentions import uses
from blendwright.tools.checks import conflict, existing, same
from blendwright.tools.image.color_spaces import DATA

IMAGE, NORMAL_MAP, BUMP = "ShaderNodeTexImage", "ShaderNodeNormalMap", "ShaderNodeBump"
INVERT, MIX, VECTOR_MATH, MAPPING = "ShaderNodeInvert", "ShaderNodeMix", "ShaderNodeVectorMath", "ShaderNodeMapping"
COORDINATES = "ShaderNodeTexCoord"

ImageName = Annotated[Name, uses(Kind.IMAGE)]


Projection = Literal["UV", "BOX"]
# Width of the blending between the sides of a box projection, from 0 to 1.
BOX_BLEND = 0.2


class Textures(Args):
    """Images of a Principled BSDF by purpose. Images that are left out stay unchanged. All except colour images must be
    Non-Color.
    """

    base_color: ImageName | None = optional("Image of the surface colour.")
    ambient_occlusion: ImageName | None = optional("Image that darkens base_color. Requires base_color.")
    metallic: ImageName | None = optional("Image of metallic.")
    roughness: ImageName | None = optional("Image of roughness.")
    gloss: ImageName | None = optional("Image of gloss, the inverse of roughness.")
    alpha: ImageName | None = optional("Image of opacity. If it is the image of base_color, its alpha channel is used.")
    emission: ImageName | None = optional("Image of emission_color.")
    normal: ImageName | None = optional("Normal map.")
    normal_directx: bool | None = optional("True if the normal map has inverted green, the DirectX convention.")
    normal_strength: float | None = optional("Strength of the normal map.", ge=0.0, le=10.0)
    height: ImageName | None = optional("Height map, rendered as bumps.")
    bump_distance: float | None = optional("Height of the bumps in metres.", ge=0.0, le=100.0)
    repeat: float | None = optional(
        "Number of repeats of the images across the UV map, or per metre for BOX.", gt=0.0, le=10_000.0
    )
    projection: Projection | None = optional(
        "BOX projects the images from all sides, for meshes without a UV map. Default: UV."
    )


class ImageSource(NamedTuple):
    image: str
    output: str
    repeat: float
    projection: str


class NodeSource(NamedTuple):
    """A node with its values, and the sources of its inputs, both by the input's identifier."""

    node: str
    values: tuple[tuple[str, Any], ...]
    inputs: tuple[tuple[str, Any], ...]


Source: TypeAlias = ImageSource | NodeSource
# Node type -> index of the output to use, if it is not the first one.
OUTPUTS = {IMAGE: None, MIX: 2}
FLIPPED_GREEN = (("Vector_001", (1.0, -1.0, 1.0)), ("Vector_002", (0.0, 1.0, 0.0)))
VALUES = {
    NORMAL_MAP: ("Strength",),
    BUMP: ("Distance",),
    INVERT: (),
    MIX: ("Factor_Float",),
    VECTOR_MATH: ("Vector_001", "Vector_002"),
}
INPUTS = {
    NORMAL_MAP: ("Color",),
    BUMP: ("Height", "Normal"),
    INVERT: ("Color",),
    MIX: ("A_Color", "B_Color"),
    VECTOR_MATH: ("Vector",),
}
# Node type -> properties to set on a new node before its sockets are used.
MODES: dict[str, dict[str, Any]] = {
    MIX: {"data_type": "RGBA", "blend_type": "MULTIPLY"},
    VECTOR_MATH: {"operation": "MULTIPLY_ADD"},
}
COLOURS = ("base_color", "emission", "ambient_occlusion")
IMAGES = (
    "base_color", "ambient_occlusion", "metallic", "roughness", "gloss", "alpha", "emission", "normal", "height",
)  # fmt: skip


def wanted_sources(textures: Textures) -> dict[str, tuple[str, Source]]:
    """Return, for each input that should have a texture, the argument that requests it and its source."""
    repeat = textures.repeat or 1.0

    def image(name: str, output: str = "Color") -> ImageSource:
        return ImageSource(name, output, repeat, textures.projection or "UV")

    sources: dict[str, tuple[str, Source]] = {}
    if textures.base_color is not None:
        color: Source = image(textures.base_color)
        if textures.ambient_occlusion is not None:
            parts = (("A_Color", color), ("B_Color", image(textures.ambient_occlusion)))
            color = NodeSource(MIX, (("Factor_Float", 1.0),), parts)
        sources["Base Color"] = ("base_color", color)
    if textures.metallic is not None:
        sources["Metallic"] = ("metallic", image(textures.metallic))
    if textures.roughness is not None:
        sources["Roughness"] = ("roughness", image(textures.roughness))
    if textures.gloss is not None:
        sources["Roughness"] = ("gloss", NodeSource(INVERT, (), (("Color", image(textures.gloss)),)))
    if textures.alpha is not None:
        output = "Color"
        if textures.alpha == textures.base_color:
            output = "Alpha"
        sources["Alpha"] = ("alpha", image(textures.alpha, output))
    if textures.emission is not None:
        sources["Emission Color"] = ("emission", image(textures.emission))
    if textures.normal is not None:
        sources["Normal"] = ("normal", _normal(textures, image))
    elif textures.height is not None:
        sources["Normal"] = ("height", _normal(textures, image))
    return sources


def _normal(textures: Textures, image: Any) -> Source:
    normal: Source | None = None
    if textures.normal is not None:
        color: Source = image(textures.normal)
        if textures.normal_directx:
            color = NodeSource(VECTOR_MATH, FLIPPED_GREEN, (("Vector", color),))
        strength = 1.0
        if textures.normal_strength is not None:
            strength = textures.normal_strength
        normal = NodeSource(NORMAL_MAP, (("Strength", strength),), (("Color", color),))
    if textures.height is None:
        assert normal is not None
        return normal

    distance = 0.01
    if textures.bump_distance is not None:
        distance = textures.bump_distance
    inputs: list[tuple[str, Source]] = [("Height", image(textures.height))]
    if normal is not None:
        inputs.append(("Normal", normal))
    return NodeSource(BUMP, (("Distance", distance),), tuple(inputs))


def source_of(socket: Block) -> Source | None:
    """Return the source of a socket, or None if it has none or one that these tools do not build."""
    if not socket.is_linked:
        return None
    link = socket.links[0]
    node = link.from_node
    kind = node.bl_idname
    if kind == IMAGE:
        placement = _placement(node)
        if node.image is None or placement is None:
            return None
        return ImageSource(node.image.name, link.from_socket.name, *placement)
    if kind not in VALUES or any(getattr(node, name) != value for name, value in MODES.get(kind, {}).items()):
        return None
    inputs_by_id = {item.identifier: item for item in node.inputs}
    inputs: list[tuple[str, Source]] = []
    for name in INPUTS[kind]:
        if inputs_by_id[name].is_linked:
            source = source_of(inputs_by_id[name])
            if source is None:
                return None
            inputs.append((name, source))
    values = tuple((name, _plain(inputs_by_id[name].default_value)) for name in VALUES[kind])
    return NodeSource(kind, values, tuple(inputs))


def _placement(node: Block) -> tuple[float, str] | None:
    """Return an image's repeats and projection, or None if its coordinates come from other nodes."""
    if not node.inputs["Vector"].is_linked:
        if node.projection == "FLAT":
            return (1.0, "UV")
        return None
    mapping = node.inputs["Vector"].links[0].from_node
    if mapping.bl_idname != MAPPING or not mapping.inputs["Vector"].is_linked:
        return None
    link = mapping.inputs["Vector"].links[0]
    scale = tuple(mapping.inputs["Scale"].default_value)
    projections = {("FLAT", "UV"): "UV", ("BOX", "Object"): "BOX"}
    projection = projections.get((node.projection, link.from_socket.name))
    if link.from_node.bl_idname != COORDINATES or len(set(scale)) > 1 or projection is None:
        return None
    return scale[0], projection


def _plain(value: Any) -> Any:
    if hasattr(value, "__len__"):
        return tuple(value)
    return value


def is_same(left: Any, right: Any) -> bool:
    """Return True if two sources are equal within single precision."""
    if isinstance(left, tuple) and isinstance(right, tuple):
        return len(left) == len(right) and all(map(is_same, left, right))  # pyright: ignore
    return same(left, right)


def texture_problems(scene: Scene, textures: Textures, node: Block | None, material: str) -> Findings:
    """Yield findings if these images cannot be textures of this node; `node` is None for a new material."""
    if textures.ambient_occlusion is not None and textures.base_color is None:
        yield conflict(
            "ambient_occlusion needs a base_color image, and none is given",
            "/textures/ambient_occlusion",
            "Also give base_color.",
        )
    if textures.gloss is not None and textures.roughness is not None:
        yield conflict(
            "gloss is the inverse of roughness, so only one of them can be used", "/textures/gloss", "Leave one out."
        )
    for role in IMAGES:
        name, at = getattr(textures, role), f"/textures/{role}"
        if name is None:
            continue
        image = yield from existing(scene, Kind.IMAGE, name, at)
        is_data = role not in COLOURS and not (role == "alpha" and name == textures.base_color)
        if image is not None and is_data and image.colorspace_settings.name != DATA:
            message = f"image '{name}' has colour space {image.colorspace_settings.name}, but {role} is not a colour"
            yield conflict(message, at, f"Load or create it with color_space {DATA}.")
    if node is None:
        return
    for socket, (role, _) in wanted_sources(textures).items():
        input_socket = node.inputs[socket]
        if input_socket.is_linked and source_of(input_socket) is None:
            message = (
                f"the {socket} of material '{material}' comes from its node '{input_socket.links[0].from_node.name}'"
            )
            yield conflict(message, f"/textures/{role}", unlink_fix(material, input_socket))


def unlink_fix(material: str, socket: Block) -> str:
    """Return the fix that unlinks an input: the call as a program writes it, with JSON arguments."""
    target, to = {"material": material}, {"node_id": socket.node.name, "socket": socket.name}
    operations = [{"op": "unlink", "to": to}]
    call = f"nodes.apply_tree(target={_json(target)}, operations={_json(operations)})"
    return f"Call {call} first, or leave it out."


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def texture_differences(textures: Textures, node: Block) -> Iterator[tuple[str, str]]:
    """Yield each input whose source differs from the wanted one, with the argument that requests it."""
    for socket, (role, source) in wanted_sources(textures).items():
        if not is_same(source_of(node.inputs[socket]), source):
            yield socket, role


def build_textures(scene: Scene, textures: Textures, tree: Block, node: Block) -> None:
    """Build the missing sources of inputs. The caller has opened the tree for writing."""
    wanted = wanted_sources(textures)
    for socket, _ in list(texture_differences(textures, node)):
        _remove_source(tree, node.inputs[socket])
        builder = _Builder(scene, tree, node.location[0] - 300.0, node.location[1] - 280.0 * list(wanted).index(socket))
        tree.links.new(builder.output(wanted[socket][1]), node.inputs[socket])


class _Builder:
    """Builds the nodes of one source, each to the left of the node that uses it. Equal image nodes are reused."""

    def __init__(self, scene: Scene, tree: Block, x: float, y: float) -> None:
        self._scene, self._tree, self._x, self._y = scene, tree, x, y

    def output(self, source: Source, depth: int = 0) -> Block:
        if isinstance(source, ImageSource):
            return self._image(source, depth)
        node = self._new(source.node, depth)
        for name, value in MODES.get(source.node, {}).items():
            setattr(node, name, value)
        inputs_by_id = {item.identifier: item for item in node.inputs}
        for name, value in source.values:
            inputs_by_id[name].default_value = value
        for name, inner in source.inputs:
            self._tree.links.new(self.output(inner, depth + 1), inputs_by_id[name])
            self._y -= 140.0
        return node.outputs[OUTPUTS.get(source.node) or 0]

    def _image(self, source: ImageSource, depth: int) -> Block:
        for node in self._tree.nodes:
            uses_image = node.bl_idname == IMAGE and node.image is not None and node.image.name == source.image
            if uses_image and is_same(_placement(node), (source.repeat, source.projection)):
                return node.outputs[source.output]
        node = self._new(IMAGE, depth)
        node.image = self._scene.require(Kind.IMAGE, source.image, "/textures")
        if source.projection == "BOX":
            node.projection, node.projection_blend = "BOX", BOX_BLEND
        if source.repeat != 1.0 or source.projection == "BOX":
            output = "Object"
            if source.projection == "UV":
                output = "UV"
            self._tree.links.new(self._mapping(source.repeat, output, depth + 1), node.inputs["Vector"])
        return node.outputs[source.output]

    def _mapping(self, repeat: float, output: str, depth: int) -> Block:
        for node in self._tree.nodes:
            if node.bl_idname != MAPPING:
                continue
            links = node.inputs["Vector"].links
            if links and links[0].from_socket.name == output and same(repeat, node.inputs["Scale"].default_value[0]):
                return node.outputs["Vector"]
        mapping, coordinates = self._new(MAPPING, depth), self._new(COORDINATES, depth + 1)
        mapping.inputs["Scale"].default_value = (repeat,) * 3
        self._tree.links.new(coordinates.outputs[output], mapping.inputs["Vector"])
        return mapping.outputs["Vector"]

    def _new(self, kind: str, depth: int) -> Block:
        node = self._tree.nodes.new(kind)
        node.location = (self._x - 280.0 * depth, self._y)
        return node


def _remove_source(tree: Block, socket: Block) -> None:
    """Unlink a socket, and remove the nodes that lead only to it."""
    if not socket.is_linked:
        return
    node = socket.links[0].from_node
    tree.links.remove(socket.links[0])
    if any(output.is_linked for output in node.outputs):
        return
    for input_socket in list(node.inputs):
        _remove_source(tree, input_socket)
    tree.nodes.remove(node)
