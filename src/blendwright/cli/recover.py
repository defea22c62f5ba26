"""blendwright recover: what keeps a workspace from being used, and the named ways out."""

from __future__ import annotations

from typing import Annotated

import typer

from blendwright.app.workspace_repair import RepairReport, repair_workspace
from blendwright.cli.options import AsJson, Blender, Workspace
from blendwright.cli.output import present
from blendwright.cli.safe_console import SafeConsole


def recover(
    to: Annotated[
        str | None, typer.Option("--to", metavar="N", help="Go on from this commit, once its scene has been proved.")
    ] = None,
    resolve: Annotated[
        int | None, typer.Option("--resolve", metavar="ID", help="Settle an intent of which nobody knew the outcome.")
    ] = None,
    note: Annotated[
        str | None, typer.Option("--note", metavar="TEXT", help="What was found out about it, for --resolve.")
    ] = None,
    workspace: Workspace = ".blendwright",
    blender: Blender = None,
    json: AsJson = False,
) -> int:
    """Show what is wrong with a workspace and how to get out of it; with an option, do so."""
    report = repair_workspace(workspace, to=to, resolve=resolve, note=note, blender=blender)
    return present(json, report.to_json, lambda out: _show(out, report))


def _show(out: SafeConsole, report: RepairReport) -> None:
    diagnosis = report.diagnosis
    for sentence in report.done:
        out.labelled("done:", sentence, "bold green")
    if (quarantine := diagnosis.quarantine) is not None:
        out.labelled("quarantined", f"since {quarantine.timestamp}: {quarantine.reason}", "bold red")
        out.show(f"  the journal says  {quarantine.expected}")
        out.show(f"  found             {quarantine.found}")
    if diagnosis.lost is not None:
        out.labelled("lost", diagnosis.lost, "bold red")
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
