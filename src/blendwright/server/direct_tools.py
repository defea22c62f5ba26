"""Every tool of the catalogue as a tool of the server, for hosts that prefer single calls to plans."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from blendwright.server.answers import Answer
from blendwright.server.context import Caller, ServerContext
from blendwright.server.server_tool import ServerTool
from blendwright.tool_api.arguments import Args
from blendwright.tool_api.effects import Idempotence, SafetyLevel
from blendwright.tool_api.tool import AnyTool


def direct_offers(tools: Mapping[str, AnyTool]) -> Iterator[ServerTool]:
    """Names with an underscore for the dot, which some hosts refuse."""
    for tool in tools.values():
        yield _offer(tool)


def _offer(tool: AnyTool) -> ServerTool:
    async def answer(house: ServerContext, caller: Caller, args: Args) -> Answer:
        # As given: the engine fills in defaults itself, as it does for everybody.
        given = args.model_dump(mode="json", exclude_unset=True)
        return Answer(
            await house.ask(
                caller,
                lambda opened: opened.outcome(tool.name, given, caller.options),
            )
        )

    return ServerTool(
        tool.name.replace(".", "_"),
        tool.summary(),
        tool.args_model,
        answer,
        read_only=tool.safety_level is SafetyLevel.READ_ONLY,
        destructive=tool.safety_level is SafetyLevel.DESTRUCTIVE or bool(tool.destructive_with),
        idempotent=tool.idempotence is Idempotence.IDEMPOTENT,
        open_world=tool.name.startswith("file."),
    )
