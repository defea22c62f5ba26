"""A served workspace is held to its own blendwright.toml, whatever the model asks for."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters
from mcp.shared.exceptions import MCPError
from mcp_types import ElicitResult

from support.hosts.mcp import cube, operation, plan, served, talk

ROOTS = '[policy.roots]\n"." = "ask"\n"./originals" = "deny"\n"./free" = "allow"\n'


def policy(place: Path, text: str) -> Path:
    """A workspace with this policy."""
    (place / "workspace").mkdir()
    (place / "workspace" / "blendwright.toml").write_text(text)
    return place / "workspace"


def test_a_server_holds_to_the_roots_of_the_policy(tmp_path: Path) -> None:
    policy(tmp_path, ROOTS)

    async def main() -> list[str]:
        command = ["-m", "blendwright", "serve", "--workspace", "workspace"]
        server = StdioServerParameters(command=sys.executable, args=command, cwd=tmp_path, env=dict(os.environ))
        said: list[str] = []
        with anyio.fail_after(90):
            async with Client(server, mode="legacy") as client:
                for path in ("originals/box.glb", "box.glb", "free/box.glb"):
                    write = operation("b", "file.export", {"path": path}, "a")
                    document = plan(f"write {path}", cube("a", path.replace("/", " ")), write)
                    answer = (await client.call_tool("plan_execute", {"plan": document})).structured_content
                    assert answer is not None
                    said.append(answer.get("message", "done"))
        return said

    denied, asked, done = anyio.run(main)
    assert done == "done"
    assert "originals, which the policy denies" in denied
    assert "(policy.roots." in asked
    assert sorted(path.name for path in tmp_path.rglob("*.glb")) == ["box.glb"]
    assert (tmp_path / "free" / "box.glb").is_file()


@pytest.mark.parametrize(
    ("rule", "place"),
    [
        ('[policy.levels]\nsafe_write = "deny"\n', "policy.levels.safe_write"),
        ('[policy.tools]\n"history.*" = "deny"\n', "policy.tools.'history.*'"),
    ],
    ids=["level", "name"],
)
def test_a_model_cannot_go_to_another_commit_where_the_policy_denies_it(tmp_path: Path, rule: str, place: str) -> None:
    async def script(client: Client) -> Any:
        return (await client.call_tool("history_checkout", {"commit": "1"})).structured_content

    with served(policy(tmp_path, rule), warm=False) as context:
        answer = talk(context, "legacy", script)
    assert answer["error_code"] == "policy_refused"
    assert "history.checkout" in answer["message"]
    assert place in answer["details"]["findings"][0]["cure"]


def test_a_preview_is_no_way_round_what_the_user_is_asked_about(tmp_path: Path) -> None:
    heard: list[str] = []
    document = plan("shown", operation("a", "python.run", {"code": "print('secret')"}))

    async def script(client: Client) -> Any:
        return (await client.call_tool("plan_preview", {"plan": document})).structured_content

    async def user(context: Any, params: Any) -> ElicitResult:
        heard.append(params.message)
        return ElicitResult(action="accept", content={"allow": True})

    with served(policy(tmp_path, '[policy.tools]\n"python.run" = "ask"\n')) as context:
        refused = talk(context, "legacy", script)
        assert refused["error_code"] == "policy_refused" and "even in a preview" in refused["message"]
        assert talk(context, "legacy", script, elicitation_callback=user)["ok"] is True
    assert len(heard) == 1 and "print('secret')" in heard[0]


def test_the_user_of_the_host_is_asked_about_looking_and_going_back(tmp_path: Path) -> None:
    heard: list[str] = []
    asked = ("render.*", "scene.find", "scene.snapshot", "history.checkout")
    rules = "\n".join(["[policy.tools]", *(f'"{name}" = "ask"' for name in asked)])

    async def user(context: Any, params: Any) -> ElicitResult:
        heard.append(params.message.splitlines()[0])
        return ElicitResult(action="accept", content={"allow": "checkout" not in params.message or len(heard) > 3})

    async def script(client: Client) -> Any:
        made = await client.call_tool("plan_execute", {"plan": plan("r", cube("a", "Box"))})
        calls: list[tuple[str, dict[str, Any]]] = [
            ("scene_image", {"views": ["FRONT"], "width": 64, "height": 64}),
            ("scene_find", {}),
            ("history_checkout", {"commit": "1"}),
            ("history_checkout", {"commit": "1"}),
        ]
        answers = [await client.call_tool(name, args) for name, args in calls]
        assert (await client.read_resource("blendwright://scene")).contents
        return [made, *answers]

    async def newer(client: Client) -> Any:
        with pytest.raises(MCPError, match="blendwright approve"):
            await client.read_resource("blendwright://scene")
        return await client.call_tool("scene_find", {})

    with served(policy(tmp_path, rules)) as context:
        made, image, found, declined, moved = talk(context, "legacy", script, elicitation_callback=user)
        modern = talk(context, "2026-07-28", newer, elicitation_callback=user)
        alone = talk(context, "legacy", lambda client: client.call_tool("history_checkout", {"commit": "2"}))
    assert made.structured_content["ok"]
    assert [content.type for content in image.content] == ["text", "image"], image.structured_content
    assert found.structured_content["ok"] and modern.structured_content["ok"]
    assert declined.is_error and "declined" in declined.structured_content["message"]
    assert moved.structured_content["result"]["head"] == 1
    assert [line.split()[2] for line in heard] == [
        "render.preview", "scene.find", "history.checkout", "history.checkout", "scene.snapshot", "scene.find"
    ]  # fmt: skip
    assert "blendwright approve" in alone.structured_content["details"]["findings"][0]["cure"]
