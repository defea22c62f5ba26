"""Inputs of a geometry-nodes modifier: finding them by name, checking their values, writing and comparing.

Blender silently accepts unknown keys and unsuitable values, so this module checks all against the tree's interface.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from blendwright.nodes.catalogue.model import SocketType
from blendwright.nodes.checks.values import socket_value_problems
from blendwright.tool_api.scene import Block, Scene
from blendwright.tool_api.tool import Findings
from blendwright.tools.animation_data import channel_conflicts
from blendwright.tools.checks import invalid, same
from blendwright.tools.modifier import stored_inputs
from blendwright.tools.node_trees.interface import interface_sockets
from blendwright.tools.node_trees.values import SOCKET_KINDS, to_json
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding, did_you_mean, pointer_of

REFERENCES = {f"NodeSocket{name.capitalize()}": kind for name, kind in SOCKET_KINDS.items()}
# The kind of value that an input contains; a menu contains the number of its item.
VALUE_KINDS = {
    "NodeSocketFloat": "VALUE",
    "NodeSocketInt": "INT",
    "NodeSocketBool": "BOOLEAN",
    "NodeSocketString": "STRING",
    "NodeSocketVector": "VECTOR",
    "NodeSocketRotation": "ROTATION",
    "NodeSocketColor": "RGBA",
    "NodeSocketMenu": "INT",
}


def sockets_of(tree: Block) -> list[Block]:
    """Return the inputs of a tree that contain a value, which excludes geometry."""
    return [socket for socket in interface_sockets(tree, "INPUT") if socket.socket_type != "NodeSocketGeometry"]


def problems(scene: Scene, tree: Block, inputs: Mapping[str, Any], at: str, modifier: Block | None = None) -> Findings:
    """Yield findings for values of a tree's inputs.

    Menu items are checked only if `modifier` already uses the tree, because the modifier lists them.
    """
    sockets = sockets_of(tree)
    for key, value in inputs.items():
        input_at = at + pointer_of([key])
        matches = _find(sockets, key)
        if len(matches) == 1:
            unsuitable = list(_value_problems(scene, matches[0], value, input_at))
            yield from unsuitable
            if not unsuitable and modifier is not None and modifier.node_group == tree:
                yield from _menu_problems(modifier, matches[0], value, input_at)
        else:
            yield unclear_input(tree, matches, key, input_at)


def inputs_named(tree: Block, key: str) -> list[Block]:
    """Return the inputs of a tree with this identifier or name; several inputs can share a name."""
    return _find(sockets_of(tree), key)


def unclear_input(tree: Block, matches: list[Block], key: str, at: str) -> Finding:
    """Return the finding for a key that matches no input or several."""
    if matches:
        keys = ", ".join(socket.identifier for socket in matches)
        return invalid(f"{len(matches)} inputs of '{tree.name}' are called '{key}'", at, f"Use an identifier: {keys}.")
    names = [socket.name for socket in sockets_of(tree)]
    known_names = ", ".join(names) or "none"
    cure = did_you_mean(key, names, otherwise=f"Known inputs: {known_names}.")
    return Finding(Fault.TARGET_NOT_FOUND, f"node group '{tree.name}' has no input '{key}'", at, cure)


def animated_inputs(scene: Scene, modifier: Block, inputs: Mapping[str, Any], at: str) -> Findings:
    """Yield findings for inputs whose value keyframes or a driver would overwrite."""
    for key in inputs:
        for socket in inputs_named(modifier.node_group, key):
            path = stored_inputs.data_path(modifier, socket.identifier)
            yield from channel_conflicts(scene, modifier.id_data, path, at + pointer_of([key]))


def write(scene: Scene, modifier: Block, inputs: Mapping[str, Any]) -> None:
    """Write values of inputs. The caller must have opened the object for writing."""
    for identifier, value in _blender_values(scene, modifier, inputs):
        stored_inputs.put_value(modifier, identifier, value)


def differences(scene: Scene, modifier: Block, inputs: Mapping[str, Any]) -> Iterator[str]:
    """Yield the identifiers of inputs whose value differs from the requested one."""
    for identifier, value in _blender_values(scene, modifier, inputs):
        if not same(value, stored_inputs.value_of(modifier, identifier)):
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
    by_identifier = [socket for socket in sockets if socket.identifier == key]
    if by_identifier:
        return by_identifier
    return [socket for socket in sockets if socket.name == key]


def _value_problems(scene: Scene, socket: Block, value: Any, at: str) -> Findings:
    kind = REFERENCES.get(socket.socket_type)
    if kind is not None and isinstance(value, str):
        yield from scene.missing(kind, value, at)
    elif kind is not None:
        message = f"input '{socket.name}' takes the name of a {kind.label}, not {value!r}"
        yield invalid(message, at, f"Give the name of a {kind.label}.")
    elif socket.socket_type not in VALUE_KINDS:
        yield invalid(f"inputs of type {socket.socket_type} cannot be set", at, "Leave this input out.")
    else:
        for finding in islice(socket_value_problems(_socket_type(socket), value, at), 1):
            yield Finding(finding.fault, finding.message, at, finding.cure)


def _socket_type(socket: Block) -> SocketType:
    """Return the input's type and limits for the checks of payloads. Blender itself would accept any number."""
    default = to_json(getattr(socket, "default_value", None))
    low = to_json(getattr(socket, "min_value", None))
    high = to_json(getattr(socket, "max_value", None))
    kind = VALUE_KINDS[socket.socket_type]
    return SocketType(socket.identifier, socket.name, socket.socket_type, kind, default, min=low, max=high)


def _menu_problems(modifier: Block, socket: Block, value: Any, at: str) -> Findings:
    """Yield a finding if a value is not the number of an item of the menu."""
    if socket.socket_type != "NodeSocketMenu":
        return
    numbers = stored_inputs.menu_items(modifier, socket.identifier)
    if numbers and value not in numbers:
        choices = ", ".join(f"{number} ({name})" for number, name in numbers.items())
        yield invalid(f"the menu '{socket.name}' has no item {value}", at, f"Give one of {choices}.")
