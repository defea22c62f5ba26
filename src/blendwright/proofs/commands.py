"""blendwright audit verify, list, bundle, key: the audit chain, and proofs of it for others."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from blendwright.cli.options import AsJson, Workspace
from blendwright.cli.output import Exit, SafeConsole, present
from blendwright.records.audit import AuditHead, AuditReport, Status
from blendwright.values.errors import Refusal
from blendwright.values.faults import Fault
from blendwright.views import queries
from blendwright.workspace.policy_files import load_policy
from blendwright.workspace.reading import read_journal
from blendwright.workspace.settings import heads_directory

audit_app = typer.Typer(help="The audit chain.", no_args_is_help=True)


@audit_app.callback()
def audit() -> None:
    """The audit chain."""


@audit_app.command()
def verify(
    bundle: Annotated[
        Path | None,
        typer.Argument(metavar="BUNDLE", help="A proof bundle; without one, the workspace's own chain is checked."),
    ] = None,
    key: Annotated[
        list[str] | None,
        typer.Option("--key", metavar="FINGERPRINT", help="The key that must have signed the bundle; may be repeated."),
    ] = None,
    workspace: Workspace = ".blendwright",
    known: Annotated[
        list[str] | None,
        typer.Option(
            "--known", metavar="SEQUENCE:HASH", help="A record that you know from a receipt; may be repeated."
        ),
    ] = None,
    json: AsJson = False,
) -> int:
    """Check every record of the audit chain, and commits, receipts and moves against it; exit code 1 names what was edited, removed or
    cut off. What records of older programs do not cover is counted.

    With a BUNDLE, check that instead, and who signed it: it needs no workspace and no Blender. Examples: `blendwright audit verify`;
    `blendwright audit verify proof.jsonl --key FINGERPRINT`.
    """
    if bundle is not None:
        if known:
            cure = "Leave --known out: a bundle names its own head."
            raise Refusal.of(Fault.ARGS_INVALID, "--known is about the chain of a workspace", cure)
        return _verify_bundle(bundle, key or (), json)
    if key:
        raise Refusal.of(Fault.ARGS_INVALID, "only bundles are signed", "Name the bundle as well.")
    heads = [_head(text) for text in known or ()]
    with read_journal(workspace) as journal:
        report = journal.audit.verify(
            heads, heads_outside=heads_directory(load_policy(Path(workspace).resolve()).policy)
        )
    head = {"sequence": report.head.sequence, "hash": report.head.hash}
    return present(
        json,
        lambda: {
            "ok": report.ok,
            "records": report.records,
            "head": head,
            "problems": report.problems,
            "not_covered": report.not_covered,
        },
        lambda out: _show_audit(out, report),
        Exit.DONE if report.ok else Exit.FAILED,
    )


@audit_app.command()
def bundle(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The file to write, as proof.jsonl.")],
    scenes: Annotated[
        bool, typer.Option("--scenes", help="Put the saved scenes in too, and not only their hashes.")
    ] = False,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace a file that is there.")] = False,
    workspace: Workspace = ".blendwright",
    json: AsJson = False,
) -> int:
    """Write the journal to one signed file, which `audit verify FILE` checks elsewhere, without the workspace and without Blender.

    Audit chain, commits, receipts, moves and the hashes of saved scenes are in it; what the policy hides is hidden. Example:
    `blendwright audit bundle proof.jsonl`.
    """
    from blendwright.proofs.bundles import write_bundle

    written = write_bundle(workspace, file, scenes=scenes, overwrite=overwrite)

    def show_bundle(out: SafeConsole) -> None:
        out.show(f"wrote {written.file} ({written.size} bytes), up to record {written.head.sequence}")
        out.show(f"signed by {written.fingerprint}", "dim")

    return present(json, written.to_json, show_bundle)


@audit_app.command("key")
def show_key(json: AsJson = False) -> int:
    """Show the key that bundles are signed with, and make it where there is none. The fingerprint is for those who check bundles."""
    from blendwright.proofs.signing_keys import signing_key

    found = signing_key(create=True)

    def show_found(out: SafeConsole) -> None:
        out.labelled("fingerprint", found.fingerprint, "bold")
        out.labelled("public key ", found.public, "bold")
        out.show(f"{'made' if found.made else 'kept in'} {found.file}, which nobody else may read", "dim")

    return present(json, found.to_json, show_found)


def _verify_bundle(file: Path, keys: Sequence[str], json: bool) -> int:
    from blendwright.proofs.bundles import verify_bundle

    report = verify_bundle(file, keys=keys)

    def show_report(out: SafeConsole) -> None:
        for problem in report.problems:
            out.labelled("problem:", problem, "bold red")
        if report.ok:
            out.labelled("ok", f"{report.records} records, {report.commits} commits", "bold green")
        _show_not_covered(out, report.not_covered, "hidden in the bundle, or written by an older program")
        out.show(f"head {report.head.sequence}:{report.head.hash}", "dim")
        vouched = {
            True: "which was named",
            False: "which was not named",
            None: "name it with --key to say that you trust it",
        }
        if report.fingerprint is not None:
            if report.ok:
                said = "signed by"
            else:
                said = "it says that it is signed by"
            out.show(f"{said} {report.fingerprint}, {vouched[report.trusted]}", "dim")

    return present(json, report.to_json, show_report, Exit.DONE if report.ok else Exit.FAILED)


@audit_app.command("list")
def list_records(
    workspace: Workspace = ".blendwright",
    request: Annotated[str | None, typer.Option("--request", metavar="ID", help="Only those of this request.")] = None,
    operation: Annotated[
        str | None, typer.Option("--operation", metavar="ID", help="Only those of this operation.")
    ] = None,
    tool: Annotated[str | None, typer.Option("--tool", metavar="NAME", help="Only those of this tool.")] = None,
    status: Annotated[Status | None, typer.Option("--status", help="Only those with this outcome.")] = None,
    after: Annotated[
        int, typer.Option("--after", metavar="N", help="Only those after this sequence number: the next page.", min=0)
    ] = 0,
    limit: Annotated[int, typer.Option("--limit", metavar="N", help="At most so many.", min=1, max=10_000)] = 50,
    json: AsJson = False,
) -> int:
    """List the audit records, oldest first: every operation that was tried, with its ids and hashes."""
    page = queries.audit_page(
        workspace, after=after, limit=limit, request_id=request, operation_id=operation, tool_name=tool, status=status
    )
    return present(json, page.to_json, lambda out: _show_records(out, page))


def _show_records(out: SafeConsole, page: queries.AuditPage) -> None:
    for one in page.records:
        record = one.record
        ids = f"{record['request_id']}  {record['operation_id']}  {record['mcp_call_id']}"
        about = f"{record['timestamp'][:19]}  {record['status']}  {record['tool_name']}  {ids}"
        out.labelled(
            f"{one.sequence} ", about, "bold" if record["status"] in ("succeeded", "skipped_idempotent") else "red"
        )
    if page.next_after is not None:
        out.show(f"more: --after {page.next_after}", "dim")


def _show_audit(out: SafeConsole, report: AuditReport) -> None:
    for problem in report.problems:
        out.labelled("problem:", problem, "bold red")
    if report.ok:
        out.labelled("ok", f"{report.records} records", "bold green")
    _show_not_covered(out, report.not_covered, "written by an older program")
    out.show(f"head {report.head.sequence}:{report.head.hash}", "dim")


def _show_not_covered(out: SafeConsole, count: int, why: str) -> None:
    if count:
        out.labelled("not covered:", f"arguments and receipts of {count} commits and readings ({why})", "bold yellow")


def _head(text: str) -> AuditHead:
    if not re.fullmatch(r"[0-9]{1,18}:[0-9a-f]{64}", text):
        cure = "Give its sequence and hash, as a receipt has them: 12:ab34…"
        raise Refusal.of(Fault.TARGET_NOT_FOUND, f"'{text}' does not name a record", cure)
    sequence, _, digest = text.partition(":")
    return AuditHead(int(sequence), digest)
