"""Actions and datablocks: which part of a datablock an action can animate, and which slot of the action that part uses.

Since Blender 4.4 an action has slots, each for one type of datablock. Before that, a whole action is for one type; here
such an action fits a datablock or does not.
"""

from __future__ import annotations

from collections.abc import Iterator

from blendwright.tool_api.scene import Block, Kind, Scene
from blendwright.tools.animation_data import LAYERED, animated_parts
from blendwright.tools.checks import conflict
from blendwright.values.errors import StepError
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding

ANY_TYPE = "UNSPECIFIED"


def parts_of(scene: Scene, block: Block) -> Iterator[tuple[Block, Block]]:
    """Yield the parts of a datablock that can have an action, each after the datablock to open for writing.

    For an object this includes its data and the shape keys of its data.
    """
    for part in animated_parts(block):
        yield block, part
    if scene.kind_of(block) is not Kind.OBJECT or block.data is None:
        return
    for part in animated_parts(block.data):
        yield block.data, part
    keys = getattr(block.data, "shape_keys", None)
    if keys is not None:
        yield keys, keys


def fitting_slots(action: Block, holder: Block) -> list[Block]:
    return [slot for slot in action.slots if slot.target_id_type in (holder.id_type, ANY_TYPE)]


def fits(scene: Scene, action: Block, holder: Block) -> bool:
    if scene.version < LAYERED:
        return action.id_root in ("", holder.id_type)
    return bool(fitting_slots(action, holder))


def slot_for(scene: Scene, action: Block, holder: Block, name: str | None) -> Block | None:
    """Return the slot to use: the one called `name`, else the one named after the datablock, else the first. None
    before Blender 4.4.
    """
    if scene.version < LAYERED:
        return None
    slots = fitting_slots(action, holder)
    by_name = {slot.name_display: slot for slot in slots}
    return by_name.get(name or holder.name, slots[0])


def target_part(scene: Scene, block: Block, action: Block, slot: str | None) -> tuple[Block, Block]:
    """Return the datablock to open for writing and its part that the action fits.

    Raise StepError if the action fits no part, or if it lacks the requested slot.
    """
    for owner, part in parts_of(scene, block):
        if not fits(scene, action, part):
            continue
        if slot is not None and scene.version >= LAYERED:
            names = [candidate.name_display for candidate in fitting_slots(action, part)]
            if slot not in names:
                message = f"action '{action.name}' has no slot '{slot}' for '{part.name}'"
                raise StepError(Finding(Fault.TARGET_NOT_FOUND, message, "/slot", f"Slots: {', '.join(names)}."))
        return owner, part
    message = f"action '{action.name}' cannot animate '{block.name}': it is for another type of datablock"
    raise StepError(
        conflict(message, "/action", "Choose another action; animation.inspect lists the users of each action.")
    )


def slot_names(scene: Scene, action: Block) -> list[str]:
    if scene.version >= LAYERED:
        return [slot.name_display for slot in action.slots]
    return []
