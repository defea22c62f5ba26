"""Serving one workspace: the desk, the service and a transport, put together and taken apart again."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from pathlib import Path

import anyio

import blendwright
from blendwright.macros import load_macros
from blendwright.server.answers import Envelope
from blendwright.server.context import ServerContext
from blendwright.server.early import wire
from blendwright.server.jobs import Jobs
from blendwright.server.service import Service
from blendwright.server.stopping import Stop, heeding_signals
from blendwright.server.workspace_queue import WorkspaceQueue
from blendwright.tools import catalog


@dataclass(frozen=True, slots=True)
class Settings:
    """How to serve. `address` is None for stdio, `roots` for those of the policy."""

    workspace: Path
    blender: str | None = None
    roots: tuple[str, ...] | None = None
    direct: bool = False
    envelope: Envelope = "tool_result"
    address: tuple[str, int] | None = None
    token: str = ""


@contextlib.asynccontextmanager
async def serving(settings: Settings) -> AsyncGenerator[Service]:
    """A service that can be given to a transport; the workspace is closed at the end, whatever is running stopped cleanly."""
    desk = WorkspaceQueue(lambda: blendwright.open(settings.workspace, blender=settings.blender, roots=settings.roots))
    place, tools = settings.workspace.resolve(), catalog.tools()
    house = ServerContext(place, desk, tools, load_macros(place, tools), Jobs(), settings.blender)
    desk.start()
    try:
        yield Service(house, version=blendwright.__version__, envelope=settings.envelope, direct=settings.direct)
    finally:
        # Not awaited: whatever is cancelled meanwhile, this comes to its end. Nobody is served any more who would be kept waiting.
        desk.close()


async def serve(settings: Settings) -> signal.Signals | None:
    """Serve until the host leaves or a signal asks to end; returns that signal."""
    with heeding_signals() as stop:
        await _serve(settings, stop)
    return stop.heard


async def _serve(settings: Settings, stop: Stop) -> None:
    async with serving(settings) as service:
        if settings.address is None:
            from blendwright.server.stdio import serve_stdio

            with wire() as opened, anyio.CancelScope() as scope:
                stop.by(scope.cancel)
                await serve_stdio(service.server, opened)
        else:
            from blendwright.server.http import serve_http

            await serve_http(service.server, settings.token, *settings.address, stop)
