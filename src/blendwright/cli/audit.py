"""blendwright audit: the chain of records, checked from end to end."""

from __future__ import annotations

import re
from typing import Annotated

import typer
from rich.text import Text

from blendwright.app.read_workspace import read_journal
from blendwright.cli.output import AsJson, Exit, Workspace, console, print_json
from blendwright.records.audit import AuditHead
from blendwright.run.history import refusal

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
    if json:
        head = {"sequence": report.head.sequence, "hash": report.head.hash}
        print_json({"ok": report.ok, "records": report.records, "head": head, "problems": report.problems})
    else:
        out = console()
        for problem in report.problems:
            out.print(Text("problem: ", style="bold red").append(problem, style="default"))
        if report.ok:
            out.print(Text("ok ", style="bold green").append(f"{report.records} records", style="default"))
        out.print(Text(f"head {report.head.sequence}:{report.head.hash}", style="dim"))
    return Exit.DONE if report.ok else Exit.FAILED


def _head(text: str) -> AuditHead:
    if not re.fullmatch(r"[0-9]{1,18}:[0-9a-f]{64}", text):
        raise refusal(f"'{text}' does not name a record", "Give its sequence and hash, as a receipt has them: 12:ab34…")
    sequence, _, digest = text.partition(":")
    return AuditHead(int(sequence), digest)
