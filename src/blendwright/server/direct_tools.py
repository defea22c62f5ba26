"""Every tool of the catalogue as a tool of the server, for hosts that prefer single calls to plans."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from blendwright.contracts.arguments import Args
from blendwright.contracts.effects import Idempotence, SafetyLevel
from blendwright.contracts.tool import AnyTool
from blendwright.server.answers import Answer
from blendwright.server.house import Caller, House
from blendwright.server.offers import Offer


def direct_offers(tools: Mapping[str, AnyTool]) -> Iterator[Offer]:
    """Names with an underscore for the dot, which some hosts refuse."""
    for tool in tools.values():
        yield _offer(tool)


def _offer(tool: AnyTool) -> Offer:
    async def answer(house: House, caller: Caller, args: Args) -> Answer:
        # As given: the engine fills in defaults itself, as it does for everybody.
        given = args.model_dump(mode="json", exclude_unset=True)
        return Answer(
            await house.ask(
                caller,
                lambda opened: opened.outcome(tool.name, given, cancel=caller.cancel, consent=caller.consent),
            )
        )

    return Offer(
        tool.name.replace(".", "_"),
        tool.summary(),
        tool.args_model,
        answer,
        read_only=tool.safety_level is SafetyLevel.READ_ONLY,
        destructive=tool.safety_level is SafetyLevel.DESTRUCTIVE or bool(tool.destructive_with),
        idempotent=tool.idempotence is Idempotence.IDEMPOTENT,
        open_world=tool.name.startswith("file."),
    )
