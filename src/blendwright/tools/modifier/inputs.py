"""The inputs of a geometry-nodes modifier: which there are, what fits them, and how they are written.

They are custom properties of the modifier, and Blender takes unknown keys in silence: all is checked against the tree's
interface here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, cast

from blendwright.tool_api.effects import Kind
from blendwright.tool_api.scene import Block, Scene
from blendwright.tools.animation_data import channel_conflicts, custom_path
from blendwright.tools.readback import same
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding, did_you_mean, pointer_of

REFERENCES = {
    "NodeSocketObject": Kind.OBJECT,
    "NodeSocketCollection": Kind.COLLECTION,
    "NodeSocketMaterial": Kind.MATERIAL,
    "NodeSocketImage": Kind.IMAGE,
    "NodeSocketTexture": Kind.TEXTURE,
}
# What an input of a type takes, in words and as a test. Blender refuses a value of another type than the one it holds.
FORMS = {
    "NodeSocketFloat": "a number",
    "NodeSocketInt": "a whole number",
    "NodeSocketBool": "true or false",
    "NodeSocketString": "a text",
    "NodeSocketVector": "a list of numbers",
    "NodeSocketRotation": "a list of three angles in radians",
    "NodeSocketColor": "a list of four numbers",
    "NodeSocketMenu": "the number of the menu's item",
}


def sockets_of(tree: Block) -> list[Block]:
    """The inputs of a tree that hold a value."""
    return [
        item
        for item in tree.interface.items_tree
        if item.item_type == "SOCKET" and item.in_out == "INPUT" and item.socket_type != "NodeSocketGeometry"
    ]


def problems(
    scene: Scene, tree: Block, inputs: Mapping[str, Any], at: str, modifier: Block | None = None
) -> Iterator[Finding]:
    """What speaks against giving these values to a tree's inputs. A modifier that has the tree knows the items of its menus."""
    sockets = sockets_of(tree)
    for key, value in inputs.items():
        place = at + pointer_of([key])
        found = _find(sockets, key)
        if len(found) == 1:
            unfit = list(_value_problems(scene, found[0], value, place))
            yield from unfit
            if not unfit and modifier is not None and modifier.node_group == tree:
                yield from _menu_problems(modifier, found[0], value, place)
        else:
            yield unclear_input(tree, found, key, place)


def inputs_named(tree: Block, key: str) -> list[Block]:
    """The inputs of a tree that a key means; more than one when they share a name."""
    return _find(sockets_of(tree), key)


def unclear_input(tree: Block, found: list[Block], key: str, at: str) -> Finding:
    """What is wrong with a key that does not mean exactly one input."""
    if found:
        known = ", ".join(socket.identifier for socket in found)
        message = f"{len(found)} inputs of '{tree.name}' are called '{key}'"
        return Finding(Fault.ARGS_INVALID, message, at, f"Use an identifier: {known}.")
    names = [socket.name for socket in sockets_of(tree)]
    cure = did_you_mean(key, names, otherwise="Known inputs: " + (", ".join(names) or "none") + ".")
    return Finding(Fault.TARGET_NOT_FOUND, f"node group '{tree.name}' has no input '{key}'", at, cure)


def animated_inputs(scene: Scene, modifier: Block, inputs: Mapping[str, Any], at: str) -> Iterator[Finding]:
    """Where a value would not last, because keyframes or a driver have the input."""
    for key in inputs:
        for socket in inputs_named(modifier.node_group, key):
            path = modifier.path_from_id() + custom_path(socket.identifier)
            yield from channel_conflicts(scene, modifier.id_data, path, at + pointer_of([key]))


def write(scene: Scene, modifier: Block, inputs: Mapping[str, Any]) -> None:
    """Write values; the object must be open for writing."""
    for identifier, value in _blender_values(scene, modifier, inputs):
        modifier[identifier] = value


def differences(scene: Scene, modifier: Block, inputs: Mapping[str, Any]) -> Iterator[str]:
    """The identifiers of inputs that hold something else."""
    for identifier, value in _blender_values(scene, modifier, inputs):
        held = modifier.get(identifier)
        if not same(value, list(held) if hasattr(held, "to_list") else held):
            yield identifier


def _blender_values(scene: Scene, modifier: Block, inputs: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    sockets = sockets_of(modifier.node_group)
    for key, value in inputs.items():
        socket = _find(sockets, key)[0]
        kind = REFERENCES.get(socket.socket_type)
        if kind is not None:
            yield socket.identifier, scene.require(kind, value)
        elif socket.socket_type == "NodeSocketFloat":
            yield socket.identifier, float(value)
        else:
            yield socket.identifier, value


def _find(sockets: list[Block], key: str) -> list[Block]:
    return [socket for socket in sockets if socket.identifier == key] or [
        socket for socket in sockets if socket.name == key
    ]


def _value_problems(scene: Scene, socket: Block, value: Any, at: str) -> Iterator[Finding]:
    kind = REFERENCES.get(socket.socket_type)
    if kind is not None and isinstance(value, str):
        yield from scene.missing(kind, value, at)
        return
    form = f"the name of a {kind.label}" if kind else FORMS.get(socket.socket_type)
    if form is None:
        message = f"inputs of type {socket.socket_type} cannot be set"
        yield Finding(Fault.ARGS_INVALID, message, at, "Leave it out.")
    elif kind is not None or not _fits(socket, value):
        message = f"input '{socket.name}' takes {form}, not {value!r}"
        yield Finding(Fault.ARGS_INVALID, message, at, f"Give {form}.")
    else:
        yield from _range_problems(socket, value, at)


def _range_problems(socket: Block, value: Any, at: str) -> Iterator[Finding]:
    """What Blender's own field for the input would not take: it writes any number into the property behind it."""
    low, high = getattr(socket, "min_value", None), getattr(socket, "max_value", None)
    if low is None or high is None:
        return
    for number in cast("list[Any]", value) if isinstance(value, list) else [value]:
        if not low <= number <= high and not same(number, low) and not same(number, high):
            message = f"input '{socket.name}' goes from {low:g} to {high:g}, and {number!r} is not in between"
            yield Finding(Fault.ARGS_INVALID, message, at, f"Give a number from {low:g} to {high:g}.")
            return


def _menu_problems(modifier: Block, socket: Block, value: Any, at: str) -> Iterator[Finding]:
    """A number of a menu that stands for none of its items."""
    if socket.socket_type != "NodeSocketMenu" or socket.identifier not in modifier:
        return
    items = modifier.id_properties_ui(socket.identifier).as_dict().get("items", ())
    numbers = {item[-1]: item[1] for item in items}
    if numbers and value not in numbers:
        known = ", ".join(f"{number} ({name})" for number, name in numbers.items())
        message = f"the menu '{socket.name}' has no item {value}"
        yield Finding(Fault.ARGS_INVALID, message, at, f"Give one of {known}.")


def _fits(socket: Block, value: Any) -> bool:
    form = socket.socket_type
    if form == "NodeSocketBool":
        return isinstance(value, bool)
    if isinstance(value, bool):
        return False
    if form in ("NodeSocketInt", "NodeSocketMenu"):
        return isinstance(value, int) and -(2**31) <= value < 2**31
    if form == "NodeSocketFloat":
        return isinstance(value, (int, float))
    if form == "NodeSocketString":
        return isinstance(value, str)
    return isinstance(value, list) and len(socket.default_value) == len(cast("list[float]", value))
