"""blendwright audit verify, list, bundle, key: the audit chain and signed proofs of it."""

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
        typer.Argument(
            metavar="BUNDLE", help="A proof bundle. Without one, the command checks the workspace's own chain."
        ),
    ] = None,
    key: Annotated[
        list[str] | None,
        typer.Option("--key", metavar="FINGERPRINT", help="The key that must have signed the bundle. Can be repeated."),
    ] = None,
    workspace: Workspace = ".blendwright",
    known: Annotated[
        list[str] | None,
        typer.Option(
            "--known", metavar="SEQUENCE:HASH", help="A record that you know from a receipt. Can be repeated."
        ),
    ] = None,
    json: AsJson = False,
) -> int:
    """Check the audit chain, and commits, receipts and moves against it. Exit code 1 means that something was edited,
    removed or cut off.

    The command names what was changed. It counts the commits and readings that records of older versions do not
    cover. With a BUNDLE, it checks the bundle and its signature instead, without a workspace and without Blender.
    Examples: `blendwright audit verify`; `blendwright audit verify proof.jsonl --key FINGERPRINT`.
    """
    if bundle is not None:
        if known:
            fix = "Leave --known out: a bundle names its own head."
            raise Refusal.of(Fault.ARGS_INVALID, "--known applies only to the chain of a workspace", fix)
        return _verify_bundle(bundle, key or (), json)
    if key:
        raise Refusal.of(Fault.ARGS_INVALID, "--key applies only to bundles", "Name the bundle as well.")
    heads = [_head(text) for text in known or ()]
    with read_journal(workspace) as journal:
        report = journal.audit.verify(
            heads, heads_outside=heads_directory(load_policy(Path(workspace).resolve()).policy)
        )
    head = {"sequence": report.head.sequence, "hash": report.head.hash}
    code = Exit.FAILED
    if report.ok:
        code = Exit.DONE
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
        code,
    )


@audit_app.command()
def bundle(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The file to write, for example proof.jsonl.")],
    scenes: Annotated[bool, typer.Option("--scenes", help="Include the saved scenes, not only their hashes.")] = False,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace an existing file.")] = False,
    workspace: Workspace = ".blendwright",
    json: AsJson = False,
) -> int:
    """Write the journal to one signed file. `audit verify FILE` checks it elsewhere, without the workspace and
    without Blender.

    The file has the audit chain, commits, receipts, moves and the hashes of saved scenes. Arguments that the policy
    hides stay hidden. Example: `blendwright audit bundle proof.jsonl`.
    """
    from blendwright.proofs.bundles import write_bundle

    written = write_bundle(workspace, file, scenes=scenes, overwrite=overwrite)

    def show_bundle(out: SafeConsole) -> None:
        out.show(f"wrote {written.file} ({written.size} bytes), up to record {written.head.sequence}")
        out.show(f"signed by {written.fingerprint}", "dim")

    return present(json, written.to_json, show_bundle)


@audit_app.command("key")
def show_key(json: AsJson = False) -> int:
    """Show the key that signs bundles, and create it if it does not exist.

    Give the fingerprint to people who check bundles.
    """
    from blendwright.proofs.signing_keys import signing_key

    key = signing_key(create=True)
    origin = "stored in"
    if key.made:
        origin = "created in"

    def show_found(out: SafeConsole) -> None:
        out.labelled("fingerprint", key.fingerprint, "bold")
        out.labelled("public key ", key.public, "bold")
        out.show(f"{origin} {key.file}, which only you may read", "dim")

    return present(json, key.to_json, show_found)


def _verify_bundle(file: Path, keys: Sequence[str], json: bool) -> int:
    from blendwright.proofs.bundles import verify_bundle

    report = verify_bundle(file, keys=keys)

    def show_report(out: SafeConsole) -> None:
        for problem in report.problems:
            out.labelled("problem:", problem, "bold red")
        if report.ok:
            out.labelled("ok", f"{report.records} records, {report.commits} commits", "bold green")
        _show_not_covered(out, report.not_covered, "hidden in the bundle, or written by an older version")
        out.show(f"head {report.head.sequence}:{report.head.hash}", "dim")
        trust = "name it with --key to check that you trust it"
        if report.trusted is not None:
            trust = "which was named"
            if not report.trusted:
                trust = "which was not named"
        if report.fingerprint is not None:
            claim = "signed by"
            if not report.ok:
                claim = "it claims to be signed by"
            out.show(f"{claim} {report.fingerprint}, {trust}", "dim")

    code = Exit.FAILED
    if report.ok:
        code = Exit.DONE
    return present(json, report.to_json, show_report, code)


@audit_app.command("list")
def list_records(
    workspace: Workspace = ".blendwright",
    request: Annotated[
        str | None, typer.Option("--request", metavar="ID", help="Only records of this request.")
    ] = None,
    operation: Annotated[
        str | None, typer.Option("--operation", metavar="ID", help="Only records of this operation.")
    ] = None,
    tool: Annotated[str | None, typer.Option("--tool", metavar="NAME", help="Only records of this tool.")] = None,
    status: Annotated[Status | None, typer.Option("--status", help="Only records with this outcome.")] = None,
    after: Annotated[
        int, typer.Option("--after", metavar="N", help="Only records after this sequence number: the next page.", min=0)
    ] = 0,
    limit: Annotated[
        int, typer.Option("--limit", metavar="N", help="The maximum number of records.", min=1, max=10_000)
    ] = 50,
    json: AsJson = False,
) -> int:
    """List the audit records, oldest first: every operation that ran or failed, with its ids and hashes."""
    page = queries.audit_page(
        workspace, after=after, limit=limit, request_id=request, operation_id=operation, tool_name=tool, status=status
    )
    return present(json, page.to_json, lambda out: _show_records(out, page))


def _show_records(out: SafeConsole, page: queries.AuditPage) -> None:
    for entry in page.records:
        record = entry.record
        ids = f"{record['request_id']}  {record['operation_id']}  {record['mcp_call_id']}"
        about = f"{record['timestamp'][:19]}  {record['status']}  {record['tool_name']}  {ids}"
        style = "red"
        if record["status"] in ("succeeded", "skipped_idempotent"):
            style = "bold"
        out.labelled(f"{entry.sequence} ", about, style)
    if page.next_after is not None:
        out.show(f"more: --after {page.next_after}", "dim")


def _show_audit(out: SafeConsole, report: AuditReport) -> None:
    for problem in report.problems:
        out.labelled("problem:", problem, "bold red")
    if report.ok:
        out.labelled("ok", f"{report.records} records", "bold green")
    _show_not_covered(out, report.not_covered, "written by an older version")
    out.show(f"head {report.head.sequence}:{report.head.hash}", "dim")


def _show_not_covered(out: SafeConsole, count: int, reason: str) -> None:
    if count:
        out.labelled(
            "not covered:", f"arguments and receipts of {count} commits and readings ({reason})", "bold yellow"
        )


def _head(text: str) -> AuditHead:
    if not re.fullmatch(r"[0-9]{1,18}:[0-9a-f]{64}", text):
        fix = "Give its sequence and hash, as in a receipt: 12:ab34…"
        raise Refusal.of(Fault.TARGET_NOT_FOUND, f"'{text}' does not name a record", fix)
    sequence, _, digest = text.partition(":")
    return AuditHead(int(sequence), digest)
