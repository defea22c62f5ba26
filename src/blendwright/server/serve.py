"""The composition of a server for one workspace: its queue, its service and a transport."""

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
    """Do nothing. The default of the callbacks in `Watch`."""


@dataclass(frozen=True, slots=True)
class Watch:
    """Callbacks for a person at a terminal. `on_call` is None when no person watches."""

    on_new_workspace: Callable[[Path], None] = _ignore
    on_listening: Callable[[tuple[str, int]], None] = _ignore
    on_call: OnCall | None = None


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of a server. `address` is None for stdio, `roots` is None for the roots of the policy."""

    workspace: Path
    blender: str | None = None
    roots: tuple[str, ...] | None = None
    direct: bool = False
    statements: tuple[HostStatement, ...] = ()
    """The limits of hosts from the command line and the host profile file."""
    address: tuple[str, int] | None = None
    token: str = ""
    watch: Watch = Watch()
    beside: Callable[[WorkspaceQueue], contextlib.AbstractAsyncContextManager[None]] | None = None
    """Starts a companion, such as the console, that runs while the workspace is served. It gets the queue."""
    console: ConsoleDoor | None = None
    """The address and token of that console for an attached window."""


@contextlib.asynccontextmanager
async def serving(settings: Settings) -> AsyncGenerator[Service]:
    """Yield a service for a transport. At the end, stop all running work cleanly and close the workspace."""
    queue = WorkspaceQueue(lambda: open_or_create(settings))
    workspace, tools = settings.workspace.resolve(), catalog.tools()
    if not is_workspace(workspace):
        require_own_directory(workspace, f"cannot create a workspace in {workspace}")
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
        # Close without awaiting, so that a cancellation cannot interrupt it. No client is served any more.
        queue.close()
        context.scene_files.close()


def open_or_create(settings: Settings) -> OpenScene:
    """Open the workspace. Create it with its policy file first if it does not exist, like `blendwright new`."""
    if not is_workspace(settings.workspace):
        created = create_workspace(settings.workspace, blender=settings.blender)
        settings.watch.on_new_workspace(created.directory)
    return blendwright.open(
        settings.workspace, blender=settings.blender, roots=settings.roots, console=settings.console
    )


def policy_costs(workspace: Path) -> Costs:
    """Return the limits of work from the policy, or the defaults if the policy cannot be read. In that case every
    call reports the problem.
    """
    try:
        return load_policy(workspace).policy.constraints
    except Refusal:
        return Costs()


async def serve(settings: Settings) -> signal.Signals | None:
    """Serve until the host disconnects or a signal requests shutdown. Return that signal, or None."""
    with shutdown_on_signals() as shutdown:
        if settings.address is None:
            from blendwright.server.transport.stdio import serve_stdio, take_over_stdio

            # Take over stdio first, so that nothing opened later can write between the messages.
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
