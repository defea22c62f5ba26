"""Colour spaces of images: which this Blender knows, and how colours are stored in one."""

from __future__ import annotations

from blendwright.tool_api import Findings, Scene
from blendwright.tools.checks import invalid
from blendwright.values.findings import did_you_mean

DATA = "Non-Color"
ENCODED = "sRGB"


def color_space_problems(scene: Scene, name: str | None, at: str = "/color_space") -> Findings:
    """A finding when this Blender knows no colour space of that name."""
    if name is None:
        return
    known = scene.choices(scene.active.sequencer_colorspace_settings, "name")
    if name not in known:
        usual = [each for each in (ENCODED, "Linear Rec.709", DATA) if each in known]
        cure = did_you_mean(name, known, otherwise=f"Usual ones are {', '.join(usual)}.")
        yield invalid(f"this Blender knows no colour space '{name}'", at, cure)


def encoded(value: float) -> float:
    """A linear value as sRGB stores it; beyond 1 the curve goes on."""
    if value <= 0.0031308:
        return value * 12.92
    return 1.055 * value ** (1 / 2.4) - 0.055
