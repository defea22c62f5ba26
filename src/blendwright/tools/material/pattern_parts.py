"""Building blocks of the patterns of material.ensure_procedural: nodes as data, and parts that several patterns share.

Does not use Blender. An input is a value, or `"node.Output"`: a link from the output of another node, by identifier.
Only types, identifiers and properties that exist in every supported Blender version are used.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, TypeAlias

# Prefix of the names of a pattern's nodes.
PREFIX = "Pattern "
Color: TypeAlias = tuple[float, float, float]
BLACK: Color = (0.0, 0.0, 0.0)
WHITE: Color = (1.0, 1.0, 1.0)


class Node(NamedTuple):
    """A shader node: its type without `ShaderNode`, its inputs by identifier, and its properties."""

    kind: str
    inputs: Mapping[str, Any]
    properties: Mapping[str, Any] = {}


# Nodes by id. A node uses only outputs of nodes before it.
Nodes: TypeAlias = dict[str, Node]


class Look(NamedTuple):
    """The complete parameters of a pattern."""

    color: Color
    color2: Color
    scale: float
    bump: float


def mixed(start: Color, end: Color, share: float) -> Color:
    """Return the colour at the given fraction between two colours."""
    red, green, blue = (round(a + (b - a) * share, 6) for a, b in zip(start, end, strict=True))
    return red, green, blue


# ---------------------------------------------------------------------- single nodes


def math(operation: str, *values: Any) -> Node:
    names = ("Value", "Value_001", "Value_002")
    return Node("Math", dict(zip(names, values, strict=False)), {"operation": operation})


def vector_math(operation: str, *values: Any) -> Node:
    names = ("Vector", "Vector_001", "Vector_002")
    inputs: dict[str, Any] = {}
    for name, value in zip(names, values, strict=False):
        if isinstance(value, float):
            inputs[name] = (value,) * 3
        else:
            inputs[name] = value
    return Node("VectorMath", inputs, {"operation": operation})


def noise(vector: str, scale: float, detail: float = 2.0, roughness: float = 0.5, distortion: float = 0.0) -> Node:
    inputs = {"Vector": vector, "Scale": scale, "Detail": detail, "Roughness": roughness, "Distortion": distortion}
    return Node("TexNoise", inputs)


def contrast(value: str, low: float, high: float) -> Node:
    """Return a node that maps the values from `low` to `high` smoothly to 0 to 1."""
    inputs = {"Value": value, "From Min": low, "From Max": high, "To Min": 0.0, "To Max": 1.0}
    return Node("MapRange", inputs, {"interpolation_type": "SMOOTHSTEP"})


def mix(factor: Any, a: Any, b: Any) -> Node:
    """Return a node that interpolates between two numbers."""
    return Node("Mix", {"Factor_Float": factor, "A_Float": a, "B_Float": b}, {"data_type": "FLOAT"})


def mix_colors(factor: Any, a: Any, b: Any, blend: str = "MIX") -> Node:
    inputs = {"Factor_Float": factor, "A_Color": opaque(a), "B_Color": opaque(b)}
    return Node("Mix", inputs, {"data_type": "RGBA", "blend_type": blend})


def opaque(color: Any) -> Any:
    if isinstance(color, str):
        return color
    return (*color, 1.0)


def bumps(look: Look, height: str, depth: float) -> Node:
    """Return a bump node. `depth` is the height of the bumps in metres."""
    return Node("Bump", {"Strength": look.bump, "Distance": depth, "Height": height})


# ---------------------------------------------------------------------- where a point is


def in_metres(look: Look, moved: float) -> Nodes:
    """Return nodes with the output `metres.Vector`: the position in the object's local space, in metres.

    The object's scale is included: a cube scaled to a plank has the pattern of a plank. Objects show different parts of
    the pattern, shifted by up to `moved` features at random, depending on their names.
    """
    nodes = {
        "place": Node("TexCoord", {}),
        "object scale": Node("Attribute", {}, {"attribute_type": "OBJECT", "attribute_name": "scale"}),
    }
    if not moved:
        return {**nodes, "metres": vector_math("MULTIPLY", "place.Object", "object scale.Vector")}
    return {
        **nodes,
        "object": Node("ObjectInfo", {}),
        "cut": math("MULTIPLY", "object.Random", moved / look.scale),
        "metres": vector_math("MULTIPLY_ADD", "place.Object", "object scale.Vector", "cut.Value"),
    }


def with_grain(look: Look, moved: float, along: float) -> Nodes:
    """Return nodes with the output `grain.Vector`: the position in metres, stretched along the longest side of the
    object.

    There are `along` times as many features along that side, so that features are long for a value below 1. If sides
    are equally long, the first one counts; the node `order` ensures this.
    """
    size = {"attribute_type": "OBJECT", "attribute_name": "dimensions"}
    stretch = {
        "Vector": "short.Vector",
        "From_Min_FLOAT3": (-1e-4,) * 3,
        "From_Max_FLOAT3": (0.0,) * 3,
        "To_Min_FLOAT3": (1.0,) * 3,
        "To_Max_FLOAT3": (along,) * 3,
    }
    return {
        **in_metres(look, moved),
        "size": Node("Attribute", {}, size),
        "order": vector_math("MULTIPLY", "size.Vector", (1.02, 1.01, 1.0)),
        "sides": Node("SeparateXYZ", {"Vector": "order.Vector"}),
        "longer": math("MAXIMUM", "sides.X", "sides.Y"),
        "longest": math("MAXIMUM", "longer.Value", "sides.Z"),
        "short": vector_math("SUBTRACT", "order.Vector", "longest.Value"),
        "stretch": Node("MapRange", stretch, {"data_type": "FLOAT_VECTOR"}),
        "grain": vector_math("MULTIPLY", "metres.Vector", "stretch.Vector"),
    }


def on_side(look: Look, moved: float) -> Nodes:
    """Return nodes with the output `on side.Vector`: 2D coordinates on the box side that a point faces, along the side
    and up.

    On top and bottom sides, the coordinates are those seen from above.
    """
    return {
        **in_metres(look, moved),
        "at": Node("SeparateXYZ", {"Vector": "metres.Vector"}),
        "facing": vector_math("ABSOLUTE", "place.Normal"),
        "faces": Node("SeparateXYZ", {"Vector": "facing.Vector"}),
        "more than y": math("SUBTRACT", "faces.X", "faces.Y"),
        "is x": math("GREATER_THAN", "more than y.Value", 0.01),
        "is z": math("GREATER_THAN", "faces.Z", 0.75),
        "along": mix("is x.Value", "at.X", "at.Y"),
        "up": mix("is z.Value", "at.Z", "at.Y"),
        "on side": Node("CombineXYZ", {"X": "along.Result_Float", "Y": "up.Result_Float"}),
    }
