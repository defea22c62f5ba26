"""scene_snapshot, scene_find: reading the scene as data."""

from __future__ import annotations

from typing import Any

import orjson
from pydantic import Field

from blendwright.server.brief import LARGEST_ANSWER
from blendwright.server.context import Caller, ServerContext
from blendwright.server.responses import ToolResponse
from blendwright.server.server_tool import server_tool
from blendwright.tool_api.arguments import Args, Name

# What a page may take of an answer.
ROOM = LARGEST_ANSWER - 500


class SnapshotArgs(Args):
    name: str | None = Field(default=None, description="Only objects with such names (* and ?).")
    offset: int = Field(default=0, ge=0)
    limit: int = Field(default=50, ge=1, le=500)


class FindArgs(Args):
    name: str | None = Field(default=None, description="Name pattern (* and ?).")
    type: str | None = Field(default=None, description="MESH, LIGHT, CAMERA, EMPTY, CURVE, FONT …")
    collection: Name | None = Field(default=None, description="In this collection or one below it.")
    material: Name | None = Field(default=None, description="Having this material.")
    offset: int = Field(default=0, ge=0)
    limit: int = Field(default=100, ge=1, le=1000)


@server_tool(
    "The scene as data: objects page by page, collections, materials, lights, cameras, settings, fingerprint.",
    read_only=True,
)
async def scene_snapshot(context: ServerContext, caller: Caller, args: SnapshotArgs) -> ToolResponse:
    return await _page(context, caller, "scene.snapshot", args)


@server_tool("Find objects by name, type, collection or material.", read_only=True)
async def scene_find(context: ServerContext, caller: Caller, args: FindArgs) -> ToolResponse:
    return await _page(context, caller, "scene.find", args)


async def _page(context: ServerContext, caller: Caller, tool: str, args: SnapshotArgs | FindArgs) -> ToolResponse:
    """A page; of a length that nobody asked for, one that a model can afford to read."""
    asked = args.model_dump(exclude_none=True)
    outcome = await context.call_tool(caller, tool, asked)
    size = len(orjson.dumps(outcome.result))
    if "limit" in args.model_fields_set or outcome.result is None or size <= ROOM:
        return ToolResponse(outcome, whole="limit" in args.model_fields_set)
    objects: Any = outcome.result["objects"]
    listed: list[Any] = objects["items"] if tool == "scene.snapshot" else objects
    taken = len(orjson.dumps(listed))
    fewer = max(1, (ROOM - size + taken) * len(listed) // max(1, taken))
    return ToolResponse(await context.call_tool(caller, tool, {**asked, "limit": fewer}))


TOOLS = (scene_snapshot, scene_find)
