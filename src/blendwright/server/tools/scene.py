"""The tools scene_snapshot and scene_find, which return the scene as data and optionally as a picture."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

import orjson
from pydantic import Field

from blendwright.server.answers.plan_report import MAX_ANSWER_BYTES, rounded
from blendwright.server.answers.response import ToolResponse
from blendwright.server.answers.scene_text import SECTIONS, compact_objects, object_lines, scene_lines
from blendwright.server.context import Caller, ServerContext
from blendwright.server.pictures.requests import RequestedPicture, read_request, with_picture
from blendwright.server.tools.server_tool import server_tool
from blendwright.tool_api.arguments import Args, Name

# The bytes of an answer that a page may take.
PAGE_BYTES = MAX_ANSWER_BYTES - 500
SHORTENED = (
    "objects only, without usual values, to save space. An explicit limit returns complete objects, "
    'and tool_call scene.snapshot {"include": ["materials"]} returns a section'
)
# The bytes of a page with an explicit limit.
MAX_REQUESTED_BYTES = 1_000_000


class SnapshotArgs(Args):
    name: str | None = Field(default=None, description="Name pattern (* and ?).")
    offset: int = Field(default=0, ge=0)
    limit: int = Field(default=100, ge=1, le=500)
    detail: Literal["summary", "full"] = Field(default="summary", description="full: exact, with hashes.")
    image: RequestedPicture = False


class FindArgs(Args):
    name: str | None = None
    type: str | None = Field(default=None, description="MESH, LIGHT, EMPTY …")
    collection: Name | None = Field(default=None, description="Includes its children.")
    material: Name | None = None
    offset: int = Field(default=0, ge=0)
    limit: int = Field(default=100, ge=1, le=1000)


@server_tool(
    "Return the scene in pages: objects, collections, materials, lights, cameras. With a name, only objects.",
    read_only=True,
)
async def scene_snapshot(context: ServerContext, caller: Caller, args: SnapshotArgs) -> ToolResponse:
    picture_request = read_request(args.image)
    response = await _snapshot(context, caller, args)
    if not response.outcome.ok:
        return response
    options = context.options(caller)
    return await context.run(
        caller, lambda opened: with_picture(response, picture_request, opened, context.look_pace, options, None)
    )


async def _snapshot(context: ServerContext, caller: Caller, args: SnapshotArgs) -> ToolResponse:
    tool_args = args.model_dump(exclude_none=True, exclude={"detail", "image"})
    if args.detail == "full":
        return await _exact_page(context, caller, tool_args, whole="limit" in args.model_fields_set)
    # A caller that names objects does not need the other sections.
    sections, lines_of = ("objects",), object_lines
    if args.name is None:
        sections, lines_of = SECTIONS, scene_lines
    outcome = await context.call_tool(caller, "scene.snapshot", {**tool_args, "include": list(sections)})
    if outcome.result is None:
        return ToolResponse(outcome)
    has_limit = "limit" in args.model_fields_set
    room = PAGE_BYTES
    if has_limit:
        room = MAX_REQUESTED_BYTES
    lines = lines_of(outcome.result, room)
    return ToolResponse(outcome.with_(result=lines), whole=has_limit)


@server_tool("Find objects by name, type, collection or material.", read_only=True)
async def scene_find(context: ServerContext, caller: Caller, args: FindArgs) -> ToolResponse:
    tool_args = args.model_dump(exclude_none=True)
    return await _page(context, caller, "scene.find", tool_args, whole="limit" in args.model_fields_set)


async def _page(
    context: ServerContext, caller: Caller, tool: str, tool_args: dict[str, Any], *, whole: bool
) -> ToolResponse:
    """Return a page of the tool's result. Unless the caller chose its length (`whole`), cut it to a length that a
    model can afford.
    """
    outcome = await context.call_tool(caller, tool, tool_args)
    if outcome.result is not None:
        outcome = outcome.with_(result=rounded(dict(outcome.result)))
    size = len(orjson.dumps(outcome.result))
    if whole or outcome.result is None or size <= PAGE_BYTES:
        return ToolResponse(outcome, whole=whole)
    objects: Any = outcome.result["objects"]
    size_of_objects = len(orjson.dumps(objects))
    limit = max(1, (PAGE_BYTES - size + size_of_objects) * len(objects) // max(1, size_of_objects))
    page = await _page(context, caller, tool, {**tool_args, "limit": limit}, whole=True)
    result = {
        **(page.outcome.result or {}),
        "shortened": "to save space. An explicit limit returns that many",
    }
    return replace(page, outcome=page.outcome.with_(result=result))


async def _exact_page(
    context: ServerContext, caller: Caller, tool_args: dict[str, Any], *, whole: bool
) -> ToolResponse:
    """Return the exact snapshot. Unless the caller chose its length (`whole`), a long one has only objects without
    usual values.
    """
    outcome = await context.call_tool(caller, "scene.snapshot", tool_args)
    if whole or outcome.result is None or len(orjson.dumps(outcome.result)) <= PAGE_BYTES:
        return ToolResponse(outcome, whole=whole)
    compact = compact_objects(outcome.result, PAGE_BYTES - len(SHORTENED) - 300)
    return ToolResponse(outcome.with_(result={**compact, "shortened": SHORTENED}), whole=True)


TOOLS = (scene_snapshot, scene_find)
