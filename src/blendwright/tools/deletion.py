"""Deletion of datablocks: data and actions that go with an object, children that stay, and the tool family for
deleting.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar, Generic, TypeVar

from pydantic import Field

from blendwright.tool_api import Args, Block, Findings, Kind, Result, Scene, Tool
from blendwright.tools.animation_data import actions_of
from blendwright.tools.checks import differs
from blendwright.tools.world_space import unparent_children

# Any kind may change when an object is deleted, because any datablock may refer to it.
DELETION_WRITES: tuple[Kind, ...] = tuple(Kind)
# Types of objects that display data which they do not own.
SHOWN_ONLY = ("EMPTY",)


class Removed(Result):
    """The datablocks that a tool deleted."""

    removed: list[str] = Field(description="Names of the deleted datablocks, as kind/name.")


A = TypeVar("A", bound=Args)
D = TypeVar("D", bound=Removed)


class Deletes(Tool[A, D], Generic[A, D], family=True):
    """Delete datablocks. The result lists them in `removed` as kind/name, and `verify` checks that none of them exists."""

    subject_argument: ClassVar[str] = "/name"

    def verify(self, scene: Scene, args: A, result: D) -> Findings:
        at = self.subject_argument
        for entry in result.removed:
            kind, name = entry.split("/", 1)
            yield from differs(f"the presence of '{name}'", False, scene.find(Kind(kind), name) is not None, at)


def delete_objects(scene: Scene, objects: Iterable[Block], at: str, *, keep_data: bool) -> list[str]:
    """Delete objects, together with data and actions that no other datablock uses. Return the deleted names as
    kind/name.

    Children that stay keep their position. `at` is the JSON pointer of the argument to name if a child cannot keep it.
    """
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
    """Return the actions that only these datablocks use.

    Without them, no tool could use or remove such an action, and its name would remain in use.
    """
    deleted = set(victims)
    deleted |= {block.shape_keys for block in deleted if getattr(block, "shape_keys", None) is not None}
    sorted_blocks = sorted(deleted, key=lambda block: (block.id_type, block.name))
    actions = dict.fromkeys(action for block in sorted_blocks for action in actions_of(block))
    return [action for action in actions if not action.use_fake_user and set(scene.users(action)) <= deleted]
