"""The contract that a session on a workspace would have, found out without opening it: Blender is started and asked what it is."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path

from blendwright.app.workspace_settings import load_settings
from blendwright.bridge.sources import worker_source
from blendwright.bridge.spawn import WorkerSettings
from blendwright.bridge.worker_source import WorkerSource
from blendwright.policy.policy import Policy
from blendwright.policy.session_contract import Proposal, SessionContract
from blendwright.tool_api.tool import AnyTool


def negotiated(
    workspace: str | Path = ".blendwright",
    *,
    proposal: Proposal | None = None,
    policy: Policy | None = None,
    blender: str | Path | WorkerSource | None = None,
    tools: Mapping[str, AnyTool] | None = None,
) -> SessionContract:
    """Raises Refusal when there can be none, before Blender is started where that can be known."""
    draft = load_settings(Path(workspace).resolve(), tools=tools, policy=policy, proposal=proposal).draft
    with (
        tempfile.TemporaryDirectory(prefix="blendwright-contract-") as scratch,
        worker_source(blender).open_pool(WorkerSettings(Path(scratch).resolve())) as pool,
    ):
        return draft.contract(pool.take().profile)
