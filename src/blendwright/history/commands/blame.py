"""blendwright blame: who made and changed what is in the scene."""

from __future__ import annotations

from typing import Annotated

import orjson
import typer

from blendwright.cli.options import AsJson, Blender, Workspace
from blendwright.cli.output import SafeConsole, present
from blendwright.history import blame as blaming
from blendwright.history.blame import Blamed
from blendwright.values.errors import Refusal
from blendwright.values.faults import Fault
from blendwright.views.authors import Who

LONGEST = 60


def blame(
    name: Annotated[
        str | None,
        typer.Argument(metavar="OBJECT", help="The object; without one, all of them, each with its last change."),
    ] = None,
    property: Annotated[
        str | None,
        typer.Option(
            "--property",
            metavar="PATH",
            help="Only what gave this another value: location, location.2, modifiers.0.type.",
        ),
    ] = None,
    kind: Annotated[
        str, typer.Option("--kind", metavar="KIND", help="Another kind of datablock: meshes, materials, collections …")
    ] = "objects",
    at: Annotated[str, typer.Option("--at", metavar="N", help="As things were at this commit.")] = "HEAD",
    workspace: Workspace = ".blendwright",
    blender: Blender = None,
    json: AsJson = False,
) -> int:
    """Show which commits made and changed an object, newest first: by which request, and who asked for it. Renames are followed.

    Examples: `blendwright blame Lamp`; `blendwright blame Lamp --property location`; `blendwright blame --kind materials Steel`;
    `blendwright blame` for everything.
    """
    if name is None:
        if property is not None:
            raise Refusal.of(Fault.ARGS_INVALID, "a property is that of one object", "Name the object as well.")
        listed = blaming.blame_all(workspace, kind=kind, at=at)
        return present(json, listed.to_json, lambda out: _show_all(out, listed))
    found = blaming.blame(workspace, name, kind=kind, property=property, at=at, blender=blender)
    return present(json, found.to_json, lambda out: _show(out, found))


def _show(out: SafeConsole, found: blaming.Blame) -> None:
    out.listing([_row(entry, found.name, found.kind) for entry in found.entries], none="nothing")
    _show_incomplete(out, found.incomplete)


def _show_all(out: SafeConsole, listed: blaming.BlameList) -> None:
    rows = [((line.name, "bold"), *_row(line.last, line.name, line.kind)) for line in listed.lines]
    out.listing(rows, none="no commit has touched anything of that kind")
    if listed.origin is not None:
        out.show(f"whatever else there is came with commit {listed.origin}", "dim")
    _show_incomplete(out, listed.incomplete)


def _show_incomplete(out: SafeConsole, commits: tuple[int, ...]) -> None:
    if commits:
        numbers = ", ".join(map(str, commits))
        out.show(f"these touched more than their receipts list, and may have changed it: commits {numbers}", "yellow")


def _row(entry: Blamed, name: str, kind: str) -> tuple[str | tuple[str, str], ...]:
    if (entry.kind, entry.name) == (kind, name):
        other = ""
    else:
        other = f" {entry.name} ({entry.kind})"
    if entry.value is None:
        value = ""
    else:
        value = orjson.dumps(entry.value).decode()[:LONGEST]
    commit = entry.commit
    about = f"{commit.tool}  {commit.request_id[:LONGEST]} {commit.operation_id[:LONGEST]}"
    row = ((str(commit.number), "bold"), commit.timestamp[:19], f"{entry.change}{other}", about, _who(entry.who))
    if value:
        return (*row, (value, "cyan"))
    return row


def _who(who: Who) -> str:
    words = [who.by, who.model or "", who.host or "", (who.asked and f'"{who.asked[:LONGEST]}"') or ""]
    if who.approved_by is not None:
        words.append(f"approved by {who.approved_by}")
    return " ".join(word for word in words if word)
