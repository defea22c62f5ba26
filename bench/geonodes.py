"""What geometry nodes cost: a patch of a hundred nodes against the same by plain bpy, and the gates of a large tree.

The patch is a whole step: arguments checked, worked on a copy, verified, hashed. Both sides make the same tree, in turns.
"""

from __future__ import annotations

import statistics
import tempfile
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter
from typing import Any

import bpy

from bench.table import row
from blendwright.blender.scene import SceneState
from blendwright.blender.step import Stepper
from blendwright.plan.validate import validate_arguments
from blendwright.tools.catalog import tools
from blendwright.wire.methods import StepAnswer

_data: Any = bpy.data
ROUNDS = 7
MOVE = "GeometryNodeSetPosition"


def measure() -> Iterator[dict[str, Any]]:
    with tempfile.TemporaryDirectory() as scratch:
        state = SceneState()
        state.reset()
        stepper = Stepper(state, tools(), Path(scratch))
        _call(stepper, "mesh.create_primitive", {"kind": "cube", "name": "Thing"})
        yield _patching(stepper)
        yield _judging(stepper)


def _patching(stepper: Stepper) -> dict[str, Any]:
    ours: list[float] = []
    plain: list[float] = []
    for number in range(ROUNDS):
        _call(stepper, "geonodes.patch", _payload(f"Before{number}", 0))
        started = perf_counter()
        _call(stepper, "geonodes.patch", _payload(f"Before{number}", 100))
        ours.append(perf_counter() - started)
        group = _data.node_groups.new(f"Plain{number}", "GeometryNodeTree")
        for side in ("OUTPUT", "INPUT"):
            group.interface.new_socket("Geometry", in_out=side, socket_type="NodeSocketGeometry")
        group.nodes.new("NodeGroupInput").name = "group_input"
        group.nodes.new("NodeGroupOutput").name = "group_output"
        started = perf_counter()
        _by_hand(group, 100)
        plain.append(perf_counter() - started)
        _data.node_groups.remove(group)
    ratio = statistics.median(a / b for a, b in zip(ours, plain, strict=True))
    return row("patch of 100 nodes / plain bpy", ratio, "x", 4.0)


def _judging(stepper: Stepper) -> dict[str, Any]:
    _call(stepper, "geonodes.patch", _payload("Large", 300))
    times: list[float] = []
    for _ in range(4 * ROUNDS):
        answer = _call(stepper, "geonodes.gates", {"object_name": "Thing", "modifier_name": "Large"})
        times.append(answer["execute_ms"] or 0.0)
        assert answer["result"] is not None and answer["result"]["success"]
    # The quickest round: the others measure what else the machine does.
    return row("gates of a tree of 300 nodes", min(times), "ms", 5.0)


def _call(stepper: Stepper, tool: str, args: dict[str, Any]) -> StepAnswer:
    canonical, findings, _ = validate_arguments(tools()[tool], args)
    assert not findings, findings
    answer = stepper.run({"tool": tool, "version": 1, "args": canonical})
    assert answer["ok"], answer["message"]
    return answer


def _payload(modifier: str, count: int) -> dict[str, Any]:
    """A row of nodes between group input and output, each moving the geometry a little."""
    ops: list[dict[str, Any]] = [{"op": "ensure_target", "allow_create_modifier": True}]
    before = ("group_input", "Geometry")
    for number in range(count):
        name = f"move{number}"
        ops += [
            {"op": "add_node", "id": name, "bl_idname": MOVE, "x": number * 200.0, "y": 0.0},
            {"op": "set_input", "node_id": name, "socket_name": "Offset", "value": [0.0, 0.0, 0.1]},
            _link(before, (name, "Geometry")),
        ]
        before = (name, "Geometry")
    ops.append(_link(before, ("group_output", "Geometry")))
    return {"v": 1, "target": {"object_name": "Thing", "modifier_name": modifier}, "ops": ops}


def _link(source: tuple[str, str], target: tuple[str, str]) -> dict[str, Any]:
    start, end = (dict(zip(("node_id", "socket_name"), each, strict=True)) for each in (source, target))
    return {"op": "link", "from": start, "to": end}


def _by_hand(group: Any, count: int) -> None:
    before = group.nodes["group_input"].outputs["Geometry"]
    for number in range(count):
        node = group.nodes.new(MOVE)
        node.name = f"move{number}"
        node.location = (number * 200.0, 0.0)
        node.inputs["Offset"].default_value = (0.0, 0.0, 0.1)
        group.links.new(before, node.inputs["Geometry"])
        before = node.outputs["Geometry"]
    group.links.new(before, group.nodes["group_output"].inputs["Geometry"])
