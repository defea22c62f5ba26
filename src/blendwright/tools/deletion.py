"""Deleting datablocks: what goes along with an object, who stays, and the family of tools that delete."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar, Generic, TypeVar

from pydantic import Field

from blendwright.tool_api import Args, Block, Findings, Kind, Result, Scene, Tool
from blendwright.tools.animation_data import actions_of
from blendwright.tools.checks import differs
from blendwright.tools.world_space import unparent_children

# Any kind may change when an object goes: whoever referred to it.
DELETION_WRITES: tuple[Kind, ...] = tuple(Kind)
# Types of object that only show what they have.
SHOWN_ONLY = ("EMPTY",)


class Removed(Result):
    """What a tool deleted."""

    removed: list[str] = Field(description="Names of the deleted datablocks, as kind/name.")


A = TypeVar("A", bound=Args)
D = TypeVar("D", bound=Removed)


class Deletes(Tool[A, D], Generic[A, D], family=True):
    """Deletes datablocks. The result names them in `removed`, as kind/name, and none of them may be there afterwards."""

    subject_argument: ClassVar[str] = "/name"

    def verify(self, scene: Scene, args: A, result: D) -> Findings:
        at = self.subject_argument
        for entry in result.removed:
            kind, name = entry.split("/", 1)
            yield from differs(f"the presence of '{name}'", False, scene.find(Kind(kind), name) is not None, at)


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
