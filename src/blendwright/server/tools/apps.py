"""The MCP App: a page that shows the scene in 3D next to the answers of `scene_image` and `plan_preview`.

The page is one HTML document without external resources. It gets its data in parts, through tools that hosts offer
only to the page, so that the results for models stay small. The page only shows what needs an approval and cannot
approve it, because a server cannot distinguish calls of the page from calls of the model.
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
# The tools whose answers the page accompanies.
SHOWN_BY_PAGE = frozenset({scene_image.name, plan_preview.name})
# The bytes of a file in one answer. As base64 they stay well below the 1 MiB that clients accept in one event.
PART_BYTES = 384 * 1024
# The largest file that the tools send.
MAX_FILE_BYTES = 32 * 2**20
GLB = "model/gltf-binary"
IMPORTED = re.compile(r"^import .*?;\n", re.MULTILINE)


def supports_apps(ctx: RequestContext) -> bool:
    """Return whether the host shows apps of Blendwright's kind."""
    capabilities = ctx.session.client_capabilities
    extensions: Mapping[str, Any] = (None if capabilities is None else capabilities.extensions) or {}
    settings = extensions.get(EXTENSION_ID)
    if not isinstance(settings, Mapping):
        return False
    kinds = cast("Mapping[str, Any]", settings).get("mimeTypes")
    return isinstance(kinds, list | tuple) and MIME_TYPE in kinds


def with_page(tool: types.Tool, *, app_only: bool = False) -> types.Tool:
    """Return the tool's declaration with the page for its answers. `app_only` hides the tool from the model."""
    ui: dict[str, Any] = {"resourceUri": URI}
    if app_only:
        ui["visibility"] = ["app"]
    return tool.model_copy(update={"meta": {**(tool.meta or {}), "ui": ui}})


def page_contents() -> types.TextResourceContents:
    """Return the page as an MCP resource."""
    return types.TextResourceContents(uri=URI, mime_type=MIME_TYPE, text=page(), _meta={"ui": {"prefersBorder": True}})


@cache
def page() -> str:
    """Return the HTML document with its style and scripts inlined, because a host loads a single file."""
    app = files("blendwright.server") / "app_page"
    viewer = files("blendwright.console") / "static"
    scripts = [(viewer / "glb.js"), (viewer / "scene-view.js"), (app / "host.js"), (app / "page.js")]
    code = "\n".join(IMPORTED.sub("", script.read_text("utf-8")) for script in scripts)
    assert "</script" not in code
    style = (app / "page.css").read_text("utf-8")
    template = (app / "page.html").read_text("utf-8")
    return template.replace("/* style */", style).replace("/* script */", code)


class SceneArgs(Args):
    part: int = Field(
        default=0, ge=0, le=MAX_FILE_BYTES // PART_BYTES + 1, description="The index of the part, from 0."
    )


class PreviewedArgs(PreviewArgs):
    part: int = Field(
        default=0, ge=0, le=MAX_FILE_BYTES // PART_BYTES + 1, description="The index of the part, from 0."
    )


@server_tool("Return a part of the scene as GLB, for the page that shows it.", read_only=True)
async def app_scene(context: ServerContext, caller: Caller, args: SceneArgs) -> ToolResponse:
    def look(opened: OpenScene) -> tuple[int, str]:
        require_look(opened, {}, context.options(caller))
        head = require_head(opened.journal)
        return head.number, head.hash_after

    number, scene = await context.run(caller, look)
    data = context.scene_files.find(scene)
    if data is None:
        reader = context.scene_files.reader(context.workspace, context.blender)
        glb = reader.submit(f"glb:{number}", lambda views: views.glb(number), urgent=True)
        data = await asyncio.wrap_future(glb) or b""
        context.scene_files.keep(scene, data)
    return _part(data, args.part, {"commit": number, "scene": scene})


@server_tool("Return a part of the scene that a plan would make as GLB, for the page that shows it.", read_only=True)
async def app_preview(context: ServerContext, caller: Caller, args: PreviewedArgs) -> ToolResponse:
    plan = (await parse_plan_arguments(context, caller, args)).plan
    request = orjson.dumps(
        args.model_dump(mode="json", exclude={"part", "image", "detail"}), option=orjson.OPT_SORT_KEYS
    )

    def work(opened: OpenScene) -> tuple[bytes | None, str]:
        head = opened.journal.head
        scene_hash = ""
        if head is not None:
            scene_hash = head.hash_after
        key = hashlib.sha256(request + scene_hash.encode()).hexdigest()
        cached = context.scene_files.find(key)
        if cached is not None:
            return cached, key
        files: list[bytes] = []

        def look(worker: RemoteScene) -> None:
            files.append(glb_of(worker) or b"")

        opened.preview(plan, context.options(caller), look=look)
        if files:
            return files[0], key
        return None, key

    data, key = await context.run(caller, work)
    if data is None:
        return failure(
            Finding(Fault.SCENE_CONFLICT, "the plan would fail, so there is no scene to show", "", "Fix the plan.")
        )
    context.scene_files.keep(key, data)
    return _part(data, args.part, {"scene": key})


def _part(data: bytes, number: int, about: Mapping[str, Any]) -> ToolResponse:
    """Return one part of a file and the number of parts. A scene that shows nothing has no parts."""
    if len(data) > MAX_FILE_BYTES:
        message = (
            f"the scene has {len(data) / 2**20:.0f} MB as GLB, more than the limit of {MAX_FILE_BYTES // 2**20} MB"
        )
        return failure(Finding(Fault.LIMIT_EXCEEDED, message, "", "Use the console instead: blendwright ui"))

    parts = -(-len(data) // PART_BYTES)
    if number and number >= parts:
        return failure(Finding(Fault.ARGS_INVALID, f"the file has {parts} parts", "/part", "Count from 0."))
    response = success({**about, "bytes": len(data), "parts": parts, "part": number})
    piece = data[number * PART_BYTES : (number + 1) * PART_BYTES]
    if not piece:
        return ToolResponse(response.outcome)
    return ToolResponse(response.outcome, attached=(AttachedFile(piece, GLB, f"{URI}#{number}"),))


APP_TOOLS = (app_scene, app_preview)
