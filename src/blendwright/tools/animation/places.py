"""Location of channels in Blender's data: the datablock, its animated part, and the data path of the curves.

Blender's RNA description of the property (animatable, range, choices) decides which values a key may have. Reads only.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Mapping
from dataclasses import dataclass
from typing import Any

from blendwright.tool_api.arguments import LARGEST
from blendwright.tool_api.scene import Block, Kind, Scene
from blendwright.tool_api.tool import Findings
from blendwright.tools.animation.animated_channel import AnimatedBlock, ChannelNames
from blendwright.tools.animation.channels import INTEGER_LIMIT, OF_CONSTRAINT, OF_DATA, PATHS, elements
from blendwright.tools.animation_data import custom_path
from blendwright.tools.checks import conflict, invalid
from blendwright.tools.modifier import stored_inputs
from blendwright.tools.modifier.inputs import inputs_named, unclear_input
from blendwright.values.errors import StepError
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding, did_you_mean

# Channels of datablocks other than objects.
OF_ANY = frozenset({"property", "setting", "node_input"})
ROTATIONS = ("rotation_euler", "rotation_quaternion", "rotation_axis_angle")


@dataclass(frozen=True, slots=True)
class ChannelLocation:
    """A channel's location in Blender's data, with the limits of its values.

    `block` is opened for writing. `holder` (the block itself, its node tree or its shape keys) has the animation data.
    """

    block: Block
    holder: Block
    path: str
    degrees: bool = False
    low: float = -LARGEST
    high: float = LARGEST
    choices: Mapping[str, int] | None = None
    turned: Block | None = None
    """The object or bone whose rotation mode determines which rotation channel is used."""

    @property
    def current(self) -> Any:
        return self.holder.path_resolve(self.path)

    def numbers(self, value: Any) -> tuple[float, ...]:
        """Return a value as its curves store it, one number per curve, angles in radians."""
        if self.choices is not None:
            return (float(self.choices[value]),)
        numbers = tuple(float(number) for number in elements(value))
        if self.degrees:
            return tuple(math.radians(number) for number in numbers)
        return numbers

    @property
    def is_discrete(self) -> bool:
        """Return True if the channel has no values in between, as booleans, integers and choices."""
        return self.choices is not None or isinstance(elements(self.current)[0], (bool, int))


def checked_location(
    scene: Scene, block: AnimatedBlock, names: ChannelNames, channel: str
) -> Generator[Finding, None, ChannelLocation | None]:
    """Return a channel's location, or yield a finding and return None if it has none. For use in `check`."""
    try:
        return channel_location(scene, block, names, channel)
    except StepError as error:
        yield error.finding
        return None


def channel_location(scene: Scene, owner: AnimatedBlock, names: ChannelNames, channel: str) -> ChannelLocation:
    """Return a channel's location. Raise StepError if it does not exist or cannot be animated."""
    block = owner.find(scene)
    if owner.owner != "object" and channel not in OF_ANY:
        fix = f"Name an object, or use one of {', '.join(sorted(OF_ANY))}."
        raise StepError(invalid(f"{channel} exists only for objects", "/channel", fix))
    if channel == "shape_key":
        return _shape_key(block, names.shape_key or "")
    if names.node is not None:
        return _of_node(scene, block, names, channel)
    if channel in OF_DATA and block.type != OF_DATA[channel][0]:
        kind = OF_DATA[channel][0]
        message = f"'{block.name}' is of type {block.type}, but {channel} needs type {kind}"
        raise StepError(conflict(message, "/channel", f"Name an object of type {kind}, or another channel."))
    if channel in OF_DATA or channel == "data_setting":
        if block.data is None:
            raise StepError(conflict(f"'{block.name}' has no data", "/channel", "Use channel setting."))
        return _of_rna(block.data, block.data, "", names.setting or PATHS[channel][0], known=channel in OF_DATA)
    base = _base(block, names)
    if channel == "modifier_input":
        return _modifier_input(block, names)
    if channel == "property":
        return _custom_property(block, base, names.property or "")
    if channel == "setting":
        return _of_rna(block, block, base, names.setting or "")
    if channel in OF_CONSTRAINT:
        return _of_constraint(block, base, channel)

    path, _ = PATHS[channel]
    owner, full_path = block, path
    if base:
        owner, full_path = block.path_resolve(base), f"{base}.{path}"
    turned = None
    if path in ROTATIONS:
        turned = owner
    return ChannelLocation(block, block, full_path, channel == "rotation_euler_deg", turned=turned)


