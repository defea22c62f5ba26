"""The data behind an object (mesh, curve, light ...): which kind it is, and how it goes when its objects go."""

from __future__ import annotations

from collections.abc import Iterable

from blendwright.tool_api.effects import Kind
from blendwright.tool_api.scene import Block, Scene
from blendwright.tools.animation_data import actions_of
from blendwright.tools.parenting import unparent_children

# Types of object whose data belongs to them. An empty may show an image, which is nobody's own.
DATA_KINDS: dict[str, Kind] = {
    "MESH": Kind.MESH,
    "CURVE": Kind.CURVE,
    "SURFACE": Kind.CURVE,
    "FONT": Kind.CURVE,
    "LIGHT": Kind.LIGHT,
    "CAMERA": Kind.CAMERA,
    "ARMATURE": Kind.ARMATURE,
}
# Types of object that only show what they have.
SHOWN_ONLY = ("EMPTY",)

# Any kind may change when an object goes: whoever referred to it.
DELETION_WRITES: tuple[Kind, ...] = tuple(Kind)


def own_data(obj: Block) -> Block | None:
    """The data that belongs to an object, alone or shared with others like it."""
    return obj.data if obj.type in DATA_KINDS else None


def delete_objects(scene: Scene, objects: Iterable[Block], at: str, *, keep_data: bool) -> list[str]:
    """Delete objects, with data and actions that nobody else uses; children that stay keep their place.

    Says what went, as kind/name. `at` is the argument to name where a child cannot stay."""
    victims = list(dict.fromkeys(objects))
    unparent_children(scene, victims, at)
    if not keep_data:
        data = dict.fromkeys(obj.data for obj in victims if obj.data is not None and obj.type not in SHOWN_ONLY)
        victims += [block for block in data if set(scene.users(block)) <= set(victims)]
    victims += _actions(scene, victims)
    names = [f"{scene.kind_of(victim).value}/{victim.name}" for victim in victims]
    scene.remove(*victims)
    return names


def _actions(scene: Scene, victims: Iterable[Block]) -> list[Block]:
    """The actions that move nothing but these: no tool could use or remove them, and their names would stay taken."""
    going = set(victims)
    going |= {block.shape_keys for block in going if getattr(block, "shape_keys", None) is not None}
    moved = sorted(going, key=lambda block: (block.id_type, block.name))
    actions = dict.fromkeys(action for block in moved for action in actions_of(block))
    return [action for action in actions if not action.use_fake_user and set(scene.users(action)) <= going]
