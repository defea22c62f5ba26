"""modifier.set"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from pydantic import Field

from blendwright.tool_api.arguments import Args, Name
from blendwright.tool_api.effects import Determinism, Idempotence, Kind, Revert, SafetyLevel, SafetyMode
from blendwright.tool_api.scene import Block, Scene
from blendwright.tool_api.tool import Example, Requires, Tool
from blendwright.tools.animated import held_by_animation
from blendwright.tools.modifier import blender_settings as rna
from blendwright.tools.modifier.results import ModifierResult
from blendwright.tools.modifier.settings import Settings
from blendwright.tools.readback import differs
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding

CUBE = ("mesh.create_primitive", {"kind": "cube", "name": "Box"})
ROW = ("modifier.add", {"object": "Box", "name": "Row", "settings": {"type": "ARRAY", "count": 3}})
EDGES = ("modifier.add", {"object": "Box", "name": "Edges", "settings": {"type": "BEVEL"}})


class SetModifierArgs(Args):
    object: Name = Field(description="Name of the object.")
    modifier: Name = Field(description="Name of the modifier.")
    settings: Settings | None = Field(
        default=None, description="The modifier's type, and the settings to change; what is left out stays."
    )
    index: Annotated[int, Field(ge=0, le=1000)] | None = Field(
        default=None, description="New place in the stack, 0 works first."
    )
    show_viewport: bool | None = Field(default=None, description="Whether it works in the viewport.")
    show_render: bool | None = Field(default=None, description="Whether it works in renders.")


class SetModifier(Tool[SetModifierArgs, ModifierResult]):
    """Change settings of a modifier, its visibility, or its place in the stack. Only what is given changes."""

    name = "modifier.set"
    version = 1
    safety_level = SafetyLevel.SAFE_WRITE
    safety_mode = SafetyMode.HEADLESS_SAFE
    determinism = Determinism.DETERMINISTIC
    idempotence = Idempotence.IDEMPOTENT
    writes = (Kind.OBJECT,)
    revert = Revert.INVERSE
    replayable = True
    requires = Requires(blender_min=(4, 2, 0), capabilities=("modifier_write",))
    examples = (
        Example({"object": "Box", "modifier": "Row", "settings": {"type": "ARRAY", "count": 8}}, (CUBE, ROW)),
        Example({"object": "Box", "modifier": "Edges", "index": 0, "show_render": False}, (CUBE, ROW, EDGES)),
    )

    def check(self, scene: Scene, args: SetModifierArgs) -> Iterator[Finding]:
        obj = scene.find(Kind.OBJECT, args.object)
        if obj is None:
            yield from scene.missing(Kind.OBJECT, args.object, "/object")
            return
        modifier = obj.modifiers.get(args.modifier)
        if modifier is None:
            yield from rna.missing_modifier(obj, args.modifier, "/modifier")
            return
        if args.index is not None and args.index >= len(obj.modifiers):
            message = f"object '{obj.name}' has {len(obj.modifiers)} modifiers"
            yield Finding(Fault.ARGS_INVALID, message, "/index", f"Use 0 to {len(obj.modifiers) - 1}.")
        for shown in ("show_viewport", "show_render"):
            if getattr(args, shown) is not None:
                yield from held_by_animation(scene, obj, modifier.path_from_id(shown), f"/{shown}")
        if args.settings is None:
            return
        if args.settings.type != modifier.type:
            message = f"modifier '{args.modifier}' is of type {modifier.type}, not {args.settings.type}"
            yield Finding(
                Fault.SCENE_CONFLICT, message, "/settings/type", f"Use type {modifier.type}, or name another modifier."
            )
            return
        yield from rna.problems(scene, obj, args.settings)
        yield from rna.held(scene, modifier, args.settings)
        tree = rna.tree_of(scene, args.settings, modifier)
        yield from rna.input_problems(scene, tree, args.settings, modifier)
        yield from rna.inputs_without_tree(tree, args.settings)

    def apply(self, scene: Scene, args: SetModifierArgs) -> ModifierResult:
        obj = scene.require(Kind.OBJECT, args.object, "/object")
        changed = any(self._differences(scene, args, obj))
        if changed:
            scene.edit(obj)
            modifier = obj.modifiers[args.modifier]
            if args.show_viewport is not None:
                modifier.show_viewport = args.show_viewport
            if args.show_render is not None:
                modifier.show_render = args.show_render
            if args.settings is not None:
                rna.write(scene, obj, modifier, args.settings)
            if args.index is not None:
                obj.modifiers.move(obj.modifiers.find(args.modifier), args.index)
        stack = [there.name for there in obj.modifiers]
        return ModifierResult(object=args.object, modifier=args.modifier, stack=stack, changed=changed)

    def verify(self, scene: Scene, args: SetModifierArgs, result: ModifierResult) -> Iterator[Finding]:
        yield from self._differences(scene, args, scene.require(Kind.OBJECT, args.object, "/object"))

    def _differences(self, scene: Scene, args: SetModifierArgs, obj: Block) -> Iterator[Finding]:
        modifier = obj.modifiers[args.modifier]
        if args.settings is not None:
            yield from rna.differences(scene, modifier, args.settings)
        if args.show_viewport is not None:
            yield from differs("its visibility", args.show_viewport, modifier.show_viewport, "/show_viewport")
        if args.show_render is not None:
            yield from differs("its visibility in renders", args.show_render, modifier.show_render, "/show_render")
        if args.index is not None:
            yield from differs("its place", args.index, obj.modifiers.find(args.modifier), "/index")
