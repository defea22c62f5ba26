"""blendwright audit: the chain of records, checked from end to end."""

from __future__ import annotations

import re
from typing import Annotated

import typer

from blendwright.app.read_workspace import read_journal
from blendwright.cli.options import AsJson, Workspace
from blendwright.cli.output import Exit, present
from blendwright.cli.safe_console import SafeConsole
from blendwright.records.audit import AuditHead, AuditReport
from blendwright.values.errors import Refusal
from blendwright.values.faults import Fault

app = typer.Typer(help="The audit chain.", no_args_is_help=True)


@app.callback()
def audit() -> None:
    """The audit chain."""


@app.command()
def verify(
    workspace: Workspace = ".blendwright",
    known: Annotated[
        list[str] | None,
        typer.Option(
            "--known", metavar="SEQUENCE:HASH", help="A record that you know from a receipt; may be repeated."
        ),
    ] = None,
    json: AsJson = False,
) -> int:
    """Check every record of the audit chain; exit code 1 names the ones that were edited, removed or cut off."""
    heads = [_head(text) for text in known or ()]
    with read_journal(workspace) as journal:
        report = journal.verify_audit(heads)
    head = {"sequence": report.head.sequence, "hash": report.head.hash}
    return present(
        json,
        lambda: {"ok": report.ok, "records": report.records, "head": head, "problems": report.problems},
        lambda out: _show(out, report),
        Exit.DONE if report.ok else Exit.FAILED,
    )


def _show(out: SafeConsole, report: AuditReport) -> None:
    for problem in report.problems:
        out.labelled("problem:", problem, "bold red")
    if report.ok:
        out.labelled("ok", f"{report.records} records", "bold green")
    out.show(f"head {report.head.sequence}:{report.head.hash}", "dim")


def _head(text: str) -> AuditHead:
    if not re.fullmatch(r"[0-9]{1,18}:[0-9a-f]{64}", text):
        cure = "Give its sequence and hash, as a receipt has them: 12:ab34…"
        raise Refusal.of(Fault.TARGET_NOT_FOUND, f"'{text}' does not name a record", cure)
    sequence, _, digest = text.partition(":")
    return AuditHead(int(sequence), digest)
