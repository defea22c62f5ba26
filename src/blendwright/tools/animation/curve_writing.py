"""Writing of keys and curves: the action with its slot, layer and strip, and single keys.

The caller has opened the datablock for writing.
"""

from __future__ import annotations

from typing import Literal

from blendwright.tool_api.scene import Block, Kind, Scene
from blendwright.tool_api.tool import Findings
from blendwright.tools.animation.channels import write_values
from blendwright.tools.animation.places import ChannelLocation
from blendwright.tools.animation_data import LAYERED, action_of, action_sharers, curve_list, curves
from blendwright.tools.checks import conflict

Interpolation = Literal[
    "CONSTANT", "LINEAR", "BEZIER",
    "SINE", "QUAD", "CUBIC", "QUART", "QUINT", "EXPO", "CIRC", "BACK", "BOUNCE", "ELASTIC",
]  # fmt: skip
Easing = Literal["AUTO", "EASE_IN", "EASE_OUT", "EASE_IN_OUT"]
Handles = Literal["AUTO_CLAMPED", "AUTO", "VECTOR", "ALIGNED", "FREE"]
EASING = "Slow end of SINE to ELASTIC. AUTO is EASE_IN for most, and EASE_OUT for BACK, BOUNCE and ELASTIC."
HANDLES = (
    "Type of both handles of the key. AUTO_CLAMPED does not overshoot; VECTOR points straight at the neighbouring keys."
)

# Kind of datablock -> the word for it in the name of a new action.
WORDS: dict[Kind, str] = {
    Kind.OBJECT: "",
    Kind.MATERIAL: "Material",
    Kind.WORLD: "World",
    Kind.NODE_GROUP: "Nodes",
    Kind.SCENE: "Scene",
    Kind.SHAPE_KEY: "Keys",
}


def action_name(scene: Scene, block: Block, holder: Block) -> str:
    """Return the default name of a new action.

    It contains a word for the kind of datablock, so that an object and its data of the same name get different actions.
    """
    word = WORDS.get(scene.kind_of(block), "Data")
    # Blender names the shape keys itself; use the user's name of the datablock that has them.
    name: str
    if word == "Keys":
        name = block.user.name
    else:
        name = block.name
    if holder != block:
        return f"{name}{word}NodesAction"
    return f"{name}{word}Action"


def sharing_conflicts(scene: Scene, holder: Block, name: str, at: str) -> Findings:
    """Yield a finding if changed curves would animate another datablock as well."""
    sharers = action_sharers(scene, holder)
    if sharers:
        message = f"the animation of '{name}' is shared with '{sharers[0]}', which would change as well"
        yield conflict(message, at, "Use animation.clear on one of them; the other one keeps its animation.")


def action_conflicts(scene: Scene, block: Block, holder: Block, wanted: str | None, at: str) -> Findings:
    """Yield a finding if keys cannot go to the requested action: the datablock has another one, or the name is in use."""
    action = action_of(holder)
    if action is None:
        if wanted is not None:
            yield from scene.name_conflicts(Kind.ACTION, wanted, "/action")
        else:
            yield from scene.name_conflicts(Kind.ACTION, action_name(scene, block, holder), at)
    elif wanted is not None and action.name != wanted:
        message = f"'{block.name}' already has the action '{action.name}'"
        yield conflict(
            message, "/action", "Leave action out, or push the present action down first with animation.add_strip."
        )


def open_curves(scene: Scene, block: Block, holder: Block, name: str | None = None) -> Block:
    """Return the holder's curve collection, ready for writing; create an action (called `name`) with slot, layer and
    strip if it has none.
    """
    action = action_of(holder)
    data = holder.animation_data or holder.animation_data_create()
    if action is None:
        action = scene.create(Kind.ACTION, name or action_name(scene, block, holder))
        data.action = action
    else:
        scene.edit(action)
    ensure_slot(scene, holder, action)
    return curve_list(scene, holder)


def ensure_slot(scene: Scene, holder: Block, action: Block) -> None:
    """Give an action a slot, layer, strip and channel bag for the holder's curves, as far as they are missing."""
    if scene.version < LAYERED:
        return
    data = holder.animation_data
    if data.action_slot is None:
        data.action_slot = action.slots.new(id_type=holder.id_type, name=holder.name)
    if action.layers:
        layer = action.layers[0]
    else:
        layer = action.layers.new("Layer")
    if layer.strips:
        strip = layer.strips[0]
    else:
        strip = layer.strips.new(type="KEYFRAME")
    strip.channelbag(data.action_slot, ensure=True)


def set_key(curve: Block, frame: int, number: float, interpolation: str, easing: str, handles: str) -> None:
    """Write one key with all its properties and update the curve. `number` is in Blender's own unit."""
    key = curve.keyframe_points.insert(frame, number)
    # The user's preferences determine the defaults of new keys, so every property is set here.
    key.interpolation = interpolation
    key.easing = easing
    key.type = "KEYFRAME"
    key.handle_left_type = key.handle_right_type = handles
    curve.update()


def show_current(scene: Scene, place: ChannelLocation) -> None:
    """Write the curves' values at the current frame into the channel.

    Blender does so only at the next evaluation; a reader of the channel before that must see the same values.
    """
    frame = scene.active.frame_current_final
    channel_curves = curves(scene, place.holder, place.path)
    write_values(place.holder, place.path, {curve.array_index: curve.evaluate(frame) for curve in channel_curves})


def keep_values(scene: Scene, holder: Block, removed: list[Block]) -> None:
    """Write the values of removed curves at the current frame into their channels.

    The stored values may come from any earlier evaluation.
    """
    frame = scene.active.frame_current_final
    values: dict[str, dict[int, float]] = {}
    for curve in removed:
        if not curve.mute:
            values.setdefault(curve.data_path, {})[curve.array_index] = curve.evaluate(frame)
    for path, numbers in values.items():
        write_values(holder, path, numbers)


def detach_action(scene: Scene, holder: Block, action: Block) -> str | None:
    """Unassign the action. Return its name if this was its last user and the action was deleted, else None."""
    name: str = action.name
    holder.animation_data.action = None
    drop_empty(holder)
    if action.use_fake_user or scene.users(action):
        return None
    scene.remove(action)
    return name


def drop_empty(holder: Block) -> None:
    """Remove the holder's animation data if it has no action, drivers and NLA tracks."""
    data = holder.animation_data
    if data.action is None and not data.drivers and not data.nla_tracks:
        holder.animation_data_clear()
