"""Rounded edges of new objects: a bevel modifier, so that the rounding can be changed later."""

from typing import TYPE_CHECKING, Any, Protocol

from blendwright.tool_api import Block, Findings, Scene
from blendwright.tools.checks import differs

if TYPE_CHECKING:
    from blendwright.tools.modifier.settings import BevelSettings

BEVEL = "Bevel"


class Rounded(Protocol):
    """Arguments of a tool that can round edges."""

    bevel: float | None
    bevel_segments: int


def round_edges(scene: Scene, obj: Block, args: Rounded) -> None:
    """Add a bevel modifier if the arguments request one."""
    if args.bevel:
        from blendwright.tools.modifier import (
            blender_settings,  # imported late: it loads all modifier models, and few objects need them
        )

        modifier = obj.modifiers.new(BEVEL, "BEVEL")
        blender_settings.write(scene, obj, modifier, _settings(args))


def rounding_differs(scene: Scene, obj: Block, args: Rounded) -> Findings:
    """Yield a finding where an object differs from the result of `round_edges`."""
    if not args.bevel:
        return
    from blendwright.tools.modifier import blender_settings

    modifier = obj.modifiers.get(BEVEL)
    if modifier is None or modifier.type != "BEVEL":
        yield from differs("that a bevel rounds its edges", True, False, "/bevel")
    elif any(blender_settings.differences(scene, modifier, _settings(args))):
        yield from differs("that its bevel has the requested settings", True, False, "/bevel")


def _settings(args: Rounded) -> "BevelSettings":
    from blendwright.tools.modifier.settings import BevelSettings

    settings: dict[str, Any] = {"type": "BEVEL", "width": args.bevel, "segments": args.bevel_segments}
    return BevelSettings(**settings, limit_method="ANGLE", angle_limit_deg=30.0)
