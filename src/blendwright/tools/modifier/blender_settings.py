"""Modifier settings in Blender: checks against the scene, writing, comparison, and the tools' common result."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import Field

from blendwright.tool_api.arguments import Result
from blendwright.tool_api.scene import Block, Kind, Scene
from blendwright.tool_api.tool import Findings
from blendwright.tools.animation_data import channel_conflicts
from blendwright.tools.checks import conflict, differs, invalid
from blendwright.tools.modifier import inputs
from blendwright.tools.modifier.settings import BlenderProperty, NodesSettings, requested
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding, did_you_mean

# Blender 5.0 refuses these types on curves and texts; both accept all other types.
MESH_ONLY = frozenset({"BOOLEAN", "DISPLACE", "WEIGHTED_NORMAL", "WIREFRAME"})
# The setting that names the object without which a modifier does nothing, and the required type of that object.
OPERANDS = {"BOOLEAN": ("object", "MESH"), "CURVE": ("object", "CURVE"), "SHRINKWRAP": ("target", "MESH")}
MODIFIABLE = ("MESH", "CURVE", "SURFACE", "FONT")
# Blender stores at most 63 bytes of a modifier name in every version, unlike names of datablocks.
NAME_BYTES = 63
AT = "/settings"
# Kinds that a modifier can refer to, besides objects. When a removed modifier was the last user, the datablock gets a
# fake user, so that saving the file keeps it.
REFERRED_KINDS = (Kind.NODE_GROUP, Kind.TEXTURE, Kind.MATERIAL, Kind.IMAGE, Kind.COLLECTION, Kind.CURVE)


class ModifierResult(Result):
    """The modifier that a tool wrote or removed, and the modifier stack of its object."""

    object: str = Field(description="Name of the object.")
    modifier: str = Field(description="Name of the modifier.")
    stack: list[str] = Field(description="Names of all modifiers of the object, in evaluation order.")
    changed: bool = Field(description="False if everything already was as requested.")


def modifier_result(obj: Block, modifier: str, *, changed: bool) -> ModifierResult:
    stack = [item.name for item in obj.modifiers]
    return ModifierResult(object=obj.name, modifier=modifier, stack=stack, changed=changed)


def name_problems(name: str, at: str) -> Findings:
    if len(name.encode()) > NAME_BYTES:
        message = f"the name has {len(name.encode())} bytes; modifiers keep at most {NAME_BYTES}"
        yield invalid(message, at, "Shorten the name.")


def problems(scene: Scene, obj: Block, settings: Any) -> Findings:
    """Yield findings for settings that do not suit the scene or the object."""
    for name, (rna, value) in requested(settings).items():
        at = f"{AT}/{name}"
        if rna.refers_to is not None:
            yield from scene.missing(rna.refers_to, value, at)
            if rna.refers_to is Kind.OBJECT and value == obj.name:
                yield conflict(f"a modifier cannot refer to its own object '{value}'", at, "Name another object.")
        if rna.form == "solver" and value == "MANIFOLD" and scene.version < (4, 5, 0):
            yield invalid("the MANIFOLD solver needs Blender 4.5", at, "Use EXACT.")
    yield from _operand_problems(scene, settings)
    yield from _layer_problems(obj, settings, "vertex_group", "vertex group", obj.vertex_groups)
    yield from _layer_problems(obj, settings, "uv_layer", "UV map", getattr(obj.data, "uv_layers", ()))


def input_problems(scene: Scene, settings: Any, modifier: Block | None = None) -> Findings:
    """Yield findings for values of tree inputs. The tree is the one in `settings`, else the modifier's present one."""
    if not isinstance(settings, NodesSettings):
        return
    tree: Block | None = None
    if settings.node_group is not None:
        tree = scene.find(Kind.NODE_GROUP, settings.node_group)
    elif modifier is not None:
        tree = modifier.node_group
    if tree is not None and tree.bl_idname != "GeometryNodeTree":
        message = f"node group '{tree.name}' is a {tree.bl_idname}, not a GeometryNodeTree"
        yield conflict(message, f"{AT}/node_group", "Name a geometry-nodes tree.")
    elif tree is not None:
        yield from inputs.problems(scene, tree, settings.inputs, f"{AT}/inputs", modifier)
    elif modifier is not None and settings.inputs and settings.node_group is None:
        message = "the modifier has no node group, so it has no inputs"
        yield conflict(message, f"{AT}/inputs", "Set 'node_group' too.")


def missing_modifier(obj: Block, name: str, at: str) -> Sequence[Finding]:
    """Return a finding if the object has no modifier of that name."""
    names = [modifier.name for modifier in obj.modifiers]
    if name in names:
        return ()
    quoted_names = ", ".join(f"'{existing}'" for existing in names) or "none"
    cure = did_you_mean(name, names, otherwise=f"It has {quoted_names}.")
    return (Finding(Fault.TARGET_NOT_FOUND, f"object '{obj.name}' has no modifier named '{name}'", at, cure),)


