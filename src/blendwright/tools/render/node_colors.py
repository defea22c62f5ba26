"""The average colour of a material that is made of nodes.

WORKBENCH, which renders quick pictures, shows a material's viewport colour, and nodes do not set that colour. This module
follows the node tree from its output. Constants count as they are; ramps, checkers and images by their mean; mixtures by
their factor; textures of material.ensure_procedural by their main colour. A part that only rendering can determine (a noise,
an attribute) counts as a middle grey, or as the value of its socket without a link. Reads only.
"""

from __future__ import annotations

from collections.abc import Iterable

from blendwright.tool_api import Block
from blendwright.tools.material.pattern_parts import PREFIX

Color = tuple[float, float, float]
Surface = tuple[Color, float]
"""A colour, and its opacity from 0 to 1."""

GREY: Color = (0.5, 0.5, 0.5)
BLACK: Color = (0.0, 0.0, 0.0)
# Opacity of glass, so that a picture shows both the glass and what is behind it.
GLASS = 0.3
# Largest number of nodes on a path, because links can form a cycle, which Blender marks and keeps.
MAX_DEPTH = 48
# Number of positions of a ramp and of pixels of an image that a mean is calculated from.
RAMP_SAMPLES = 9
IMAGE_SAMPLES = 64


Groups = tuple[Block, ...]
"""The group nodes around the present node, the outermost first."""


def viewport_color(material: Block) -> tuple[float, float, float, float] | None:
    """Return red, green, blue and alpha of the surface, or None if the nodes determine no surface."""
    tree = material.node_tree
    if tree is None:
        return None
    output = tree.get_output_node("ALL")
    if output is None:
        return None
    surface = _surface(output.inputs["Surface"], (), 0)
    if surface is None:
        return None
    red, green, blue = (min(max(part, 0.0), 1.0) for part in surface[0])
    return red, green, blue, min(max(surface[1], 0.0), 1.0)


def _surface(socket: Block, groups: Groups, depth: int) -> Surface | None:
    """Return the colour and opacity of the shader that is linked to a socket, or None if there is no usable one."""
    node, _, groups = _source(socket, groups)
    if node is None or depth > MAX_DEPTH:
        return None

    def color(name: str) -> Color:
        return _color(node.inputs.get(name), groups, depth + 1)

    def value(name: str, default: float) -> float:
        value_socket = node.inputs.get(name)
        if value_socket is None:
            return default
        return _mean(_color(value_socket, groups, depth + 1))

    if node.type == "BSDF_PRINCIPLED":
        strength = min(value("Emission Strength", 0.0), 1.0)
        glow = BLACK
        if strength > 0.0:
            glow = color("Emission Color")
        transmission = value("Transmission Weight", 0.0)
        opacity = value("Alpha", 1.0) * (1.0 - transmission * (1.0 - GLASS))
        return _added(color("Base Color"), _times(glow, strength)), opacity
    if node.type == "EMISSION":
        return _times(color("Color"), min(value("Strength", 1.0), 1.0)), 1.0
    if node.type in {"MIX_SHADER", "ADD_SHADER"}:
        shader_inputs = [candidate for candidate in node.inputs if candidate.type == "SHADER"]
        first = _surface(shader_inputs[0], groups, depth + 1)
        second = _surface(shader_inputs[1], groups, depth + 1)
        if first is None or second is None:
            return first or second
        if node.type == "ADD_SHADER":
            return _added(first[0], second[0]), max(first[1], second[1])
        factor = _factor(node.inputs[0], groups, depth)
        return _mixed(first[0], second[0], factor), first[1] + (second[1] - first[1]) * factor
    if node.inputs.get("Color") is None:
        return None
    if node.type in {"BSDF_GLASS", "BSDF_REFRACTION", "BSDF_TRANSPARENT"}:
        return color("Color"), GLASS
    return color("Color"), 1.0


def _color(socket: Block | None, groups: Groups, depth: int) -> Color:
    """Return the colour of a socket from its links, or from its value without a link. A number counts as a grey."""
    if socket is None or depth > MAX_DEPTH:
        return GREY
    node, end, groups = _source(socket, groups)
    if node is None:
        return _default(end)
    if node.type in {"RGB", "VALUE"}:
        return _default(end)
    if node.type == "VALTORGB":
        return _ramp(node, groups, depth)
    if node.type in {"MIX", "MIX_RGB"}:
        return _mixture(node, groups, depth)
    if node.type in {"TEX_CHECKER", "TEX_BRICK"}:
        first = _color(node.inputs["Color1"], groups, depth + 1)
        second = _color(node.inputs["Color2"], groups, depth + 1)
        if node.name.startswith(PREFIX):
            return first
        return _mixed(first, second, 0.5)
    if node.type == "TEX_IMAGE":
        return _image(node.image) or _default(socket)
    if node.type == "COMBINE_COLOR" and node.mode == "RGB":
        red, green, blue = (_mean(_color(part, groups, depth + 1)) for part in list(node.inputs)[:3])
        return red, green, blue
    if node.type.startswith("TEX_"):
        return GREY
    # Curves, gamma and hue change a colour only a little.
    color_input = next((candidate for candidate in node.inputs if candidate.type == "RGBA" and candidate.enabled), None)
    if color_input is None:
        return _default(socket)
    return _color(color_input, groups, depth + 1)


