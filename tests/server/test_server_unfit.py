"""What cannot be read now is told with its reason and what to do, never as something that is not there. None of this needs Blender."""

from __future__ import annotations

from pathlib import Path

import pytest
from mcp.client.client import Client
from mcp.shared.exceptions import MCPError
from mcp_types import ResourceTemplateReference

import blendwright
from blendwright.server.context import ServerContext
from support.hosts.mcp import Era, served, talk


def refused(context: ServerContext, era: Era, uri: str) -> MCPError:
    async def read(client: Client) -> MCPError:
        with pytest.raises(MCPError) as caught:
            await client.read_resource(uri)
        return caught.value

    found: MCPError = talk(context, era, read)
    return found


def test_a_scene_that_another_process_holds_is_told_with_a_cure(tmp_path: Path, era: Era) -> None:
    workspace = tmp_path / "workspace"
    with blendwright.open(workspace, spare=False), served(workspace, warm=False) as context:
        error = refused(context, era, "blendwright://scene")
    assert str(workspace) in error.message
    assert error.data["cure"] and error.data["cure"] in error.message


def test_before_there_is_a_journal_nothing_is_completed_and_reading_says_why(tmp_path: Path, era: Era) -> None:
    async def complete(client: Client) -> list[str]:
        ref = ResourceTemplateReference(type="ref/resource", uri="blendwright://commits/{number}")
        return (await client.complete(ref, {"name": "number", "value": ""})).completion.values

    with served(tmp_path / "workspace", warm=False) as context:
        assert talk(context, era, complete) == []
        error = refused(context, era, "blendwright://commits/1")
    assert "there is no resource" not in error.message
    assert error.data["cure"] in error.message


def test_a_damaged_journal_is_not_taken_for_a_missing_commit(tmp_path: Path, era: Era) -> None:
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    (workspace / "journal.db").write_bytes(b"no database at all " * 1000)
    with served(workspace, warm=False) as context:
        error = refused(context, era, "blendwright://commits/1")
    assert "damaged" in error.message and error.data["cure"] in error.message
