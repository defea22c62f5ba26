"""Which channels of a datablock are animated or driven.

Responsible for: finding them from the action's slot, the NLA strips and the drivers. Such a value is whatever the last
evaluation wrote, so it stays out of the fingerprint; the curves and drivers are in. Must not read the values themselves.
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

# Properties that show one stored value, or follow from it: a curve of one writes the others too. Type (or the end of its name) -> sets.
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
    """The channels of a datablock that evaluation overwrites."""
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
    """Animation data that animates nothing is like none: Blender leaves it behind when the last key goes."""
    return data.action is None and not data.drivers and not data.nla_tracks


def _curves(data: Any) -> Iterator[Any]:
    yield from data.drivers
    yield from action_curves(data.action, getattr(data, "action_slot", None))
    if data.use_nla:
        for track in data.nla_tracks:
            # A muted track plays all the same when it is the solo one. A muted strip still holds its channels.
            if not track.mute or track.is_solo:
                yield from _strip_curves(track.strips)


def _strip_curves(strips: Any) -> Iterator[Any]:
    for strip in strips:
        yield from action_curves(strip.action, getattr(strip, "action_slot", None))
        yield from _strip_curves(strip.strips)


def action_curves(action: Any, slot: Any) -> Iterator[Any]:
    """The F-curves that an action holds for a slot (before Blender 4.4: all of them)."""
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
        # Resolving it would create the add-on's group.
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
    own = channels.setdefault((owner.as_pointer(), type_name), {})
    own.setdefault(name, set()).add(index)
    for other in _shown_again(type_name, name):
        own.setdefault(other, set()).update(range(3))


def _shown_again(type_name: str, name: str) -> Iterator[str]:
    """The other properties that a curve of one property writes. A lens and a sensor are values of their own."""
    for ending, groups in _SAME_VALUE:
        if type_name.endswith(ending):
            for group in groups:
                if name in group:
                    yield from group - {name, "lens", "sensor_width", "sensor_height", "use_temperature", "temperature"}


def _custom_name(escaped: str) -> str:
    return '["' + _ESCAPED.sub(r"\1", escaped) + '"]'
