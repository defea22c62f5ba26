"""Serving one workspace: its queue, the service and a transport, put together and taken apart again."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass
from pathlib import Path

import anyio

import blendwright
from blendwright.macros import load_macros
from blendwright.policy.host_profile import HostStatement
from blendwright.policy.policy import Costs
from blendwright.server.context import Jobs, ServerContext
from blendwright.server.service import Service
from blendwright.server.transport.call_log import OnCall
from blendwright.server.workspace_queue import WorkspaceQueue
from blendwright.tools import catalog
from blendwright.values.errors import Refusal
from blendwright.web.shutdown import shutdown_on_signals
from blendwright.wire.console_door import ConsoleDoor
from blendwright.workspace.locations import is_workspace
from blendwright.workspace.open_scene import OpenScene
from blendwright.workspace.opening import create_workspace
from blendwright.workspace.ownership import require_own_directory
from blendwright.workspace.policy_files import load_policy


def _ignore(_: object) -> None:
    """For whoever does not want to be told."""


@dataclass(frozen=True, slots=True)
class Watch:
    """What a person at a terminal is told. `on_call` is None where nobody looks."""

    on_new_workspace: Callable[[Path], None] = _ignore
    on_listening: Callable[[tuple[str, int]], None] = _ignore
    on_call: OnCall | None = None


@dataclass(frozen=True, slots=True)
class Settings:
    """How to serve. `address` is None for stdio, `roots` for those of the policy."""

    workspace: Path
    blender: str | None = None
    roots: tuple[str, ...] | None = None
    direct: bool = False
    statements: tuple[HostStatement, ...] = ()
    """What is known about hosts before one says anything."""
    address: tuple[str, int] | None = None
    token: str = ""
    watch: Watch = Watch()
    beside: Callable[[WorkspaceQueue], contextlib.AbstractAsyncContextManager[None]] | None = None
    """What runs along as long as the workspace is served, with its queue: a console."""
    console: ConsoleDoor | None = None
    """How a window that is attached gets into that console."""


@contextlib.asynccontextmanager
async def serving(settings: Settings) -> AsyncGenerator[Service]:
    """A service that can be given to a transport; the workspace is closed at the end, whatever is running stopped cleanly."""
    queue = WorkspaceQueue(lambda: open_or_create(settings))
    workspace, tools = settings.workspace.resolve(), catalog.tools()
    if not is_workspace(workspace):
        require_own_directory(workspace, f"no workspace is made in {workspace}")
    context = ServerContext(
        workspace,
        queue,
        tools,
        load_macros(workspace, tools),
        Jobs(),
        settings.blender,
        settings.statements,
        roots=settings.roots,
        costs=policy_costs(workspace),
    )
    queue.start()
    try:
        service = Service(
            context, version=blendwright.__version__, direct=settings.direct, on_call=settings.watch.on_call
        )
        async with contextlib.nullcontext() if settings.beside is None else settings.beside(queue):
            yield service
    finally:
        # Not awaited: whatever is cancelled meanwhile, this finishes. Nobody is served any more who would be kept waiting.
        queue.close()
        context.scene_files.close()


def open_or_create(settings: Settings) -> OpenScene:
    """The workspace, made with its policy file where there is none, as `blendwright new` makes it."""
    if not is_workspace(settings.workspace):
        made = create_workspace(settings.workspace, blender=settings.blender)
        settings.watch.on_new_workspace(made.directory)
    return blendwright.open(
        settings.workspace, blender=settings.blender, roots=settings.roots, console=settings.console
    )


def policy_costs(workspace: Path) -> Costs:
    """What work may cost here; the usual where the policy cannot be read, which every call will say."""
    try:
        return load_policy(workspace).policy.constraints
    except Refusal:
        return Costs()


async def serve(settings: Settings) -> signal.Signals | None:
    """Serve until the host leaves or a signal asks to end; returns that signal."""
    with shutdown_on_signals() as shutdown:
        if settings.address is None:
            from blendwright.server.transport.stdio import serve_stdio, take_over_stdio

            # First of all, so that nothing that is opened next can write between the messages.
            with take_over_stdio() as connection:
                async with serving(settings) as service:
                    with anyio.CancelScope() as scope:
                        shutdown.on_request(scope.cancel)
                        await serve_stdio(service.server, connection)
        else:
            from blendwright.server.transport.http import serve_http

            async with serving(settings) as service:
                await serve_http(
                    service.server,
                    settings.token,
                    *settings.address,
                    shutdown.on_request,
                    on_listening=settings.watch.on_listening,
                )
    return shutdown.signal
