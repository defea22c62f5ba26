"""contract_get: what the session with this host is held to."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from blendwright.app.open_scene import OpenScene
from blendwright.server.answers import Answer, succeeded
from blendwright.server.context import Caller, ServerContext
from blendwright.server.server_tool import ServerTool
from blendwright.tool_api.arguments import Args


class ContractArgs(Args):
    registries: bool = Field(default=False, description="Also the hash of every tool and macro.")


async def contract_get(house: ServerContext, caller: Caller, args: ContractArgs) -> Answer:
    def work(opened: OpenScene) -> dict[str, Any]:
        contract = opened.contract
        document = contract.to_json()
        if not args.registries:
            for name in ("tool_registry", "macro_registry"):
                document[name]["entries"] = len(document[name]["entries"])
        return {"fingerprint": contract.fingerprint, "contract": document}

    return succeeded("contract_get", await house.ask(caller, work))


OFFERS = (
    ServerTool(
        "contract_get",
        "The contract of this session: limits, what is allowed, asked about or denied, Blender, registries.",
        ContractArgs,
        contract_get,
        read_only=True,
    ),
)
