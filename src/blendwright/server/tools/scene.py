"""scene_snapshot, scene_find: reading the scene as data, with a picture of it where one is asked for."""

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

# What a page may take of an answer.
PAGE_BYTES = MAX_ANSWER_BYTES - 500
SHORTENED = (
    "objects only, without what is as usual, to be read cheaply; an explicit limit gives everything of as many as it says, "
    'tool_call scene.snapshot {"include": ["materials"]} a section'
)
# And what one takes whose length was asked for.
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
    collection: Name | None = Field(default=None, description="Or below it.")
    material: Name | None = None
    offset: int = Field(default=0, ge=0)
    limit: int = Field(default=100, ge=1, le=1000)


@server_tool(
    "The scene: a line for each object, page by page; collections, materials, lights, cameras. With a name only objects.",
    read_only=True,
)
async def scene_snapshot(context: ServerContext, caller: Caller, args: SnapshotArgs) -> ToolResponse:
    look = read_request(args.image)
    response = await _snapshot(context, caller, args)
    if not response.outcome.ok:
        return response
    options = context.options(caller)
    return await context.run(
        caller, lambda opened: with_picture(response, look, opened, context.look_pace, options, None)
    )


async def _snapshot(context: ServerContext, caller: Caller, args: SnapshotArgs) -> ToolResponse:
    asked = args.model_dump(exclude_none=True, exclude={"detail", "image"})
    if args.detail == "full":
        return await _exact(context, caller, asked, whole="limit" in args.model_fields_set)
    # Whoever asks for some objects by name has no use for the rest.
    sections, lines_of = (SECTIONS, scene_lines) if args.name is None else (("objects",), object_lines)
    outcome = await context.call_tool(caller, "scene.snapshot", {**asked, "include": list(sections)})
    if outcome.result is None:
        return ToolResponse(outcome)
    whole = "limit" in args.model_fields_set
    lines = lines_of(outcome.result, MAX_REQUESTED_BYTES if whole else PAGE_BYTES)
    return ToolResponse(outcome.with_(result=lines), whole=whole)


@server_tool("Find objects by name, type, collection or material.", read_only=True)
async def scene_find(context: ServerContext, caller: Caller, args: FindArgs) -> ToolResponse:
    asked = args.model_dump(exclude_none=True)
    return await _page(context, caller, "scene.find", asked, whole="limit" in args.model_fields_set)


async def _page(
    context: ServerContext, caller: Caller, tool: str, asked: dict[str, Any], *, whole: bool
) -> ToolResponse:
    """A page; of a length that nobody asked for, one that a model can afford to read."""
    outcome = await context.call_tool(caller, tool, asked)
    if outcome.result is not None:
        outcome = outcome.with_(result=rounded(dict(outcome.result)))
    size = len(orjson.dumps(outcome.result))
    if whole or outcome.result is None or size <= PAGE_BYTES:
        return ToolResponse(outcome, whole=whole)
    listed: Any = outcome.result["objects"]
    taken = len(orjson.dumps(listed))
    fewer = max(1, (PAGE_BYTES - size + taken) * len(listed) // max(1, taken))
    page = await _page(context, caller, tool, {**asked, "limit": fewer}, whole=True)
    result = {
        **(page.outcome.result or {}),
        "shortened": "to be read cheaply; an explicit limit gives as many as it says",
    }
    return replace(page, outcome=page.outcome.with_(result=result))


async def _exact(context: ServerContext, caller: Caller, asked: dict[str, Any], *, whole: bool) -> ToolResponse:
    """Everything as it is; where that is long and nobody said how much, the objects without what is as usual."""
    outcome = await context.call_tool(caller, "scene.snapshot", asked)
    if whole or outcome.result is None or len(orjson.dumps(outcome.result)) <= PAGE_BYTES:
        return ToolResponse(outcome, whole=whole)
    told = compact_objects(outcome.result, PAGE_BYTES - len(SHORTENED) - 300)
    return ToolResponse(outcome.with_(result={**told, "shortened": SHORTENED}), whole=True)


TOOLS = (scene_snapshot, scene_find)
