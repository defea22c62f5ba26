"""A host that counts: what a model sends and what it is given to read, call by call, over stdio with the SDK's own client.

Sent are the name and the arguments of `tools/call` as JSON, received are the texts of the answer. The server repeats the
text as structured content, which hosts show or leave out; `wire` has both. Pictures are counted apart.
"""

from __future__ import annotations

import base64
import contextlib
import json
import os
import subprocess
import sys
from collections.abc import AsyncGenerator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters
from mcp_types import CallToolResult, ElicitResult, ImageContent, TextContent

BRIEF = 400
PROGRAM = [sys.executable, "-P", "-m", "blendwright"]
ROOT = Path(__file__).parents[2]
# The program of this checkout, wherever another one is installed.
ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)])}


@dataclass(frozen=True)
class Call:
    """One call of a tool and how it was answered; a line of a transcript."""

    tool: str
    arguments: dict[str, Any]
    failed: bool
    sent: int
    received: int
    wire: int
    picture_bytes: int
    answer: str

    def line(self) -> str:
        return json.dumps(asdict(self) | {"answer": self.answer[:BRIEF]}, ensure_ascii=False)


@dataclass
class Host:
    """A connection to a server, with all calls that went over it."""

    client: Client
    calls: list[Call] = field(default_factory=list[Call])
    pictures: list[bytes] = field(default_factory=list[bytes])

    async def call(self, tool: str, arguments: dict[str, Any]) -> Call:
        result = await self.client.call_tool(tool, arguments)
        assert isinstance(result, CallToolResult)
        texts = [block.text for block in result.content if isinstance(block, TextContent)]
        pictures = [block.data for block in result.content if isinstance(block, ImageContent)]
        answer = "\n".join(texts)
        picture_text = sum(map(len, pictures))
        call = Call(
            tool=tool,
            arguments=arguments,
            failed=bool(result.is_error),
            sent=json_bytes({"name": tool, "arguments": arguments}),
            received=len(answer.encode()),
            wire=len(result.model_dump_json(by_alias=True, exclude_none=True).encode()) - picture_text,
            picture_bytes=picture_text * 3 // 4,
            answer=answer,
        )
        self.calls.append(call)
        self.pictures.extend(map(base64.b64decode, pictures))
        return call

    async def first_text(self) -> str:
        """What a host shows its model before the first call: the instructions, and a line of JSON per tool."""
        tools = (await self.client.list_tools()).tools
        shown = [{"name": one.name, "description": one.description, "input": one.input_schema} for one in tools]
        return "\n".join([self.client.instructions or "", *(json.dumps(one, ensure_ascii=False) for one in shown)])


def json_bytes(value: Any) -> int:
    return len(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode())


@contextlib.asynccontextmanager
async def host(directory: Path) -> AsyncGenerator[Host]:
    """A host on the workspace `scene` of a directory, which the server makes where it is missing."""
    command, *arguments = [*PROGRAM, "serve", "--workspace", "scene", "--directory", "."]
    server = StdioServerParameters(command=command, args=arguments, cwd=directory, env=ENVIRONMENT)
    async with Client(server, elicitation_callback=_allow) as client:
        yield Host(client)


async def _allow(context: Any, params: Any) -> ElicitResult:
    """Whoever gave the task says yes to what it needs; a bare Blender asks nobody."""
    return ElicitResult(action="accept", content={"allow": True})


def export(directory: Path, file: Path) -> None:
    """Write the scene of the workspace to a .blend file, past the host: looking at the result is not part of a trial."""
    command = [*PROGRAM, "export", str(file), "--overwrite", "--workspace", "scene"]
    subprocess.run(command, cwd=directory, env=ENVIRONMENT, check=True, capture_output=True)


def new_workspace(directory: Path, scene: Path) -> None:
    """Make the workspace `scene` of a directory from a .blend file."""
    command = [*PROGRAM, "new", "--workspace", "scene", "--scene", str(scene)]
    subprocess.run(command, cwd=directory, env=ENVIRONMENT, check=True, capture_output=True)


def read_transcript(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text().splitlines()]


def totals(calls: list[dict[str, Any]]) -> dict[str, int]:
    """What the calls of a transcript cost."""
    return {"calls": len(calls)} | {
        key: sum(call[key] for call in calls) for key in ("failed", "sent", "received", "wire")
    }
