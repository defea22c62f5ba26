"""blendwright approve: give, or decline, what a run in another terminal or a host waits for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.text import Text

from blendwright.app.read_workspace import read_journal
from blendwright.cli.consent import Terminal, at_a_terminal
from blendwright.cli.output import AsJson, Exit, Workspace, console, print_json
from blendwright.journal.approvals import answer, waiting
from blendwright.policy.approvals import ApprovalAnswer, ApprovalRequest
from blendwright.records.approvals import StoredApproval
from blendwright.values.errors import Refusal
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding

BY = "blendwright approve"


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
    place = Path(workspace).resolve()
    if ids and decline:
        listed = [answer(place, id, ApprovalAnswer.DECLINED, BY) for id in ids]
    elif ids:
        listed = _allowed(place, ids, yes=yes)
    else:
        with read_journal(place) as journal:
            listed = list(journal.approvals())
    if json:
        print_json({"approvals": [_told(kept) for kept in listed]})
        return _exit(listed, asked=bool(ids))
    out = console()
    for kept in listed:
        word = Text(f"{kept.state:9} ", style="green" if kept.state == "approved" else "yellow")
        out.print(word.append(f"{kept.request.id}  {kept.request.what}", style="default"))
        until = datetime.fromtimestamp(kept.request.expires, UTC).strftime("%H:%M:%S UTC")
        out.print(Text(f"  {', '.join(kept.request.why)}; until {until}", style="dim"))
        if kept.request.shown and kept.state == "pending":
            out.print(Text(kept.request.shown))
    if any(kept.state == "approved" for kept in listed):
        out.print("Run the plan or call again: it goes on with this.")
    if not listed:
        out.print("nothing waits for an approval")
    return _exit(listed, asked=bool(ids))


def _allowed(place: Path, ids: Sequence[str], *, yes: bool) -> list[StoredApproval]:
    """Every question shown whole, asked, and answered with yes. One that gets no yes goes on waiting."""
    questions = [waiting(place, id) for id in ids]
    unasked = [] if at_a_terminal() else [kept.request for kept in questions if kept.request.in_person or not yes]
    if unasked:
        raise Refusal([_nobody_there(request) for request in unasked])
    listed: list[StoredApproval] = []
    for kept in questions:
        # A yes to this one is no yes to others of its level.
        alone = replace(kept.request, in_person=True)
        given = ApprovalAnswer.APPROVED if yes and not kept.request.in_person else Terminal().ask(alone)
        listed.append(answer(place, kept.request.id, given, BY) if given is ApprovalAnswer.APPROVED else kept)
    return listed


def _nobody_there(request: ApprovalRequest) -> Finding:
    if request.in_person:
        message = f"{request.id} can only be allowed by a person who has seen it, and there is no terminal to ask on"
        return Finding(Fault.POLICY_BLOCKED, message, "", "Run this command in a terminal, and answer there.")
    message = f"there is no terminal to ask about {request.id} on"
    return Finding(Fault.POLICY_BLOCKED, message, "", "Look at it with `blendwright approve`, then give --yes.")


def _exit(listed: Sequence[StoredApproval], *, asked: bool) -> Exit:
    return Exit.REFUSED if asked and any(kept.state == "pending" for kept in listed) else Exit.DONE


def _told(kept: StoredApproval) -> dict[str, Any]:
    asked = kept.request
    return {
        "id": asked.id,
        "state": kept.state,
        "tool": asked.tool,
        "request_id": asked.request_id,
        "operation_id": asked.operation_id,
        "operation_hash": asked.operation_hash,
        "what": asked.what,
        "why": list(asked.why),
        "expires": asked.expires,
        "shown": asked.shown,
        "in_person": asked.in_person,
    }
