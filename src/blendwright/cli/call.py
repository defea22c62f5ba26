"""blendwright call: one tool through its whole lifecycle."""

from __future__ import annotations

import sys
from time import perf_counter
from typing import Annotated, Literal

import orjson
import typer

from blendwright.app import RunOptions
from blendwright.app.exporting import export_open_scene
from blendwright.cli.approver import approver
from blendwright.cli.options import (
    Approve,
    AsJson,
    Blender,
    ContractFile,
    Export,
    MinimumDeterminism,
    Scene,
    Timeout,
    Workspace,
)
from blendwright.cli.output import Exit, present
from blendwright.cli.safe_console import SafeConsole
from blendwright.cli.session import open_session
from blendwright.dialects.envelopes import core_envelope, tool_result
from blendwright.values.errors import Refusal
from blendwright.values.json_reader import LARGEST, read_json
from blendwright.values.outcome import Outcome

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
    timeout: Timeout = None,
    verify: Annotated[
        bool, typer.Option("--verify", help="Read the result back, also after a read-only tool.")
    ] = False,
    snapshot: Annotated[bool, typer.Option("--snapshot", help="Add the scene as it is afterwards.")] = False,
    rehearse: Annotated[
        bool, typer.Option("--rehearse", help="Take the call back and prove that the scene is as before.")
    ] = False,
    export: Export = None,
    envelope: Annotated[
        Literal["tool_result", "core"], typer.Option("--envelope", help="Which contract's shape --json prints.")
    ] = "tool_result",
    approve: Approve = None,
    determinism: MinimumDeterminism = None,
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
    with open_session(workspace, scene=scene, blender=blender, contract=contract, approver=allowed) as opened:
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
            exported = export_open_scene(opened, export, allowed)
            outcome = outcome.with_(artifacts=(*outcome.artifacts, *exported.artifacts)) if exported.ok else exported
    render = tool_result if envelope == "tool_result" else core_envelope
    return present(
        json,
        lambda: render(outcome).model_dump(mode="json"),
        lambda out: _show(out, outcome),
        Exit.of_call(outcome),
    )


def _show(out: SafeConsole, outcome: Outcome) -> None:
    if outcome.fault is None:
        out.labelled("ok", outcome.tool, "bold green")
        if outcome.result and "macro" in outcome.result:
            for step in outcome.result["steps"]:
                out.labelled(f"  {step['step']:3}  {step['title']} ", step["tool"], "", text_style="dim")
        elif outcome.result:
            rows = [(f"  {key}", orjson.dumps(value).decode()) for key, value in outcome.result.items()]
            out.columns(rows)
    else:
        out.labelled(outcome.fault.value, outcome.tool, "bold red")
        for finding in outcome.findings:
            out.show(f"  {finding.pointer or '(call)'}: {finding.message}")
            if finding.cure:
                out.show(f"    {finding.cure}", "dim")
    for change in outcome.changes:
        out.show(f"  {change['change']:8}{change['kind']} {change['name']}")
    for artifact in outcome.artifacts:
        out.show(f"  wrote   {artifact}")
    if outcome.fingerprint_after:
        moved = outcome.fingerprint_before != outcome.fingerprint_after
        # What code or a file brought may be in no hash.
        remark = "" if moved else "  (the same hash)" if outcome.blender_mutation_id else "  (unchanged)"
        out.show(f"  scene   {outcome.fingerprint_after}{remark}", "dim")
    spent = ", ".join(f"{phase.name} {phase.ms:g} ms" for phase in outcome.trace if phase.ms)
    out.show(f"  phases  {spent}", "dim")
