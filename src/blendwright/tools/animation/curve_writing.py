"""Keys and curves as they are written: the action that holds them, with its slot, layer and strip where Blender has such, and one key.

Whoever calls has opened the datablock for writing.
"""

from __future__ import annotations

from typing import Literal

from blendwright.tool_api.scene import Block, Kind, Scene
from blendwright.tool_api.tool import Findings
from blendwright.tools.animation.channels import write_values
from blendwright.tools.animation.places import Place
from blendwright.tools.animation_data import LAYERED, action_of, action_sharers, curve_list, curves
from blendwright.tools.checks import conflict

Interpolation = Literal[
    "CONSTANT", "LINEAR", "BEZIER",
    "SINE", "QUAD", "CUBIC", "QUART", "QUINT", "EXPO", "CIRC", "BACK", "BOUNCE", "ELASTIC",
]  # fmt: skip
Easing = Literal["AUTO", "EASE_IN", "EASE_OUT", "EASE_IN_OUT"]
Handles = Literal["AUTO_CLAMPED", "AUTO", "VECTOR", "ALIGNED", "FREE"]
EASING = "Which end of SINE to ELASTIC is slow; AUTO is the usual one: in for most, out for BACK, BOUNCE and ELASTIC."
HANDLES = "Type of both handles of the key: AUTO_CLAMPED does not overshoot, VECTOR points straight at its neighbours."

# The word in the name of a new action, by the kind of datablock and by whether its nodes are animated.
WORDS: dict[Kind, str] = {
    Kind.OBJECT: "",
    Kind.MATERIAL: "Material",
    Kind.WORLD: "World",
    Kind.NODE_GROUP: "Nodes",
    Kind.SCENE: "Scene",
    Kind.SHAPE_KEY: "Keys",
}


def action_name(scene: Scene, block: Block, holder: Block) -> str:
    """The name of a new action; that of data is told apart from the one of an object of the same name."""
    word = WORDS.get(scene.kind_of(block), "Data")
    # The name of shape keys is Blender's; that of what they belong to is the user's.
    name: str
    if word == "Keys":
        name = block.user.name
    else:
        name = block.name
    return f"{name}{word}{'Nodes' if holder != block else ''}Action"


def sharing_conflicts(scene: Scene, holder: Block, name: str, at: str) -> Findings:
    """A finding when what is written into curves would move something else as well."""
    others = action_sharers(scene, holder)
    if others:
        message = f"the animation of '{name}' is shared with '{others[0]}', which would move as well"
        yield conflict(message, at, "Use animation.clear on one of them, which leaves the other's.")


def action_conflicts(scene: Scene, block: Block, holder: Block, wanted: str | None, at: str) -> Findings:
    """What speaks against the action that keys would go to: it is another one, or its name is not free."""
    action = action_of(holder)
    if action is None:
        name = wanted or action_name(scene, block, holder)
        yield from scene.name_conflicts(Kind.ACTION, name, at if wanted is None else "/action")
    elif wanted is not None and action.name != wanted:
        message = f"'{block.name}' has the action '{action.name}'"
        yield conflict(message, "/action", "Leave action out, or push that one down first with animation.add_strip.")


def open_curves(scene: Scene, block: Block, holder: Block, name: str | None = None) -> Block:
    """The list of curves, free to be written; an action (of that name) with all it takes is made where there is none."""
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
    """See that an action has room for the curves of what uses it."""
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
    key = curve.keyframe_points.insert(frame, number)
    # What new keys are like depends on the user's preferences: all of it is said here.
    key.interpolation = interpolation
    key.easing = easing
    key.type = "KEYFRAME"
    key.handle_left_type = key.handle_right_type = handles
    curve.update()


def show_current(scene: Scene, place: Place) -> None:
    """Blender shows curves from the next evaluation on; whoever reads the channel before must see the same."""
    now = scene.active.frame_current_final
    found = curves(scene, place.holder, place.path)
    write_values(place.holder, place.path, {curve.array_index: curve.evaluate(now) for curve in found})


def keep_values(scene: Scene, holder: Block, removed: list[Block]) -> None:
    """Write what curves say at the current frame: what the channels hold may be from any evaluation before."""
    now = scene.active.frame_current_final
    values: dict[str, dict[int, float]] = {}
    for curve in removed:
        if not curve.mute:
            values.setdefault(curve.data_path, {})[curve.array_index] = curve.evaluate(now)
    for path, numbers in values.items():
        write_values(holder, path, numbers)


def detach_action(scene: Scene, holder: Block, action: Block) -> str | None:
    """Take the action off; returns its name when that was its last user, and it is gone."""
    name: str = action.name
    holder.animation_data.action = None
    drop_empty(holder)
    if action.use_fake_user or scene.users(action):
        return None
    scene.remove(action)
    return name


def drop_empty(holder: Block) -> None:
    """Animation data that animates nothing is like none."""
    data = holder.animation_data
    if data.action is None and not data.drivers and not data.nla_tracks:
        holder.animation_data_clear()
