"""The first request of a planner run: reads the scene, chooses tools, and makes the prompt and the response schema of them."""

from __future__ import annotations

from blendwright.app.open_scene import OpenScene
from blendwright.planner.plannable import LESSONS, PlannableDialect
from blendwright.planner.port import PlanRequest
from blendwright.planner.prompt import build_prompt
from blendwright.planner.scene_summary import MOST_OBJECTS, read_scene


def build_first_request(opened: OpenScene, request: str, dialect: PlannableDialect, request_id: str) -> PlanRequest:
    """Everything the model is told at first. Starts Blender, to read the scene."""
    snapshot = read_scene(opened, "scene.snapshot", {"limit": MOST_OBJECTS})
    terms = opened.terms
    tools = LESSONS[dialect].tools(request, opened.tools, terms)
    prompt = build_prompt(request, dialect, request_id=request_id, terms=terms, tools=tools, snapshot=snapshot)
    return PlanRequest(request, dialect, prompt.system, prompt.turns, LESSONS[dialect].schema(tools))
