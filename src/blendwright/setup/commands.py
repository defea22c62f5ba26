"""The commands `blendwright doctor`, `init-host` and `blender`, which check and set up this machine."""

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

blender_app = typer.Typer(help="List, add and remove the Blenders of this machine.", no_args_is_help=True)


@blender_app.command("list")
def list_command(json: AsJson = False) -> int:
    """List the installed Blenders, and the Blenders that can be added."""
    rows = blenders.list_blenders()
    return present(json, lambda: {"ok": True, "blenders": rows}, lambda out: _show(out, rows))


def _show(out: SafeConsole, rows: list[blenders.ListedBlender]) -> None:
    cells: list[tuple[Cell, ...]] = []
    for row in rows:
        mark = ""
        if row.default:
            mark = "*"
        cells.append(
            (
                (mark, "bold green"),
                (row.name, "bold"),
                f"Blender {row.blender}",
                f"Python {row.python}",
                (row.standing, STYLES[row.standing]),
                (row.cure or row.place or "", "dim"),
            )
        )
    out.columns(cells)


@blender_app.command("add")
def add_command(
    what: Annotated[
        str, typer.Argument(metavar="VERSION|PATH", help="A version such as 5.2, or the path of an installed Blender.")
    ],
    name: Annotated[
        str | None, typer.Option("--name", metavar="NAME", help="A name for this Blender; by default its version.")
    ] = None,
    python: Annotated[
        str | None, typer.Option("--python", metavar="PATH", help="Create the environment with this Python.")
    ] = None,
    again: Annotated[
        bool, typer.Option("--again", help="Create the environment again, even if it already works.")
    ] = False,
    json: AsJson = False,
) -> int:
    """Create an environment for a Blender in your data directory, or prepare an installed Blender; --blender then accepts its name."""
    added = blenders.add_blender(
        what, progress=lambda line: notes().show(line, "dim"), name=name, python=python, again=again
    )
    environment = added.environment

    def show(out: SafeConsole) -> None:
        if added.is_new:
            verb = "added"
        else:
            verb = "already exists:"
        out.show(f"{verb} Blender {environment.blender} on Python {environment.python} in {environment.directory}")
        out.show(f"use it: blendwright run PLAN --blender {environment.name}", "dim")

    return present(json, lambda: {"ok": True, "added": added.is_new, "blender": environment.to_json()}, show)


@blender_app.command("remove")
def remove_command(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The name that `blendwright blender list` shows.")],
    json: AsJson = False,
) -> int:
    """Remove an environment that Blendwright added. An installed Blender itself stays unchanged."""
    removed = blenders.remove_blender(name, progress=lambda line: notes().show(line, "dim"))
    return present(json, lambda: {"ok": True, "removed": removed.name}, lambda out: out.show(f"removed {removed.name}"))


def init_host(
    name: Annotated[
        str, typer.Argument(metavar="HOST", help=f"One of: {', '.join(HOSTS)}.", autocompletion=lambda: HOSTS)
    ],
    workspace: Workspace = ".blendwright",
    scope: Annotated[
        Scope, typer.Option("--scope", help="Write the user's configuration, or the one of this project.")
    ] = "user",
    replace: Annotated[bool, typer.Option("--replace", help="Replace an existing blendwright entry.")] = False,
    print_only: Annotated[bool, typer.Option("--print", help="Print the entry and write no file.")] = False,
    attach: Attach = None,
    json: AsJson = False,
) -> int:
    """Configure a language-model host to start our server. The rest of its configuration stays unchanged."""
    host = host_named(name)
    ours = entry(host, Path(workspace), attach)
    document = {"ok": True, "host": name, "entry": ours}
    if print_only:
        text = snippet(host, ours)

        def show_text(_: SafeConsole) -> None:
            # Without styles, because the user may redirect it into a file.
            sys.stdout.write(text)

        return present(json, lambda: document | {"written": False, "text": text}, show_text)
    file = host.file(scope, home=home_directory(), project=Path.cwd())
    written = install(host, file, ours, replace=replace)

    def show(out: SafeConsole) -> None:
        if written:
            out.show(f"wrote {file}")
        else:
            out.show(f"already up to date: {file}")
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
    """Check that Blendwright can work here; prints each problem with its fix."""
    from blendwright.cli.progress import waiting  # imported here, because the start of a server does not need it

    with waiting("checking, and starting a Blender", show=not json):
        checks = check_environment(blender)
        if host is not None:
            checks += check_host(host)
    fit = all(check.ok or not check.required for check in checks)
    if fit:
        exit_code = Exit.DONE
    else:
        exit_code = Exit.UNFIT
    return present(
        json,
        lambda: {"ok": fit, "checks": [check.to_json() for check in checks]},
        lambda out: _show_checks(out, checks, fit),
        exit_code,
    )


def _show_checks(out: SafeConsole, checks: list[Check], fit: bool) -> None:
    rows: list[tuple[Cell, ...]] = []
    for check in checks:
        if check.ok:
            label = ("ok", "green")
        elif check.required:
            label = ("missing", "red")
        else:
            label = ("note", "yellow")
        rows.append((label, (check.name, "bold"), check.found))
        if check.cure and not check.ok:
            rows.append(("", "", check.cure))
    out.columns(rows)
    if fit:
        out.show("ready")
    else:
        out.show("not ready: fix what is missing above")
