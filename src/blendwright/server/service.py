"""The MCP server itself: the SDK's low-level server with our tools, resources and prompts behind it.

Both eras of the protocol are served by the same handlers. A tool that fails answers with a result; protocol errors are for requests
that make no sense as such.
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
    """Answers the requests of hosts for one workspace."""

    def __init__(
        self, context: ServerContext, *, version: str, direct: bool = False, on_call: OnCall | None = None
    ) -> None:
        self._context = context
        self._direct = direct
        self._on_call = on_call
        if direct:
            added = direct_tools(context.tools)
        else:
            added = ()
        # Where both have a name, the server's own is the one that its instructions speak of.
        self._tools = {tool.name: tool for tool in (*added, *TOOLS)}
        self._app_tools = {tool.name: tool for tool in apps.APP_TOOLS}
        self._pending_calls = PendingCalls()
        resources = Resources(context)
        self.server: Server[Any] = Server(
            NAME,
            version=version,
            title="Blendwright",
            instructions=INSTRUCTIONS,
            get_tool_input_schema=self._input_schema,
            on_list_tools=self._list_tools,
            on_call_tool=self._call_tool if on_call is None else self._told_call,
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
            tools = [apps.with_page(tool) if tool.name in apps.SHOWN_BY_PAGE else tool for tool in tools]
            own = [declaration(tool, costs) for tool in self._app_tools.values()]
            tools += [apps.with_page(tool, app_only=True) for tool in own]
        return types.ListToolsResult(tools=tools)

    async def _told_call(
        self, ctx: RequestContext, params: types.CallToolRequestParams
    ) -> types.CallToolResult | types.InputRequiredResult:
        """A call that whoever watches the server is told about when it has ended."""
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
            if supports_elicitation(ctx):
                approver = session_approver(ctx.session, ctx.request_id)
            else:
                approver = None
            try:
                response = await self._respond(replace(caller, approver=approver), name, arguments)
            finally:
                progress.ended = True
        await progress.flush()
        try:
            return render_response(name, response, host.envelope, host.payload_bytes)
        except ValidationError as error:
            # An answer that breaks its own contract is our defect. Raised on, the SDK would blame the arguments of the call.
            _log.exception("%s was answered with what its envelope refuses", name)
            return render_response(name, error_failure(error), host.envelope, host.payload_bytes)

    def _started(
        self, params: types.CallToolRequestParams, caller: Caller, progress: ProgressReporter
    ) -> MultiRoundCall:
        """A call whose host comes back with what its user answered."""
        call = MultiRoundCall(params.name, params.arguments or {}, progress)
        caller = replace(caller, approver=call.approver, cancel=call.cancel)
        call.task = asyncio.create_task(self._respond(caller, params.name, params.arguments or {}))
        call.task.add_done_callback(lambda _: setattr(progress, "ended", True))
        return call

    def _resumed(
        self, ctx: RequestContext, params: types.CallToolRequestParams, envelope: EnvelopeName
    ) -> MultiRoundCall | types.CallToolResult | None:
        """The call that this one continues; a failure where there is none, and None where it continues nothing."""
        if params.request_state is None:
            return None
        call = self._pending_calls.resume(params.request_state, params.name, params.arguments or {})
        if call is None:
            message = "this question is not open any more, or was asked about another call"
            finding = Finding(Fault.POLICY_BLOCKED, message, "", "Call again without request_state.")
            return render_response(params.name, failure(finding), envelope)
        call.progress.session = ctx.session
        call.answer(params.input_responses)
        return call

    async def _respond(self, caller: Caller, name: str, arguments: Mapping[str, Any]) -> ToolResponse:
        tool = self._tools.get(name) or (self._app_tools.get(name) if caller.shows_apps else None)
        if tool is None:
            cure = did_you_mean(
                name, self._tools, otherwise="Other tools are run by tool_call and plan_execute; see tool_search."
            )
            if name in self._context.tools:
                cure = "Call it with tool_call, or use it in a plan, with plan_execute."
            return failure(
                Finding(Fault.TOOL_NOT_ALLOWED, f"this server has no tool '{name[:MAX_NAME_CHARACTERS]}'", "", cure)
            )
        args = tool.parse(arguments)
        if isinstance(args, tuple):
            return tool.refuse(*args)
        try:
            response = await tool.handler(self._context, caller, args)
            if notes := tool.notes(arguments):
                noted = response.outcome.with_(notes=(*response.outcome.notes, *notes))
                response = replace(response, outcome=noted)
            return await asyncio.to_thread(with_pictures, response, self._context.artifacts)
        except Refusal as refusal:
            return tool.refuse(*refusal.findings)
        except Exception as error:
            # An outermost place: a defect must not take the connection with it, nor show its insides to a model.
            if not isinstance(error, BlendwrightError):
                _log.exception("%s failed", name)
            return error_failure(error)


def declaration(tool: ServerTool, costs: Costs, direct: bool = False) -> types.Tool:
    return types.Tool(
        name=tool.name,
        description=tool.described(costs, direct=direct),
        input_schema=tool.listed_schema,
        annotations=types.ToolAnnotations(
            read_only_hint=tool.read_only or None,  # False is what a host assumes, and every byte counts
            # Without meaning for what only reads.
            destructive_hint=None if tool.read_only else tool.destructive,
            idempotent_hint=None
            if tool.read_only
            else tool.idempotent or (None if tool.described_as is not None else False),
            open_world_hint=tool.open_world,
        ),
    )
