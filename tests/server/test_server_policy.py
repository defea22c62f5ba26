"""A served workspace is held to its own blendwright.toml, whatever the model asks for."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import anyio
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters

from hosts import cube, operation, plan

ROOTS = '[policy.roots]\n"." = "ask"\n"./originals" = "deny"\n"./free" = "allow"\n'


def test_a_server_holds_to_the_roots_of_the_policy(tmp_path: Path) -> None:
    (tmp_path / "workspace").mkdir()
    (tmp_path / "workspace" / "blendwright.toml").write_text(ROOTS)

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
                    said.append(answer["message"])
        return said

    denied, asked, _ = anyio.run(main)
    assert "originals, which the policy denies" in denied
    assert "must be allowed by a person (policy.roots." in asked
    assert sorted(path.name for path in tmp_path.rglob("*.glb")) == ["box.glb"]
    assert (tmp_path / "free" / "box.glb").is_file()
