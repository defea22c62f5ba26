"""scene_snapshot, scene_find, scene_image: reading the scene."""

from __future__ import annotations

import io
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import orjson
from pydantic import Field

from blendwright.app.open_scene import OpenScene
from blendwright.server.brief import LARGEST_ANSWER
from blendwright.server.context import Caller, ServerContext
from blendwright.server.responses import ToolResponse
from blendwright.server.server_tool import server_tool
from blendwright.tool_api.arguments import Args, Name
from blendwright.values.no_follow import read_file
from blendwright.values.outcome import Outcome

# What a page may take of an answer.
ROOM = LARGEST_ANSWER - 500
View = Literal["FRONT", "BACK", "LEFT", "RIGHT", "TOP", "BOTTOM", "ISO"]


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


class ImageArgs(Args):
    views: list[View] = Field(default=[], max_length=6, description="Sides to look from, all objects in sight.")
    camera: Name | None = Field(default=None, description="A camera to look through; the scene's own by default.")
    engine: Literal["WORKBENCH", "CYCLES"] = Field(default="WORKBENCH", description="CYCLES shows light; slower.")
    width: int = Field(default=640, ge=64, le=2048)
    height: int = Field(default=480, ge=64, le=2048)


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


@server_tool("A picture of the scene through a camera or from named sides; several become one montage.", read_only=True)
async def scene_image(context: ServerContext, caller: Caller, args: ImageArgs) -> ToolResponse:
    size = {"engine": args.engine, "width": args.width, "height": args.height, "artifact": "scene_image.png"}
    viewpoints: list[dict[str, Any]] = [{"view": view} for view in args.views]
    if args.camera is not None or not viewpoints:
        viewpoints.insert(0, {} if args.camera is None else {"camera": args.camera})

    def work(opened: OpenScene) -> ToolResponse:
        pictures: list[bytes] = []
        last: Outcome | None = None
        for viewpoint in viewpoints:
            args = {**size, **viewpoint}
            last = opened.outcome("render.preview", args, context.options(caller))
            if not last.ok:
                return ToolResponse(last)
            pictures.append(read_file(Path(last.artifacts[0])))
        assert last is not None
        return ToolResponse(last, (pictures[0] if len(pictures) == 1 else montage(pictures),))

    return await context.run(caller, work)


def montage(pictures: Sequence[bytes]) -> bytes:
    """PNG files as one, row by row, as near to a square as may be; what is left over stays dark."""
    from PIL import Image  # loaded only when several pictures are requested

    read = [Image.open(io.BytesIO(picture)).convert("RGB") for picture in pictures]
    width, height = read[0].size
    columns = math.ceil(math.sqrt(len(read)))
    whole = Image.new("RGB", (width * columns, height * math.ceil(len(read) / columns)))
    for number, picture in enumerate(read):
        whole.paste(picture, (number % columns * width, number // columns * height))
    written = io.BytesIO()
    whole.save(written, "PNG")
    return written.getvalue()


TOOLS = (scene_snapshot, scene_find, scene_image)
