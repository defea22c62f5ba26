"""contract_get: the contract of the session with this host."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from blendwright.app.open_scene import OpenScene
from blendwright.server.context import Caller, ServerContext
from blendwright.server.responses import ToolResponse, success
from blendwright.server.server_tool import server_tool
from blendwright.tool_api.arguments import Args


class ContractArgs(Args):
    registries: bool = Field(default=False, description="Also the hash of every tool and macro.")


@server_tool(
    "The contract of this session: limits, what is allowed, asked about or denied, Blender, registries.", read_only=True
)
async def contract_get(context: ServerContext, caller: Caller, args: ContractArgs) -> ToolResponse:
    def work(opened: OpenScene) -> dict[str, Any]:
        contract = opened.contract
        document = contract.to_json()
        if not args.registries:
            for name in ("tool_registry", "macro_registry"):
                document[name]["entries"] = len(document[name]["entries"])
        return {"fingerprint": contract.fingerprint, "contract": document}

    return success(await context.run(caller, work))


TOOLS = (contract_get,)
