"""The MCP server itself: the SDK's low-level server with Blendwright's tools, resources and prompts.

The same handlers serve older and newer protocol versions. A failing tool answers with a result; protocol errors are
only for malformed requests.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from dataclasses import replace
from time import perf_counter
from typing import Any

import mcp_types as types
from mcp.server.lowlevel.server import Server
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError

from blendwright.policy.host_profile import EnvelopeName, combined
from blendwright.policy.policy import Costs
from blendwright.server.answers.response import (
    MAX_NAME_CHARACTERS,
    ToolResponse,
    error_failure,
    failure,
    render_response,
)
from blendwright.server.context import Caller, ServerContext
from blendwright.server.instructions import INSTRUCTIONS
from blendwright.server.pictures.pictures import with_pictures
from blendwright.server.prompts import get_prompt, list_prompts
from blendwright.server.resources import Resources
from blendwright.server.tools import apps, scene_image
from blendwright.server.tools import catalogue as catalogue_tools
from blendwright.server.tools import plans as plan_tools
from blendwright.server.tools import python as python_tools
from blendwright.server.tools import scene as scene_tools
from blendwright.server.tools import workspace as workspace_tools
from blendwright.server.tools.server_tool import ServerTool, direct_tools
from blendwright.server.transport.call_log import CallEnded, OnCall, answer_size
from blendwright.server.transport.client_info import (
    ProgressReporter,
    RequestContext,
    client_id,
    contract_proposal,
    host_statements,
    supports_elicitation,
)
from blendwright.server.transport.elicitation import MultiRoundCall, PendingApproval, PendingCalls, session_approver
from blendwright.values.errors import BlendwrightError, Refusal
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding, did_you_mean

_log = logging.getLogger(__name__)

NAME = "blendwright"
TOOLS: tuple[ServerTool, ...] = (
    *plan_tools.TOOLS,
    *python_tools.TOOLS,
    *scene_tools.TOOLS,
    *scene_image.TOOLS,
    *catalogue_tools.TOOLS,
    *workspace_tools.TOOLS,
)


class Service:
    """The handlers that answer the requests of hosts for one workspace."""

    def __init__(
        self, context: ServerContext, *, version: str, direct: bool = False, on_call: OnCall | None = None
    ) -> None:
        self._context = context
        self._direct = direct
        self._on_call = on_call
        # TOOLS come last, because the instructions refer to the server's own tools.
        tools = TOOLS
        if direct:
            tools = (*direct_tools(context.tools), *TOOLS)
        self._tools = {tool.name: tool for tool in tools}
        self._app_tools = {tool.name: tool for tool in apps.APP_TOOLS}
        self._pending_calls = PendingCalls()
        resources = Resources(context)
        on_call_tool = self._call_tool
        if on_call is not None:
            on_call_tool = self._observed_call
        self.server: Server[Any] = Server(
            NAME,
            version=version,
            title="Blendwright",
            instructions=INSTRUCTIONS,
            get_tool_input_schema=self._input_schema,
            on_list_tools=self._list_tools,
            on_call_tool=on_call_tool,
            on_list_resources=resources.list,
            on_list_resource_templates=resources.list_templates,
            on_read_resource=resources.read,
            on_list_prompts=list_prompts,
            on_get_prompt=get_prompt,
            on_completion=resources.complete,
        )
        self.server.extensions[apps.EXTENSION_ID] = {}

    def _input_schema(self, name: str) -> Mapping[str, Any] | None:
        tool = self._tools.get(name) or self._app_tools.get(name)
        if tool is None:
            return None
        return tool.input_schema

    async def _list_tools(
        self, ctx: RequestContext, params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        costs = self._context.costs
        tools = [declaration(tool, costs, self._direct) for tool in self._tools.values()]
        if apps.supports_apps(ctx):
            for index, tool in enumerate(tools):
                if tool.name in apps.SHOWN_BY_PAGE:
                    tools[index] = apps.with_page(tool)
            for app_tool in self._app_tools.values():
                tools.append(apps.with_page(declaration(app_tool, costs), app_only=True))
        return types.ListToolsResult(tools=tools)

    async def _observed_call(
        self, ctx: RequestContext, params: types.CallToolRequestParams
    ) -> types.CallToolResult | types.InputRequiredResult:
        """Answer a call and report its end to the `on_call` callback."""
        assert self._on_call is not None
        started = perf_counter()
        answer: types.CallToolResult | types.InputRequiredResult | None = None
        try:
            answer = await self._call_tool(ctx, params)
            return answer
        finally:
            ok = answer is not None and not getattr(answer, "is_error", False)
            self._on_call(CallEnded(params.name, perf_counter() - started, ok, answer_size(answer)))

    async def _call_tool(
        self, ctx: RequestContext, params: types.CallToolRequestParams
    ) -> types.CallToolResult | types.InputRequiredResult:
        name, arguments = params.name, params.arguments or {}
        try:
            statements = host_statements(ctx, self._context.statements)
        except Refusal as error:
            envelope = combined(self._context.statements).envelope or "tool_result"
            return render_response(name, error_failure(error), envelope)

        proposal = contract_proposal(ctx, statements)
        host = proposal.host
        progress = ProgressReporter(ctx.session, streaming=host.streaming)
        caller = Caller(
            client_id(ctx),
            progress,
            proposal,
            statements,
            shows_apps=name in self._app_tools and apps.supports_apps(ctx),
        )
        if supports_elicitation(ctx) and ctx.protocol_version in MODERN_PROTOCOL_VERSIONS:
            call = self._resumed(ctx, params, host.envelope) or self._started(params, caller, progress)
            if isinstance(call, types.CallToolResult):
                return call
            step = await call.next()
            if isinstance(step, PendingApproval):
                return self._pending_calls.suspend(call, step)
            progress, response = call.progress, step
        else:
            approver = None
            if supports_elicitation(ctx):
                approver = session_approver(ctx.session, ctx.request_id)
            try:
                response = await self._respond(replace(caller, approver=approver), name, arguments)
            finally:
                progress.ended = True

        await progress.flush()
        try:
            return render_response(name, response, host.envelope, host.payload_bytes)
        except ValidationError as error:
            # An answer that violates its contract is a defect of Blendwright. The SDK would report it as an error in the arguments.
            _log.exception("the answer of %s does not fit its envelope", name)
            return render_response(name, error_failure(error), host.envelope, host.payload_bytes)

    def _started(
        self, params: types.CallToolRequestParams, caller: Caller, progress: ProgressReporter
    ) -> MultiRoundCall:
        """Start a call whose host repeats it with the answers of its user."""
        call = MultiRoundCall(params.name, params.arguments or {}, progress)
        caller = replace(caller, approver=call.approver, cancel=call.cancel)
        call.task = asyncio.create_task(self._respond(caller, params.name, params.arguments or {}))
        call.task.add_done_callback(lambda _: setattr(progress, "ended", True))
        return call

    def _resumed(
        self, ctx: RequestContext, params: types.CallToolRequestParams, envelope: EnvelopeName
    ) -> MultiRoundCall | types.CallToolResult | None:
        """Return the call that this request continues. Return a failure if that call is unknown, and None if the
        request is a new call.
        """
        if params.request_state is None:
            return None
        call = self._pending_calls.resume(params.request_state, params.name, params.arguments or {})
        if call is None:
            message = "the question of this request_state has ended, or belongs to another call"
            finding = Finding(Fault.POLICY_BLOCKED, message, "", "Call again without request_state.")
            return render_response(params.name, failure(finding), envelope)
        call.progress.session = ctx.session
        call.answer(params.input_responses)
        return call

    async def _respond(self, caller: Caller, name: str, arguments: Mapping[str, Any]) -> ToolResponse:
        tool = self._tools.get(name)
        if tool is None and caller.shows_apps:
            tool = self._app_tools.get(name)
        if tool is None:
            otherwise = "tool_call and plan_execute run other tools. Find them with tool_search."
            fix = did_you_mean(name, self._tools, otherwise=otherwise)
            if name in self._context.tools:
                fix = "Call it with tool_call, or use it in a plan with plan_execute."
            return failure(
                Finding(Fault.TOOL_NOT_ALLOWED, f"this server has no tool '{name[:MAX_NAME_CHARACTERS]}'", "", fix)
            )
        args = tool.parse(arguments)
        if isinstance(args, tuple):
            return tool.refuse(*args)
        try:
            response = await tool.handler(self._context, caller, args)
            notes = tool.notes(arguments)
            if notes:
                outcome = response.outcome.with_(notes=(*response.outcome.notes, *notes))
                response = replace(response, outcome=outcome)
            return await asyncio.to_thread(with_pictures, response, self._context.artifacts)
        except Refusal as refusal:
            return tool.refuse(*refusal.findings)
        except Exception as error:
            # The outermost handler: a defect must neither end the connection nor show its details to a model.
            if not isinstance(error, BlendwrightError):
                _log.exception("%s failed", name)
            return error_failure(error)


def declaration(tool: ServerTool, costs: Costs, direct: bool = False) -> types.Tool:
    """Return the declaration of a tool for the list of tools. It omits default hints, because every byte counts."""
    destructive = idempotent = None
    if not tool.read_only:  # these hints have no meaning for read-only tools
        destructive = tool.destructive
        idempotent = tool.idempotent
        if not idempotent and tool.described_as is not None:
            idempotent = None
    return types.Tool(
        name=tool.name,
        description=tool.described(costs, direct=direct),
        input_schema=tool.listed_schema,
        annotations=types.ToolAnnotations(
            read_only_hint=tool.read_only or None,  # hosts assume False
            destructive_hint=destructive,
            idempotent_hint=idempotent,
            open_world_hint=tool.open_world,
        ),
    )
