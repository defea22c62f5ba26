"""The MCP App: for hosts that show apps, `scene_image` and `plan_preview` come with a page that shows the scene to be turned around.

The page is one HTML document without outside resources. Its data comes through tools that the host offers to the page only, in parts, so
that results which a model reads stay as small as they are. The page can look and nothing else: a server cannot tell its calls from the
model's, so it shows what a person must allow and never allows it.
"""

from __future__ import annotations

import asyncio
import hashlib
import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any, cast

import mcp_types as types
import orjson
from pydantic import Field

from blendwright.engine.moves.commit_names import require_head
from blendwright.server.answers.response import AttachedFile, ToolResponse, failure, success
from blendwright.server.context import Caller, ServerContext
from blendwright.server.tools.plans import PreviewArgs, parse_plan_arguments, plan_preview
from blendwright.server.tools.scene_image import scene_image
from blendwright.server.tools.server_tool import server_tool
from blendwright.server.transport.client_info import RequestContext
from blendwright.tool_api.arguments import Args
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding
from blendwright.views.before_and_after import require_look
from blendwright.views.scene_views import glb_of
from blendwright.wire.remote_scene import RemoteScene
from blendwright.workspace.open_scene import OpenScene

EXTENSION_ID = "io.modelcontextprotocol/ui"
MIME_TYPE = "text/html;profile=mcp-app"
URI = "ui://blendwright/scene.html"
# The tools whose answers the page shows.
SHOWN_BY_PAGE = frozenset({scene_image.name, plan_preview.name})
# Bytes of a file in one answer: as base64 well below the 1 MiB that clients take in one event.
PART_BYTES = 384 * 1024
# The largest file that is sent at all.
MAX_FILE_BYTES = 32 * 2**20
GLB = "model/gltf-binary"
IMPORTED = re.compile(r"^import .*?;\n", re.MULTILINE)


def supports_apps(ctx: RequestContext) -> bool:
    """Whether the host shows apps of the kind that we have."""
    capabilities = ctx.session.client_capabilities
    extensions: Mapping[str, Any] = (None if capabilities is None else capabilities.extensions) or {}
    settings = extensions.get(EXTENSION_ID)
    if not isinstance(settings, Mapping):
        return False
    kinds = cast("Mapping[str, Any]", settings).get("mimeTypes")
    return isinstance(kinds, list | tuple) and MIME_TYPE in kinds


def with_page(tool: types.Tool, *, app_only: bool = False) -> types.Tool:
    """The declaration for a host that shows apps."""
    ui: dict[str, Any] = {"resourceUri": URI} | ({"visibility": ["app"]} if app_only else {})
    return tool.model_copy(update={"meta": {**(tool.meta or {}), "ui": ui}})


def page_contents() -> types.TextResourceContents:
    return types.TextResourceContents(uri=URI, mime_type=MIME_TYPE, text=page(), _meta={"ui": {"prefersBorder": True}})


@cache
def page() -> str:
    """The document: its style and its scripts, the viewer of the console among them, are written into it, since a host loads one file."""
    own, viewer = files("blendwright.server") / "app_page", files("blendwright.console") / "static"
    scripts = [(viewer / "glb.js"), (viewer / "scene-view.js"), (own / "host.js"), (own / "page.js")]
    code = "\n".join(IMPORTED.sub("", script.read_text("utf-8")) for script in scripts)
    assert "</script" not in code
    template = (own / "page.html").read_text("utf-8")
    return template.replace("/* style */", (own / "page.css").read_text("utf-8")).replace("/* script */", code)


class SceneArgs(Args):
    part: int = Field(default=0, ge=0, le=MAX_FILE_BYTES // PART_BYTES + 1, description="Which part of the file.")


class PreviewedArgs(PreviewArgs):
    part: int = Field(default=0, ge=0, le=MAX_FILE_BYTES // PART_BYTES + 1, description="Which part of the file.")


@server_tool("The scene as GLB, in parts, for the page that shows it.", read_only=True)
async def app_scene(context: ServerContext, caller: Caller, args: SceneArgs) -> ToolResponse:
    def look(opened: OpenScene) -> tuple[int, str]:
        require_look(opened, {}, context.options(caller))
        head = require_head(opened.journal)
        return head.number, head.hash_after

    number, scene = await context.run(caller, look)
    data = context.scene_files.find(scene)
    if data is None:
        reader = context.scene_files.reader(context.workspace, context.blender)
        made = reader.submit(f"glb:{number}", lambda views: views.glb(number), urgent=True)
        data = await asyncio.wrap_future(made) or b""
        context.scene_files.keep(scene, data)
    return _part(data, args.part, {"commit": number, "scene": scene})


@server_tool("The scene that a plan would make as GLB, in parts, for the page that shows it.", read_only=True)
async def app_preview(context: ServerContext, caller: Caller, args: PreviewedArgs) -> ToolResponse:
    plan = (await parse_plan_arguments(context, caller, args)).plan
    asked = orjson.dumps(args.model_dump(mode="json", exclude={"part", "image", "detail"}), option=orjson.OPT_SORT_KEYS)

    def work(opened: OpenScene) -> tuple[bytes | None, str]:
        head = opened.journal.head
        key = hashlib.sha256(asked + (b"" if head is None else head.hash_after.encode())).hexdigest()
        known = context.scene_files.find(key)
        if known is not None:
            return known, key
        seen: list[bytes] = []

        def look(worker: RemoteScene) -> None:
            seen.append(glb_of(worker) or b"")

        opened.preview(plan, context.options(caller), look=look)
        return (seen[0] if seen else None), key

    data, key = await context.run(caller, work)
    if data is None:
        return failure(
            Finding(Fault.SCENE_CONFLICT, "the plan would fail, so there is nothing to show", "", "Mend the plan.")
        )
    context.scene_files.keep(key, data)
    return _part(data, args.part, {"scene": key})


def _part(data: bytes, number: int, about: Mapping[str, Any]) -> ToolResponse:
    """One part of a file, and how many there are; a scene of which nothing can be shown has none."""
    if len(data) > MAX_FILE_BYTES:
        message = f"the scene is {len(data) / 2**20:.0f} MB as GLB, and {MAX_FILE_BYTES // 2**20} MB are shown here"
        return failure(Finding(Fault.LIMIT_EXCEEDED, message, "", "Open the console instead: blendwright ui"))
    parts = -(-len(data) // PART_BYTES)
    if number and number >= parts:
        return failure(Finding(Fault.ARGS_INVALID, f"the file has {parts} parts", "/part", "Count from 0."))
    response = success({**about, "bytes": len(data), "parts": parts, "part": number})
    piece = data[number * PART_BYTES : (number + 1) * PART_BYTES]
    return ToolResponse(response.outcome, attached=(AttachedFile(piece, GLB, f"{URI}#{number}"),) if piece else ())


APP_TOOLS = (app_scene, app_preview)
