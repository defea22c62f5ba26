"""blendwright approve: answer what a run in another terminal or a host waits for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Annotated, Any

import typer

from blendwright.app import approving
from blendwright.cli.approver import TerminalApprover, at_a_terminal
from blendwright.cli.options import AsJson, Workspace
from blendwright.cli.output import Exit, present
from blendwright.cli.safe_console import SafeConsole
from blendwright.records.requests import StoredApproval

BY = "blendwright approve"
REQUEST_FIELDS = (
    "tool",
    "request_id",
    "operation_id",
    "operation_hash",
    "what",
    "why",
    "expires",
    "shown",
    "in_person",
)


def approve(
    ids: Annotated[
        list[str] | None, typer.Argument(metavar="ID", help="What to answer; without one, what waits.")
    ] = None,
    decline: Annotated[bool, typer.Option("--decline", help="Say no instead.")] = False,
    yes: Annotated[
        bool, typer.Option("--yes", help="Allow it without a question; trusted code is asked about all the same.")
    ] = False,
    workspace: Workspace = ".blendwright",
    json: AsJson = False,
) -> int:
    """Allow an operation that waits for a person: once, as it was asked, until it expires. It is shown whole before the question.

    Without an ID, list what waits."""
    if not ids:
        approvals = approving.pending_approvals(workspace)
    elif decline:
        approvals = approving.decline(workspace, ids, by=BY)
    else:
        approver = TerminalApprover() if at_a_terminal() else None
        approvals = approving.approve(workspace, ids, approver, by=BY, unseen=yes)
    unanswered = bool(ids) and any(approval.state == "pending" for approval in approvals)
    return present(
        json,
        lambda: {"approvals": [_document(approval) for approval in approvals]},
        lambda out: _show(out, approvals),
        Exit.REFUSED if unanswered else Exit.DONE,
    )


def _document(approval: StoredApproval) -> dict[str, Any]:
    request = asdict(approval.request)
    return {"id": request["id"], "state": approval.state, **{name: request[name] for name in REQUEST_FIELDS}}


def _show(out: SafeConsole, approvals: Sequence[StoredApproval]) -> None:
    for approval in approvals:
        request = approval.request
        style = "green" if approval.state == "approved" else "yellow"
        out.labelled(f"{approval.state:9}", f"{request.id}  {request.what}", style)
        until = datetime.fromtimestamp(request.expires, UTC).strftime("%H:%M:%S UTC")
        out.show(f"  {', '.join(request.why)}; until {until}", "dim")
        if request.shown and approval.state == "pending":
            out.show(request.shown)
    if any(approval.state == "approved" for approval in approvals):
        out.show("Run the plan or call again: it goes on with this.")
    if not approvals:
        out.show("nothing waits for an approval")
