"""Tool modifier.add"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from blendwright.tool_api.arguments import Args, optional
from blendwright.tool_api.mentions import NewModifierName, ObjectName
from blendwright.tool_api.promises import SAFE_IDEMPOTENT_WRITE
from blendwright.tool_api.scene import Block, Kind, Scene
from blendwright.tool_api.tool import Example, Findings, Tool
from blendwright.tools.checks import conflict, differs, existing_object, invalid, required_object
from blendwright.tools.modifier import blender_settings
from blendwright.tools.modifier.blender_settings import ModifierResult, modifier_result
from blendwright.tools.modifier.settings import Settings

CUBE = ("mesh.create_primitive", {"kind": "cube", "name": "Box"})
BALL = ("mesh.create_primitive", {"kind": "uv_sphere", "name": "Ball", "location": [1, 1, 1]})
ARRAY = ("modifier.add", {"object": "Box", "name": "Row", "settings": {"type": "ARRAY", "count": 3}})


def _example(name: str, settings: Any, *setup: Any, **arguments: Any) -> Example:
    """Return an example that adds a modifier to a cube. `setup` lists further calls that run first."""
    return Example({"object": "Box", "name": name, "settings": settings, **arguments}, CUBE, *setup)


class AddModifierArgs(Args):
    object: ObjectName = Field(description="Name of the object.")
    name: NewModifierName = Field(description="Name of the new modifier; must be free on the object.")
    settings: Settings = Field(
        description="Type and settings of the modifier. Omitted settings get Blender's defaults."
    )
    index: Annotated[int, Field(ge=0, le=1000)] | None = optional(
        "Position in the stack; 0 is evaluated first. Default: the end."
    )
    show_viewport: bool = Field(default=True, description="Whether the modifier is active in the viewport.")
    show_render: bool = Field(default=True, description="Whether the modifier is active in renders.")


class AddModifier(Tool[AddModifierArgs, ModifierResult]):
    """Add a modifier to an object: array, bevel, boolean, mirror, solidify, subsurf, decimate, screw, displace, wireframe, bend,
    twist, curve, shrinkwrap, cast, smooth, weld, triangulate or geometry nodes.

    The type WEIGHTED_NORMAL, which weights normals by face size, is available too.
    """

    name = "modifier.add"
    promises = SAFE_IDEMPOTENT_WRITE.writes_to(Kind.OBJECT).needs("modifier_write")
    examples = (
        _example("Row", {"type": "ARRAY", "count": 5, "constant_offset": [3, 0, 0]}),
        _example("Smooth", {"type": "SUBSURF", "levels": 2}, ARRAY, index=0),
        _example("Edges", {"type": "BEVEL", "width": 0.1, "segments": 3}),
        _example("Bars", {"type": "WIREFRAME", "thickness": 0.05, "use_replace": False}),
        _example("Bend", {"type": "SIMPLE_DEFORM", "deform_method": "BEND", "angle_deg": 60, "deform_axis": "Z"}),
        _example("Lie", {"type": "SHRINKWRAP", "target": "Ball", "offset": 0.01}, BALL),
        _example("Cut", {"type": "BOOLEAN", "operation": "DIFFERENCE", "object": "Ball"}, BALL),
    )

    def check(self, scene: Scene, args: AddModifierArgs) -> Findings:
        yield from blender_settings.name_problems(args.name, "/name")
        obj = yield from existing_object(scene, args.object, "/object")
        if obj is None:
            return
        yield from _object_problems(obj, args)
        settings = args.settings.for_new()
        problems = [*_missing_settings(settings), *blender_settings.problems(scene, obj, settings)]
        problems += blender_settings.input_problems(scene, settings)
        yield from problems
        existing = obj.modifiers.get(args.name)
        if existing is None:
            yield from _index_problems(obj, args)
        elif problems or any(self._differences(scene, args, obj, existing)):
            message = f"object '{args.object}' already has a modifier named '{args.name}' ({existing.type})"
            yield conflict(message, "/name", "Choose another name, or use modifier.set.")

    def apply(self, scene: Scene, args: AddModifierArgs) -> ModifierResult:
        obj = required_object(scene, args.object, "/object")
        if obj.modifiers.get(args.name) is not None:
            return modifier_result(obj, args.name, changed=False)
        scene.edit(obj)
        modifier = obj.modifiers.new(args.name, args.settings.type)
        modifier.show_viewport = args.show_viewport
        modifier.show_render = args.show_render
        blender_settings.write(scene, obj, modifier, args.settings.for_new())
        if args.index is not None:
            obj.modifiers.move(len(obj.modifiers) - 1, args.index)
        return modifier_result(obj, args.name, changed=True)

    def verify(self, scene: Scene, args: AddModifierArgs, result: ModifierResult) -> Findings:
        obj = required_object(scene, args.object, "/object")
        modifier = obj.modifiers.get(args.name)
        yield from differs("the presence of the modifier", True, modifier is not None, "/name")
        if modifier is not None:
            yield from self._differences(scene, args, obj, modifier)

    def _differences(self, scene: Scene, args: AddModifierArgs, obj: Block, modifier: Block) -> Findings:
        yield from blender_settings.differences(scene, modifier, args.settings.for_new())
        shown = {"show_viewport": args.show_viewport, "show_render": args.show_render}
        yield from blender_settings.stack_differences(obj, modifier, shown, args.index)


def _object_problems(obj: Block, args: AddModifierArgs) -> Findings:
    mesh_only = args.settings.type in blender_settings.MESH_ONLY
    no_nodes = obj.type == "SURFACE" and args.settings.type == "NODES"
    if mesh_only:
        accepted_types = ("MESH",)
        cure = "Name a mesh object."
    else:
        accepted_types = blender_settings.MODIFIABLE
        cure = "Name a mesh, curve or text object."
    if no_nodes or obj.type not in accepted_types:
        message = f"a {args.settings.type} modifier does not work on '{obj.name}', which is of type {obj.type}"
        yield conflict(message, "/object", cure)


def _index_problems(obj: Block, args: AddModifierArgs) -> Findings:
    if args.index is not None and args.index > len(obj.modifiers):
        message = f"object '{obj.name}' has {len(obj.modifiers)} modifiers"
        yield invalid(message, "/index", f"Use 0 to {len(obj.modifiers)}, or leave index out.")


def _missing_settings(settings: Settings) -> Findings:
    """Yield a finding if a setting is missing without which a new modifier does nothing."""
    if settings.type == "NODES":
        needed = "node_group"
    else:
        needed = blender_settings.OPERANDS.get(settings.type, ("",))[0]
    if needed and getattr(settings, needed) is None:
        message = f"a new {settings.type} modifier needs '{needed}'"
        yield invalid(message, f"/settings/{needed}", f"Add '{needed}' to the settings.")
