"""Functions that run a console: alone until a signal stops it, or next to a server that holds the workspace."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import AsyncGenerator, Callable, Hashable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TextIO

from blendwright.console.application import Console, address_of
from blendwright.console.sections import BATCHES, BatchSection, OpenBatches
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
    """The settings of a console. `any_address` confirms a host that other machines can reach. `on_link` receives every new link."""

    workspaces: tuple[Path, ...]
    batches: tuple[Path, ...] = ()
    engine: str | None = None
    """The address of a fleet's database, whose batches the console shows: all of them, or those in `places`."""
    places: tuple[str, ...] = ()
    host: str = "127.0.0.1"
    port: int = 0
    read_only: bool = False
    any_address: bool = False
    blender: str | None = None
    on_link: OnLink = lambda _: None
    window_key: str | None = field(default=None, repr=False)
    """The key with which the Blender window of this process may request links."""


def make_console(settings: ConsoleSettings, acting: Acting | None = None) -> Console:
    """Return a console with these settings.

    Raise Refusal for a reachable host without `any_address`, a location that occurs twice, or a missing batch. Raise EnvironmentUnfit for
    a missing workspace, or if the database of a fleet does not answer."""
    if settings.host not in LOOPBACK and not settings.any_address:
        message = f"other machines can reach {settings.host}, and the console does not encrypt its traffic"
        fix = "Leave out --host, or confirm it with --any-address."
        raise Refusal.of(Fault.POLICY_BLOCKED, message, fix)

    directories = [workspace_directory(path) for path in settings.workspaces]
    for directory in directories:
        if acting is None and not is_workspace(directory):
            fix = "Choose another directory, or create a workspace: blendwright new."
            raise EnvironmentUnfit(f"{directory} is not a workspace", cure=fix)

    section: BatchSection | None = None
    identities: list[Hashable] = [*directories, *settings.places]
    if settings.batches or settings.places or settings.engine:
        section = batch_section()
        identities += [section.identity(path) for path in settings.batches]
    if len(set(identities)) != len(identities):
        raise Refusal.of(Fault.ARGS_INVALID, "a workspace or batch occurs twice", "Name each one once.")

    batches: OpenBatches | None = None
    if section is not None:
        batches = section.open(settings.batches, settings.engine, settings.places)
    workspaces = [ConsoleWorkspace(path, blender=settings.blender, acting=acting) for path in directories]
    return Console(
        workspaces,
        batches,
        settings.host,
        settings.port,
        read_only=settings.read_only,
        window_key=settings.window_key,
    )


def batch_section() -> BatchSection:
    """Return the batch section of the console. Raise Refusal if the package for batches is not installed."""
    section = BATCHES.offer()
    if section is None:
        message = "this installation has no batches"
        raise Refusal.of(Fault.ARGS_INVALID, message, "Leave out --batch and --engine.")
    return section


async def serve_console(settings: ConsoleSettings, *, again: TextIO | None = None) -> signal.Signals | None:
    """Serve until a signal requests the end, and return that signal. Every line on `again`, a terminal, prints another link."""
    settings = with_port(settings)
    console = make_console(settings)

    def show_link(_: object = None) -> None:
        settings.on_link(console.new_link())

    if again is not None:
        _on_lines(again, show_link)
    with shutdown_on_signals() as shutdown:
        try:
            await listen(
                console.application,
                settings.host,
                settings.port,
                shutdown.on_request,
                on_listening=show_link,
                on_end=console.live.close,
            )
        finally:
            console.close()
    return shutdown.signal


def with_port(settings: ConsoleSettings) -> ConsoleSettings:
    """Return settings with a free port instead of 0, because the page must know its address before it is served."""
    if settings.port:
        return settings
    return replace(settings, port=free_port(settings.host))


def door_of(settings: ConsoleSettings) -> ConsoleDoor | None:
    """Return the address and key with which a window opens this console, or None without a key. The settings must have a port."""
    if settings.window_key is None:
        return None
    return ConsoleDoor(address_of(settings.host, settings.port), settings.window_key)


def _on_lines(source: TextIO, on_line: Callable[[], None]) -> None:
    """Call `on_line` for every line of `source` until it ends."""
    loop = asyncio.get_running_loop()

    def read() -> None:
        if source.readline():
            on_line()
        else:
            loop.remove_reader(source)

    with contextlib.suppress(OSError, NotImplementedError):  # not a terminal, or a system that cannot watch one
        loop.add_reader(source, read)


@contextlib.asynccontextmanager
async def console_beside(settings: ConsoleSettings, acting: Acting) -> AsyncGenerator[None]:
    """Run a console while the context is active, in a process that holds the workspace. `acting` performs the person's actions."""
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
