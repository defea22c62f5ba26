"""Colour spaces of images: which ones this Blender supports, and how sRGB stores a colour."""

from __future__ import annotations

from blendwright.tool_api import Findings, Scene
from blendwright.tools.checks import invalid
from blendwright.values.findings import did_you_mean

DATA = "Non-Color"
ENCODED = "sRGB"


def color_space_problems(scene: Scene, name: str | None, at: str = "/color_space") -> Findings:
    """Yield a finding if this Blender does not support the named colour space."""
    if name is None:
        return
    supported = scene.choices(scene.active.sequencer_colorspace_settings, "name")
    if name not in supported:
        usual = [space for space in (ENCODED, "Linear Rec.709", DATA) if space in supported]
        fix = did_you_mean(name, supported, otherwise=f"Common ones are {', '.join(usual)}.")
        yield invalid(f"this Blender has no colour space '{name}'", at, fix)


def encoded(value: float) -> float:
    """Return the sRGB encoding of a linear value; values above 1 continue the curve."""
    if value <= 0.0031308:
        return value * 12.92
    return 1.055 * value ** (1 / 2.4) - 0.055
