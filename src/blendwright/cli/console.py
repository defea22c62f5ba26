"""blendwright ui: the console, by itself or beside a server."""

from __future__ import annotations

import contextlib
import signal
import sys
import webbrowser
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import anyio

from blendwright.app.opening import DEFAULT_WORKSPACE
from blendwright.cli.options import Blender
from blendwright.cli.output import Exit, notes
from blendwright.cli.parameters import argument, option
from blendwright.console.serve import ConsoleSettings, console_beside, serve_console
from blendwright.values.cancel import CancelToken

if TYPE_CHECKING:
    from blendwright.server.workspace_queue import WorkspaceQueue

CLIENT = "console"


def ui(
    workspaces: Annotated[
        list[str] | None, argument("WORKSPACE", f"The workspaces to show; {DEFAULT_WORKSPACE} otherwise.")
    ] = None,
    port: Annotated[int, option("--port N", "The port to listen on; a free one otherwise.", min=0, max=65535)] = 0,
    host: Annotated[str, option("--host HOST", "Where to listen.")] = "127.0.0.1",
    any_address: Annotated[
        bool, option("--any-address", "Allow a --host that other machines can reach. There is no encryption.")
    ] = False,
    read_only: Annotated[bool, option("--read-only", "Show everything, and do nothing.")] = False,
    open: Annotated[
        bool | None, option("--open/--no-open", "Open the page in the browser; so it is at a terminal.")
    ] = None,
    blender: Blender = None,
) -> int:
    """Open the console: a page on this machine in which runs are watched, approved, undone and proven.

    The link is good once. Enter asks for another one, Ctrl-C ends the console."""
    at_terminal = sys.stdin.isatty() and sys.stderr.isatty()
    opens = at_terminal if open is None else open
    settings = ConsoleSettings(
        tuple(Path(one) for one in workspaces or [DEFAULT_WORKSPACE]),
        host=host,
        port=port,
        read_only=read_only,
        any_address=any_address,
        blender=blender,
        on_link=_link_shower(opens=opens, hint="Enter makes another link, Ctrl-C ends the console."),
    )

    async def run() -> signal.Signals | None:
        return await serve_console(settings, again=sys.stdin if at_terminal else None)

    return Exit.INTERRUPTED if anyio.run(run) is signal.SIGINT else Exit.DONE


def console_for(
    workspace: Path, blender: str | None
) -> Callable[[WorkspaceQueue], contextlib.AbstractAsyncContextManager[None]]:
    """A console beside a server: what a person does takes its turn among the clients."""

    def beside(queue: WorkspaceQueue) -> contextlib.AbstractAsyncContextManager[None]:
        settings = ConsoleSettings((workspace,), blender=blender, on_link=_link_shower(opens=False, hint=""))
        return console_beside(settings, lambda work: queue.submit(CLIENT, work, CancelToken()).result())

    return beside


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
