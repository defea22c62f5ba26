"""The commands for a whole workspace: `blendwright new`, `recover`, `externals`, `metrics` and `contract`."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, cast

import typer

from blendwright.cli.options import AsJson, Blender, Scene, Workspace
from blendwright.cli.output import Cell, Exit, SafeConsole, note_external_files, present
from blendwright.cli.progress import waiting
from blendwright.cli.proposal import command_line
from blendwright.policy.session_contract import SessionContract
from blendwright.views.queries import external_files, journal_metrics
from blendwright.workspace.contracts import negotiated, read_proposal
from blendwright.workspace.opening import DEFAULT_WORKSPACE, EXAMPLE, create_workspace
from blendwright.workspace.policy_files import DEFAULT, LoadedPolicy, load_policy, settings_of
from blendwright.workspace.policy_files import FILE as POLICY
from blendwright.workspace.recovery import RepairReport, repair_workspace

# Descriptions of the files that `new` writes, by name.
PURPOSES = {POLICY: "what calls may do here; everything is at its default", EXAMPLE: "a plan to try"}


def new(
    workspace: Workspace = DEFAULT_WORKSPACE, scene: Scene = None, blender: Blender = None, json: AsJson = False
) -> int:
    """Start a workspace with an empty scene or a copy of a .blend file, a policy to edit and a plan to try."""
    created = create_workspace(workspace, scene=scene, blender=blender)
    following = _next_commands(workspace)
    document = {
        "ok": True, "workspace": str(created.directory), "scene": scene, "scene_hash": created.scene_hash,
        "written": [str(file) for file in created.written], "next": following,
        "externals": [external.to_json() for external in created.externals],
    }  # fmt: skip

    def show(out: SafeConsole) -> None:
        if scene is None:
            origin = "an empty scene"
        else:
            origin = f"the scene of {scene}"
        out.labelled("new workspace", f"{workspace}: {origin}", "bold green")
        if created.written:
            rows = [(str(Path(workspace, file.name)), (PURPOSES[file.name], "dim")) for file in created.written]
            out.columns(rows, indent=2)
        note_external_files(created.findings)
        out.show("next")
        for command in following:
            out.show(f"  {command}")

    return present(json, lambda: document, show)


def _next_commands(workspace: str) -> list[str]:
    """Return the next two commands for a new workspace, quoted for the shell."""
    plan = shlex.quote(str(Path(workspace, EXAMPLE)))
    if workspace == DEFAULT_WORKSPACE:
        option = ""
    else:
        option = f" --workspace {shlex.quote(workspace)}"
    return [f"blendwright preview {plan}{option}", f"blendwright run {plan}{option} --image scene.png"]


def recover(
    to: Annotated[
        str | None, typer.Option("--to", metavar="N", help="Go on from this commit, once its scene has been proved.")
    ] = None,
    adopt: Annotated[
        bool,
        typer.Option("--adopt", help="Go on with the newest scene as Blender finds it today, as a commit of its own."),
    ] = False,
    resolve: Annotated[
        int | None, typer.Option("--resolve", metavar="ID", help="Settle an intent of which nobody knew the outcome.")
    ] = None,
    note: Annotated[
        str | None, typer.Option("--note", metavar="TEXT", help="What was found out about it, for --resolve.")
    ] = None,
    accept_restored: Annotated[
        bool,
        typer.Option(
            "--accept-restored", help="Go on with a journal that is older than its noted head, as after a restore."
        ),
    ] = False,
    workspace: Workspace = ".blendwright",
    blender: Blender = None,
    json: AsJson = False,
) -> int:
    """Show what is wrong with a workspace and how to get out of it; with an option, do so."""
    with waiting("looking at the journal and its scenes", show=not json):
        report = repair_workspace(
            workspace,
            to=to,
            adopt=adopt,
            resolve=resolve,
            note=note,
            accept_restored=accept_restored,
            blender=blender,
        )
    return present(json, report.to_json, lambda out: _show_repair(out, report))


def _show_repair(out: SafeConsole, report: RepairReport) -> None:
    diagnosis = report.diagnosis
    for sentence in report.done:
        out.labelled("done:", sentence, "bold green")
    if (quarantine := diagnosis.quarantine) is not None:
        out.labelled("quarantined", f"since {quarantine.timestamp}: {quarantine.reason}", "bold red")
        out.show(f"  the journal says  {quarantine.expected}")
        out.show(f"  found             {quarantine.found}")
    if diagnosis.lost is not None:
        out.labelled("lost", diagnosis.lost, "bold red")
    for contradiction in diagnosis.contradictions:
        out.labelled("older journal", contradiction, "bold red")
    for intent in diagnosis.indeterminate:
        line = f"intent {intent.id} of operation '{intent.operation_id}': nobody knows whether {intent.effect}"
        out.labelled("indeterminate", line, "bold yellow")
    if diagnosis.boundary is not None:
        out.labelled("unfinished", f"plan '{diagnosis.boundary.request_id}' was interrupted", "bold yellow")
    ways_out = list(diagnosis.ways_out())
    for way_out in ways_out:
        out.show(f"  {way_out}")
    if diagnosis.fit and not ways_out:
        out.show("nothing is in the way")


def externals(workspace: Workspace = ".blendwright", json: AsJson = False) -> int:
    """List the external files of the scene, as they are now: images, fonts, sounds, caches, linked files."""
    files, findings = external_files(workspace)

    def show(out: SafeConsole) -> None:
        rows: list[Sequence[Cell]] = []
        for file in files:
            if file.state == "present":
                style = "green"
            else:
                style = "red"
            rows.append(((file.state, style), file.path, (", ".join(file.used_by), "dim")))
        out.listing(rows, none="the scene refers to no other files")
        note_external_files(findings)

    document = {
        "ok": not findings,
        "externals": [file.to_json() for file in files],
        "findings": [finding.to_json() for finding in findings],
    }
    exit_code = Exit.DONE
    if findings:
        exit_code = Exit.FAILED
    return present(json, lambda: document, show, exit_code)


def metrics(
    workspace: Workspace = ".blendwright",
    openmetrics: Annotated[
        bool, typer.Option("--openmetrics", help="The OpenMetrics format, with the ids of the latest calls.")
    ] = False,
    json: AsJson = False,
) -> int:
    """Print operations, failures, durations, commits and checkpoints of a workspace as Prometheus text, without a lock."""
    numbers = journal_metrics(workspace)

    def show(_: SafeConsole) -> None:
        # Write to standard output directly, without wrapping: programs read the format of Prometheus.
        if openmetrics:
            sys.stdout.write(numbers.openmetrics())
        else:
            sys.stdout.write(numbers.text())

    return present(json, lambda: {"ok": True, "metrics": numbers.to_json()}, show)


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
    if host is None:
        proposal = command_line()
    else:
        proposal = read_proposal(host)
    session_contract = negotiated(workspace, proposal=proposal, blender=blender)
    return present(
        json,
        lambda: {
            "fingerprint": session_contract.fingerprint,
            "contract": session_contract.to_json(),
            "origins": dict(loaded.origins),
        },
        lambda out: _show_contract(out, session_contract, loaded),
    )


def _show_contract(out: SafeConsole, session_contract: SessionContract, loaded: LoadedPolicy) -> None:
    out.labelled("contract", f"{session_contract.contract_version}  {session_contract.fingerprint}", "bold")
    features = [name for name in ("streaming", "cancellation", "elicitation") if getattr(session_contract.host, name)]
    if session_contract.blender.background:
        ui = "without a user interface"
    else:
        ui = "with a user interface"
    rows = [
        ("host", f"{session_contract.host.name} {session_contract.host.version}, {session_contract.host.transport}"),
        ("", ", ".join(features) or "no streaming, cancellation or elicitation"),
        ("blender", f"{session_contract.blender.version_string}, {ui}, {session_contract.blender.platform}"),
        ("tools", f"{len(session_contract.tool_registry.entries)}  {session_contract.tool_registry.fingerprint[:12]}"),
        (
            "macros",
            f"{len(session_contract.macro_registry.entries)}  {session_contract.macro_registry.fingerprint[:12]}",
        ),
        ("ui_optional", str(session_contract.ui_optional).lower()),
    ]
    out.columns(rows, indent=2)
    out.show("  capabilities  " + " ".join(session_contract.capabilities))
    out.show("")
    # The rows above show the Blender, which is not a part of the negotiation.
    policy = dict(settings_of(loaded.policy.model_dump(mode="json", exclude={"blender"})))
    agreed = dict(settings_of(_as_policy(session_contract)))
    width = max(len(name) for name in policy)
    for name, value in policy.items():
        # The contract has no settings for journal and assets, so the values of the policy apply.
        origin = loaded.origins[name]
        setting = agreed.get(name, value)
        if setting == value:
            limited = ""
        else:
            limited = f"  (the policy allows {_word(value)})"
        line = f"{_word(setting):12}  {origin}{limited}"
        if origin == DEFAULT and not limited:
            style = "dim"
        else:
            style = "cyan"
        out.labelled(f"  {name:{width}} ", line, "", text_style=style)


def _as_policy(session_contract: SessionContract) -> dict[str, Any]:
    """Return the settings of a contract that a policy also has, under the names of the policy."""
    constraints = session_contract.constraints.model_dump(mode="json")
    rules = constraints.pop("rules")
    return {
        "policy": rules,
        "constraints": constraints,
        "limits": session_contract.limits.model_dump(mode="json"),
        "audit": session_contract.audit.model_dump(mode="json"),
    }


def _word(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(str(item) for item in cast("list[Any]", value))
    if value is None:
        return "none"
    if isinstance(value, float):
        return f"{value:g}"
    return str(value)
