"""blendwright approve: give, or decline, what a run in another terminal or a host waits for."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.text import Text

from blendwright.app.past import looking
from blendwright.cli.output import AsJson, Exit, Workspace, console, print_json
from blendwright.contracts.approvals import Answer
from blendwright.contracts.journal_records import KeptApproval
from blendwright.journal.approvals import answer


def approve(
    ids: Annotated[
        list[str] | None, typer.Argument(metavar="ID", help="What to answer; without one, what waits.")
    ] = None,
    decline: Annotated[bool, typer.Option("--decline", help="Say no instead.")] = False,
    workspace: Workspace = ".blendwright",
    json: AsJson = False,
) -> int:
    """Allow an operation that waits for a person: once, as it was asked, until it expires. Without an ID, list what waits."""
    place = Path(workspace).resolve()
    if ids:
        given = Answer.DECLINED if decline else Answer.APPROVED
        listed = [answer(place, id, given, "blendwright approve") for id in ids]
    else:
        with looking(place) as journal:
            listed = list(journal.approvals())
    if json:
        print_json({"approvals": [_told(kept) for kept in listed]})
        return Exit.DONE
    out = console()
    for kept in listed:
        word = Text(f"{kept.state:9} ", style="green" if kept.state == "approved" else "yellow")
        out.print(word.append(f"{kept.request.id}  {kept.request.what}", style="default"))
        until = datetime.fromtimestamp(kept.request.expires, UTC).strftime("%H:%M:%S UTC")
        out.print(Text(f"  {', '.join(kept.request.why)}; until {until}", style="dim"))
        if kept.request.shown and kept.state == "pending":
            out.print(Text(kept.request.shown))
    if ids and not decline:
        out.print("Run the plan or call again: it goes on with this.")
    if not listed:
        out.print("nothing waits for an approval")
    return Exit.DONE


def _told(kept: KeptApproval) -> dict[str, Any]:
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
    }
