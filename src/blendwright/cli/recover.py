"""blendwright recover: what keeps a workspace from being used, and the named ways out."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer
from rich.text import Text

from blendwright.app.read_workspace import inspection_workers, repair_journal
from blendwright.cli.output import AsJson, Blender, Exit, Workspace, console, print_json
from blendwright.records.journal_port import JournalPort
from blendwright.run import repair as rescue
from blendwright.run.history import find, refusal
from blendwright.values.errors import JournalError


def recover(
    to: Annotated[
        str | None, typer.Option("--to", metavar="N", help="Go on from this commit, once its scene has been proved.")
    ] = None,
    resolve: Annotated[
        int | None, typer.Option("--resolve", metavar="ID", help="Settle an intent of which nobody knew the outcome.")
    ] = None,
    note: Annotated[
        str | None, typer.Option("--note", metavar="TEXT", help="What was found out about it, for --resolve.")
    ] = None,
    workspace: Workspace = ".blendwright",
    blender: Blender = None,
    json: AsJson = False,
) -> int:
    """Show what is wrong with a workspace and how to get out of it; with an option, do so."""
    if (resolve is None) != (note is None) or (note is not None and not note.strip()):
        raise refusal(
            "--resolve and --note belong together", "Say what became of the effect: --note 'the file is there'"
        )
    with repair_journal(workspace) as journal:
        done: list[str] = []
        if resolve is not None and note is not None:
            _settle(journal, resolve, note)
            done.append(f"intent {resolve} is settled: {note}")
        if to is not None:
            target = find(journal, to)
            with inspection_workers(workspace, blender=blender) as place:
                commit = rescue.return_to(journal, place.worker(), target.number)
            done.append(
                f"HEAD is at commit {commit.number}, whose scene was rebuilt and has the hash {commit.hash_after}"
            )
        trouble = rescue.find_problems(journal)
    if json:
        print_json(_document(trouble, done))
    else:
        _show(trouble, done)
    return Exit.DONE


def _settle(journal: JournalPort, id: int, note: str) -> None:
    try:
        journal.resolve_intent(id, note)
    except JournalError as error:
        raise refusal(error.message, "See which there are: blendwright recover") from error


def _document(trouble: rescue.WorkspaceProblems, done: list[str]) -> dict[str, object]:
    return {
        "ok": True,
        "fit": trouble.fit,
        "done": done,
        "head": None if trouble.head is None else trouble.head.number,
        "quarantine": None if trouble.quarantine is None else asdict(trouble.quarantine),
        "lost": trouble.lost,
        "indeterminate": [asdict(intent) for intent in trouble.indeterminate],
        "boundary": None if trouble.boundary is None else asdict(trouble.boundary),
        "places": trouble.reachable,
        "ways_out": list(trouble.ways_out()),
    }


def _show(trouble: rescue.WorkspaceProblems, done: list[str]) -> None:
    out = console()
    for sentence in done:
        out.print(Text("done: ", style="bold green").append(sentence, style="default"))
    if trouble.quarantine is not None:
        found = trouble.quarantine
        out.print(
            Text("quarantined ", style="bold red").append(f"since {found.timestamp}: {found.reason}", style="default")
        )
        out.print(Text(f"  the journal says  {found.expected}"))
        out.print(Text(f"  found             {found.found}"))
    if trouble.lost is not None:
        out.print(Text("lost ", style="bold red").append(trouble.lost, style="default"))
    for intent in trouble.indeterminate:
        line = f"intent {intent.id} of operation '{intent.operation_id}': nobody knows whether {intent.effect}"
        out.print(Text("indeterminate ", style="bold yellow").append(line, style="default"))
    if trouble.boundary is not None:
        line = f"plan '{trouble.boundary.request_id}' was interrupted"
        out.print(Text("unfinished ", style="bold yellow").append(line, style="default"))
    ways = list(trouble.ways_out())
    for way in ways:
        out.print(Text(f"  {way}"))
    if trouble.fit and not ways:
        out.print(Text("nothing is in the way"))
