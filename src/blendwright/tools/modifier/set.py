"""Tool modifier.set"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from blendwright.tool_api.arguments import Args, optional
from blendwright.tool_api.mentions import ModifierName, ObjectName
from blendwright.tool_api.promises import SAFE_IDEMPOTENT_WRITE
from blendwright.tool_api.scene import Block, Kind, Scene
from blendwright.tool_api.tool import Example, Findings, Tool
from blendwright.tools.animation_data import channel_conflicts
from blendwright.tools.checks import existing_object, invalid, required_object
from blendwright.tools.modifier import blender_settings
from blendwright.tools.modifier.blender_settings import ModifierResult, modifier_result
from blendwright.tools.modifier.settings import Settings

CUBE = ("mesh.create_primitive", {"kind": "cube", "name": "Box"})
ROW = ("modifier.add", {"object": "Box", "name": "Row", "settings": {"type": "ARRAY", "count": 3}})
EDGES = ("modifier.add", {"object": "Box", "name": "Edges", "settings": {"type": "BEVEL"}})


class SetModifierArgs(Args):
    object: ObjectName = Field(description="Name of the object.")
    modifier: ModifierName = Field(description="Name of the modifier.")
    settings: Settings | None = optional("The modifier's type, and the settings to change; omitted settings stay.")
    index: Annotated[int, Field(ge=0, le=1000)] | None = optional("New position in the stack; 0 is evaluated first.")
    show_viewport: bool | None = optional("Whether the modifier is active in the viewport.")
    show_render: bool | None = optional("Whether the modifier is active in renders.")


class SetModifier(Tool[SetModifierArgs, ModifierResult]):
    """Change settings of a modifier, its visibility, or its position in the stack. Omitted arguments change nothing."""

    name = "modifier.set"
    promises = SAFE_IDEMPOTENT_WRITE.writes_to(Kind.OBJECT).needs("modifier_write")
    examples = (
        Example({"object": "Box", "modifier": "Row", "settings": {"type": "ARRAY", "count": 8}}, CUBE, ROW),
        Example({"object": "Box", "modifier": "Edges", "index": 0, "show_render": False}, CUBE, ROW, EDGES),
    )

    def check(self, scene: Scene, args: SetModifierArgs) -> Findings:
        obj = yield from existing_object(scene, args.object, "/object")
        if obj is None:
            return
        modifier = obj.modifiers.get(args.modifier)
        if modifier is None:
            yield from blender_settings.missing_modifier(obj, args.modifier, "/modifier")
            return
        if args.index is not None and args.index >= len(obj.modifiers):
            message = f"object '{obj.name}' has {len(obj.modifiers)} modifiers"
            yield invalid(message, "/index", f"Use 0 to {len(obj.modifiers) - 1}.")
        for name in _visibility(args):
            yield from channel_conflicts(scene, obj, modifier.path_from_id(name), f"/{name}")
        if args.settings is None:
            return
        yield from blender_settings.wrong_type(modifier, args.settings.type, "/settings/type")
        if args.settings.type != modifier.type:
            return
        yield from blender_settings.problems(scene, obj, args.settings)
        yield from blender_settings.animated_settings(scene, modifier, args.settings)
        yield from blender_settings.input_problems(scene, args.settings, modifier)

    def apply(self, scene: Scene, args: SetModifierArgs) -> ModifierResult:
        obj = required_object(scene, args.object, "/object")
        changed = any(self._differences(scene, args, obj))
        if changed:
            scene.edit(obj)
            modifier = obj.modifiers[args.modifier]
            for name, shown in _visibility(args).items():
                setattr(modifier, name, shown)
            if args.settings is not None:
                blender_settings.write(scene, obj, modifier, args.settings)
            if args.index is not None:
                obj.modifiers.move(obj.modifiers.find(args.modifier), args.index)
        return modifier_result(obj, args.modifier, changed=changed)

    def verify(self, scene: Scene, args: SetModifierArgs, result: ModifierResult) -> Findings:
        yield from self._differences(scene, args, required_object(scene, args.object, "/object"))

    def _differences(self, scene: Scene, args: SetModifierArgs, obj: Block) -> Findings:
        modifier = obj.modifiers[args.modifier]
        if args.settings is not None:
            yield from blender_settings.differences(scene, modifier, args.settings)
        yield from blender_settings.stack_differences(obj, modifier, _visibility(args), args.index)


def _visibility(args: SetModifierArgs) -> dict[str, bool]:
    shown = {"show_viewport": args.show_viewport, "show_render": args.show_render}
    return {name: value for name, value in shown.items() if value is not None}
