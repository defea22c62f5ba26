"""blendwright blender list, add, remove: the Blenders that workers can be had of."""

from __future__ import annotations

from typing import Annotated

import typer

from blendwright.cli.options import AsJson
from blendwright.cli.output import Cell, SafeConsole, notes, present
from blendwright.setup import blenders

STYLES = {"ready": "green", "outdated": "yellow", "broken": "red", "not added": "dim", "no python": "dim"}

blender_app = typer.Typer(help="The Blenders that can be used: list, add and remove them.", no_args_is_help=True)


@blender_app.command("list")
def list_command(json: AsJson = False) -> int:
    """List the Blenders that are here, and those that can be added."""
    rows = blenders.list_blenders()
    return present(json, lambda: {"ok": True, "blenders": rows}, lambda out: _show(out, rows))


def _show(out: SafeConsole, rows: list[blenders.ListedBlender]) -> None:
    cells: list[tuple[Cell, ...]] = [
        (
            ("*" if row.default else "", "bold green"),
            (row.name, "bold"),
            f"Blender {row.blender}",
            f"Python {row.python}",
            (row.standing, STYLES[row.standing]),
            (row.cure or row.place or "", "dim"),
        )
        for row in rows
    ]
    out.columns(cells)


@blender_app.command("add")
def add_command(
    what: Annotated[
        str, typer.Argument(metavar="VERSION|PATH", help="A version such as 5.2, or the path of an installed Blender.")
    ],
    name: Annotated[
        str | None, typer.Option("--name", metavar="NAME", help="Call it this; its version otherwise.")
    ] = None,
    python: Annotated[
        str | None, typer.Option("--python", metavar="PATH", help="Make the environment with this Python.")
    ] = None,
    again: Annotated[bool, typer.Option("--again", help="Make it anew, even where it is there.")] = False,
    json: AsJson = False,
) -> int:
    """Make an environment for a Blender in your data directory, or prepare an installed Blender; then --blender takes it by name."""
    added = blenders.add_blender(
        what, progress=lambda line: notes().show(line, "dim"), name=name, python=python, again=again
    )
    environment = added.environment

    def show(out: SafeConsole) -> None:
        word = "added" if added.made else "was there already:"
        out.show(f"{word} Blender {environment.blender} on Python {environment.python} in {environment.directory}")
        out.show(f"use it: blendwright run PLAN --blender {environment.name}", "dim")

    return present(json, lambda: {"ok": True, "added": added.made, "blender": environment.to_json()}, show)


@blender_app.command("remove")
def remove_command(
    name: Annotated[str, typer.Argument(metavar="NAME", help="As `blendwright blender list` shows it.")],
    json: AsJson = False,
) -> int:
    """Remove an environment that was added. An installed Blender itself stays as it is."""
    removed = blenders.remove_blender(name, progress=lambda line: notes().show(line, "dim"))
    return present(json, lambda: {"ok": True, "removed": removed.name}, lambda out: out.show(f"removed {removed.name}"))
