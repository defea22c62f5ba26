"""A model that writes programs: what it is told, and its program repaired by the line that was named."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest
from scripted import Scripted, told

import blendwright
from blendwright.dialects.lessons import PROGRAM_EXAMPLE
from blendwright.planner.answers import PlanProposal, read_proposal
from blendwright.planner.loop import PlannerRun
from blendwright.planner.prompt import build_first_request
from blendwright.workspace.open_scene import OpenScene

LEGS = """
for i in range(3):
    mesh.create_primitive(kind = "cylinder", name = "Leg_" + pad(i, 2), radius = 0.05, depth = 0.7)
"""


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OpenScene]:
    with blendwright.open(tmp_path_factory.mktemp("asked") / "workspace", spare=False) as opened:
        yield opened


def test_the_example_that_a_model_is_shown_is_a_valid_program() -> None:
    proposal = read_proposal(PROGRAM_EXAMPLE, "program", "r")
    assert isinstance(proposal, PlanProposal) and not proposal.plan.findings
    assert len(proposal.plan.operations) == 9 and proposal.plan.boundary == "plan"


def test_a_model_corrects_the_line_that_it_is_told(opened: OpenScene) -> None:
    broken = LEGS.replace("radius = 0.05", "radius = -1")
    planner = Scripted({"program": "import bpy"}, {"program": broken}, {"program": LEGS})
    first = build_first_request(opened, "three legs", "program", "p1")
    result = asyncio.run(PlannerRun(opened, planner, first, "p1", preview=False).run())
    assert (result.ending, result.attempts) == ("done", 3), result.reason
    assert told(planner.heard[1])["findings"][0]["place"] == "program:1:1"
    assert told(planner.heard[2])["findings"][0]["place"] == f"program:3:{broken.splitlines()[2].index('radius') + 1}"
    found = opened.outcome("scene.find", {"name": "Leg_0*"})
    assert found.result is not None and found.result["total"] == 3
    assert [one.program for one in opened.journal.programs.of_request("p1")] == [LEGS]
