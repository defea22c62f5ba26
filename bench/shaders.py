"""What a shader tree costs: a material of a hundred nodes against the same by plain bpy.

Ours is a whole step: arguments checked, pre-image held, each value read back, judged by gates, hashed. Both sides make the same
tree, in turns.
"""

from __future__ import annotations

import statistics
import tempfile
from collections.abc import Iterator
from pathlib import Path
from time import process_time
from typing import Any

import bpy

from bench.table import row
from blendwright.blender.scene import SceneState
from blendwright.blender.step import Stepper
from blendwright.plan.validate import validate_arguments
from blendwright.tools.catalog import tools

_data: Any = bpy.data
ROUNDS = 9
COUNT = 100
MIX = "ShaderNodeMix"
# Where the sockets for colours are, which share their names with others.
A_COLOR, B_COLOR, RESULT_COLOR = 6, 7, 2


def measure() -> Iterator[dict[str, Any]]:
    with tempfile.TemporaryDirectory() as scratch:
        state = SceneState()
        state.reset()
        stepper = Stepper(state, tools(), Path(scratch))
        ratios: list[float] = []
        for number in range(ROUNDS):
            _call(stepper, {"target": {"material": f"Ours{number}"}, "operations": []})
            started = process_time()
            _call(stepper, {"target": {"material": f"Ours{number}"}, "operations": _operations()})
            ours = process_time() - started
            plain = _data.materials.new(f"Plain{number}")
            if plain.node_tree is None:
                plain.use_nodes = True
            started = process_time()
            _by_hand(plain.node_tree)
            ratios.append(ours / (process_time() - started))
            _data.materials.remove(plain)
        yield row("shader tree of 100 nodes / plain bpy", statistics.median(ratios), "x", 4.0)


def _call(stepper: Stepper, args: dict[str, Any]) -> None:
    canonical, findings, _ = validate_arguments(tools()["nodes.apply_tree"], args)
    assert not findings, findings
    answer = stepper.run({"tool": "nodes.apply_tree", "version": 1, "args": canonical})
    assert answer["ok"], answer["message"]


def _operations() -> list[dict[str, Any]]:
    """A row of nodes that mix colours, each into the next, the last into the surface."""
    operations: list[dict[str, Any]] = []
    before = ""
    for number in range(COUNT):
        name = f"mix{number}"
        operations += [
            {"op": "create_node", "node_id": name, "bl_idname": MIX, "location": [number * 200.0, 0.0]},
            {"op": "set_property", "node_id": name, "property": "data_type", "value": "RGBA"},
            {"op": "set_input_default", "node_id": name, "socket": "B_Color", "value": [0.5, 0.25, 0.125, 1.0]},
        ]
        if before:
            operations.append(_link(before, "Result_Color", name, "A_Color"))
        before = name
    operations.append(_link(before, "Result_Color", "Principled BSDF", "Base Color"))
    return operations


def _link(source: str, output: str, target: str, key: str) -> dict[str, Any]:
    return {"op": "link", "from": {"node_id": source, "socket": output}, "to": {"node_id": target, "socket": key}}


def _by_hand(tree: Any) -> None:
    before: Any = None
    for number in range(COUNT):
        node = tree.nodes.new(MIX)
        node.name = f"mix{number}"
        node.location = (number * 200.0, 0.0)
        node.data_type = "RGBA"
        node.inputs[B_COLOR].default_value = (0.5, 0.25, 0.125, 1.0)
        if before is not None:
            tree.links.new(before.outputs[RESULT_COLOR], node.inputs[A_COLOR])
        before = node
    tree.links.new(before.outputs[RESULT_COLOR], tree.nodes["Principled BSDF"].inputs["Base Color"])
