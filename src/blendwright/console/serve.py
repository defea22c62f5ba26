"""Running a console: by itself until a signal ends it, or beside a server that has the workspace."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TextIO

from blendwright.console.application import Console, address_of
from blendwright.console.sections import BATCHES, BatchSection
from blendwright.console.workspaces import Acting, ConsoleWorkspace
from blendwright.values.errors import EnvironmentUnfit, Refusal
from blendwright.values.faults import Fault
from blendwright.web.listening import free_port, listen
from blendwright.web.origins import LOOPBACK
from blendwright.web.shutdown import shutdown_on_signals
from blendwright.wire.console_door import ConsoleDoor
from blendwright.workspace.locations import is_workspace, workspace_directory

OnLink = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class ConsoleSettings:
    """`any_address`: a host that others can reach was asked for by name. `on_link` is told every link that is made."""

    workspaces: tuple[Path, ...]
    batches: tuple[Path, ...] = ()
    engine: str | None = None
    """The database of a fleet, whose batches are shown too: all of them, or those of `places`."""
    places: tuple[str, ...] = ()
    host: str = "127.0.0.1"
    port: int = 0
    read_only: bool = False
    any_address: bool = False
    blender: str | None = None
    on_link: OnLink = lambda _: None
    window_key: str | None = field(default=None, repr=False)
    """With which a window that is attached to this process may ask for links."""


def make_console(settings: ConsoleSettings, acting: Acting | None = None) -> Console:
    """Raises Refusal for a host that others can reach and nobody asked for, for the same place twice, and where there is no batch;
    EnvironmentUnfit where there is no workspace, or the database of a fleet does not answer."""
    if settings.host not in LOOPBACK and not settings.any_address:
        message = f"{settings.host} can be reached by others, and the console has no encryption of its own"
        cure = "Leave --host out, or give --any-address too where that is meant."
        raise Refusal.of(Fault.POLICY_BLOCKED, message, cure)
    directories = [workspace_directory(path) for path in settings.workspaces]
    if settings.batches or settings.places or settings.engine:
        section = batch_section()
    else:
        section = None
    for directory in directories:
        if acting is None and not is_workspace(directory):
            raise EnvironmentUnfit(
                f"{directory} is not a workspace", cure="Name another directory, or start one: blendwright new."
            )
    if section is None:
        batches = []
    else:
        batches = [section.identity(path) for path in settings.batches]
    named = [*directories, *batches, *settings.places]
    if len(set(named)) != len(named):
        raise Refusal.of(Fault.ARGS_INVALID, "a workspace or batch is named twice", "Name each once.")
    if section is None:
        shown = None
    else:
        shown = section.open(settings.batches, settings.engine, settings.places)
    workspaces = [ConsoleWorkspace(one, blender=settings.blender, acting=acting) for one in directories]
    return Console(
        workspaces,
        shown,
        settings.host,
        settings.port,
        read_only=settings.read_only,
        window_key=settings.window_key,
    )


def batch_section() -> BatchSection:
    """Raises Refusal where the package is not installed."""
    section = BATCHES.offer()
    if section is None:
        message = "this installation has no batches"
        raise Refusal.of(Fault.ARGS_INVALID, message, "Leave --batch and --engine out.")
    return section


async def serve_console(settings: ConsoleSettings, *, again: TextIO | None = None) -> signal.Signals | None:
    """Serve until a signal asks to end; returns that signal. A line on `again`, a terminal, asks for another link."""
    settings = with_port(settings)
    console = make_console(settings)

    def tell_link(_: object = None) -> None:
        settings.on_link(console.new_link())

    if again is not None:
        _on_lines(again, tell_link)
    with shutdown_on_signals() as shutdown:
        try:
            await listen(
                console.application,
                settings.host,
                settings.port,
                shutdown.on_request,
                on_listening=tell_link,
                on_end=console.live.close,
            )
        finally:
            console.close()
    return shutdown.signal


def with_port(settings: ConsoleSettings) -> ConsoleSettings:
    """The page knows its own address, so a port that may be any is chosen before."""
    if settings.port:
        return settings
    return replace(settings, port=free_port(settings.host))


def door_of(settings: ConsoleSettings) -> ConsoleDoor | None:
    """How a window gets into this console, whose port is chosen; None where no window may."""
    if settings.window_key is None:
        return None
    return ConsoleDoor(address_of(settings.host, settings.port), settings.window_key)


def _on_lines(source: TextIO, tell: Callable[[], None]) -> None:
    """Call something for every line that comes; a source that has ended is left alone."""
    loop = asyncio.get_running_loop()

    def read() -> None:
        if source.readline():
            tell()
        else:
            loop.remove_reader(source)

    with contextlib.suppress(OSError, NotImplementedError):  # what is no terminal, and systems without this
        loop.add_reader(source, read)


@contextlib.asynccontextmanager
async def console_beside(settings: ConsoleSettings, acting: Acting) -> AsyncGenerator[None]:
    """A console for as long as the context lasts, of a process that has the workspace itself: `acting` does what a person asks for."""
    settings = with_port(settings)
    console = make_console(settings, acting)
    ends: list[Callable[[], None]] = []
    listening = asyncio.ensure_future(
        listen(
            console.application,
            settings.host,
            settings.port,
            ends.append,
            on_listening=lambda _: settings.on_link(console.new_link()),
            on_end=console.live.close,
        )
    )
    try:
        yield
    finally:
        for end in ends:
            end()
        with contextlib.suppress(EnvironmentUnfit):
            await listening
        await asyncio.to_thread(console.close)
