"""Actions as named things: which part of a datablock one fits, and the slot in it that the part uses.

From Blender 4.4 on an action has slots, each for one type of datablock; before that it is of one type as a whole. Here an action simply
fits, or not.
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
    """What of a datablock can have an action, with the datablock to open for writing; of an object also its data."""
    for part in animated_parts(block):
        yield block, part
    if scene.kind_of(block) is Kind.OBJECT:
        data = block.data
    else:
        data = None
    if data is not None:
        for part in animated_parts(data):
            yield data, part
        keys = getattr(data, "shape_keys", None)
        if keys is not None:
            yield keys, keys


def fitting_slots(action: Block, holder: Block) -> list[Block]:
    return [slot for slot in action.slots if slot.target_id_type in (holder.id_type, ANY_TYPE)]


def fits(scene: Scene, action: Block, holder: Block) -> bool:
    if scene.version < LAYERED:
        return action.id_root in ("", holder.id_type)
    return bool(fitting_slots(action, holder))


def slot_for(scene: Scene, action: Block, holder: Block, name: str | None) -> Block | None:
    """The slot that is used: the one of that name, that of the datablock's own name, or the first. None before Blender 4.4."""
    if scene.version < LAYERED:
        return None
    slots = fitting_slots(action, holder)
    by_name = {slot.name_display: slot for slot in slots}
    return by_name.get(name or holder.name, slots[0])


def target_part(scene: Scene, block: Block, action: Block, slot: str | None) -> tuple[Block, Block]:
    """The part of a datablock that an action is for, with the datablock to open for writing. Raises StepError where it fits none."""
    for owner, part in parts_of(scene, block):
        if not fits(scene, action, part):
            continue
        if slot is not None and scene.version >= LAYERED:
            names = [one.name_display for one in fitting_slots(action, part)]
            if slot not in names:
                message = f"action '{action.name}' has no slot '{slot}' for '{part.name}'"
                raise StepError(Finding(Fault.TARGET_NOT_FOUND, message, "/slot", f"Slots: {', '.join(names)}."))
        return owner, part
    message = f"action '{action.name}' has nothing for '{block.name}': it animates another type of datablock"
    raise StepError(conflict(message, "/action", "animation.inspect tells what each action is for."))


def slot_names(scene: Scene, action: Block) -> list[str]:
    if scene.version >= LAYERED:
        return [slot.name_display for slot in action.slots]
    return []
