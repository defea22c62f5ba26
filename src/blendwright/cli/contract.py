"""blendwright contract: what a session would be held to, and where each value of the policy comes from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, cast

import typer
from rich.text import Text

from blendwright.app.contracting import negotiated
from blendwright.app.policy_files import DEFAULT, LoadedPolicy, load_policy
from blendwright.cli.consent import command_line, read_proposal
from blendwright.cli.output import AsJson, Blender, Columns, Exit, Workspace, console, print_json
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
    if json:
        print_json({"fingerprint": made.fingerprint, "contract": made.to_json(), "origins": dict(loaded.origins)})
    else:
        _show(made, loaded)
    return Exit.DONE


def _show(made: SessionContract, loaded: LoadedPolicy) -> None:
    out = console()
    out.print(Text("contract ", style="bold").append(f"{made.contract_version}  {made.fingerprint}", style="default"))
    grid = Columns(indent=2)
    grid.row("host", f"{made.host.name} {made.host.version}, {made.host.transport}")
    features = [name for name in ("streaming", "cancellation", "elicitation") if getattr(made.host, name)]
    grid.row("", ", ".join(features) or "no streaming, cancellation or elicitation")
    ui = "without a user interface" if made.blender.background else "with a user interface"
    grid.row("blender", f"{made.blender.version_string}, {ui}, {made.blender.platform}")
    grid.row("tools", f"{len(made.tool_registry.entries)}  {made.tool_registry.fingerprint[:12]}")
    grid.row("macros", f"{len(made.macro_registry.entries)}  {made.macro_registry.fingerprint[:12]}")
    grid.row("ui_optional", str(made.ui_optional).lower())
    out.print(grid)
    out.print(Text("  capabilities  " + " ".join(made.capabilities)))
    out.print()
    policy = dict(_values(loaded.policy.model_dump(mode="json")))
    agreed = dict(_values(_as_policy(made)))
    wide = max(len(name) for name in policy)
    for name, value in policy.items():
        origin, held = loaded.origins[name], agreed[name]
        line = Text(f"  {name:{wide}}  ").append(f"{_word(held):12}", style="bold")
        line.append(f"  {origin}", style="dim" if origin == DEFAULT else "cyan")
        if held != value:
            line.append(f"  (the policy allows {_word(value)})", style="yellow")
        out.print(line)


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


def _values(table: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in table.items():
        if isinstance(value, dict):
            yield from _values(cast("dict[str, Any]", value), f"{prefix}{name}.")
        else:
            yield prefix + name, value


def _word(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(str(item) for item in cast("list[Any]", value))
    return "none" if value is None else f"{value:g}" if isinstance(value, float) else str(value)
