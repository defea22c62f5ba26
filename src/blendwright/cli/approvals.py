"""The command `blendwright approve`, and the approver that asks the person at the terminal."""

from __future__ import annotations

import contextlib
import os
import select
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Annotated, Any

import typer

from blendwright.approvals import pending as approving
from blendwright.approvals.pending import parse_grants
from blendwright.approvals.text import heading
from blendwright.cli.options import AsJson, Workspace
from blendwright.cli.output import Exit, SafeConsole, notes, present
from blendwright.cli.proposal import at_a_terminal
from blendwright.records.requests import StoredApproval
from blendwright.util.cancel import CancelToken
from blendwright.util.invisible_text import escape_invisible
from blendwright.values.approval import ApprovalAnswer, ApprovalRequest, Approver

# Pauses a live display, so that a question has room on the screen.
Pause = Callable[[], AbstractContextManager[None]]
BY = "blendwright approve"
# Characters. A longer question repeats its heading, because its beginning may have left the screen.
MAX_VISIBLE_CHARACTERS = 1000
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


def approver(approve: Sequence[str] | None, pause: Pause | None = None) -> Approver:
    """Return the grants of --approve, with the person at the terminal for all other questions. Raise Refusal for an unknown name."""
    grants = parse_grants(approve or ())
    if not at_a_terminal():
        return Approver(None, grants)
    return Approver(TerminalApprover(pause), grants)


class TerminalApprover:
    """An approver that asks the person at the terminal."""

    name = "terminal"

    def __init__(self, pause: Pause | None = None) -> None:
        self._pause = pause or contextlib.nullcontext
        self._approved_levels: set[str] = set()

    def ask(self, request: ApprovalRequest, *, cancel: CancelToken | None = None) -> ApprovalAnswer:
        """Ask one question and return the answer: y, n, or a for everything of the same level in this run.

        An empty line means no. Without an answer before the request expires, return ApprovalAnswer.NONE.
        """
        if request.safety_level in self._approved_levels and not request.in_person:
            return ApprovalAnswer.APPROVED
        with self._pause():
            out = notes()
            label = f"{escape_invisible(request.operation_id)}:"
            out.labelled(label, _indented(request.what), "bold yellow")
            _show_reasons(out, request)
            if request.shown:
                out.show(request.shown)
            if len(request.what) + len(request.shown) > MAX_VISIBLE_CHARACTERS:
                # A long list or code has pushed the question off the screen.
                out.labelled(label, _indented(heading(request.what)), "bold yellow")
            if request.in_person:
                choices = "[y/N]"
            else:
                choices = f"[y/N/a = all that is {request.safety_level}]"
            out.show(f"Allow it? {choices} ", end="")
            line = read_line(request.expires, cancel)
        if line is None:
            return ApprovalAnswer.NONE
        word = line.strip().casefold()
        if word in ("a", "all") and not request.in_person:
            self._approved_levels.add(request.safety_level)
            return ApprovalAnswer.APPROVED
        if word in ("y", "yes"):
            return ApprovalAnswer.APPROVED
        return ApprovalAnswer.DECLINED


def _indented(text: str) -> str:
    """Return the text with all lines but the first one indented, so that each path visibly belongs to its question."""
    return text.replace("\n", "\n  ")


def _show_reasons(out: SafeConsole, request: ApprovalRequest) -> None:
    for reason in request.why:
        out.show(f"  asked because of {reason}", "dim")


def read_line(expires: float, cancel: CancelToken | None) -> str | None:
    """Return a line from the terminal. Return None when the time `expires` (epoch seconds) passes or the caller cancels the run."""
    waker, wake = os.pipe()

    def stop() -> None:
        os.write(wake, b"!")

    if cancel is not None:
        unsubscribe = cancel.subscribe(stop)
    else:
        unsubscribe = None
    try:
        ready, _, _ = select.select([sys.stdin, waker], [], [], max(0.0, expires - time.time()))
        if sys.stdin in ready and waker not in ready:
            return sys.stdin.readline()
        return None
    finally:
        if unsubscribe is not None:
            unsubscribe()
        os.close(waker)
        os.close(wake)


def approve(
    ids: Annotated[
        list[str] | None, typer.Argument(metavar="ID", help="What to answer; without one, what waits.")
    ] = None,
    decline: Annotated[bool, typer.Option("--decline", help="Say no instead.")] = False,
    yes: Annotated[
        bool, typer.Option("--yes", help="Allow it without a question; trusted code is asked about all the same.")
    ] = False,
    revoke: Annotated[bool, typer.Option("--revoke", help="Take back what was allowed for a session.")] = False,
    workspace: Workspace = ".blendwright",
    json: AsJson = False,
) -> int:
    """Allow an operation that waits for a person, once and unchanged, before the request expires.

    At a terminal, the command shows the whole operation before its question. Without an ID, it lists the requests that wait and the
    operations that a person allowed for a session.
    """
    session: Sequence[StoredApproval] = ()
    if not ids:
        approvals = approving.pending_approvals(workspace)
        session = approving.session_allowances(workspace)
    elif revoke:
        approvals = approving.revoke_allowances(workspace, ids, by=BY)
    elif decline:
        approvals = approving.decline(workspace, ids, by=BY)
    else:
        if at_a_terminal():
            approver = TerminalApprover()
        else:
            approver = None
        approvals = approving.approve(workspace, ids, approver, by=BY, unseen=yes)
    exit_code = Exit.DONE
    if ids and any(approval.state == "pending" for approval in approvals):
        exit_code = Exit.REFUSED
    return present(
        json,
        lambda: {
            "approvals": [_approval_document(approval) for approval in approvals],
            "session": [_approval_document(approval) for approval in session],
        },
        lambda out: _show_approvals(out, approvals, session),
        exit_code,
    )


def _approval_document(approval: StoredApproval) -> dict[str, Any]:
    request = asdict(approval.request)
    return {"id": request["id"], "state": approval.state, **{name: request[name] for name in REQUEST_FIELDS}}


def _show_approvals(
    out: SafeConsole, approvals: Sequence[StoredApproval], session: Sequence[StoredApproval] = ()
) -> None:
    for allowance in session:
        request = allowance.request
        out.labelled("session  ", f"{request.id}  {request.what}", "green")
        out.show(
            f"  {', '.join(request.why)}; take it back: blendwright approve --revoke {request.id}",
            "dim",
        )
    for approval in approvals:
        request = approval.request
        if approval.state == "approved":
            style = "green"
        else:
            style = "yellow"
        out.labelled(f"{approval.state:9}", f"{request.id}  {_indented(request.what)}", style)
        until = datetime.fromtimestamp(request.expires, UTC).strftime("%H:%M:%S UTC")
        out.show(f"  {', '.join(request.why)}; until {until}", "dim")
        if request.shown and approval.state == "pending":
            out.show(request.shown)
    if any(approval.state == "approved" for approval in approvals):
        out.show("Run the plan or call again to use this approval.")
    if not approvals:
        out.show("nothing waits for an approval")
