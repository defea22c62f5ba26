"""The loop in the geonodes dialect: done only when the gates pass."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

import blendwright
from blendwright.planner.loop import PlannerRun
from blendwright.planner.prompt import build_first_request
from blendwright.planner.result import PlannerResult
from blendwright.workspace.open_scene import OpenScene
from planner.scripted import Scripted, told

BODY = {"op": "create_node", "node_id": "body", "bl_idname": "GeometryNodeMeshCylinder"}
OUT = {
    "op": "link",
    "from": {"node_id": "body", "socket": "Mesh"},
    "to": {"node_id": "group_output", "socket": "Geometry"},
}
CUT = {
    "op": "link",
    "from": {"node_id": "group_input", "socket": "Geometry"},
    "to": {"node_id": "group_output", "socket": "Geometry"},
}


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OpenScene]:
    with blendwright.open(tmp_path_factory.mktemp("nodes") / "workspace", spare=False) as opened:
        yield opened


def nodes(name: str, *operations: dict[str, Any], id: str = "s1", done: bool = True) -> dict[str, Any]:
    target = {
        "object_name": name,
        "modifier_name": "Build",
        "node_group_name": f"GN_{name}",
        "allow_create_object": True,
    }
    step = {"id": id, "type": "NODE_TREE", "payload": {"target": target, "operations": list(operations)}}
    return {"version": "1.0", "steps": [step], "done": done, "final_message": "built"}


def run_planner(opened: OpenScene, planner: Scripted, id: str) -> PlannerResult:
    first = build_first_request(opened, "a tower of geometry nodes", "geonodes", id)
    return asyncio.run(PlannerRun(opened, planner, first, id, preview=False).run())


@pytest.mark.proves("GN-ENVELOPE-03")
def test_a_gate_that_fails_is_told_with_its_envelope_and_repaired(opened: OpenScene) -> None:
    # An empty object passed through: there is nothing to see, and what was added leads nowhere.
    planner = Scripted(nodes("Tower", BODY, CUT), nodes("Tower", BODY, OUT))
    result = run_planner(opened, planner, "n1")
    assert (result.ending, result.attempts) == ("done", 2), result.reason
    failure = told(planner.heard[1])["failure"]
    assert failure["status"] == "rolled_back" and failure["done"] is False
    assert failure["gates"]["failed_gates"] == ["NON_EMPTY_GEOMETRY", "ADDED_NODES_REACH_OUTPUT"]
    gates = opened.outcome("geonodes.gates", {"object_name": "Tower"})
    assert gates.ok and gates.result is not None and gates.result["success"]


def test_a_plan_that_says_it_is_not_done_asks_for_another_round(opened: OpenScene) -> None:
    planner = Scripted(nodes("Mast", BODY, done=False), nodes("Mast", OUT, id="s2"))
    result = run_planner(opened, planner, "n2")
    assert (result.ending, result.attempts) == ("done", 2), result.reason
    assert told(planner.heard[1])["failure"]["status"] == "continue"
