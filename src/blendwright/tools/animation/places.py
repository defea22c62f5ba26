"""Where Blender keeps a channel: the datablock, what of it is animated, and the path of the curves.

What Blender says of the property there (whether it can be animated, its range, its choices) decides what a key may be. Reads only.
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
from blendwright.tools.animation.channels import OF_CONSTRAINT, OF_DATA, PATHS, WHOLE, elements
from blendwright.tools.animation_data import custom_path
from blendwright.tools.checks import conflict, invalid
from blendwright.tools.modifier import stored_inputs
from blendwright.tools.modifier.inputs import inputs_named, unclear_input
from blendwright.values.errors import StepError
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding, did_you_mean

# What others than objects have.
OF_ANY = frozenset({"property", "setting", "node_input"})
ROTATIONS = ("rotation_euler", "rotation_quaternion", "rotation_axis_angle")


@dataclass(frozen=True, slots=True)
class Place:
    """Where Blender keeps a channel: `block` is edited, `holder` (itself, its node tree, its shape keys) is animated."""

    block: Block
    holder: Block
    path: str
    degrees: bool = False
    low: float = -LARGEST
    high: float = LARGEST
    choices: Mapping[str, int] | None = None
    turned: Block | None = None
    """What has the rotation mode that keys of a rotation count in."""

    @property
    def current(self) -> Any:
        return self.holder.path_resolve(self.path)

    def numbers(self, value: Any) -> tuple[float, ...]:
        """A value as its curves hold it, one number per curve."""
        if self.choices is not None:
            return (float(self.choices[value]),)
        numbers = tuple(float(number) for number in elements(value))
        if self.degrees:
            return tuple(math.radians(number) for number in numbers)
        return numbers

    @property
    def is_discrete(self) -> bool:
        """Whether it knows no values in between."""
        return self.choices is not None or isinstance(elements(self.current)[0], (bool, int))


def found(
    scene: Scene, block: AnimatedBlock, names: ChannelNames, channel: str
) -> Generator[Finding, None, Place | None]:
    """For `check`: the place of a channel, or what keeps it from being one."""
    try:
        return place(scene, block, names, channel)
    except StepError as error:
        yield error.finding
        return None


def place(scene: Scene, owner: AnimatedBlock, names: ChannelNames, channel: str) -> Place:
    """The place of a channel. Raises StepError where there is none."""
    block = owner.find(scene)
    if owner.owner != "object" and channel not in OF_ANY:
        cure = f"Name an object, or use one of {', '.join(sorted(OF_ANY))}."
        raise StepError(invalid(f"{channel} is of objects", "/channel", cure))
    if channel == "shape_key":
        return _shape_key(block, names.shape_key or "")
    if names.node is not None:
        return _of_node(scene, block, names, channel)
    if channel in OF_DATA and block.type != OF_DATA[channel][0]:
        kind = OF_DATA[channel][0]
        message = f"'{block.name}' is of type {block.type}, and {channel} is of {kind}"
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
    turned = (block.path_resolve(base) if base else block) if path in ROTATIONS else None
    return Place(block, block, f"{base}.{path}" if base else path, channel == "rotation_euler_deg", turned=turned)


def value_problems(place: Place, value: Any, at: str = "/value") -> Findings:
    """What keeps a value from being a key there."""
    current = elements(place.current)
    if place.choices is not None:
        if not isinstance(value, str) or value not in place.choices:
            choices = list(place.choices)
            yield invalid(f"{place.path} has no choice {value!r}", at, f"Choices: {', '.join(choices[:20])}.")
        return
    given = elements(value)
    if any(isinstance(number, str) for number in given):
        yield invalid(f"{place.path} holds numbers", at, "Give a number.")
    elif len(given) != len(current):
        yield invalid(f"{place.path} holds {len(current)} numbers, not {len(given)}", at, f"Give {len(current)}.")
    elif isinstance(current[0], bool) and any(number not in (0, 1) for number in given):
        yield invalid(f"{place.path} is true or false", at, "Give true or false.")
    elif isinstance(current[0], int) and any(number != int(number) for number in given):
        cure = "Give whole numbers; a custom property may be set anew with number_type float."
        yield invalid(f"{place.path} holds whole numbers", at, cure)
    elif isinstance(current[0], int) and any(not -WHOLE <= number < WHOLE for number in given):
        yield invalid(f"{place.path} holds whole numbers of 32 bits", at, f"Give numbers from {-WHOLE} to {WHOLE - 1}.")
    elif any(not place.low <= number <= place.high for number in place.numbers(value)):
        low, high = (math.degrees(bound) if place.degrees else bound for bound in (place.low, place.high))
        yield invalid(f"{place.path} is from {low:.6g} to {high:.6g}", at, "Give a number in this range.")


def _base(block: Block, names: ChannelNames) -> str:
    """The path of the bone, constraint or modifier that a channel is of; empty for the datablock itself."""
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
            within = getattr(holder, f"{kind}s", ())
            _named(within, name, kind, holder, f"Add it first with {kind}.add.")
            base = f"{base}.{kind}s{custom_path(name)}".lstrip(".")
    return base


def _named(within: Any, name: str, kind: str, holder: Block, otherwise: str) -> Block:
    if within:
        one = within.get(name)
    else:
        one = None
    if one is None:
        cure = did_you_mean(name, [each.name for each in within], otherwise=otherwise)
        message = f"'{holder.name}' has no {kind.replace('_', ' ')} named '{name}'"
        raise StepError(Finding(Fault.TARGET_NOT_FOUND, message, f"/{kind}", cure))
    return one


def _shape_key(obj: Block, name: str) -> Place:
    keys: Any = getattr(obj.data, "shape_keys", None)
    blocks: Any
    if keys is None:
        blocks = ()
    else:
        blocks = keys.key_blocks
    key = _named(blocks, name, "shape_key", obj, "It needs shape keys first.")
    if keys is not None and key == keys.reference_key and keys.use_relative:
        message = f"'{name}' is the basis, whose value does not count"
        raise StepError(conflict(message, "/shape_key", "Name another shape key."))
    path = f"key_blocks{custom_path(name)}.value"
    return Place(keys, keys, path, low=key.slider_min, high=key.slider_max)


def _of_node(scene: Scene, block: Block, names: ChannelNames, channel: str) -> Place:
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
        cure = "Name a light, or give material, world or node_group; nodes.apply_tree makes nodes."
        raise StepError(conflict("there are no nodes in it", "/node", cure))
    name = names.node or ""
    node = _named(tree.nodes, name, "node", block, f"Nodes: {', '.join(sorted(tree.nodes.keys())[:12])}.")
    base = f"nodes{custom_path(name)}"
    if channel == "setting":
        return _of_rna(block, tree, base, names.setting or "")
    wanted = names.input or ""
    matching = [(index, one) for index, one in enumerate(node.inputs) if wanted in (one.name, one.identifier)]
    matching = [pair for pair in matching if pair[1].enabled] or matching
    exact = [pair for pair in matching if pair[1].identifier == wanted]
    if not matching:
        inputs = [one.name for one in node.inputs if one.enabled]
        cure = did_you_mean(wanted, inputs, otherwise=f"Inputs: {', '.join(inputs[:20]) or 'none'}.")
        raise StepError(Finding(Fault.TARGET_NOT_FOUND, f"node '{name}' has no input '{wanted}'", "/input", cure))
    if len(matching) > 1 and not exact:
        cure = f"Use an identifier: {', '.join(one.identifier for _, one in matching)}."
        raise StepError(invalid(f"{len(matching)} inputs of '{name}' are called '{wanted}'", "/input", cure))
    index, socket = (exact or matching)[0]
    if socket.is_linked:
        message = f"input '{wanted}' of '{name}' is linked, so that its own value does not count"
        raise StepError(
            conflict(message, "/input", "Animate what is linked to it, or remove the link with nodes.patch.")
        )
    return _of_rna(block, tree, f"{base}.inputs[{index}]", "default_value", known=True, at="/input")


def _modifier_input(obj: Block, names: ChannelNames) -> Place:
    modifier = obj.modifiers[names.modifier or ""]
    if modifier.type != "NODES" or modifier.node_group is None:
        message = f"modifier '{modifier.name}' has no node group"
        raise StepError(conflict(message, "/modifier", "Use channel setting with its setting, such as width."))
    wanted = names.input or ""
    matches = inputs_named(modifier.node_group, wanted)
    if len(matches) != 1:
        raise StepError(unclear_input(modifier.node_group, matches, wanted, "/input"))
    identifier = matches[0].identifier
    if not stored_inputs.has_input(modifier, identifier):
        raise StepError(
            conflict(f"'{modifier.name}' holds no value of '{wanted}'", "/input", "Set it with modifier.set.")
        )
    if stored_inputs.attribute_of(modifier, identifier) is not None:
        message = f"input '{wanted}' is read from an attribute, so that its value does not count"
        raise StepError(conflict(message, "/input", "Give it a value first with modifier.set."))
    path = stored_inputs.data_path(modifier, identifier)
    current = obj.path_resolve(path)
    menu = {text: number for number, text in stored_inputs.menu_items(modifier, identifier).items()}
    if menu:
        return Place(obj, obj, path, choices=menu)
    if not _is_numbers(current):
        raise StepError(conflict(f"input '{wanted}' is no number, which keyframes need", "/input", "Choose another."))
    low, high = getattr(matches[0], "min_value", -LARGEST), getattr(matches[0], "max_value", LARGEST)
    return Place(obj, obj, path, low=low, high=high)


def _custom_property(block: Block, base: str, key: str) -> Place:
    if base:
        holder = block.path_resolve(base)
    else:
        holder = block
    current = holder.get(key)
    if current is None:
        message = f"'{holder.name}' has no custom property '{key}'"
        cure = "Create it first with object.set_property."
        raise StepError(Finding(Fault.TARGET_NOT_FOUND, message, "/property", cure))
    if not _is_numbers(current):
        message = f"the custom property '{key}' is no number, which keyframes need"
        raise StepError(conflict(message, "/property", "Choose a property that holds numbers."))
    return Place(block, block, base + custom_path(key))


def _of_constraint(block: Block, base: str, channel: str) -> Place:
    constraint, name = block.path_resolve(base), OF_CONSTRAINT[channel]
    if not hasattr(constraint, name):
        message = f"constraint '{constraint.name}' is of type {constraint.type}, which has no {name}"
        raise StepError(conflict(message, "/channel", "Name a FOLLOW_PATH constraint."))
    if channel == "constraint_influence":
        return Place(block, block, f"{base}.{name}", low=0.0, high=1.0)
    if not constraint.use_fixed_location:
        message = f"constraint '{constraint.name}' goes by frames, so that its factor does not count"
        raise StepError(conflict(message, "/channel", "Set its offset_factor first with constraint.set."))
    return Place(block, block, f"{base}.{name}")


def _is_numbers(value: Any) -> bool:
    return bool(elements(value)) and all(isinstance(number, (bool, int, float)) for number in elements(value))


def _of_rna(
    block: Block, holder: Block, base: str, setting: str, *, known: bool = False, at: str = "/setting"
) -> Place:
    """A property that Blender itself knows. `known`: its unit is ours, and its bounds are checked elsewhere."""
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
        names = [each.identifier for each in owner.bl_rna.properties if each.is_animatable]
        cure = did_you_mean(name, names, otherwise="Use Blender's own name of a setting that can be animated.")
        raise StepError(Finding(Fault.TARGET_NOT_FOUND, f"'{holder.name}' has no {path}", at, cure)) from None
    if struct.id_data != holder:
        message = f"{path} belongs to '{struct.id_data.name}'"
        cure = "Name that datablock; nodes by node, an object's data by data_setting."
        raise StepError(conflict(message, at, cure))
    if name == "rotation_mode":
        cure = "Set it once; keys of a rotation switch to the mode that they need."
        raise StepError(conflict("another rotation mode converts the rotation, so it is not animated", at, cure))
    if not prop.is_animatable or prop.is_readonly or prop.type not in ("FLOAT", "INT", "BOOLEAN", "ENUM"):
        raise StepError(conflict(f"{path} cannot be animated", at, "Choose a setting with numbers or choices."))
    if prop.type == "ENUM":
        if prop.is_enum_flag:
            raise StepError(conflict(f"{path} is a set of choices", at, "Choose another setting."))
        return Place(block, holder, path, choices={item.identifier: item.value for item in prop.enum_items})
    if prop.type == "FLOAT" and not known and degrees != (prop.unit == "ROTATION"):
        told = f"{setting.removesuffix('_deg')}{'' if degrees else '_deg'}"
        if degrees:
            what = "no angle"
        else:
            what = "an angle, which is given in degrees"
        raise StepError(invalid(f"{path} is {what}", at, f"Call it {told}."))
    if prop.type == "BOOLEAN":
        return Place(block, holder, path)
    return Place(block, holder, path, degrees, max(prop.hard_min, -LARGEST), min(prop.hard_max, LARGEST))


def _last_struct(holder: Block, path: str) -> Block:
    """As far as a path can be followed."""
    while path:
        try:
            one = holder.path_resolve(path)
        except ValueError:
            one = None
        if hasattr(one, "bl_rna"):
            return one
        path = path.rpartition(".")[0]
    return holder