def value_problems(channel: ChannelLocation, value: Any, at: str = "/value") -> Findings:
    """Yield findings if a value cannot be a key of this channel."""
    current = elements(channel.current)
    if channel.choices is not None:
        if not isinstance(value, str) or value not in channel.choices:
            choices = list(channel.choices)
            yield invalid(f"{channel.path} has no choice {value!r}", at, f"Choices: {', '.join(choices[:20])}.")
        return
    numbers = elements(value)
    if any(isinstance(number, str) for number in numbers):
        yield invalid(f"{channel.path} holds numbers", at, "Give a number.")
    elif len(numbers) != len(current):
        yield invalid(f"{channel.path} holds {len(current)} numbers, not {len(numbers)}", at, f"Give {len(current)}.")
    elif isinstance(current[0], bool) and any(number not in (0, 1) for number in numbers):
        yield invalid(f"{channel.path} is true or false", at, "Give true or false.")
    elif isinstance(current[0], int) and any(number != int(number) for number in numbers):
        fix = "Give whole numbers; for a custom property, set it again with number_type float."
        yield invalid(f"{channel.path} holds whole numbers", at, fix)
    elif isinstance(current[0], int) and any(not -INTEGER_LIMIT <= number < INTEGER_LIMIT for number in numbers):
        yield invalid(
            f"{channel.path} holds whole numbers of 32 bits",
            at,
            f"Give numbers from {-INTEGER_LIMIT} to {INTEGER_LIMIT - 1}.",
        )
    elif any(not channel.low <= number <= channel.high for number in channel.numbers(value)):
        low, high = channel.low, channel.high
        if channel.degrees:
            low, high = math.degrees(low), math.degrees(high)
        yield invalid(f"{channel.path} is from {low:.6g} to {high:.6g}", at, "Give a number in this range.")


def _base(block: Block, names: ChannelNames) -> str:
    """Return the data path of the bone, constraint or modifier that has the channel; empty for the datablock itself."""
    base, holder = "", block
    if names.bone is not None:
        if getattr(block, "pose", None) is None:
            bones = ()
        else:
            bones = block.pose.bones
        holder = _named(bones, names.bone, "bone", block, "Name an armature that has it.")
        base = f"pose.bones{custom_path(names.bone)}"
    for kind, name in (("constraint", names.constraint), ("modifier", names.modifier)):
        if name is not None:
            members = getattr(holder, f"{kind}s", ())
            _named(members, name, kind, holder, f"Add it first with {kind}.add.")
            base = f"{base}.{kind}s{custom_path(name)}".lstrip(".")
    return base


def _named(members: Any, name: str, kind: str, holder: Block, otherwise: str) -> Block:
    item = None
    if members:
        item = members.get(name)
    if item is None:
        fix = did_you_mean(name, [member.name for member in members], otherwise=otherwise)
        message = f"'{holder.name}' has no {kind.replace('_', ' ')} named '{name}'"
        raise StepError(Finding(Fault.TARGET_NOT_FOUND, message, f"/{kind}", fix))
    return item


def _shape_key(obj: Block, name: str) -> ChannelLocation:
    keys: Any = getattr(obj.data, "shape_keys", None)
    blocks: Any
    if keys is None:
        blocks = ()
    else:
        blocks = keys.key_blocks
    key = _named(blocks, name, "shape_key", obj, "It needs shape keys first.")
    if keys is not None and key == keys.reference_key and keys.use_relative:
        message = f"'{name}' is the basis, whose value has no effect"
        raise StepError(conflict(message, "/shape_key", "Name another shape key."))
    path = f"key_blocks{custom_path(name)}.value"
    return ChannelLocation(keys, keys, path, low=key.slider_min, high=key.slider_max)


