"""The MCP App, by the SDK's own client. What its page does in a browser is in tests/ui."""

from __future__ import annotations

import base64
import json
import re
from pathlib import Path
from typing import Any

from mcp.client.client import Client
from mcp.client.extension import ClientExtension

from blendwright.server.context import ServerContext
from blendwright.server.tools import apps
from support.hosts.mcp import Era, call, cube, plan, served, talk

GLB_MAGIC = b"glTF"


class ShowsApps(ClientExtension):
    """A host that shows apps, or says that it shows something else."""

    identifier = apps.EXTENSION_ID

    def __init__(self, *kinds: str) -> None:
        self._kinds = kinds or (apps.MIME_TYPE,)

    def settings(self) -> dict[str, Any]:
        return {"mimeTypes": list(self._kinds)}


def listed(context: ServerContext, era: Era, *extensions: ClientExtension) -> dict[str, Any]:
    async def script(client: Client) -> Any:
        return await client.list_tools()

    return {tool.name: tool for tool in talk(context, era, script, extensions=list(extensions)).tools}


def fetched(context: ServerContext, era: Era, tool: str, args: dict[str, Any]) -> bytes:
    """The file as a page puts it together."""
    pieces, parts = list[bytes](), 1
    while len(pieces) < parts:
        answer = call(context, era, tool, {**args, "part": len(pieces)}, extensions=[ShowsApps()])
        assert not answer.is_error, answer.structured_content
        parts = answer.structured_content["result"]["parts"]
        pieces.append(base64.b64decode(answer.content[1].resource.blob))
    return b"".join(pieces)


def names(glb: bytes) -> set[str]:
    assert glb[:4] == GLB_MAGIC
    size = int.from_bytes(glb[12:16], "little")
    return {node["name"] for node in json.loads(glb[20 : 20 + size])["nodes"]}


def test_a_host_that_shows_apps_is_told_which_tools_have_a_page(context: ServerContext, era: Era) -> None:
    tools = listed(context, era, ShowsApps())
    pages = {name: tool.meta["ui"] for name, tool in tools.items() if tool.meta and "ui" in tool.meta}
    assert pages == {
        "scene_image": {"resourceUri": apps.URI},
        "plan_preview": {"resourceUri": apps.URI},
        "app_scene": {"resourceUri": apps.URI, "visibility": ["app"]},
        "app_preview": {"resourceUri": apps.URI, "visibility": ["app"]},
    }


def test_every_other_host_sees_nothing_of_it(context: ServerContext, era: Era) -> None:
    plain = listed(context, era)
    assert not any(tool.meta for tool in plain.values()) and "app_scene" not in plain
    assert listed(context, era, ShowsApps("text/other")).keys() == plain.keys()
    refused = call(context, era, "app_scene", {})
    assert refused.is_error and "no tool 'app_scene'" in refused.structured_content["message"]


def test_the_page_is_one_document_that_loads_nothing(context: ServerContext, era: Era) -> None:
    async def script(client: Client) -> Any:
        return await client.read_resource(apps.URI)

    (content,) = talk(context, era, script).contents
    assert content.mime_type == apps.MIME_TYPE and content.meta == {"ui": {"prefersBorder": True}}
    assert not re.search(
        r"""(src|href)\s*=\s*["'](?!data:)|url\(|https?://|^import |innerHTML|eval\(""", content.text, re.MULTILINE
    )
    assert "/* script */" not in content.text and "class SceneView" in content.text and "readGlb" in content.text


def test_the_scene_comes_in_parts_that_make_one_file(context: ServerContext, era: Era, monkeypatch: Any) -> None:
    name = f"Shown_{era}"
    assert not call(context, era, "plan_execute", {"plan": plan(f"show-{era}", cube("a", name))}).is_error
    monkeypatch.setattr(apps, "PART_BYTES", 700)
    glb = fetched(context, era, "app_scene", {})
    assert len(glb) > 1400 and name in names(glb)
    beyond = call(context, era, "app_scene", {"part": 40}, extensions=[ShowsApps()])
    assert beyond.is_error and beyond.structured_content["details"]["findings"][0]["pointer"] == "/part"


def test_a_preview_shows_what_would_be_and_changes_nothing(context: ServerContext, era: Era) -> None:
    name = f"Would_be_{era}"
    args = {"plan": plan(f"preview-{era}", cube("a", name))}
    assert name in names(fetched(context, era, "app_preview", args))
    found = call(context, era, "scene_find", {"name": name}).structured_content
    assert not found["result"].get("objects"), found
    broken = {"plan": plan(f"broken-{era}", {**cube("a", name), "args": {"kind": "cub", "name": name}})}
    assert call(context, era, "app_preview", broken, extensions=[ShowsApps()]).is_error


def test_what_a_model_reads_of_a_preview_is_what_it_was(context: ServerContext, era: Era) -> None:
    args = {"plan": plan("same", cube("a", "Same"))}
    with_apps = call(context, era, "plan_preview", args, extensions=[ShowsApps()])
    without = call(context, era, "plan_preview", args)
    assert [block.type for block in with_apps.content] == [block.type for block in without.content] == ["text"]
    assert abs(len(with_apps.content[0].text) - len(without.content[0].text)) < 100


def test_who_may_not_look_is_shown_nothing(tmp_path: Path, era: Era) -> None:
    workspace = tmp_path / "workspace"
    workspace.mkdir(mode=0o700)
    (workspace / "blendwright.toml").write_text('[policy.tools]\n"render.preview" = "deny"\n')
    with served(workspace) as closed:
        assert not call(closed, era, "plan_execute", {"plan": plan("hidden", cube("a", "Hidden"))}).is_error
        asked: tuple[tuple[str, dict[str, Any]], ...]
        asked = (("app_scene", {}), ("scene_image", {}), ("scene_image", {"compare": "1"}))
        answers = [call(closed, era, tool, args, extensions=[ShowsApps()]) for tool, args in asked]
    codes = [answer.structured_content["details"]["findings"][0]["code"] for answer in answers]
    assert codes == ["POLICY_BLOCKED"] * 3
