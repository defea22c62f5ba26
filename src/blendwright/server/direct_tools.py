"""Every tool of the catalogue as a tool of the server, for hosts that prefer single calls to plans."""

from __future__ import annotations

from collections.abc import Mapping

from blendwright.server.context import Caller, ServerContext
from blendwright.server.responses import ToolResponse
from blendwright.server.server_tool import ServerTool
from blendwright.tool_api.arguments import Args
from blendwright.tool_api.promises import Idempotence, SafetyLevel
from blendwright.tool_api.tool import AnyTool


def direct_tools(tools: Mapping[str, AnyTool]) -> tuple[ServerTool, ...]:
    """Names have an underscore for the dot, which some hosts refuse."""
    return tuple(_direct_tool(tool) for tool in tools.values())


def _direct_tool(tool: AnyTool) -> ServerTool:
    async def call(context: ServerContext, caller: Caller, args: Args) -> ToolResponse:
        # Only what the host sent: the engine fills in defaults itself, as it does for everybody.
        sent = args.model_dump(mode="json", exclude_unset=True)
        return ToolResponse(await context.call_tool(caller, tool.name, sent))

    return ServerTool(
        tool.name.replace(".", "_"),
        tool.summary(),
        tool.args_model,
        call,
        read_only=tool.safety_level is SafetyLevel.READ_ONLY,
        destructive=tool.safety_level is SafetyLevel.DESTRUCTIVE or bool(tool.destructive_with),
        idempotent=tool.idempotence is Idempotence.IDEMPOTENT,
        open_world=tool.name.startswith("file."),
    )
