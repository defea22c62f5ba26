"""Prompts that teach a model our dialects, with one good example each."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError

from blendwright.planner.lessons import GEONODES, OPERATIONS, RULES
from blendwright.server.context import ServerContext

Context = ServerRequestContext[Any, Any]


@dataclass(frozen=True, slots=True)
class Lesson:
    name: str
    description: str
    arguments: tuple[tuple[str, str, bool], ...]
    text: str


LESSONS = (
    Lesson(
        "plan_scene",
        "Write an operations plan for a request and run it.",
        (("request", "What to make or change.", True),),
        "Make this in the Blender scene: {request}\n\nFirst look (scene_find), then learn the tools you need (tool_search, "
        "tool_describe). Answer with ONE call of plan_execute whose plan is strict JSON of this form:\n" + OPERATIONS + "\n" + RULES,
    ),
    Lesson(
        "repair_plan",
        "Repair a plan that was refused or failed, with the smallest change.",
        (("plan", "The plan that was sent.", True), ("failure", "The failure payload and findings that came back.", True)),
        "This plan failed:\n{plan}\n\nThis came back:\n{failure}\n\nChange only what the findings and minimal_repair_plan name. Keep "
        "request_id and every operation_id that succeeded: those are skipped. drop: remove the operation and its id from every "
        "depends_on. replace_args: change fields of that operation, not its id. insert_precondition: add the operation that the "
        "named one needs. Then call plan_execute with the whole plan.\n" + RULES,
    ),
    Lesson(
        "build_geometry_nodes",
        "Build or change a geometry-nodes tree on an object.",
        (("object", "The object to work on.", True), ("goal", "What its geometry should become.", True)),
        "On the object named {object}: {goal}\n\nSearch nodes with tool_search, then answer with ONE call of geonodes_execute whose "
        "plan is strict JSON of this form:\n" + GEONODES + "\nAt most 25 steps. group_input and group_output are given ids. Set "
        "properties before linking sockets that depend on them. `done` is accepted only when the gates pass; when the gate envelope "
        "comes back, repair what it names.",
    ),
)  # fmt: skip


class Prompts:
    """The lessons as a host lists and gets them."""

    def __init__(self, house: ServerContext) -> None:
        self._lessons = {lesson.name: lesson for lesson in LESSONS}

    async def listed(self, ctx: Context, params: types.PaginatedRequestParams | None) -> types.ListPromptsResult:
        return types.ListPromptsResult(
            prompts=[
                types.Prompt(
                    name=lesson.name,
                    description=lesson.description,
                    arguments=[
                        types.PromptArgument(name=name, description=said, required=required)
                        for name, said, required in lesson.arguments
                    ],
                )
                for lesson in LESSONS
            ]
        )

    async def get(self, ctx: Context, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        lesson = self._lessons.get(params.name)
        if lesson is None:
            known = ", ".join(self._lessons)
            raise MCPError(types.INVALID_PARAMS, f"there is no prompt '{params.name}'; there are: {known}")
        given = params.arguments or {}
        missing = [name for name, _, required in lesson.arguments if required and not given.get(name)]
        if missing:
            raise MCPError(types.INVALID_PARAMS, f"the prompt '{lesson.name}' needs: {', '.join(missing)}")
        # Not `format`: examples are full of braces. In one go: what is given must not be read as a template again.
        places = "|".join(re.escape("{" + name + "}") for name, _, _ in lesson.arguments)
        text = re.sub(places, lambda place: given.get(place[0][1:-1], ""), lesson.text)
        message = types.PromptMessage(role="user", content=types.TextContent(type="text", text=text))
        return types.GetPromptResult(description=lesson.description, messages=[message])
