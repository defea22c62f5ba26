"""blendwright blame: the commits that made and changed a datablock, and their authors."""

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

# The number of characters of a value or id on the screen.
MAX_SHOWN_CHARACTERS = 60


def blame(
    name: Annotated[
        str | None,
        typer.Argument(metavar="OBJECT", help="The object. Without one, list all objects, each with its last change."),
    ] = None,
    property: Annotated[
        str | None,
        typer.Option(
            "--property",
            metavar="PATH",
            help="Show only commits that changed the value of this property: location, location.2, modifiers.0.type.",
        ),
    ] = None,
    kind: Annotated[
        str, typer.Option("--kind", metavar="KIND", help="Another kind of datablock: meshes, materials, collections …")
    ] = "objects",
    at: Annotated[str, typer.Option("--at", metavar="N", help="Show the state at this commit.")] = "HEAD",
    workspace: Workspace = ".blendwright",
    blender: Blender = None,
    json: AsJson = False,
) -> int:
    """Show the commits that made and changed an object, newest first, with their requests and authors. Renames are
    followed.

    Examples: `blendwright blame Lamp`; `blendwright blame Lamp --property location`;
    `blendwright blame --kind materials Steel`; `blendwright blame` for everything.
    """
    if name is None:
        if property is not None:
            raise Refusal.of(Fault.ARGS_INVALID, "--property needs an object", "Name the object as well.")
        blame_list = blaming.blame_all(workspace, kind=kind, at=at)
        return present(json, blame_list.to_json, lambda out: _show_all(out, blame_list))
    result = blaming.blame(workspace, name, kind=kind, property=property, at=at, blender=blender)
    return present(json, result.to_json, lambda out: _show(out, result))


def _show(out: SafeConsole, result: blaming.Blame) -> None:
    out.listing([_row(entry, result.name, result.kind) for entry in result.entries], none="nothing")
    _show_incomplete(out, result.incomplete)


def _show_all(out: SafeConsole, blame_list: blaming.BlameList) -> None:
    rows = [((line.name, "bold"), *_row(line.last, line.name, line.kind)) for line in blame_list.lines]
    out.listing(rows, none="no commit has touched anything of that kind")
    if blame_list.origin is not None:
        out.show(f"all other datablocks came with commit {blame_list.origin}", "dim")
    _show_incomplete(out, blame_list.incomplete)


def _show_incomplete(out: SafeConsole, commits: tuple[int, ...]) -> None:
    if commits:
        numbers = ", ".join(map(str, commits))
        out.show(
            f"these commits touched more than their receipts list, so they may have changed it: {numbers}", "yellow"
        )


def _row(entry: Blamed, name: str, kind: str) -> tuple[str | tuple[str, str], ...]:
    if (entry.kind, entry.name) == (kind, name):
        label = ""
    else:
        label = f" {entry.name} ({entry.kind})"
    if entry.value is None:
        value = ""
    else:
        value = orjson.dumps(entry.value).decode()[:MAX_SHOWN_CHARACTERS]
    commit = entry.commit
    about = f"{commit.tool}  {commit.request_id[:MAX_SHOWN_CHARACTERS]} {commit.operation_id[:MAX_SHOWN_CHARACTERS]}"
    row = ((str(commit.number), "bold"), commit.timestamp[:19], f"{entry.change}{label}", about, _who(entry.who))
    if value:
        return (*row, (value, "cyan"))
    return row


def _who(who: Who) -> str:
    words = [who.by, who.model, who.host]
    if who.asked:
        words.append(f'"{who.asked[:MAX_SHOWN_CHARACTERS]}"')
    if who.approved_by is not None:
        words.append(f"approved by {who.approved_by}")
    return " ".join(word for word in words if word)
