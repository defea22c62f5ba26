"""Drivers on F-curves that are not in `animation_data.drivers`.

An F-curve of an action or of an NLA strip has the same pointer to a driver as a driver curve. Blender saves, loads and evaluates it.
Neither Blender's interface nor its API can put a driver there, so such a driver was written by code that patches memory or a file.
No scene with one is accepted, whatever the type of the driver.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from blendwright.blender import fingerprint as fp
from blendwright.values.errors import StepError
from blendwright.values.faults import Fault

MAX_LISTED_LOCATIONS = 5
REMOVE_CURVES = (
    "Remove these F-curves or their NLA strips from the file in Blender, with scripts off, and save it again."
)


class HiddenDriverError(RuntimeError):
    """A scene that has a driver outside of `animation_data.drivers`."""


def reject_hidden_drivers() -> None:
    """Raise HiddenDriverError if an F-curve of any datablock, linked ones included, hides a driver."""
    problem = hidden_driver_problem(fp.all_blocks())
    if problem:
        raise HiddenDriverError(f"{problem}. {REMOVE_CURVES}")


def refuse_hidden_drivers(pointer: str) -> None:
    """Raise StepError if an F-curve of any datablock, linked ones included, hides a driver."""
    problem = hidden_driver_problem(fp.all_blocks())
    if problem:
        raise StepError.of(Fault.POLICY_BLOCKED, problem, at=pointer, cure=REMOVE_CURVES)


def hidden_driver_problem(blocks: Iterable[tuple[str, Any]]) -> str:
    """Return a sentence that names the F-curves with a hidden driver; empty if there are none."""
    locations = list(_locations(blocks))
    if not locations:
        return ""
    named = ", ".join(locations[:MAX_LISTED_LOCATIONS])
    unlisted_count = len(locations) - MAX_LISTED_LOCATIONS
    if unlisted_count > 0:
        named += f" and {unlisted_count} more"
    return f"drivers are hidden on F-curves where Blender never puts one: {named}"


def animated_parts(block: Any) -> Iterator[Any]:
    """Yield a datablock and its embedded node tree. Each can have separate animation data; a scene's root collection has none."""
    yield block
    tree = getattr(block, "node_tree", None)
    if tree is not None:
        yield tree


def _locations(blocks: Iterable[tuple[str, Any]]) -> Iterator[str]:
    for kind, block in blocks:
        for where, curve in _curves_without_right_to_drivers(kind, block):
            if curve.driver is not None:
                yield f"{where} {curve.data_path}[{curve.array_index}] of {kind} '{block.name}'"


def _curves_without_right_to_drivers(kind: str, block: Any) -> Iterator[tuple[str, Any]]:
    if kind == "actions":
        for curve in _action_curves(block):
            yield "F-curve", curve
    for part in animated_parts(block):
        animation = getattr(part, "animation_data", None)
        if animation is None:
            continue
        for track in animation.nla_tracks:
            for curve in _strip_curves(track.strips):
                yield f"control curve in the NLA track '{track.name}',", curve


def _action_curves(action: Any) -> Iterator[Any]:
    # Blender 4.2 and 4.3 keep the curves in the action itself. From 4.4 to 4.5 this list shows the first layer again.
    if not hasattr(action, "layers"):
        yield from action.fcurves
        return
    for layer in action.layers:
        for strip in layer.strips:
            for bag in strip.channelbags:
                yield from bag.fcurves


def _strip_curves(strips: Any) -> Iterator[Any]:
    for strip in strips:
        yield from strip.fcurves
        yield from _strip_curves(strip.strips)
