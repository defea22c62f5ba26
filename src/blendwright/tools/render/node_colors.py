"""What colour a material made of nodes has on the whole.

Workbench, which takes quick pictures, shows the colour that a material has for viewports, and nodes do not write that one. Here the
node tree is followed from its output: constants as they are, ramps, checks and images by their mean, mixtures by their factor, and
those of material.ensure_procedural by their main colour. What cannot be known without rendering (a noise, an attribute) counts as a
middle grey, or as what the socket has without its link. Reads only.
"""

from __future__ import annotations

from collections.abc import Iterable

from blendwright.tool_api import Block
from blendwright.tools.material.pattern_parts import PREFIX

Color = tuple[float, float, float]
Surface = tuple[Color, float]
"""A colour and how opaque it is."""

GREY: Color = (0.5, 0.5, 0.5)
BLACK: Color = (0.0, 0.0, 0.0)
# Glass has to show what is behind it, and itself.
GLASS = 0.3
# Links can be made into a ring, which Blender marks and keeps.
DEEPEST = 48
# How many places of a ramp and of an image its mean is taken of.
RAMP_PLACES = 9
IMAGE_PLACES = 64


Groups = tuple[Block, ...]
"""The group nodes that the way back has led into."""


def viewport_color(material: Block) -> tuple[float, float, float, float] | None:
    """Red, green, blue and alpha of the surface; None where the nodes say nothing of it."""
    tree = material.node_tree
    if tree is None:
        output = None
    else:
        output = tree.get_output_node("ALL")
    if output is None:
        surface = None
    else:
        surface = _surface(output.inputs["Surface"], (), 0)
    if surface is None:
        return None
    red, green, blue = (min(max(part, 0.0), 1.0) for part in surface[0])
    return red, green, blue, min(max(surface[1], 0.0), 1.0)


def _surface(socket: Block, groups: Groups, depth: int) -> Surface | None:
    """What a shader comes to; None where nothing is linked that could be shown."""
    node, _, groups = _source(socket, groups)
    if node is None or depth > DEEPEST:
        return None

    def color(name: str) -> Color:
        return _color(node.inputs.get(name), groups, depth + 1)

    def value(name: str, otherwise: float) -> float:
        found = node.inputs.get(name)
        if found is None:
            return otherwise
        return _mean(_color(found, groups, depth + 1))

    if node.type == "BSDF_PRINCIPLED":
        strength = min(value("Emission Strength", 0.0), 1.0)
        if strength > 0.0:
            glow = color("Emission Color")
        else:
            glow = BLACK
        clear = value("Transmission Weight", 0.0)
        return _added(color("Base Color"), _times(glow, strength)), value("Alpha", 1.0) * (1.0 - clear * (1.0 - GLASS))
    if node.type == "EMISSION":
        return _times(color("Color"), min(value("Strength", 1.0), 1.0)), 1.0
    if node.type in {"MIX_SHADER", "ADD_SHADER"}:
        shaders = [each for each in node.inputs if each.type == "SHADER"]
        one, other = (_surface(each, groups, depth + 1) for each in shaders)
        if one is None or other is None:
            return one or other
        if node.type == "ADD_SHADER":
            return _added(one[0], other[0]), max(one[1], other[1])
        factor = _factor(node.inputs[0], groups, depth)
        return _mixed(one[0], other[0], factor), one[1] + (other[1] - one[1]) * factor
    if node.inputs.get("Color") is None:
        return None
    return color("Color"), GLASS if node.type in {"BSDF_GLASS", "BSDF_REFRACTION", "BSDF_TRANSPARENT"} else 1.0


def _color(socket: Block | None, groups: Groups, depth: int) -> Color:
    """The colour that comes into a socket; a value counts as a grey."""
    if socket is None or depth > DEEPEST:
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
        one, other = (_color(node.inputs[name], groups, depth + 1) for name in ("Color1", "Color2"))
        if node.name.startswith(PREFIX):
            return one
        return _mixed(one, other, 0.5)
    if node.type == "TEX_IMAGE":
        return _image(node.image) or _default(socket)
    if node.type == "COMBINE_COLOR" and node.mode == "RGB":
        red, green, blue = (_mean(_color(part, groups, depth + 1)) for part in list(node.inputs)[:3])
        return red, green, blue
    if node.type.startswith("TEX_"):
        return GREY
    # Curves, gamma, hue: what they make of a colour is near it.
    through = next((each for each in node.inputs if each.type == "RGBA" and each.enabled), None)
    if through is None:
        return _default(socket)
    return _color(through, groups, depth + 1)


