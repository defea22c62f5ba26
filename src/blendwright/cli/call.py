"""blendwright call: one tool through its whole lifecycle."""

from __future__ import annotations

import sys
from pathlib import Path
from time import perf_counter
from typing import Annotated, Literal

import orjson
import typer
from rich.table import Table
from rich.text import Text

import blendwright
from blendwright.cli.consent import Approve, ContractFile, Demand, approver, command_line, read_contract
from blendwright.cli.exporting import write_scene
from blendwright.cli.output import AsJson, Blender, Exit, Scene, Workspace, console, print_json, say_recovered
from blendwright.dialects.envelopes import core_envelope, tool_result
from blendwright.run.options import RunOptions
from blendwright.values.errors import Refusal
from blendwright.values.faults import REFUSALS
from blendwright.values.json_reader import LARGEST, read_json
from blendwright.values.outcome import Outcome

Envelope = Literal["tool_result", "core"]

QUOTED = """Give one JSON object, quoted for the shell: --args '{"name": "Box"}'"""


def call(
    tool: Annotated[
        str,
        typer.Argument(metavar="TOOL", help="Name of a tool or macro, as `blendwright tools` and `macros` list them."),
    ],
    args: Annotated[
        str, typer.Option("--args", metavar="JSON", help="Its arguments; - reads them from standard input.")
    ] = "{}",
    workspace: Workspace = ".blendwright",
    scene: Scene = None,
    blender: Blender = None,
    timeout: Annotated[
        float | None, typer.Option("--timeout", metavar="SECONDS", min=0.001, help="Deadline of the call.")
    ] = None,
    verify: Annotated[
        bool, typer.Option("--verify", help="Read the result back, also after a read-only tool.")
    ] = False,
    snapshot: Annotated[bool, typer.Option("--snapshot", help="Add the scene as it is afterwards.")] = False,
    rehearse: Annotated[
        bool, typer.Option("--rehearse", help="Take the call back and prove that the scene is as before.")
    ] = False,
    export: Annotated[
        Path | None,
        typer.Option(
            "--export", metavar="FILE.blend", help="Write the scene there afterwards, replacing what is there."
        ),
    ] = None,
    envelope: Annotated[
        Envelope, typer.Option("--envelope", help="Which contract's shape --json prints.")
    ] = "tool_result",
    approve: Approve = None,
    determinism: Demand = None,
    contract: ContractFile = None,
    json: AsJson = False,
) -> int:
    """Call one tool or macro on the scene of the workspace; a new one starts empty, or from a copy of a .blend file."""
    started = perf_counter()
    document, findings = read_json(sys.stdin.buffer.read(LARGEST + 1) if args == "-" else args)
    if findings:
        raise Refusal(findings, cure=None if args == "-" or findings[0].pointer else QUOTED)
    parse_ms = (perf_counter() - started) * 1000
    allowed = approver(approve)
    with blendwright.open(
        workspace,
        scene=scene,
        blender=blender,
        spare=False,
        proposal=command_line(),
        contract=read_contract(contract),
        approver=allowed,
    ) as opened:
        say_recovered(opened.recovered)
        outcome = opened.outcome(
            tool,
            document,
            RunOptions(
                timeout=timeout,
                determinism=determinism,
                verify=verify,
                rehearse="inverse" if rehearse else None,
                snapshot=snapshot,
                parse_ms=parse_ms,
            ),
        )
        if export is not None and outcome.ok:
            written = write_scene(opened, export, allowed)
            outcome = outcome.with_(artifacts=(*outcome.artifacts, *written.artifacts)) if written.ok else written
    if json:
        render = tool_result if envelope == "tool_result" else core_envelope
        print_json(render(outcome).model_dump(mode="json"))
    else:
        _show(outcome)
    return exit_code(outcome)


def exit_code(outcome: Outcome) -> Exit:
    """2 when nothing ran, 1 when it ran and failed."""
    if outcome.ok:
        return Exit.DONE
    ran = any(phase.name == "execute" and phase.ms is not None for phase in outcome.trace)
    return Exit.REFUSED if outcome.fault in REFUSALS and not ran else Exit.FAILED


def _show(outcome: Outcome) -> None:
    out = console()
    if outcome.ok:
        out.print(Text("ok ", style="bold green").append(outcome.tool, style="default"))
        if outcome.result and "macro" in outcome.result:
            for step in outcome.result["steps"]:
                out.print(Text(f"  {step['step']:3}  {step['title']}  ").append(step["tool"], style="dim"))
        elif outcome.result:
            grid = Table.grid(padding=(0, 2))
            for key, value in outcome.result.items():
                grid.add_row(Text(f"  {key}"), Text(orjson.dumps(value).decode()))
            out.print(grid)
    else:
        assert outcome.fault is not None
        out.print(Text(f"{outcome.fault.value} ", style="bold red").append(outcome.tool, style="default"))
        for finding in outcome.findings:
            out.print(Text(f"  {finding.pointer or '(call)'}: {finding.message}"))
            if finding.cure:
                out.print(Text(f"    {finding.cure}", style="dim"))
    for change in outcome.changes:
        out.print(Text(f"  {change['change']:8}{change['kind']} {change['name']}"))
    for artifact in outcome.artifacts:
        out.print(Text(f"  wrote   {artifact}"))
    if outcome.fingerprint_after:
        moved = outcome.fingerprint_before != outcome.fingerprint_after
        # What code or a file brought may be in no hash.
        remark = "" if moved else "  (the same hash)" if outcome.blender_mutation_id else "  (unchanged)"
        out.print(Text(f"  scene   {outcome.fingerprint_after}{remark}", style="dim"))
    spent = ", ".join(f"{phase.name} {phase.ms:g} ms" for phase in outcome.trace if phase.ms)
    out.print(Text(f"  phases  {spent}", style="dim"))
