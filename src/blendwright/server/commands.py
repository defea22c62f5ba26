"""blendwright serve: the MCP server."""

from __future__ import annotations

import json
import os
import secrets
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import anyio
import typer

from blendwright.capabilities import Point
from blendwright.cli.options import Attach, Blender, MinimumDeterminism, Workspace
from blendwright.cli.output import Exit, notes
from blendwright.policy.host_profile import EnvelopeName, HostLimits, HostStatement, Verification
from blendwright.values.errors import Refusal
from blendwright.values.faults import Fault
from blendwright.workspace.contracts import read_host_profile
from blendwright.workspace.policy_files import FILE as POLICY
from blendwright.workspace.scene_hosts import AttachedWindow, require_window_capability

if TYPE_CHECKING:
    from blendwright.server.serve import Settings
    from blendwright.server.transport.call_log import CallEnded

TOKEN = "BLENDWRIGHT_TOKEN"
# The console offers to run beside a server: a function that adds itself to the settings.
COMPANION: Point[Callable[[Settings], Settings]] = Point("server.companion")


def serve(
    workspace: Workspace = ".blendwright",
    blender: Blender = None,
    attach: Attach = None,
    http: Annotated[
        str | None, typer.Option("--http", metavar="HOST:PORT", help="Streamable HTTP there, instead of stdio.")
    ] = None,
    token: Annotated[
        str | None,
        typer.Option("--token", metavar="TOKEN", help=f"The bearer token of HTTP; or {TOKEN}; made up otherwise."),
    ] = None,
    tools: Annotated[
        Literal["plans", "direct"], typer.Option("--tools", help="direct adds every tool of the catalogue.")
    ] = "plans",
    root: Annotated[
        list[str] | None,
        typer.Option(
            "--root",
            metavar="DIR",
            help="Files may be read and written here, instead of where the policy says; repeatable.",
        ),
    ] = None,
    directory: Annotated[
        Path | None,
        typer.Option(
            "--directory", metavar="DIR", help="Relative paths and roots start here, wherever the host starts us."
        ),
    ] = None,
    host_profile: Annotated[
        Path | None,
        typer.Option(
            "--host-profile", metavar="FILE", help="What hosts can take, as JSON, where they cannot say it themselves."
        ),
    ] = None,
    payload_bytes: Annotated[
        int | None, typer.Option("--payload-bytes", metavar="N", help="The largest message.", min=1024)
    ] = None,
    call_seconds: Annotated[
        float | None, typer.Option("--call-seconds", metavar="S", help="How long a host waits.", min=0.001)
    ] = None,
    streaming: Annotated[
        bool | None, typer.Option("--streaming/--no-streaming", help="Progress while a call runs.")
    ] = None,
    cancellation: Annotated[
        bool | None, typer.Option("--cancellation/--no-cancellation", help="Whether hosts call calls off.")
    ] = None,
    envelope: Annotated[EnvelopeName | None, typer.Option("--envelope", help="The form of results.")] = None,
    determinism: MinimumDeterminism = None,
    verification: Annotated[
        Verification | None, typer.Option("--verification", help="Whose results are read back.")
    ] = None,
    ui: Annotated[
        bool, typer.Option("--ui", help="The console beside it, on loopback; its link goes to standard error.")
    ] = False,
) -> int:
    """Serve a workspace to a language-model host: over stdio, or over HTTP with a bearer token."""
    from blendwright.server.serve import Settings, Watch
    from blendwright.server.serve import serve as run

    if directory is not None:
        _change_directory(directory)
    if host_profile is None:
        statements = []
    else:
        statements = [HostStatement("host profile", read_host_profile(host_profile))]
    flags = HostLimits(
        payload_bytes=payload_bytes,
        call_seconds=call_seconds,
        streaming=streaming,
        cancellation=cancellation,
        envelope=envelope,
        determinism=determinism,
        verification=verification,
    )
    if flags != HostLimits():
        statements.append(HostStatement("flag", flags))
    if http is None:
        address = None
    else:
        address = address_of(http)
    bearer_token = token or os.environ.get(TOKEN) or ""
    made_up = ""
    if address is not None and not bearer_token:
        bearer_token = made_up = secrets.token_urlsafe(24)
    settings = Settings(
        workspace=Path(workspace),
        blender=blender,
        roots=tuple(root) if root else None,
        direct=tools == "direct",
        statements=tuple(statements),
        address=address,
        token=bearer_token,
        watch=Watch(
            on_new_workspace=lambda made: notes().show(f"new workspace {made}, with {POLICY} to edit"),
            on_listening=lambda where: _show_address(where, made_up),
            on_call=_show_call if address is not None and sys.stderr.isatty() else None,
        ),
    )
    if ui:
        companion = COMPANION.offer()
        if companion is None:
            raise Refusal.of(Fault.ARGS_INVALID, "this installation has no console", "Leave --ui out.")
        settings = companion(settings)
    if attach is not None:
        window = require_window_capability("--attach needs a window")
        _show_attached(window.attach_if_open(workspace, attach, blender=blender))
    stopped = anyio.run(run, settings)
    if stopped is signal.SIGINT:
        return Exit.INTERRUPTED
    return Exit.DONE


def _show_attached(attached: AttachedWindow | None) -> None:
    if attached is None:
        notes().show("no window is open: working headless")
    else:
        notes().show(f"attached to {attached.name}")


def _show_address(address: tuple[str, int], made_up: str) -> None:
    """Where the server listens, and what a host needs to use it. A token that its user gave is theirs to know; one that was made up is
    shown once, and the entry of the host names the variable that holds it."""
    out, url = notes(), f"http://{address[0]}:{address[1]}/mcp"
    out.show(f"serving {url}")
    if made_up:
        out.labelled("bearer token (shown once):", made_up, "", text_style="bold")
    out.show(f"for a host that speaks HTTP, with the token in {TOKEN}:")
    headers = {"Authorization": f"Bearer ${{{TOKEN}}}"}
    out.show("  " + json.dumps({"mcpServers": {"blendwright": {"type": "http", "url": url, "headers": headers}}}))


def _show_call(ended: CallEnded) -> None:
    notes().show(f"{time.strftime('%H:%M:%S')}  {ended.line()}", "" if ended.ok else "red")


def _change_directory(directory: Path) -> None:
    try:
        os.chdir(directory)
    except OSError as error:
        message = f"{directory} cannot be worked in: {error.strerror}"
        raise Refusal.of(Fault.ARGS_INVALID, message, "Name a directory that is there.") from error


def address_of(text: str) -> tuple[str, int]:
    """Where to listen. A host of IPv6 is in brackets, as in an address on the web."""
    host, colon, port = text.rpartition(":")
    if ":" in host and not host.startswith("["):
        host = f"[{host}]"
    if not colon or not host or not port.isdecimal() or not 0 < int(port) < 65536:
        raise Refusal.of(Fault.ARGS_INVALID, f"'{text}' is not HOST:PORT", "For example: --http 127.0.0.1:8000")
    return host, int(port)
