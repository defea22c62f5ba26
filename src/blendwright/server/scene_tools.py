"""scene_snapshot, scene_find: reading the scene as data."""

from __future__ import annotations

from pydantic import Field

from blendwright.server.context import Caller, ServerContext
from blendwright.server.responses import ToolResponse
from blendwright.server.server_tool import server_tool
from blendwright.tool_api.arguments import Args, Name


class SnapshotArgs(Args):
    name: str | None = Field(default=None, description="Only objects with such names (* and ?).")
    offset: int = Field(default=0, ge=0, description="Skip that many objects.")
    limit: int = Field(default=50, ge=1, le=500, description="At most so many objects.")


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
    return ToolResponse(await context.call_tool(caller, "scene.snapshot", args.model_dump(exclude_none=True)))


@server_tool("Find objects by name, type, collection or material.", read_only=True)
async def scene_find(context: ServerContext, caller: Caller, args: FindArgs) -> ToolResponse:
    return ToolResponse(await context.call_tool(caller, "scene.find", args.model_dump(exclude_none=True)))


TOOLS = (scene_snapshot, scene_find)