def _of_node(scene: Scene, block: Block, names: ChannelNames, channel: str) -> ChannelLocation:
    if scene.kind_of(block) is Kind.OBJECT:
        if block.type == "LIGHT":
            block = block.data
        else:
            block = None
    is_group = block is not None and scene.kind_of(block) is Kind.NODE_GROUP
    if is_group:
        tree = block
    else:
        tree = getattr(block, "node_tree", None)
    if block is None or tree is None:
        fix = "Name a light, or give material, world or node_group; nodes.apply_tree makes nodes."
        raise StepError(conflict(f"'{names.node}' has no node tree here: the datablock has no nodes", "/node", fix))
    name = names.node or ""
    node = _named(tree.nodes, name, "node", block, f"Nodes: {', '.join(sorted(tree.nodes.keys())[:12])}.")
    base = f"nodes{custom_path(name)}"
    if channel == "setting":
        return _of_rna(block, tree, base, names.setting or "")
    wanted = names.input or ""
    matching = [
        (index, socket) for index, socket in enumerate(node.inputs) if wanted in (socket.name, socket.identifier)
    ]
    matching = [pair for pair in matching if pair[1].enabled] or matching
    exact = [pair for pair in matching if pair[1].identifier == wanted]
    if not matching:
        inputs = [socket.name for socket in node.inputs if socket.enabled]
        fix = did_you_mean(wanted, inputs, otherwise=f"Inputs: {', '.join(inputs[:20]) or 'none'}.")
        raise StepError(Finding(Fault.TARGET_NOT_FOUND, f"node '{name}' has no input '{wanted}'", "/input", fix))
    if len(matching) > 1 and not exact:
        fix = f"Use an identifier: {', '.join(socket.identifier for _, socket in matching)}."
        raise StepError(invalid(f"{len(matching)} inputs of '{name}' are called '{wanted}'", "/input", fix))
    index, socket = (exact or matching)[0]
    if socket.is_linked:
        message = f"input '{wanted}' of '{name}' is linked, so its own value has no effect"
        raise StepError(
            conflict(message, "/input", "Animate what is linked to it, or remove the link with nodes.patch.")
        )
    return _of_rna(block, tree, f"{base}.inputs[{index}]", "default_value", known=True, at="/input")


def _modifier_input(obj: Block, names: ChannelNames) -> ChannelLocation:
    modifier = obj.modifiers[names.modifier or ""]
    if modifier.type != "NODES" or modifier.node_group is None:
        message = f"modifier '{modifier.name}' has no node group"
        raise StepError(conflict(message, "/modifier", "Use channel setting with one of its settings, such as width."))
    wanted = names.input or ""
    matches = inputs_named(modifier.node_group, wanted)
    if len(matches) != 1:
        raise StepError(unclear_input(modifier.node_group, matches, wanted, "/input"))
    identifier = matches[0].identifier
    if not stored_inputs.has_input(modifier, identifier):
        raise StepError(
            conflict(f"'{modifier.name}' stores no value for '{wanted}'", "/input", "Set it with modifier.set.")
        )
    if stored_inputs.attribute_of(modifier, identifier) is not None:
        message = f"input '{wanted}' is read from an attribute, so its value has no effect"
        raise StepError(conflict(message, "/input", "Give it a value first with modifier.set."))
    path = stored_inputs.data_path(modifier, identifier)
    current = obj.path_resolve(path)
    menu = {text: number for number, text in stored_inputs.menu_items(modifier, identifier).items()}
    if menu:
        return ChannelLocation(obj, obj, path, choices=menu)
    if not _is_numbers(current):
        raise StepError(
            conflict(f"input '{wanted}' is not a number; keyframes need numbers", "/input", "Choose another.")
        )
    low, high = getattr(matches[0], "min_value", -LARGEST), getattr(matches[0], "max_value", LARGEST)
    return ChannelLocation(obj, obj, path, low=low, high=high)


def _custom_property(block: Block, base: str, key: str) -> ChannelLocation:
    if base:
        holder = block.path_resolve(base)
    else:
        holder = block
    current = holder.get(key)
    if current is None:
        message = f"'{holder.name}' has no custom property '{key}'"
        fix = "Create it first with object.set_property."
        raise StepError(Finding(Fault.TARGET_NOT_FOUND, message, "/property", fix))
    if not _is_numbers(current):
        message = f"the custom property '{key}' is not a number; keyframes need numbers"
        raise StepError(conflict(message, "/property", "Choose a property that holds numbers."))
    return ChannelLocation(block, block, base + custom_path(key))


