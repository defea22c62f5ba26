"""The dialects that models write plans in, one table: what a model is told of each, which tools, and the form of its answer.

Everything about a dialect that the planner knows stands here; reading and running its plans is for `dialects`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from blendwright.planner.port import ResponseSchema
from blendwright.planner.prompt_examples import (
    GEONODES_EXAMPLE,
    GEONODES_RULES,
    MORE_RULES,
    OPERATIONS_EXAMPLE,
    PLAN_RULES,
)
from blendwright.planner.relevance import choose_tools, permitted_tools
from blendwright.planner.response_schema import geonodes_schema, operations_schema
from blendwright.policy.session_contract import Terms
from blendwright.tool_api.tool import AnyTool

PlannableDialect = Literal["operations", "geonodes"]
Tools = tuple[AnyTool, ...]


@dataclass(frozen=True, slots=True)
class PlannerLesson:
    """What the planner knows of one dialect. `tells_request_id`: its documents have one, so that the model is told which."""

    rules: tuple[str, ...]
    example: str
    tools_title: str
    tells_request_id: bool
    tools: Callable[[str, Mapping[str, AnyTool], Terms], Tools]
    schema: Callable[[Tools], ResponseSchema]


LESSONS: dict[PlannableDialect, PlannerLesson] = {
    "operations": PlannerLesson(
        (PLAN_RULES, MORE_RULES),
        OPERATIONS_EXAMPLE,
        "The tools",
        True,
        lambda request, tools, terms: choose_tools(request, permitted_tools(tools, terms)),
        operations_schema,
    ),
    "geonodes": PlannerLesson(
        (GEONODES_RULES,),
        GEONODES_EXAMPLE,
        "The payloads are the arguments of these tools",
        False,
        lambda request, tools, terms: (tools["geonodes.node_tree"], tools["geonodes.patch"]),
        lambda tools: geonodes_schema(*tools),
    ),
}
