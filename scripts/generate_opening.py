"""Record what the server answers first, in every version of the protocol, for the early server to answer with.

With --check: fail when the recording is not current.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import anyio
from mcp.server.lowlevel.server import Server
from mcp.shared.message import SessionMessage
from mcp_types import jsonrpc_message_adapter
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, MODERN_PROTOCOL_VERSIONS

import blendwright
from blendwright.server.context import Jobs, ServerContext
from blendwright.server.service import Service
from blendwright.server.transport.early_server import RECORDED, VERSION_KEY
from blendwright.server.workspace_queue import WorkspaceQueue
from blendwright.tools import catalog

CLIENT = {"name": "recorder", "version": "1"}


def main() -> int:
    text = json.dumps(anyio.run(record), separators=(",", ":"), sort_keys=True) + "\n"
    if "--check" not in sys.argv:
        RECORDED.write_text(text)
        return 0
    if RECORDED.is_file() and RECORDED.read_text() == text:
        return 0
    print(f"{RECORDED.name} is not current: run `make generate`", file=sys.stderr)
    return 1


async def record() -> dict[str, Any]:
    context = ServerContext(Path(), WorkspaceQueue(_never), catalog.tools(), {}, Jobs())
    server = Service(context, version=blendwright.__version__).server
    found: dict[str, dict[str, int]] = {}
    bodies: list[Any] = []
    for version in (*HANDSHAKE_PROTOCOL_VERSIONS, *MODERN_PROTOCOL_VERSIONS):
        for method, result in (await answers(server, version)).items():
            if result not in bodies:
                bodies.append(result)
            found.setdefault(method, {})[version] = bodies.index(result)
    return {**found, "bodies": bodies}


async def answers(server: Server[Any], version: str) -> dict[str, Any]:
    """What one connection is told, message by message."""
    to_server, from_client = anyio.create_memory_object_stream[SessionMessage | Exception](8)
    to_client, from_server = anyio.create_memory_object_stream[SessionMessage](8)
    told: dict[str, Any] = {}

    async def ask(method: str, params: dict[str, Any]) -> None:
        message = {"jsonrpc": "2.0", "id": method, "method": method, "params": params}
        await to_server.send(SessionMessage(jsonrpc_message_adapter.validate_python(message)))
        answer = (await from_server.receive()).message.model_dump(mode="json", by_alias=True, exclude_unset=True)
        told[method] = answer["result"]

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(server.run, from_client, to_client, server.create_initialization_options())
        if version in MODERN_PROTOCOL_VERSIONS:
            meta = {VERSION_KEY: version, "io.modelcontextprotocol/clientInfo": CLIENT,
                    "io.modelcontextprotocol/clientCapabilities": {}}  # fmt: skip
            await ask("server/discover", {"_meta": meta})
            await ask("tools/list", {"_meta": meta})
        else:
            hello = {"protocolVersion": version, "capabilities": {}, "clientInfo": CLIENT}
            await ask("initialize", hello)
            await ask("tools/list", {})
        tasks.cancel_scope.cancel()
    return told


def _never() -> Any:
    raise AssertionError("what is answered first needs no workspace")


if __name__ == "__main__":
    sys.exit(main())
