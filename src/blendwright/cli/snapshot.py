"""blendwright snapshot: the scene as canonical JSON with fingerprints."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from rich.text import Text

from blendwright.cli.looking import look
from blendwright.cli.output import AsJson, Blender, Columns, Exit, Scene, Workspace, console, print_json


def snapshot(
    workspace: Workspace = ".blendwright",
    scene: Scene = None,
    blender: Blender = None,
    find: Annotated[
        str | None, typer.Option("--find", metavar="PATTERN", help="Only objects with such names (* and ?).")
    ] = None,
    offset: Annotated[int, typer.Option("--offset", min=0, help="Skip that many objects.")] = 0,
    limit: Annotated[int, typer.Option("--limit", min=1, max=1000, help="At most so many objects.")] = 200,
    json: AsJson = False,
) -> int:
    """Show a scene: its objects page by page, its collections, materials, settings and fingerprint."""
    args: dict[str, Any] = {"offset": offset, "limit": limit}
    if find is not None:
        args["name"] = find
    page = look("scene.snapshot", args, workspace, scene, blender)
    if json:
        print_json(page)
    else:
        _show(page)
    return Exit.DONE


def _show(page: dict[str, Any]) -> None:
    out = console()
    table = Columns()
    for entry in page["objects"]["items"]:
        place = ", ".join(f"{value:g}" for value in entry["transform"]["location"])
        table.row(Text(entry["name"], style="bold"), Text(entry["type"]), Text(f"({place})"),
                      Text(", ".join(entry["collections"]), style="dim"))  # fmt: skip
    out.print(table)
    out.print(Text(f"{len(page['objects']['items'])} of {page['objects']['total']} objects", style="dim"))
    out.print(Text(f"scene {page['fingerprint']}", style="dim"))
