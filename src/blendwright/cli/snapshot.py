"""blendwright snapshot: the scene as canonical JSON with fingerprints."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from blendwright.cli.options import AsJson, Blender, Scene, Workspace
from blendwright.cli.output import present
from blendwright.cli.safe_console import SafeConsole
from blendwright.cli.session import ask_tool


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
    page = ask_tool("scene.snapshot", args, workspace, scene, blender)
    return present(json, lambda: page, lambda out: _show(out, page))


def _show(out: SafeConsole, page: dict[str, Any]) -> None:
    objects = page["objects"]["items"]
    out.columns(
        (
            (entry["name"], "bold"), entry["type"],
            f"({', '.join(f'{value:g}' for value in entry['transform']['location'])})",
            (", ".join(entry["collections"]), "dim"),
        )
        for entry in objects
    )  # fmt: skip
    out.show(f"{len(objects)} of {page['objects']['total']} objects", "dim")
    out.show(f"scene {page['fingerprint']}", "dim")
