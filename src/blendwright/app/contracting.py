"""The contract that a session on a workspace would have, found out without opening it: Blender is started and asked what it is."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path

from blendwright.app.workspace_settings import load_settings
from blendwright.bridge.pool import Pool
from blendwright.bridge.spawn import SpawnOptions
from blendwright.policy.policy import Policy
from blendwright.policy.session_contract import Proposal, SessionContract
from blendwright.tool_api.tool import AnyTool


def negotiated(
    workspace: str | Path = ".blendwright",
    *,
    proposal: Proposal | None = None,
    policy: Policy | None = None,
    blender: str | Path | None = None,
    tools: Mapping[str, AnyTool] | None = None,
) -> SessionContract:
    """Raises Refusal when there can be none, before Blender is started where that can be known."""
    draft = load_settings(Path(workspace).resolve(), tools=tools, policy=policy, proposal=proposal).draft
    with tempfile.TemporaryDirectory(prefix="blendwright-contract-") as place:
        options = SpawnOptions(Path(place).resolve(), blender=None if blender is None else Path(blender))
        with Pool(options) as pool:
            return draft.contract(pool.take().profile)