def _of_constraint(block: Block, base: str, channel: str) -> ChannelLocation:
    constraint, name = block.path_resolve(base), OF_CONSTRAINT[channel]
    if not hasattr(constraint, name):
        message = f"constraint '{constraint.name}' is of type {constraint.type}, which has no {name}"
        raise StepError(conflict(message, "/channel", "Name a FOLLOW_PATH constraint."))
    if channel == "constraint_influence":
        return ChannelLocation(block, block, f"{base}.{name}", low=0.0, high=1.0)
    if not constraint.use_fixed_location:
        message = f"constraint '{constraint.name}' uses frames, so its factor has no effect"
        raise StepError(conflict(message, "/channel", "Set its offset_factor first with constraint.set."))
    return ChannelLocation(block, block, f"{base}.{name}")


def _is_numbers(value: Any) -> bool:
    return bool(elements(value)) and all(isinstance(number, (bool, int, float)) for number in elements(value))


def _of_rna(
    block: Block, holder: Block, base: str, setting: str, *, known: bool = False, at: str = "/setting"
) -> ChannelLocation:
    """Return the location of an RNA property. If `known`, the channel has a fixed unit, and its limits are checked elsewhere."""
    degrees = not known and setting.endswith("_deg")
    path = f"{base}.{setting}".lstrip(".").removesuffix("_deg" if degrees else "")
    parent, _, name = path.rpartition(".")
    try:
        if parent:
            struct = holder.path_resolve(parent)
        else:
            struct = holder
        prop = struct.bl_rna.properties[name]
    except (ValueError, KeyError, AttributeError, IndexError):
        owner = _last_struct(holder, parent)
        names = [candidate.identifier for candidate in owner.bl_rna.properties if candidate.is_animatable]
        fix = did_you_mean(name, names, otherwise="Use Blender's own name of a setting that can be animated.")
        raise StepError(Finding(Fault.TARGET_NOT_FOUND, f"'{holder.name}' has no {path}", at, fix)) from None
    if struct.id_data != holder:
        message = f"{path} belongs to '{struct.id_data.name}'"
        fix = "Name that datablock; for nodes use node, for an object's data use channel data_setting."
        raise StepError(conflict(message, at, fix))
    if name == "rotation_mode":
        fix = "Set it once; keys of a rotation switch to the mode that they need."
        raise StepError(conflict("rotation_mode cannot be animated, because a change converts the rotation", at, fix))
    if not prop.is_animatable or prop.is_readonly or prop.type not in ("FLOAT", "INT", "BOOLEAN", "ENUM"):
        raise StepError(conflict(f"{path} cannot be animated", at, "Choose a setting with numbers or choices."))
    if prop.type == "ENUM":
        if prop.is_enum_flag:
            raise StepError(conflict(f"{path} is a set of choices", at, "Choose another setting."))
        return ChannelLocation(block, holder, path, choices={item.identifier: item.value for item in prop.enum_items})
    if prop.type == "FLOAT" and not known and degrees != (prop.unit == "ROTATION"):
        if degrees:
            fix = f"Name the setting {setting.removesuffix('_deg')}."
            raise StepError(invalid(f"{path} is not an angle", at, fix))
        raise StepError(
            invalid(f"{path} is an angle, which must be in degrees", at, f"Name the setting {setting}_deg.")
        )
    if prop.type == "BOOLEAN":
        return ChannelLocation(block, holder, path)
    return ChannelLocation(block, holder, path, degrees, max(prop.hard_min, -LARGEST), min(prop.hard_max, LARGEST))


def _last_struct(holder: Block, path: str) -> Block:
    """Return the deepest struct on a path that exists, or the holder itself."""
    while path:
        try:
            struct = holder.path_resolve(path)
        except ValueError:
            struct = None
        if hasattr(struct, "bl_rna"):
            return struct
        path = path.rpartition(".")[0]
    return holder
