"""scene_snapshot, scene_find, scene_image: reading the scene."""

from __future__ import annotations

import io
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from blendwright.app.open_scene import OpenScene
from blendwright.server.context import Caller, ServerContext
from blendwright.server.responses import ToolResponse
from blendwright.server.server_tool import server_tool
from blendwright.tool_api.arguments import Args, Name
from blendwright.values.no_follow import read_file
from blendwright.values.outcome import Outcome

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
    return ToolResponse(await context.call_tool(caller, "scene.snapshot", args.model_dump(exclude_none=True)))


@server_tool("Find objects by name, type, collection or material.", read_only=True)
async def scene_find(context: ServerContext, caller: Caller, args: FindArgs) -> ToolResponse:
    return ToolResponse(await context.call_tool(caller, "scene.find", args.model_dump(exclude_none=True)))


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
