"""What the patterns of material.ensure_procedural are put together from: nodes as data, and the parts that several patterns share.

Knows nothing of Blender. An input is given as a value, or as `"node.Output"`: the output of another node, by its identifier, that is
linked to it. Only types, identifiers and properties that every supported Blender has.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, TypeAlias

# What the names of a pattern's nodes begin with.
PREFIX = "Pattern "
Color: TypeAlias = tuple[float, float, float]
BLACK: Color = (0.0, 0.0, 0.0)
WHITE: Color = (1.0, 1.0, 1.0)


class Node(NamedTuple):
    """A node: its type without `ShaderNode`, its inputs by identifier, and its properties."""

    kind: str
    inputs: Mapping[str, Any]
    properties: Mapping[str, Any] = {}


# By id; a node takes only from those before it.
Nodes: TypeAlias = dict[str, Node]


class Look(NamedTuple):
    """What a pattern is made with; nothing is left open."""

    color: Color
    color2: Color
    scale: float
    bump: float


def mixed(one: Color, other: Color, share: float) -> Color:
    red, green, blue = (round(a + (b - a) * share, 6) for a, b in zip(one, other, strict=True))
    return red, green, blue


# ---------------------------------------------------------------------- single nodes


def math(operation: str, *values: Any) -> Node:
    names = ("Value", "Value_001", "Value_002")
    return Node("Math", dict(zip(names, values, strict=False)), {"operation": operation})


def vector_math(operation: str, *values: Any) -> Node:
    names = ("Vector", "Vector_001", "Vector_002")
    inputs = {
        name: (value,) * 3 if isinstance(value, float) else value for name, value in zip(names, values, strict=False)
    }
    return Node("VectorMath", inputs, {"operation": operation})


def noise(vector: str, scale: float, detail: float = 2.0, roughness: float = 0.5, distortion: float = 0.0) -> Node:
    inputs = {"Vector": vector, "Scale": scale, "Detail": detail, "Roughness": roughness, "Distortion": distortion}
    return Node("TexNoise", inputs)


def contrast(value: str, low: float, high: float) -> Node:
    """0 to 1 over a part of a texture's range."""
    inputs = {"Value": value, "From Min": low, "From Max": high, "To Min": 0.0, "To Max": 1.0}
    return Node("MapRange", inputs, {"interpolation_type": "SMOOTHSTEP"})


def mix(factor: Any, one: Any, other: Any) -> Node:
    """A number between two."""
    return Node("Mix", {"Factor_Float": factor, "A_Float": one, "B_Float": other}, {"data_type": "FLOAT"})


def mix_colors(factor: Any, one: Any, other: Any, blend: str = "MIX") -> Node:
    inputs = {"Factor_Float": factor, "A_Color": opaque(one), "B_Color": opaque(other)}
    return Node("Mix", inputs, {"data_type": "RGBA", "blend_type": blend})


def opaque(color: Any) -> Any:
    if isinstance(color, str):
        return color
    return (*color, 1.0)


def bumps(look: Look, height: str, depth: float) -> Node:
    """`depth` is the height of the bumps in metres."""
    return Node("Bump", {"Strength": look.bump, "Distance": depth, "Height": height})


# ---------------------------------------------------------------------- where a point is


def in_metres(look: Look, moved: float) -> Nodes:
    """`metres.Vector`: where a point is in the object, whose scale counts: a cube that was scaled to a plank is a plank.

    `moved` is by how many features at most, by their names, objects have other cuts of the pattern."""
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
    """`grain.Vector`: the same, but that features are long along the longest side of the object: there are `along` times as many.

    Of equal sides the first counts, which is what `order` is for."""
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
    """`on side.Vector`: where a point is on the side of the box that it faces with, along it and up; on its top as seen from above."""
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
