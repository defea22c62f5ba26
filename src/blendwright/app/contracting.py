"""The contract that a session on a workspace would have, found out without opening it: Blender is started and asked what it is."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path

from blendwright.app.policy_files import load_policy
from blendwright.bridge.sources import worker_source
from blendwright.bridge.spawn import WorkerSettings
from blendwright.bridge.worker_source import WorkerSource
from blendwright.macros import load_macros, macro_registry
from blendwright.policy.policy import Policy
from blendwright.policy.session_contract import Proposal, SessionContract
from blendwright.run.active_contract import ContractDraft
from blendwright.tool_api.tool import AnyTool
from blendwright.tools import catalog


def negotiated(
    workspace: str | Path = ".blendwright",
    *,
    proposal: Proposal | None = None,
    policy: Policy | None = None,
    blender: str | Path | WorkerSource | None = None,
    tools: Mapping[str, AnyTool] | None = None,
) -> SessionContract:
    """Raises Refusal when there can be none, before Blender is started where that can be known."""
    known = catalog.tools() if tools is None else tools
    rules = policy or load_policy(Path(workspace).resolve()).policy
    macros = load_macros(Path(workspace).resolve(), known)
    offer = ContractDraft(known.values(), proposal=proposal, policy=rules, macros=macro_registry(macros.values()))
    with (
        tempfile.TemporaryDirectory(prefix="blendwright-contract-") as scratch,
        worker_source(blender).open_pool(WorkerSettings(Path(scratch).resolve())) as pool,
    ):
        return offer.contract(pool.take().profile)