def wrong_type(modifier: Block, expected: str, at: str) -> Findings:
    """Yield a finding if a modifier is not of the expected type."""
    if modifier.type != expected:
        message = f"modifier '{modifier.name}' is of type {modifier.type}, not {expected}"
        yield conflict(message, at, f"Use type {modifier.type}, or name another modifier.")


def animated_settings(scene: Scene, modifier: Block, settings: Any) -> Findings:
    """Yield findings for settings that keyframes or a driver would overwrite."""
    for name, (rna, _) in requested(settings).items():
        path = modifier.path_from_id(rna.attribute)
        yield from channel_conflicts(scene, modifier.id_data, path, f"{AT}/{name}")
    if isinstance(settings, NodesSettings) and settings.inputs and modifier.node_group is not None:
        yield from inputs.animated_inputs(scene, modifier, settings.inputs, f"{AT}/inputs")


def write(scene: Scene, obj: Block, modifier: Block, settings: Any) -> None:
    """Write the requested settings. The caller must have opened the object for writing."""
    for rna, value in requested(settings).values():
        setattr(modifier, rna.attribute, _to_blender(scene, rna, value))
    if isinstance(settings, NodesSettings) and settings.inputs:
        inputs.write(scene, modifier, settings.inputs)
    # Blender does not notice writes to the inputs of a tree.
    obj.update_tag()


def differences(scene: Scene, modifier: Block, settings: Any) -> Findings:
    """Yield the differences between a modifier and the requested settings."""
    yield from differs("its type", settings.type, modifier.type, f"{AT}/type")
    if settings.type != modifier.type:
        return
    for name, (rna, value) in requested(settings).items():
        actual = getattr(modifier, rna.attribute)
        yield from differs(f"its {name}", _plain(_to_blender(scene, rna, value)), _plain(actual), f"{AT}/{name}")
    if isinstance(settings, NodesSettings) and settings.inputs and modifier.node_group is not None:
        for identifier in inputs.differences(scene, modifier, settings.inputs):
            yield from differs(f"that input {identifier} is as requested", True, False, f"{AT}/inputs")


def stack_differences(obj: Block, modifier: Block, shown: Mapping[str, bool], index: int | None) -> Findings:
    """Yield the differences of a modifier's visibility and, if `index` is not None, of its position in the stack."""
    for name, value in shown.items():
        if name == "show_render":
            label = "its visibility in renders"
        else:
            label = "its visibility"
        yield from differs(label, value, getattr(modifier, name), f"/{name}")
    if index is not None:
        yield from differs("its position", index, obj.modifiers.find(modifier.name), "/index")


def _to_blender(scene: Scene, rna: BlenderProperty, value: Any) -> Any:
    if rna.refers_to is not None:
        return scene.require(rna.refers_to, value)
    if rna.form == "degrees":
        return math.radians(value)
    if rna.form == "axes":
        return tuple(axis in value for axis in "XYZ")
    if rna.form == "solver" and value == "FLOAT" and scene.version < (5, 0, 0):
        return "FAST"
    return value


def _plain(value: Any) -> Any:
    """Return a comparable value: the name of a datablock, a tuple for an array, else the value itself."""
    if hasattr(value, "bl_rna"):
        return value.name
    if isinstance(value, str) or not hasattr(value, "__len__"):
        return value
    return tuple(value)


def _operand_problems(scene: Scene, settings: Any) -> Findings:
    name, expected = OPERANDS.get(settings.type, ("", ""))
    operand_name: str | None = getattr(settings, name, None)
    operand: Block | None = None
    if operand_name is not None:
        operand = scene.find(Kind.OBJECT, operand_name)
    if operand is not None and operand.type != expected:
        message = f"object '{operand_name}' is of type {operand.type}, not {expected}"
        yield conflict(message, f"{AT}/{name}", f"Name a {expected.lower()} object.")


def _layer_problems(obj: Block, settings: Any, name: str, word: str, layers: Any) -> Findings:
    """Yield a finding for an unknown vertex group or UV map, which Blender would accept silently. "" means none."""
    requested_name: str | None = getattr(settings, name, None)
    names = [layer.name for layer in layers]
    if requested_name and requested_name not in names:
        cure = did_you_mean(requested_name, names, otherwise=f"It has {len(names)}; an empty name means none.")
        message = f"object '{obj.name}' has no {word} named '{requested_name}'"
        yield Finding(Fault.TARGET_NOT_FOUND, message, f"{AT}/{name}", cure)
