"""Image textures of a Principled BSDF: what is asked for, how it is built of nodes, and how it is read back from them.

Each input that has a texture has a source: an image, perhaps by way of nodes that make a normal or a product of it. Sources are plain
values, so that what was asked for and what is there can be compared.
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
# Where the sides of a box meet, its images run into each other.
BOX_BLEND = 0.2


class Textures(Args):
    """Images of a Principled BSDF, by what they are for; what is left out stays as it is. All but colours are Non-Color."""

    base_color: ImageName | None = optional("Image of the surface colour.")
    ambient_occlusion: ImageName | None = optional("Image that darkens base_color, which must be given too.")
    metallic: ImageName | None = optional("Image of metallic.")
    roughness: ImageName | None = optional("Image of roughness.")
    gloss: ImageName | None = optional("Image of gloss, the contrary of roughness.")
    alpha: ImageName | None = optional("Image of opacity; the one of base_color gives its alpha channel.")
    emission: ImageName | None = optional("Image of emission_color.")
    normal: ImageName | None = optional("Normal map.")
    normal_directx: bool | None = optional("Whether the normal map has its green turned round, as DirectX has it.")
    normal_strength: float | None = optional("Strength of the normal map.", ge=0.0, le=10.0)
    height: ImageName | None = optional("Height map, shown as bumps.")
    bump_distance: float | None = optional("Height of its bumps in metres.", ge=0.0, le=100.0)
    repeat: float | None = optional(
        "How often the images repeat across the UV map, or in a metre.", gt=0.0, le=10_000.0
    )
    projection: Projection | None = optional("BOX lays them on from all sides, for meshes without a UV map; else UV.")


class ImageSource(NamedTuple):
    image: str
    output: str
    repeat: float
    projection: str


class NodeSource(NamedTuple):
    """One node with its values, and what comes in: by the identifier of the input."""

    node: str
    values: tuple[tuple[str, Any], ...]
    inputs: tuple[tuple[str, Any], ...]


Source: TypeAlias = ImageSource | NodeSource
# Of nodes with several sockets of one name: the index of the output.
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
# What a node is set to when it is made, before its sockets are used.
MODES: dict[str, dict[str, Any]] = {
    MIX: {"data_type": "RGBA", "blend_type": "MULTIPLY"},
    VECTOR_MATH: {"operation": "MULTIPLY_ADD"},
}
COLOURS = ("base_color", "emission", "ambient_occlusion")
IMAGES = (
    "base_color", "ambient_occlusion", "metallic", "roughness", "gloss", "alpha", "emission", "normal", "height",
)  # fmt: skip


def wanted_sources(textures: Textures) -> dict[str, tuple[str, Source]]:
    """For each input that is to have a texture: the argument that asks for it, and its source."""
    repeat = textures.repeat or 1.0

    def image(name: str, output: str = "Color") -> ImageSource:
        return ImageSource(name, output, repeat, textures.projection or "UV")

    found: dict[str, tuple[str, Source]] = {}
    if textures.base_color is not None:
        color: Source = image(textures.base_color)
        if textures.ambient_occlusion is not None:
            parts = (("A_Color", color), ("B_Color", image(textures.ambient_occlusion)))
            color = NodeSource(MIX, (("Factor_Float", 1.0),), parts)
        found["Base Color"] = ("base_color", color)
    if textures.metallic is not None:
        found["Metallic"] = ("metallic", image(textures.metallic))
    if textures.roughness is not None:
        found["Roughness"] = ("roughness", image(textures.roughness))
    if textures.gloss is not None:
        found["Roughness"] = ("gloss", NodeSource(INVERT, (), (("Color", image(textures.gloss)),)))
    if textures.alpha is not None:
        if textures.alpha == textures.base_color:
            output = "Alpha"
        else:
            output = "Color"
        found["Alpha"] = ("alpha", image(textures.alpha, output))
    if textures.emission is not None:
        found["Emission Color"] = ("emission", image(textures.emission))
    if textures.normal is not None or textures.height is not None:
        found["Normal"] = ("normal" if textures.normal is not None else "height", _normal(textures, image))
    return found


def _normal(textures: Textures, image: Any) -> Source:
    normal: Source | None = None
    if textures.normal is not None:
        color: Source = image(textures.normal)
        if textures.normal_directx:
            color = NodeSource(VECTOR_MATH, FLIPPED_GREEN, (("Vector", color),))
        if textures.normal_strength is None:
            strength = 1.0
        else:
            strength = textures.normal_strength
        normal = NodeSource(NORMAL_MAP, (("Strength", strength),), (("Color", color),))
    if textures.height is None:
        assert normal is not None
        return normal
    if textures.bump_distance is None:
        distance = 0.01
    else:
        distance = textures.bump_distance
    inputs = (("Height", image(textures.height)), *((("Normal", normal),) if normal is not None else ()))
    return NodeSource(BUMP, (("Distance", distance),), inputs)


def source_of(socket: Block) -> Source | None:
    """What comes into a socket, as far as it is of the kinds that are built here; None for anything else, or nothing."""
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
    by_id = {each.identifier: each for each in node.inputs}
    inputs: list[tuple[str, Source]] = []
    for name in INPUTS[kind]:
        if by_id[name].is_linked:
            source = source_of(by_id[name])
            if source is None:
                return None
            inputs.append((name, source))
    values = tuple((name, _plain(by_id[name].default_value)) for name in VALUES[kind])
    return NodeSource(kind, values, tuple(inputs))


def _placement(node: Block) -> tuple[float, str] | None:
    """How often an image repeats, and by which projection; None where its coordinates come from elsewhere."""
    if not node.inputs["Vector"].is_linked:
        if node.projection == "FLAT":
            return (1.0, "UV")
        return None
    mapping = node.inputs["Vector"].links[0].from_node
    if mapping.bl_idname != MAPPING or not mapping.inputs["Vector"].is_linked:
        return None
    link = mapping.inputs["Vector"].links[0]
    scale = tuple(mapping.inputs["Scale"].default_value)
    known = {("FLAT", "UV"): "UV", ("BOX", "Object"): "BOX"}
    projection = known.get((node.projection, link.from_socket.name))
    if link.from_node.bl_idname != COORDINATES or len(set(scale)) > 1 or projection is None:
        return None
    return scale[0], projection


def _plain(value: Any) -> Any:
    if hasattr(value, "__len__"):
        return tuple(value)
    return value


def is_same(one: Any, other: Any) -> bool:
    """Whether two sources are equal within single precision."""
    if isinstance(one, tuple) and isinstance(other, tuple):
        return len(one) == len(other) and all(is_same(a, b) for a, b in zip(one, other, strict=True))  # pyright: ignore
    return same(one, other)


def texture_problems(scene: Scene, textures: Textures, node: Block | None, material: str) -> Findings:
    """Why these images cannot be textures of this node."""
    if textures.ambient_occlusion is not None and textures.base_color is None:
        yield conflict(
            "ambient_occlusion darkens a base_color image, and none is given",
            "/textures/ambient_occlusion",
            "Give base_color too.",
        )
    if textures.gloss is not None and textures.roughness is not None:
        yield conflict("gloss is the contrary of roughness", "/textures/gloss", "Give one of them.")
    for role in IMAGES:
        name, at = getattr(textures, role), f"/textures/{role}"
        if name is None:
            continue
        image = yield from existing(scene, Kind.IMAGE, name, at)
        is_data = role not in COLOURS and not (role == "alpha" and name == textures.base_color)
        if image is not None and is_data and image.colorspace_settings.name != DATA:
            message = f"image '{name}' is {image.colorspace_settings.name}, and {role} is no colour"
            yield conflict(message, at, f"Load or create it with color_space {DATA}.")
    if node is None:
        return
    for socket, (role, _) in wanted_sources(textures).items():
        held = node.inputs[socket]
        if held.is_linked and source_of(held) is None:
            message = f"the {socket} of material '{material}' comes from its node '{held.links[0].from_node.name}'"
            yield conflict(message, f"/textures/{role}", unlink_cure(material, held))


def unlink_cure(material: str, socket: Block) -> str:
    """The call that makes a linked input free, as a program writes it and as JSON has it."""
    target, to = {"material": material}, {"node_id": socket.node.name, "socket": socket.name}
    operations = [{"op": "unlink", "to": to}]
    call = f"nodes.apply_tree(target={_json(target)}, operations={_json(operations)})"
    return f"Call {call} first, or leave it out."


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def texture_differences(textures: Textures, node: Block) -> Iterator[tuple[str, str]]:
    """The inputs whose source is another one than is wanted, each with the argument."""
    for socket, (role, source) in wanted_sources(textures).items():
        if not is_same(source_of(node.inputs[socket]), source):
            yield socket, role


def build_textures(scene: Scene, textures: Textures, tree: Block, node: Block) -> None:
    """Give inputs the sources that they lack. The tree may be written into freely."""
    wanted = wanted_sources(textures)
    for socket, _ in list(texture_differences(textures, node)):
        _remove_source(tree, node.inputs[socket])
        builder = _Builder(scene, tree, node.location[0] - 300.0, node.location[1] - 280.0 * list(wanted).index(socket))
        tree.links.new(builder.output(wanted[socket][1]), node.inputs[socket])


class _Builder:
    """Makes the nodes of one source, each left of the one that it leads to. Images of one name are one node."""

    def __init__(self, scene: Scene, tree: Block, x: float, y: float) -> None:
        self._scene, self._tree, self._x, self._y = scene, tree, x, y

    def output(self, source: Source, depth: int = 0) -> Block:
        if isinstance(source, ImageSource):
            return self._image(source, depth)
        node = self._new(source.node, depth)
        for name, value in MODES.get(source.node, {}).items():
            setattr(node, name, value)
        by_id = {each.identifier: each for each in node.inputs}
        for name, value in source.values:
            by_id[name].default_value = value
        for name, inner in source.inputs:
            self._tree.links.new(self.output(inner, depth + 1), by_id[name])
            self._y -= 140.0
        return node.outputs[OUTPUTS.get(source.node) or 0]

    def _image(self, source: ImageSource, depth: int) -> Block:
        for node in self._tree.nodes:
            is_it = node.bl_idname == IMAGE and node.image is not None and node.image.name == source.image
            if is_it and is_same(_placement(node), (source.repeat, source.projection)):
                return node.outputs[source.output]
        node = self._new(IMAGE, depth)
        node.image = self._scene.require(Kind.IMAGE, source.image, "/textures")
        if source.projection == "BOX":
            node.projection, node.projection_blend = "BOX", BOX_BLEND
        if source.repeat != 1.0 or source.projection == "BOX":
            if source.projection == "UV":
                output = "UV"
            else:
                output = "Object"
            self._tree.links.new(self._mapping(source.repeat, output, depth + 1), node.inputs["Vector"])
        return node.outputs[source.output]

    def _mapping(self, repeat: float, output: str, depth: int) -> Block:
        for node in self._tree.nodes:
            if node.bl_idname == MAPPING:
                links = node.inputs["Vector"].links
            else:
                links = ()
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
    """Remove what leads to a socket and to nothing else."""
    if not socket.is_linked:
        return
    node = socket.links[0].from_node
    tree.links.remove(socket.links[0])
    if any(output.is_linked for output in node.outputs):
        return
    for each in list(node.inputs):
        _remove_source(tree, each)
    tree.nodes.remove(node)
