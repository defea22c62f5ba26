"""blendwright ui: the console, by itself or beside a server."""

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
            help=f"The workspaces to show, and what `batch run` had as --out; {DEFAULT_WORKSPACE} otherwise.",
        ),
    ] = None,
    batch: Annotated[
        list[str] | None, typer.Option("--batch", metavar="DIR|URL", help="Show this batch too; may be repeated.")
    ] = None,
    engine: FleetEngine = None,
    port: Annotated[
        int, typer.Option("--port", metavar="N", help="The port to listen on; a free one otherwise.", min=0, max=65535)
    ] = 0,
    host: Annotated[str, typer.Option("--host", metavar="HOST", help="Where to listen.")] = "127.0.0.1",
    any_address: Annotated[
        bool,
        typer.Option("--any-address", help="Allow a --host that other machines can reach. There is no encryption."),
    ] = False,
    read_only: Annotated[bool, typer.Option("--read-only", help="Show everything, and do nothing.")] = False,
    open: Annotated[
        bool | None, typer.Option("--open/--no-open", help="Open the page in the browser; so it is at a terminal.")
    ] = None,
    blender: Blender = None,
) -> int:
    """Open the console: a page on this machine in which runs and batches are watched, approved, undone and proven.

    With --engine the batches of a fleet are shown: all in that database, or those that are named by their URL.
    The link is good once. Enter asks for another one, Ctrl-C ends the console."""
    at_terminal = sys.stdin.isatty() and sys.stderr.isatty()
    if open is None:
        opens = at_terminal
    else:
        opens = open
    section = BATCHES.offer()
    given = (*(workspaces or ()), *(batch or ()))
    if section is None:
        places = ()
    else:
        places = tuple(one for one in given if section.is_shared(one))
    if places and engine is None:
        cure = "Name the database that has its results: --engine env, or --engine postgres://user@host/database."
        raise Refusal.of(Fault.ARGS_INVALID, f"{places[0]} is a place of outputs of a fleet", cure)
    named = [Path(one) for one in workspaces or ([] if batch or engine else [DEFAULT_WORKSPACE]) if one not in places]
    if section is None:
        recognised = []
    else:
        recognised = [path for path in named if section.is_batch(path)]
    settings = ConsoleSettings(
        tuple(path for path in named if path not in recognised),
        (*recognised, *(Path(one) for one in batch or () if one not in places)),
        engine,
        places,
        host=host,
        port=port,
        read_only=read_only,
        any_address=any_address,
        blender=blender,
        on_link=_link_shower(opens=opens, hint="Enter makes another link, Ctrl-C ends the console."),
    )

    async def run() -> signal.Signals | None:
        return await serve_console(settings, again=sys.stdin if at_terminal else None)

    if anyio.run(run) is signal.SIGINT:
        return Exit.INTERRUPTED
    return Exit.DONE


def with_console(settings: Settings) -> Settings:
    """A server with a console beside it: what a person does there takes its turn among the clients, and a window gets into it."""
    show, key = _link_shower(opens=False, hint=""), secrets.token_urlsafe(32)
    shown = with_port(ConsoleSettings((settings.workspace,), blender=settings.blender, on_link=show, window_key=key))

    def run(queue: WorkspaceQueue) -> contextlib.AbstractAsyncContextManager[None]:
        return console_beside(shown, lambda work: queue.submit(CLIENT, work, CancelToken()).result())

    return replace(settings, beside=run, console=door_of(shown))


def _link_shower(*, opens: bool, hint: str) -> Callable[[str], None]:
    shown = False

    def show(link: str) -> None:
        nonlocal shown
        out = notes()
        out.labelled("console (the link is good once):", link, "", text_style="bold")
        if not shown and hint:
            out.show(hint, "dim")
        if opens and not shown:
            with contextlib.suppress(webbrowser.Error):
                webbrowser.open(link)
        shown = True

    return show
