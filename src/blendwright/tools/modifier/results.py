"""The result that the tools of modifiers share."""

from __future__ import annotations

from pydantic import Field

from blendwright.tool_api.arguments import Result
from blendwright.tool_api.scene import Block


class ModifierResult(Result):
    """A modifier as it is now."""

    object: str = Field(description="Name of the object.")
    modifier: str = Field(description="Name of the modifier.")
    stack: list[str] = Field(description="Names of all modifiers of the object, in the order in which they work.")
    changed: bool = Field(description="False when everything was as asked already.")


def modifier_result(obj: Block, modifier: str, *, changed: bool) -> ModifierResult:
    stack = [each.name for each in obj.modifiers]
    return ModifierResult(object=obj.name, modifier=modifier, stack=stack, changed=changed)
