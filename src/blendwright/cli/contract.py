"""blendwright contract: what a session would be held to, and where each value of the policy comes from."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, cast

import typer

from blendwright.app.contract_files import read_proposal
from blendwright.app.contract_preview import negotiated
from blendwright.app.policy_files import DEFAULT, LoadedPolicy, load_policy, settings_of
from blendwright.cli.options import AsJson, Blender, Workspace
from blendwright.cli.output import present
from blendwright.cli.safe_console import SafeConsole
from blendwright.cli.session import command_line
from blendwright.policy.session_contract import SessionContract


def contract(
    workspace: Workspace = ".blendwright",
    blender: Blender = None,
    host: Annotated[
        Path | None, typer.Option("--host", metavar="FILE", help="Negotiate for this host: its proposal as JSON.")
    ] = None,
    json: AsJson = False,
) -> int:
    """Negotiate the contract of a session and show it. Nothing is changed, and the workspace need not exist."""
    loaded = load_policy(Path(workspace).resolve())
    proposal = command_line() if host is None else read_proposal(host)
    made = negotiated(workspace, proposal=proposal, blender=blender)
    return present(
        json,
        lambda: {"fingerprint": made.fingerprint, "contract": made.to_json(), "origins": dict(loaded.origins)},
        lambda out: _show(out, made, loaded),
    )


def _show(out: SafeConsole, made: SessionContract, loaded: LoadedPolicy) -> None:
    out.labelled("contract", f"{made.contract_version}  {made.fingerprint}", "bold")
    features = [name for name in ("streaming", "cancellation", "elicitation") if getattr(made.host, name)]
    ui = "without a user interface" if made.blender.background else "with a user interface"
    rows = [
        ("host", f"{made.host.name} {made.host.version}, {made.host.transport}"),
        ("", ", ".join(features) or "no streaming, cancellation or elicitation"),
        ("blender", f"{made.blender.version_string}, {ui}, {made.blender.platform}"),
        ("tools", f"{len(made.tool_registry.entries)}  {made.tool_registry.fingerprint[:12]}"),
        ("macros", f"{len(made.macro_registry.entries)}  {made.macro_registry.fingerprint[:12]}"),
        ("ui_optional", str(made.ui_optional).lower()),
    ]
    out.columns(rows, indent=2)
    out.show("  capabilities  " + " ".join(made.capabilities))
    out.print()
    policy = dict(settings_of(loaded.policy.model_dump(mode="json")))
    agreed = dict(settings_of(_as_policy(made)))
    width = max(len(name) for name in policy)
    for name, value in policy.items():
        origin, setting = loaded.origins[name], agreed[name]
        limited = "" if setting == value else f"  (the policy allows {_word(value)})"
        line = f"{_word(setting):12}  {origin}{limited}"
        out.labelled(f"  {name:{width}} ", line, "", text_style="dim" if origin == DEFAULT and not limited else "cyan")


def _as_policy(made: SessionContract) -> dict[str, Any]:
    """The parts of the contract that the policy has, under its names."""
    constraints = made.constraints.model_dump(mode="json")
    rules = constraints.pop("rules")
    return {
        "policy": rules,
        "constraints": constraints,
        "limits": made.limits.model_dump(mode="json"),
        "audit": made.audit.model_dump(mode="json"),
    }


def _word(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(str(item) for item in cast("list[Any]", value))
    return "none" if value is None else f"{value:g}" if isinstance(value, float) else str(value)
