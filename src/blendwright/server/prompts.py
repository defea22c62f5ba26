"""The MCP prompts, which teach a model the plan dialects with one complete example each."""

from __future__ import annotations

import re
from dataclasses import dataclass

import mcp_types as types
from mcp.shared.exceptions import MCPError

from blendwright.dialects.lessons import GEONODES_EXAMPLE, OPERATIONS_EXAMPLE, PLAN_RULES
from blendwright.server.transport.client_info import RequestContext


@dataclass(frozen=True, slots=True)
class PromptTemplate:
    """A prompt text with placeholders `{name}`. Each argument is its name, its description and whether it is
    required.
    """

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
        "Repair a refused or failed plan with the smallest change.",
        (("plan", "The plan that failed.", True), ("failure", "The failure payload and findings of its answer.", True)),
        "This plan failed:\n{plan}\n\nThe answer was:\n{failure}\n\nChange only what the findings and minimal_repair_plan name. Keep "
        "request_id and every operation_id that succeeded: Blendwright skips these operations. drop: remove the operation and its id from "
        "every depends_on. replace_args: change fields of that operation, not its id. insert_precondition: add the operation that the "
        "named one needs. Then call plan_execute with the whole plan.\n" + PLAN_RULES,
    ),
    PromptTemplate(
        "build_geometry_nodes",
        "Build or change a geometry-nodes tree on an object.",
        (("object", "The object to work on.", True), ("goal", "What its geometry should become.", True)),
        "On the object named {object}: {goal}\n\nSearch nodes with tool_search, then answer with ONE call of geonodes_execute whose "
        "plan is strict JSON of this form:\n" + GEONODES_EXAMPLE + "\nUse at most 25 steps. The ids group_input and group_output "
        "exist. Set "
        "properties before you link sockets that depend on them. `done` is accepted only when the gates pass. When the answer is a gate "
        "envelope, repair what it names.",
    ),
)  # fmt: skip


async def list_prompts(ctx: RequestContext, params: types.PaginatedRequestParams | None) -> types.ListPromptsResult:
    """Return the declarations of all prompts."""
    return types.ListPromptsResult(prompts=[_declaration(template) for template in PROMPTS])


async def get_prompt(ctx: RequestContext, params: types.GetPromptRequestParams) -> types.GetPromptResult:
    """Return the prompt with its placeholders filled in. Raises MCPError for an unknown prompt or a missing argument."""
    templates = {template.name: template for template in PROMPTS}
    template = templates.get(params.name)
    if template is None:
        raise MCPError(
            types.INVALID_PARAMS, f"there is no prompt '{params.name}'. The prompts are: {', '.join(templates)}"
        )

    values = params.arguments or {}
    missing = [name for name, _, required in template.arguments if required and not values.get(name)]
    if missing:
        raise MCPError(types.INVALID_PARAMS, f"the prompt '{template.name}' requires: {', '.join(missing)}")

    # `str.format` would fail on the braces of the examples. One substitution, so that values are not read as templates.
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
