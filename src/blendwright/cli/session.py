"""How commands open a workspace, and ask about a scene."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

import blendwright
from blendwright.app.contract_files import read_contract
from blendwright.app.queries import call_reader
from blendwright.cli.approver import at_a_terminal
from blendwright.cli.output import Exit, fail, note_recovered
from blendwright.policy.approvals import Approver
from blendwright.policy.session_contract import HostProfile, Proposal


def command_line() -> Proposal:
    """The command line as a host: it asks for all that the policy grants."""
    host = HostProfile(
        name="blendwright",
        version=version("blendwright"),
        transport="command_line",
        cancellation=True,
        elicitation=at_a_terminal(),
    )
    return Proposal(host=host)


def open_session(
    workspace: str,
    *,
    scene: str | None = None,
    blender: str | None = None,
    contract: Path | None = None,
    approver: Approver,
) -> blendwright.OpenScene:
    """Open a workspace for this command, and say what had to be put in order for it."""
    opened = blendwright.open(
        workspace,
        scene=scene,
        blender=blender,
        spare=False,
        proposal=command_line(),
        contract=read_contract(contract),
        approver=approver,
    )
    note_recovered(opened.recovered)
    return opened


def ask_tool(
    tool: str, args: Mapping[str, Any], workspace: str, scene: str | None, blender: str | None
) -> dict[str, Any]:
    """What a read-only tool answers about the scene of a workspace, or of a file. Ends the program when it fails."""
    outcome = call_reader(tool, args, workspace, scene=scene, blender=blender)
    if not outcome.ok or outcome.result is None:
        cure = outcome.findings[0].cure if outcome.findings else None
        fail("failed", outcome.message, cure, Exit.of_call(outcome))
    return dict(outcome.result)
