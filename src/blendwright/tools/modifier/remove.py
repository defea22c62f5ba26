"""Tool modifier.remove"""

from __future__ import annotations

from pydantic import Field

from blendwright.tool_api.arguments import Args
from blendwright.tool_api.mentions import ObjectName, RemovedModifierName
from blendwright.tool_api.promises import DESTRUCTIVE_WRITE
from blendwright.tool_api.scene import Kind, Scene
from blendwright.tool_api.tool import Example, Findings, Tool
from blendwright.tools.checks import differs, existing_object, required_object
from blendwright.tools.modifier import blender_settings
from blendwright.tools.modifier.blender_settings import ModifierResult, modifier_result

CUBE = ("mesh.create_primitive", {"kind": "cube", "name": "Box"})
ROW = ("modifier.add", {"object": "Box", "name": "Row", "settings": {"type": "ARRAY", "count": 3}})


class RemoveModifierArgs(Args):
    object: ObjectName = Field(description="Name of the object.")
    modifier: RemovedModifierName = Field(description="Name of the modifier to remove.")


class RemoveModifier(Tool[RemoveModifierArgs, ModifierResult]):
    """Remove a modifier from an object without applying it."""

    name = "modifier.remove"
    promises = DESTRUCTIVE_WRITE.writes_to(Kind.OBJECT, *blender_settings.REFERRED_KINDS).needs("modifier_write")
    examples = (Example({"object": "Box", "modifier": "Row"}, CUBE, ROW),)

    def check(self, scene: Scene, args: RemoveModifierArgs) -> Findings:
        obj = yield from existing_object(scene, args.object, "/object")
        if obj is not None:
            yield from blender_settings.missing_modifier(obj, args.modifier, "/modifier")

    def apply(self, scene: Scene, args: RemoveModifierArgs) -> ModifierResult:
        obj = scene.edit(required_object(scene, args.object, "/object"))
        obj.modifiers.remove(obj.modifiers[args.modifier])
        return modifier_result(obj, args.modifier, changed=True)

    def verify(self, scene: Scene, args: RemoveModifierArgs, result: ModifierResult) -> Findings:
        obj = required_object(scene, args.object, "/object")
        yield from differs("the presence of the modifier", False, args.modifier in obj.modifiers, "/modifier")