def _source(socket: Block, groups: Groups) -> tuple[Block | None, Block, Groups]:
    """Return the node that supplies a socket, its output, and the groups around it. Skip reroutes, muted nodes and groups.

    Without a node, return None and the socket whose own value applies.
    """
    for _ in range(MAX_DEPTH):
        link = None
        if socket.is_linked:
            link = next((candidate for candidate in socket.links if not candidate.is_muted), None)
        if link is None:
            return None, socket, groups
        node, output = link.from_node, link.from_socket
        if node.type == "REROUTE":
            following = node.inputs[0]
        elif node.mute:
            following = next((candidate for candidate in node.inputs if candidate.type == output.type), None)
        elif node.type == "GROUP" and node.node_tree is not None:
            group_output = _group_output(node.node_tree)
            following = None
            if group_output is not None:
                following = _by_identifier(group_output.inputs, output.identifier)
            groups = (*groups, node)
        elif node.type == "GROUP_INPUT" and groups:
            following = _by_identifier(groups[-1].inputs, output.identifier)
            groups = groups[:-1]
        else:
            return node, output, groups
        if following is None:
            return None, socket, groups
        socket = following
    return None, socket, groups


def _group_output(tree: Block) -> Block | None:
    for node in tree.nodes:
        if node.type == "GROUP_OUTPUT" and node.is_active_output:
            return node
    return None


def _by_identifier(sockets: Iterable[Block], identifier: str) -> Block | None:
    return next((socket for socket in sockets if socket.identifier == identifier), None)


def _default(socket: Block) -> Color:
    value = getattr(socket, "default_value", None)
    if isinstance(value, int | float):
        return value, value, value
    if value is None or len(value) < 3 or isinstance(value, str):
        return GREY
    return value[0], value[1], value[2]


def _factor(socket: Block, groups: Groups, depth: int) -> float:
    """Return the share of the second input of a mixture. A factor that varies over the surface counts as a half."""
    node, end, groups = _source(socket, groups)
    if node is None:
        return min(max(_mean(_default(end)), 0.0), 1.0)
    if node.type in {"VALUE", "VALTORGB"}:
        return min(max(_mean(_color(socket, groups, depth + 1)), 0.0), 1.0)
    return 0.5


def _ramp(node: Block, groups: Groups, depth: int) -> Color:
    source, end, _ = _source(node.inputs[0], groups)
    positions = [step / (RAMP_SAMPLES - 1) for step in range(RAMP_SAMPLES)]
    if source is None:
        positions = [_mean(_default(end))]
    return _average(tuple(node.color_ramp.evaluate(position))[:3] for position in positions)


def _mixture(node: Block, groups: Groups, depth: int) -> Color:
    enabled = [socket for socket in node.inputs if socket.enabled]
    colors = [socket for socket in enabled if socket.name in {"A", "B", "Color1", "Color2"}]
    factors = [socket for socket in enabled if socket.name in {"Factor", "Fac"}]
    if len(colors) != 2 or not factors:
        return GREY
    first = _color(colors[0], groups, depth + 1)
    second = _color(colors[1], groups, depth + 1)
    if node.name.startswith(PREFIX):
        return first
    blend = getattr(node, "blend_type", "MIX")
    if blend == "MULTIPLY":
        second = (first[0] * second[0], first[1] * second[1], first[2] * second[2])
    elif blend == "ADD":
        second = _added(first, second)
    return _mixed(first, second, _factor(factors[0], groups, depth))


def _image(image: Block | None) -> Color | None:
    """Return the mean colour of a few pixels, or None if the image has no coloured pixels."""
    if image is None or image.channels < 3 or not len(image.pixels):
        return None
    channels, count = image.channels, len(image.pixels) // image.channels
    # The extra 7 pixels per step spread the samples over the columns of the image.
    stride = (count // IMAGE_SAMPLES or 1) + 7
    starts = [number * stride % count * channels for number in range(IMAGE_SAMPLES)]
    return _average(tuple(image.pixels[start : start + 3]) for start in starts)


def _average(colors: Iterable[Iterable[float]]) -> Color:
    columns = list(zip(*colors, strict=True))
    red, green, blue = (sum(column) / len(column) for column in columns)
    return red, green, blue


def _mean(color: Color) -> float:
    return sum(color) / 3.0


def _mixed(first: Color, second: Color, factor: float) -> Color:
    return _added(_times(first, 1.0 - factor), _times(second, factor))


def _added(first: Color, second: Color) -> Color:
    return (first[0] + second[0], first[1] + second[1], first[2] + second[2])


def _times(color: Color, factor: float) -> Color:
    return (color[0] * factor, color[1] * factor, color[2] * factor)
