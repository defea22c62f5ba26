"""The first request of a planner run: reads the scene, chooses tools, and makes the prompt and the response schema of them."""

from __future__ import annotations

from blendwright.app.open_scene import OpenScene
from blendwright.planner.port import PlanRequest
from blendwright.planner.prompt import build_prompt
from blendwright.planner.relevance import choose_tools, permitted_tools
from blendwright.planner.response_schema import geonodes_schema, operations_schema
from blendwright.planner.scene_summary import MOST_OBJECTS
from blendwright.values.errors import EnvironmentUnfit

NODE_TOOLS = ("geonodes.node_tree", "geonodes.patch")


def build_first_request(opened: OpenScene, request: str, dialect: str, request_id: str) -> PlanRequest:
    """Everything the model is told at first. Starts Blender, to read the scene."""
    snapshot = opened.outcome("scene.snapshot", {"limit": MOST_OBJECTS})
    if not snapshot.ok:
        cure = snapshot.findings[0].cure if snapshot.findings else None
        raise EnvironmentUnfit(f"the scene cannot be looked at: {snapshot.message}", cure=cure)
    terms = opened.terms
    if dialect == "geonodes":
        tools = tuple(opened.tools[name] for name in NODE_TOOLS)
        schema = geonodes_schema(*tools)
    else:
        tools = choose_tools(request, permitted_tools(opened.tools, terms))
        schema = operations_schema(tools)
    prompt = build_prompt(request, dialect, request_id=request_id, terms=terms, tools=tools, snapshot=snapshot.result)
    return PlanRequest(request, dialect, prompt.system, prompt.turns, schema)
