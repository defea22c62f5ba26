"""Prompts that teach a model our dialects, with one good example each."""

from __future__ import annotations

import re
from dataclasses import dataclass

import mcp_types as types
from mcp.shared.exceptions import MCPError

from blendwright.dialects.lessons import GEONODES_EXAMPLE, OPERATIONS_EXAMPLE, PLAN_RULES
from blendwright.server.transport.client_info import RequestContext


@dataclass(frozen=True, slots=True)
class PromptTemplate:
    name: str
    description: str
    arguments: tuple[tuple[str, str, bool], ...]
    text: str


PROMPTS = (
    PromptTemplate(
        "plan_scene",
        "Write an operations plan for a request and run it.",
        (("request", "What to make or change.", True),),
        "Make this in the Blender scene: {request}\n\nFirst look (scene_find), then learn the tools you need (tool_search, "
        "tool_describe). Answer with ONE call of plan_execute whose plan is strict JSON of this form:\n"
        + OPERATIONS_EXAMPLE + "\n" + PLAN_RULES,
    ),
    PromptTemplate(
        "repair_plan",
        "Repair a plan that was refused or failed, with the smallest change.",
        (("plan", "The plan that was sent.", True), ("failure", "The failure payload and findings that came back.", True)),
        "This plan failed:\n{plan}\n\nThis came back:\n{failure}\n\nChange only what the findings and minimal_repair_plan name. Keep "
        "request_id and every operation_id that succeeded: those are skipped. drop: remove the operation and its id from every "
        "depends_on. replace_args: change fields of that operation, not its id. insert_precondition: add the operation that the "
        "named one needs. Then call plan_execute with the whole plan.\n" + PLAN_RULES,
    ),
    PromptTemplate(
        "build_geometry_nodes",
        "Build or change a geometry-nodes tree on an object.",
        (("object", "The object to work on.", True), ("goal", "What its geometry should become.", True)),
        "On the object named {object}: {goal}\n\nSearch nodes with tool_search, then answer with ONE call of geonodes_execute whose "
        "plan is strict JSON of this form:\n" + GEONODES_EXAMPLE + "\nAt most 25 steps. group_input and group_output are given ids. Set "
        "properties before linking sockets that depend on them. `done` is accepted only when the gates pass; when the gate envelope "
        "comes back, repair what it names.",
    ),
)  # fmt: skip


async def list_prompts(ctx: RequestContext, params: types.PaginatedRequestParams | None) -> types.ListPromptsResult:
    return types.ListPromptsResult(prompts=[_declaration(template) for template in PROMPTS])


async def get_prompt(ctx: RequestContext, params: types.GetPromptRequestParams) -> types.GetPromptResult:
    template = next((template for template in PROMPTS if template.name == params.name), None)
    if template is None:
        names = ", ".join(template.name for template in PROMPTS)
        raise MCPError(types.INVALID_PARAMS, f"there is no prompt '{params.name}'; there are: {names}")
    values = params.arguments or {}
    missing = [name for name, _, required in template.arguments if required and not values.get(name)]
    if missing:
        raise MCPError(types.INVALID_PARAMS, f"the prompt '{template.name}' needs: {', '.join(missing)}")
    # Not `format`: examples are full of braces. In one go: what is filled in must not be read as a template again.
    placeholders = "|".join(re.escape("{" + name + "}") for name, _, _ in template.arguments)
    text = re.sub(placeholders, lambda match: values.get(match[0][1:-1], ""), template.text)
    message = types.PromptMessage(role="user", content=types.TextContent(type="text", text=text))
    return types.GetPromptResult(description=template.description, messages=[message])


def _declaration(template: PromptTemplate) -> types.Prompt:
    arguments = [
        types.PromptArgument(name=name, description=description, required=required)
        for name, description, required in template.arguments
    ]
    return types.Prompt(name=template.name, description=template.description, arguments=arguments)
