"""Read access to the animation of an object: its action, its F-curves in that action, and its drivers.

Since Blender 4.4 an action has layers and slots, and an object owns the curves of its slot. Before that, an object owns
the whole action.
"""

from __future__ import annotations

from blendwright.tool_api import Block, Findings, Scene
from blendwright.tools.checks import conflict

LAYERED = (4, 4, 0)
# Rotation mode -> the channel that Blender evaluates; all other modes use rotation_euler.
ROTATIONS = {"QUATERNION": "rotation_quaternion", "AXIS_ANGLE": "rotation_axis_angle"}


def action_of(obj: Block) -> Block | None:
    data = obj.animation_data
    if data is None:
        return None
    return data.action


def actions_of(block: Block) -> list[Block]:
    """Return all actions that animate a datablock: the active action and the actions of NLA strips."""
    animation = getattr(block, "animation_data", None)
    if animation is None:
        return []
    strips = [strip.action for track in animation.nla_tracks for strip in track.strips]
    return [action for action in [animation.action, *strips] if action is not None]


def curve_list(scene: Scene, obj: Block) -> Block | None:
    """Return Blender's own collection of an object's F-curves, for adding and removing curves.

    Return None if the object has no action, or if its slot has no curves yet.
    """
    action = action_of(obj)
    if action is None:
        return None
    return _curves_of(scene, action, getattr(obj.animation_data, "action_slot", None))


def _curves_of(scene: Scene, action: Block, slot: Block | None) -> Block | None:
    if scene.version < LAYERED:
        return action.fcurves
    if slot is None:
        return None
    # Blender 5.0 has at most one layer with one strip in an action.
    for layer in action.layers:
        for strip in layer.strips:
            channelbag = strip.channelbag(slot)
            if channelbag is not None:
                return channelbag.fcurves
    return None


def strip_curves(scene: Scene, strip: Block) -> list[Block]:
    """Return the F-curves that an NLA strip plays."""
    action = strip.action
    if action is None:
        return []
    return list(_curves_of(scene, action, getattr(strip, "action_slot", None)) or ())


def curves(scene: Scene, obj: Block, path: str | None = None) -> list[Block]:
    """Return an object's F-curves, sorted by path and index. `path` limits them to one channel."""
    all_curves = curve_list(scene, obj) or ()
    matching = [curve for curve in all_curves if path is None or curve.data_path == path]
    return sorted(matching, key=lambda curve: (curve.data_path, curve.array_index))


def is_driven(obj: Block, path: str) -> bool:
    data = obj.animation_data
    return data is not None and any(driver.data_path == path for driver in data.drivers)


def channel_conflicts(scene: Scene, obj: Block, path: str, at: str) -> Findings:
    """Yield a finding if animation would overwrite a value written to this channel.

    `obj` can be any datablock that can be animated. `at` is the JSON pointer of the argument to name.
    """
    if is_driven(obj, path):
        message = f"{path} of '{obj.name}' has a driver, which would overwrite the value"
        yield conflict(message, at, "Leave the channel to its driver.")
    elif any(not curve.mute for curve in curves(scene, obj, path)):
        message = f"{path} of '{obj.name}' has keyframes, which would overwrite the value"
        fix = "Set keyframes with animation.set_keyframe, or remove them first with animation.clear."
        yield conflict(message, at, fix)


def rotation_channel(obj: Block) -> str:
    """Return the channel that Blender evaluates in the object's rotation mode."""
    return ROTATIONS.get(obj.rotation_mode, "rotation_euler")


def move_conflicts(scene: Scene, obj: Block, at: str, *, turn: bool = False, move: bool = True) -> Findings:
    """Yield findings for animation that would overwrite an object's new location (`move`) or rotation (`turn`)."""
    if move:
        yield from channel_conflicts(scene, obj, "location", at)
    if turn:
        yield from channel_conflicts(scene, obj, rotation_channel(obj), at)


def custom_path(key: str) -> str:
    """Return the RNA data path of a custom property, with its key escaped."""
    escaped = key.replace("\\", "\\\\").replace('"', '\\"')
    return f'["{escaped}"]'


def animated_parts(block: Block) -> list[Block]:
    """Return the parts of a datablock that can hold animation data: itself and its embedded node tree."""
    tree = getattr(block, "node_tree", None)
    if tree is not None and tree.is_embedded_data:
        embedded = [tree]
    else:
        embedded = []
    return [part for part in (block, *embedded) if hasattr(part, "animation_data")]


def action_sharers(scene: Scene, holder: Block) -> list[str]:
    """Return the sorted names of other datablocks that the holder's curves animate as well."""
    action = action_of(holder)
    if action is None or action.users < 2:
        return []
    return sorted(user.name for user in scene.users(action) if _shares_curves(scene, holder, action, user))


def _shares_curves(scene: Scene, holder: Block, action: Block, user: Block) -> bool:
    animated = [part for part in animated_parts(user) if action_of(part) == action]
    if not animated:
        return True  # it uses the action in an NLA strip or a constraint
    return any(part != holder and _has_same_curves(scene, holder, part) for part in animated)


def _has_same_curves(scene: Scene, holder: Block, part: Block) -> bool:
    if scene.version < LAYERED:
        return True
    slot = holder.animation_data.action_slot
    return slot is not None and part.animation_data.action_slot == slot
