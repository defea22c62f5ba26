"""Detection of the channels of a datablock that are animated or driven.

Channels come from the action's slot, the NLA strips and the drivers. The value of such a channel is the result of the last
evaluation, so it stays out of the fingerprint; the curves and drivers are in. This module must not read the values themselves.
"""

import re
from collections.abc import Iterator
from typing import Any

# (address of a struct, its RNA type) -> property -> animated indices. Custom properties go by '["name"]', settings of
# add-ons by their dotted path on the datablock.
Channels = dict[tuple[int, str], dict[str, set[int]]]

_CUSTOM = re.compile(r'^(.*)\[(["\'])((?:\\.|(?!\2).)*)\2\]$', re.DOTALL)
_ESCAPED = re.compile(r"\\(.)")
NO_CHANNELS: Channels = {}

# Properties that show one stored value or derive from it, so a curve of one also writes the others.
# Each entry: the type or the end of its name, and its sets of properties.
_SAME_VALUE: tuple[tuple[str, tuple[frozenset[str], ...]], ...] = (
    ("BevelModifier", (frozenset({"width", "width_pct"}),)),
    ("SimpleDeformModifier", (frozenset({"factor", "angle"}),)),
    ("Constraint", (frozenset({"mute", "enabled"}),)),
    ("CopyRotationConstraint", (frozenset({"mix_mode", "use_offset"}),)),
    ("Camera", (frozenset({"lens", "sensor_width", "sensor_height", "angle", "angle_x", "angle_y"}),)),
    ("Light", (frozenset({"use_temperature", "temperature", "temperature_color"}),)),
    (
        "Material",
        (
            frozenset({"show_transparent_back", "use_transparency_overlap"}),
            frozenset({"use_screen_refraction", "use_raytrace_refraction"}),
            frozenset({"surface_render_method", "blend_method"}),
        ),
    ),
    (
        "ColorManagedViewSettings",
        (frozenset({"white_balance_temperature", "white_balance_tint", "white_balance_whitepoint"}),),
    ),
)


def animated_channels(block: Any) -> Channels:
    """Return the channels of a datablock that evaluation overwrites."""
    data = block.animation_data
    if data is None:
        return NO_CHANNELS
    channels: Channels = {}
    for curve in _curves(data):
        # A muted curve and one without keys write nothing: the channel keeps what the user set.
        if not curve.mute and not curve.is_empty:
            _add(channels, block, curve.data_path, curve.array_index)
    return channels


def is_empty(data: Any) -> bool:
    """Return True if animation data animates nothing. Blender leaves such data behind when the last key is removed."""
    return data.action is None and not data.drivers and not data.nla_tracks


def _curves(data: Any) -> Iterator[Any]:
    yield from data.drivers
    yield from action_curves(data.action, getattr(data, "action_slot", None))
    if data.use_nla:
        for track in data.nla_tracks:
            # A muted track still plays when it is the solo track. A muted strip still holds its channels.
            if not track.mute or track.is_solo:
                yield from _strip_curves(track.strips)


def _strip_curves(strips: Any) -> Iterator[Any]:
    for strip in strips:
        yield from action_curves(strip.action, getattr(strip, "action_slot", None))
        yield from _strip_curves(strip.strips)


def action_curves(action: Any, slot: Any) -> Iterator[Any]:
    """Yield the F-curves that an action holds for a slot (before Blender 4.4: all of them)."""
    if action is None:
        return
    if not hasattr(action, "layers"):
        yield from action.fcurves
        return
    if slot is None:
        return
    for layer in action.layers:
        for strip in layer.strips:
            bag = strip.channelbag(slot)
            if bag is not None:
                yield from bag.fcurves


def _add(channels: Channels, block: Any, path: str, index: int) -> None:
    head = path.split(".", 1)[0].split("[", 1)[0]
    if head:
        prop = block.bl_rna.properties.get(head)
    else:
        prop = None
    if prop is not None and prop.is_runtime:
        # Resolving the path would create the add-on's group.
        owner, name = block, path
    else:
        custom = _CUSTOM.match(path)
        if custom is not None:
            parent, name = custom[1], _custom_name(custom[3])
        else:
            parent, _, name = path.rpartition(".")
        try:
            if parent:
                owner = block.path_resolve(parent)
            else:
                owner = block
        except ValueError:
            return  # the curve animates nothing
        if not hasattr(owner, "as_pointer"):
            return
    type_name: str = owner.bl_rna.identifier
    owner_channels = channels.setdefault((owner.as_pointer(), type_name), {})
    owner_channels.setdefault(name, set()).add(index)
    for shown_name in _shown_again(type_name, name):
        owner_channels.setdefault(shown_name, set()).update(range(3))


def _shown_again(type_name: str, name: str) -> Iterator[str]:
    """Yield the other properties that a curve of one property writes.

    Lens, sensor and temperature settings are stored values, so they are never yielded.
    """
    for ending, groups in _SAME_VALUE:
        if type_name.endswith(ending):
            for group in groups:
                if name in group:
                    yield from group - {name, "lens", "sensor_width", "sensor_height", "use_temperature", "temperature"}


def _custom_name(escaped: str) -> str:
    return '["' + _ESCAPED.sub(r"\1", escaped) + '"]'