def _source(socket: Block, groups: Groups) -> tuple[Block | None, Block, Groups]:
    """The node that gives a socket its value and the output that does so, past reroutes, muted nodes and the borders of groups;
    without a node, the socket whose own value counts."""
    for _ in range(DEEPEST):
        if socket.is_linked:
            link = next((link for link in socket.links if not link.is_muted), None)
        else:
            link = None
        if link is None:
            return None, socket, groups
        node, output = link.from_node, link.from_socket
        if node.type == "REROUTE":
            following = node.inputs[0]
        elif node.mute:
            following = next((each for each in node.inputs if each.type == output.type), None)
        elif node.type == "GROUP" and node.node_tree is not None:
            inside = next(
                (each for each in node.node_tree.nodes if each.type == "GROUP_OUTPUT" and each.is_active_output), None
            )
            if inside is None:
                following = None
            else:
                following = _by_identifier(inside.inputs, output.identifier)
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


def _by_identifier(sockets: Iterable[Block], identifier: str) -> Block | None:
    return next((each for each in sockets if each.identifier == identifier), None)


def _default(socket: Block) -> Color:
    value = getattr(socket, "default_value", None)
    if isinstance(value, int | float):
        return value, value, value
    if value is None or len(value) < 3 or isinstance(value, str):
        return GREY
    return value[0], value[1], value[2]


def _factor(socket: Block, groups: Groups, depth: int) -> float:
    """How much of the second there is; what depends on the place counts as a half."""
    node, end, groups = _source(socket, groups)
    if node is None:
        return min(max(_mean(_default(end)), 0.0), 1.0)
    if node.type in {"VALUE", "VALTORGB"}:
        return min(max(_mean(_color(socket, groups, depth + 1)), 0.0), 1.0)
    return 0.5


def _ramp(node: Block, groups: Groups, depth: int) -> Color:
    source, end, _ = _source(node.inputs[0], groups)
    places = [step / (RAMP_PLACES - 1) for step in range(RAMP_PLACES)]
    if source is None:
        places = [_mean(_default(end))]
    return _average(tuple(node.color_ramp.evaluate(place))[:3] for place in places)


def _mixture(node: Block, groups: Groups, depth: int) -> Color:
    colors = [each for each in node.inputs if each.enabled and each.name in {"A", "B", "Color1", "Color2"}]
    factors = [each for each in node.inputs if each.enabled and each.name in {"Factor", "Fac"}]
    if len(colors) != 2 or not factors:
        return GREY
    one, other = (_color(each, groups, depth + 1) for each in colors)
    if node.name.startswith(PREFIX):
        return one
    blend = getattr(node, "blend_type", "MIX")
    if blend == "MULTIPLY":
        other = (one[0] * other[0], one[1] * other[1], one[2] * other[2])
    elif blend == "ADD":
        other = _added(one, other)
    return _mixed(one, other, _factor(factors[0], groups, depth))


def _image(image: Block | None) -> Color | None:
    """The mean of a few pixels; None where there are none."""
    if image is None or image.channels < 3 or not len(image.pixels):
        return None
    channels, count = image.channels, len(image.pixels) // image.channels
    # A stride that no width of an image divides, so that the places are not all in one column.
    starts = [(place * (count // IMAGE_PLACES or 1) + place * 7) % count * channels for place in range(IMAGE_PLACES)]
    return _average(tuple(image.pixels[start : start + 3]) for start in starts)


def _average(colors: Iterable[Iterable[float]]) -> Color:
    columns = list(zip(*colors, strict=True))
    red, green, blue = (sum(column) / len(column) for column in columns)
    return red, green, blue


def _mean(color: Color) -> float:
    return sum(color) / 3.0


def _mixed(one: Color, other: Color, factor: float) -> Color:
    return _added(_times(one, 1.0 - factor), _times(other, factor))


def _added(one: Color, other: Color) -> Color:
    return (one[0] + other[0], one[1] + other[1], one[2] + other[2])


def _times(color: Color, factor: float) -> Color:
    return (color[0] * factor, color[1] * factor, color[2] * factor)
