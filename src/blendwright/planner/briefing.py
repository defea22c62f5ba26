"""The first call of a story: the scene is looked at, tools are chosen, and the prompt and the form of the answer are made of them."""

from __future__ import annotations

from blendwright.app.open_scene import OpenScene
from blendwright.planner.port import PlanRequest
from blendwright.planner.prompt import build_prompt
from blendwright.planner.relevance import choose, permitted
from blendwright.planner.response_schema import geonodes_schema, operations_schema
from blendwright.planner.scene_brief import MOST_OBJECTS
from blendwright.values.errors import EnvironmentUnfit

NODE_TOOLS = ("geonodes.node_tree", "geonodes.patch")


def brief(opened: OpenScene, request: str, dialect: str, request_id: str) -> PlanRequest:
    """Everything the model is told at first. Starts Blender, to look at the scene."""
    seen = opened.outcome("scene.snapshot", {"limit": MOST_OBJECTS})
    if not seen.ok:
        cure = seen.findings[0].cure if seen.findings else None
        raise EnvironmentUnfit(f"the scene cannot be looked at: {seen.message}", cure=cure)
    terms = opened.terms
    if dialect == "geonodes":
        tools = tuple(opened.tools[name] for name in NODE_TOOLS)
        schema = geonodes_schema(*tools)
    else:
        tools = choose(request, permitted(opened.tools, terms))
        schema = operations_schema(tools)
    prompt = build_prompt(request, dialect, request_id=request_id, terms=terms, tools=tools, snapshot=seen.result)
    return PlanRequest(request, dialect, prompt.system, prompt.turns, schema)
