"""blendwright doctor, init-host and blender: what this machine has, and setting it up."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from blendwright.cli.options import AsJson, Attach, Blender, Workspace
from blendwright.cli.output import Cell, Exit, SafeConsole, notes, present
from blendwright.setup import blenders
from blendwright.setup.doctor import Check, check_environment, check_host
from blendwright.setup.hosts import HOSTS, Scope, entry, host_named, install, snippet
from blendwright.workspace.locations import home_directory

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
        if added.made:
            word = "added"
        else:
            word = "was there already:"
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


def init_host(
    name: Annotated[
        str, typer.Argument(metavar="HOST", help=f"One of: {', '.join(HOSTS)}.", autocompletion=lambda: HOSTS)
    ],
    workspace: Workspace = ".blendwright",
    scope: Annotated[Scope, typer.Option("--scope", help="For this user everywhere, or for this project.")] = "user",
    replace: Annotated[bool, typer.Option("--replace", help="Replace an entry of ours that differs.")] = False,
    print_only: Annotated[bool, typer.Option("--print", help="Only print what to write into its file.")] = False,
    attach: Attach = None,
    json: AsJson = False,
) -> int:
    """Configure a host to start our server. Everything else in its configuration stays as it is."""
    host = host_named(name)
    ours = entry(host, Path(workspace), attach)
    document = {"ok": True, "host": name, "entry": ours}
    if print_only:
        text = snippet(host, ours)

        def show_text(_: SafeConsole) -> None:
            # As it is: it may be sent into a file.
            sys.stdout.write(text)

        return present(json, lambda: document | {"written": False, "text": text}, show_text)
    file = host.file(scope, home=home_directory(), project=Path.cwd())
    written = install(host, file, ours, replace=replace)

    def show(out: SafeConsole) -> None:
        out.show(f"{'wrote' if written else 'was there already:'} {file}")
        out.show(f"check it: blendwright doctor --host {name}", "dim")

    return present(json, lambda: document | {"file": str(file), "written": written}, show)


def doctor(
    blender: Blender = None,
    host: Annotated[
        str | None,
        typer.Option(
            "--host",
            metavar="HOST",
            help="Also check the set-up of this language-model host.",
            autocompletion=lambda: HOSTS,
        ),
    ] = None,
    json: AsJson = False,
) -> int:
    """Check that Blendwright can work here; says what is missing and how to get it."""
    from blendwright.cli.progress import waiting  # not above: a server that starts has no use for it

    with waiting("looking, and starting a Blender", show=not json):
        checks = [*check_environment(blender), *([] if host is None else check_host(host))]
    fit = all(check.ok or not check.required for check in checks)
    return present(
        json,
        lambda: {"ok": fit, "checks": [check.to_json() for check in checks]},
        lambda out: _show_checks(out, checks, fit),
        Exit.DONE if fit else Exit.UNFIT,
    )


def _show_checks(out: SafeConsole, checks: list[Check], fit: bool) -> None:
    rows: list[tuple[Cell, ...]] = []
    for check in checks:
        if check.ok:
            word = ("ok", "green")
        elif check.required:
            word = ("missing", "red")
        else:
            word = ("note", "yellow")
        rows.append((word, (check.name, "bold"), check.found))
        if check.cure and not check.ok:
            rows.append(("", "", check.cure))
    out.columns(rows)
    out.show("ready" if fit else "not ready: see what is missing above")
