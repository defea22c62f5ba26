"""Patterns of material.ensure_procedural: the nodes of each pattern as data, and its defaults.

Every object shows another part of a pattern, depending on its name. Only the joints of bricks begin at the object's
origin.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple

from blendwright.tools.material.pattern_parts import (
    BLACK,
    WHITE,
    Color,
    Look,
    Node,
    Nodes,
    bumps,
    contrast,
    in_metres,
    math,
    mix,
    mix_colors,
    mixed,
    noise,
    on_side,
    opaque,
    vector_math,
    with_grain,
)

Pattern = Literal["WOOD", "STONE", "MARBLE", "BRICK", "PLASTER", "FABRIC", "BRUSHED_METAL"]
# Input of the Principled BSDF -> the output of the pattern that is linked to it. The first input of the node `color` is
# the main colour.
SURFACE = {"Base Color": "color.Result_Color", "Normal": "bump.Normal"}
# Weights of red, green and blue in the luminance, and the luminance below which a colour has no darker shade.
LUMINANCE = (0.2126, 0.7152, 0.0722)
DARK = 0.02
MORTAR: Color = (0.45, 0.43, 0.4)


class Style(NamedTuple):
    """The defaults and nodes of a pattern.

    `shade` is the brightness of the second colour relative to the main colour. `nodes` returns the nodes; the last two
    are `color` and `bump`.
    """

    scale: float
    roughness: float
    metallic: float
    bump: float
    shade: float
    nodes: Callable[[Look], Nodes]


def second_color(pattern: Pattern, color: Color) -> Color:
    """Return the default second colour: a darker shade of the main colour, a lighter one if it is nearly black, or
    mortar for bricks.
    """
    if pattern == "BRICK":
        return mixed(color, MORTAR, 0.8)
    if sum(part * weight for part, weight in zip(color, LUMINANCE, strict=True)) < DARK:
        return mixed(color, WHITE, 0.15)
    return mixed(BLACK, color, STYLES[pattern].shade)


def _wood(look: Look) -> Nodes:
    """Return rings that are long along the grain, as in boards, with fibres."""
    rings = {
        "Vector": "ring place.Vector",
        "Scale": look.scale / 3.18,  # results in `look.scale` rings per metre
        "Distortion": 1.0,
        "Detail": 2.0,
        "Detail Scale": 1.0,
        "Detail Roughness": 0.6,
    }
    shape = {"wave_type": "RINGS", "rings_direction": "SPHERICAL", "wave_profile": "SIN"}
    return {
        **with_grain(look, 12.0, 0.07),
        "growth": noise("grain.Vector", look.scale * 0.25, 2.0),
        "ring place": vector_math("MULTIPLY_ADD", "growth.Color", 4.0 / look.scale, "grain.Vector"),
        "rings": Node("TexWave", rings, shape),
        "fibre place": vector_math("MULTIPLY", "grain.Vector", "stretch.Vector"),
        "fibres": noise("fibre place.Vector", look.scale * 10.0, 5.0, 0.65),
        "tone": noise("grain.Vector", look.scale * 0.6, 3.0),
        "late wood": math("POWER", "rings.Fac", 2.0),
        "lines": contrast("fibres.Fac", 0.3, 0.7),
        "figure": mix(0.5, "late wood.Value", "lines.Result"),
        "all": mix(0.3, "figure.Result_Float", "tone.Fac"),
        "shown": contrast("all.Result_Float", 0.15, 0.8),
        "color": mix_colors("shown.Result", look.color, look.color2),
        "bump": bumps(look, "figure.Result_Float", 0.03 / look.scale),
    }


def _stone(look: Look) -> Nodes:
    """Return patches of several sizes, speckles and a rough surface."""
    return {
        **in_metres(look, 30.0),
        "patches": noise("metres.Vector", look.scale, 8.0, 0.65, 0.6),
        "speckles": noise("metres.Vector", look.scale * 25.0, 2.0, 0.8),
        "face": noise("metres.Vector", look.scale * 2.5, 12.0, 0.6),
        "shown": contrast("patches.Fac", 0.65, 0.35),
        "ground": mix_colors("shown.Result", look.color, look.color2),
        "color": mix_colors(0.8, "ground.Result_Color", "speckles.Fac", "SOFT_LIGHT"),
        "bump": bumps(look, "face.Fac", 0.3 / look.scale),
    }


def _marble(look: Look) -> Nodes:
    """Return veins at the middle values of a distorted noise: strong veins with a faint seam, and fine veins between
    them.
    """
    return {
        **in_metres(look, 30.0),
        **_veins("", noise("metres.Vector", look.scale, 6.0, 0.55, 1.6), 0.03),
        **_veins("fine ", noise("metres.Vector", look.scale * 3.5, 4.0, 0.5, 1.0), 0.02),
        "seam": contrast("off vein.Value", 0.14, 0.0),
        "clouds": noise("metres.Vector", look.scale * 0.7, 3.0),
        "strong": math("MULTIPLY", "vein.Result", "clouds.Fac"),
        "faint": math("MULTIPLY_ADD", "seam.Result", 0.3, "strong.Value"),
        "veins": math("MULTIPLY_ADD", "fine vein.Result", 0.25, "faint.Value"),
        "color": mix_colors("veins.Value", look.color, look.color2),
        "bump": bumps(look, "veins.Value", 0.01 / look.scale),
    }


def _veins(size: str, bends: Node, width: float) -> Nodes:
    return {
        f"{size}bends": bends,
        f"{size}off middle": math("SUBTRACT", f"{size}bends.Fac", 0.5),
        f"{size}off vein": math("ABSOLUTE", f"{size}off middle.Value"),
        f"{size}vein": contrast(f"{size}off vein.Value", width, 0.0),
    }


def _brick(look: Look) -> Nodes:
    """Return courses of bricks with mortar on each side of a box."""
    bricks = {
        "Vector": "on side.Vector",
        "Color1": opaque(look.color),
        "Color2": opaque(mixed(BLACK, look.color, 0.6)),
        "Mortar": opaque(look.color2),
        "Scale": look.scale,
        "Mortar Size": 0.022,
        "Mortar Smooth": 0.3,
        "Bias": 0.0,
        "Brick Width": 1.0,
        "Row Height": 1.0 / 3.0,
    }
    return {
        **on_side(look, 0.0),
        "bricks": Node("TexBrick", bricks),
        "mottle": noise("metres.Vector", look.scale * 6.0, 8.0, 0.65),
        "color": mix_colors(0.5, "bricks.Color", "mottle.Fac", "SOFT_LIGHT"),
        "face": math("MULTIPLY", "mottle.Fac", 0.4),
        "height": math("SUBTRACT", "face.Value", "bricks.Fac"),
        "bump": bumps(look, "height.Value", 0.03 / look.scale),
    }


def _plaster(look: Look) -> Nodes:
    """Return a mottled surface: soft clouds of two sizes, and a fine relief."""
    return {
        **in_metres(look, 30.0),
        "clouds": noise("metres.Vector", look.scale, 6.0, 0.6, 0.3),
        "grains": noise("metres.Vector", look.scale * 12.0, 6.0, 0.6),
        "both": mix(0.3, "clouds.Fac", "grains.Fac"),
        "shown": contrast("both.Result_Float", 0.68, 0.32),
        "color": mix_colors("shown.Result", look.color, look.color2),
        "bump": bumps(look, "grains.Fac", 0.06 / look.scale),
    }


def _fabric(look: Look) -> Nodes:
    """Return crossing threads that are slightly uneven."""
    far = 2.0 / look.scale
    return {
        **on_side(look, 30.0),
        "pull": noise("metres.Vector", look.scale * 0.15, 2.0),
        "pulled": vector_math("MULTIPLY_ADD", "pull.Color", (far, far, 0.0), "on side.Vector"),
        "turns": vector_math("MULTIPLY", "pulled.Vector", 6.2832 * look.scale),
        "waves": vector_math("SINE", "turns.Vector"),
        "weave": vector_math("DOT_PRODUCT", "waves.Vector", (0.25,) * 3),
        "uneven": noise("metres.Vector", look.scale * 0.5, 4.0, 0.7),
        "worn": noise("metres.Vector", look.scale * 0.05, 3.0),
        "both": mix(0.4, "uneven.Fac", "worn.Fac"),
        "height": math("ADD", "weave.Value", "both.Result_Float"),
        "shown": contrast("height.Value", 1.0, 0.0),
        "color": mix_colors("shown.Result", look.color, look.color2),
        "bump": bumps(look, "height.Value", 0.3 / look.scale),
    }


def _brushed_metal(look: Look) -> Nodes:
    """Return fine scratches along the longest side."""
    return {
        **with_grain(look, 30.0, 0.006),
        "scratches": noise("grain.Vector", look.scale * 0.3, 8.0, 0.8),
        "shown": contrast("scratches.Fac", 0.64, 0.36),
        "color": mix_colors("shown.Result", look.color, look.color2),
        "bump": bumps(look, "scratches.Fac", 0.02 / look.scale),
    }


STYLES: dict[Pattern, Style] = {
    "WOOD": Style(25.0, 0.5, 0.0, 0.3, 0.4, _wood),
    "STONE": Style(6.0, 0.85, 0.0, 0.6, 0.45, _stone),
    "MARBLE": Style(3.0, 0.15, 0.0, 0.1, 0.3, _marble),
    "BRICK": Style(4.5, 0.85, 0.0, 0.7, 0.6, _brick),
    "PLASTER": Style(6.0, 0.9, 0.0, 0.4, 0.65, _plaster),
    "FABRIC": Style(100.0, 0.95, 0.0, 0.5, 0.45, _fabric),
    "BRUSHED_METAL": Style(120.0, 0.35, 1.0, 0.2, 0.65, _brushed_metal),
}
