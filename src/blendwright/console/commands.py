"""The command `blendwright ui`, and the console next to a server."""

from __future__ import annotations

import contextlib
import secrets
import signal
import sys
import webbrowser
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import anyio
import typer

from blendwright.cli.options import Blender, FleetEngine
from blendwright.cli.output import Exit, notes
from blendwright.console.sections import BATCHES
from blendwright.console.serve import ConsoleSettings, console_beside, door_of, serve_console, with_port
from blendwright.util.cancel import CancelToken
from blendwright.values.errors import Refusal
from blendwright.values.faults import Fault
from blendwright.workspace.opening import DEFAULT_WORKSPACE

if TYPE_CHECKING:
    from blendwright.server.serve import Settings
    from blendwright.server.workspace_queue import WorkspaceQueue

CLIENT = "console"


def ui(
    workspaces: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="DIR",
            help=f"Workspaces and batch directories to show; by default {DEFAULT_WORKSPACE}.",
        ),
    ] = None,
    batch: Annotated[
        list[str] | None, typer.Option("--batch", metavar="DIR|URL", help="Show this batch, too; repeatable.")
    ] = None,
    engine: FleetEngine = None,
    port: Annotated[
        int, typer.Option("--port", metavar="N", help="The port to listen on; by default a free one.", min=0, max=65535)
    ] = 0,
    host: Annotated[
        str, typer.Option("--host", metavar="HOST", help="The host name or address to listen on.")
    ] = "127.0.0.1",
    any_address: Annotated[
        bool,
        typer.Option("--any-address", help="Allow a --host that other machines can reach. Traffic is not encrypted."),
    ] = False,
    read_only: Annotated[bool, typer.Option("--read-only", help="Show everything, but allow no actions.")] = False,
    open: Annotated[
        bool | None,
        typer.Option("--open/--no-open", help="Open the page in the browser, or not; by default only at a terminal."),
    ] = None,
    blender: Blender = None,
) -> int:
    """Open the console, a page on this machine in which you watch, approve, undo and prove runs and batches.

    With --engine it shows the batches of a fleet: all in that database, or those whose URLs you name.
    Each link works once. Press Enter for another link, or Ctrl-C to stop the console."""
    at_terminal = sys.stdin.isatty() and sys.stderr.isatty()
    opens = open
    if opens is None:
        opens = at_terminal
    on_link = _link_shower(opens=opens, hint="Press Enter for another link, Ctrl-C to stop the console.")
    settings = replace(
        _shown_locations(workspaces or [], batch or [], engine),
        host=host,
        port=port,
        read_only=read_only,
        any_address=any_address,
        blender=blender,
        on_link=on_link,
    )

    async def run() -> signal.Signals | None:
        lines = None
        if at_terminal:
            lines = sys.stdin
        return await serve_console(settings, again=lines)

    if anyio.run(run) is signal.SIGINT:
        return Exit.INTERRUPTED
    return Exit.DONE


def _shown_locations(workspaces: list[str], batches: list[str], engine: str | None) -> ConsoleSettings:
    """Return settings with the workspaces, batch directories and fleet outputs that the arguments name. Raise Refusal."""
    if not (workspaces or batches or engine):
        workspaces = [DEFAULT_WORKSPACE]
    section = BATCHES.offer()
    workspace_paths: list[Path] = []
    batch_paths: list[Path] = []
    fleet_outputs: list[str] = []
    for name in workspaces:
        if section is not None and section.is_shared(name):
            fleet_outputs.append(name)
        elif section is not None and section.is_batch(Path(name)):
            batch_paths.append(Path(name))
        else:
            workspace_paths.append(Path(name))
    for name in batches:
        if section is not None and section.is_shared(name):
            fleet_outputs.append(name)
        else:
            batch_paths.append(Path(name))

    if fleet_outputs and engine is None:
        fix = "Name the database that has its results: --engine env, or --engine postgres://user@host/database."
        raise Refusal.of(Fault.ARGS_INVALID, f"{fleet_outputs[0]} is the output location of a fleet", fix)
    return ConsoleSettings(tuple(workspace_paths), tuple(batch_paths), engine, tuple(fleet_outputs))


def with_console(settings: Settings) -> Settings:
    """Return server settings that add a console. Actions on the page wait their turn among the clients, and a window can open the page."""
    show_link, key = _link_shower(opens=False, hint=""), secrets.token_urlsafe(32)
    console = with_port(
        ConsoleSettings((settings.workspace,), blender=settings.blender, on_link=show_link, window_key=key)
    )

    def run(queue: WorkspaceQueue) -> contextlib.AbstractAsyncContextManager[None]:
        return console_beside(console, lambda work: queue.submit(CLIENT, work, CancelToken()).result())

    return replace(settings, beside=run, console=door_of(console))


def _link_shower(*, opens: bool, hint: str) -> Callable[[str], None]:
    """Return a function that prints a link. For the first link, it also prints the hint and opens the browser if `opens` is true."""
    shown = False

    def show(link: str) -> None:
        nonlocal shown
        out = notes()
        out.labelled("console (this link works once):", link, "", text_style="bold")
        if not shown and hint:
            out.show(hint, "dim")
        if opens and not shown:
            with contextlib.suppress(webbrowser.Error):
                webbrowser.open(link)
        shown = True

    return show
