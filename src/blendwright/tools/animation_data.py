"""What animates an object: its action, the curves in it that are the object's own, and its drivers. Reads only.

Blender 4.4 gave actions layers and slots: an object owns the curves of its slot. Before that it owns the whole action.
"""

from __future__ import annotations

from blendwright.tool_api import Block, Findings, Scene
from blendwright.tools.checks import conflict

LAYERED = (4, 4, 0)
# The rotation that counts, where it is not the Euler angles.
ROTATIONS = {"QUATERNION": "rotation_quaternion", "AXIS_ANGLE": "rotation_axis_angle"}


def action_of(obj: Block) -> Block | None:
    data = obj.animation_data
    if data is None:
        return None
    return data.action


def actions_of(block: Block) -> list[Block]:
    """All actions that move a datablock: its own, and those of its strips."""
    data = getattr(block, "animation_data", None)
    if data is None:
        return []
    strips = [strip.action for track in data.nla_tracks for strip in track.strips]
    return [action for action in [data.action, *strips] if action is not None]


def curve_list(scene: Scene, obj: Block) -> Block | None:
    """Blender's own list of an object's F-curves, for adding and removing; None when there is none yet."""
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
            bag = strip.channelbag(slot)
            if bag is not None:
                return bag.fcurves
    return None


def strip_curves(scene: Scene, strip: Block) -> list[Block]:
    """The curves that an NLA strip plays."""
    action = strip.action
    if action is None:
        return []
    return list(_curves_of(scene, action, getattr(strip, "action_slot", None)) or ())


def curves(scene: Scene, obj: Block, path: str | None = None) -> list[Block]:
    """An object's F-curves, of one channel or of all, in the order of path and index."""
    all_curves = curve_list(scene, obj) or ()
    chosen = [curve for curve in all_curves if path is None or curve.data_path == path]
    return sorted(chosen, key=lambda curve: (curve.data_path, curve.array_index))


def is_driven(obj: Block, path: str) -> bool:
    data = obj.animation_data
    return data is not None and any(driver.data_path == path for driver in data.drivers)


def channel_conflicts(scene: Scene, obj: Block, path: str, at: str) -> Findings:
    """A finding when a value that is written into a channel would not last: the next evaluation overwrites it.

    Not only for objects: any datablock that can be animated."""
    if is_driven(obj, path):
        message = f"{path} of '{obj.name}' is driven, so a value would not last"
        yield conflict(message, at, "Leave the channel to its driver.")
    elif any(not curve.mute for curve in curves(scene, obj, path)):
        message = f"{path} of '{obj.name}' has keyframes, so a value would not last"
        cure = "Set keyframes with animation.set_keyframe, or remove them first with animation.clear."
        yield conflict(message, at, cure)


def rotation_channel(obj: Block) -> str:
    """The rotation that counts in an object's rotation mode."""
    return ROTATIONS.get(obj.rotation_mode, "rotation_euler")


def move_conflicts(scene: Scene, obj: Block, at: str, *, turn: bool = False, move: bool = True) -> Findings:
    """What keeps an object from being put or turned somewhere for good: animation that has its channels."""
    if move:
        yield from channel_conflicts(scene, obj, "location", at)
    if turn:
        yield from channel_conflicts(scene, obj, rotation_channel(obj), at)


def custom_path(key: str) -> str:
    """The data path of a custom property."""
    escaped = key.replace("\\", "\\\\").replace('"', '\\"')
    return f'["{escaped}"]'


def animated_parts(block: Block) -> list[Block]:
    """What of a datablock has animation of its own: itself, and a node tree that lies in it."""
    tree = getattr(block, "node_tree", None)
    if tree is not None and tree.is_embedded_data:
        inside = [tree]
    else:
        inside = []
    return [part for part in (block, *inside) if hasattr(part, "animation_data")]


def action_sharers(scene: Scene, holder: Block) -> list[str]:
    """The names of other datablocks that the same curves move."""
    action = action_of(holder)
    if action is None or action.users < 2:
        return []
    return sorted(user.name for user in scene.users(action) if _shares_curves(scene, holder, action, user))


def _shares_curves(scene: Scene, holder: Block, action: Block, user: Block) -> bool:
    by_action = [part for part in animated_parts(user) if action_of(part) == action]
    if not by_action:
        return True  # by a strip, or a constraint
    return any(part != holder and _has_same_curves(scene, holder, part) for part in by_action)


def _has_same_curves(scene: Scene, holder: Block, other: Block) -> bool:
    if scene.version >= LAYERED:
        slot = holder.animation_data.action_slot
    else:
        slot = None
    return scene.version < LAYERED or (slot is not None and other.animation_data.action_slot == slot)
