"""The command `blendwright serve`, which starts the MCP server."""

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
# The capability `console` provides a function that adds the console to the settings of a server.
COMPANION: Point[Callable[[Settings], Settings]] = Point("server.companion")


def serve(
    workspace: Workspace = ".blendwright",
    blender: Blender = None,
    attach: Attach = None,
    http: Annotated[
        str | None,
        typer.Option("--http", metavar="HOST:PORT", help="Serve streamable HTTP on this address instead of stdio."),
    ] = None,
    token: Annotated[
        str | None,
        typer.Option(
            "--token",
            metavar="TOKEN",
            help=f"The bearer token for HTTP. The default is {TOKEN}, or a new random token.",
        ),
    ] = None,
    tools: Annotated[
        Literal["plans", "direct"], typer.Option("--tools", help="`direct` also offers every tool of the catalogue.")
    ] = "plans",
    root: Annotated[
        list[str] | None,
        typer.Option(
            "--root",
            metavar="DIR",
            help="Allow reading and writing files in DIR, instead of the roots of the policy. Repeatable.",
        ),
    ] = None,
    directory: Annotated[
        Path | None,
        typer.Option(
            "--directory",
            metavar="DIR",
            help="Resolve relative paths and roots from DIR, not from the current directory.",
        ),
    ] = None,
    host_profile: Annotated[
        Path | None,
        typer.Option(
            "--host-profile", metavar="FILE", help="A JSON file with the limits of hosts that do not report them."
        ),
    ] = None,
    payload_bytes: Annotated[
        int | None,
        typer.Option("--payload-bytes", metavar="N", help="The largest message that hosts accept.", min=1024),
    ] = None,
    call_seconds: Annotated[
        float | None,
        typer.Option("--call-seconds", metavar="S", help="The seconds that a host waits for an answer.", min=0.001),
    ] = None,
    streaming: Annotated[
        bool | None, typer.Option("--streaming/--no-streaming", help="Report progress while a call runs.")
    ] = None,
    cancellation: Annotated[
        bool | None, typer.Option("--cancellation/--no-cancellation", help="Whether hosts can cancel calls.")
    ] = None,
    envelope: Annotated[EnvelopeName | None, typer.Option("--envelope", help="The envelope of results.")] = None,
    determinism: MinimumDeterminism = None,
    verification: Annotated[
        Verification | None, typer.Option("--verification", help="The operations whose results Blendwright reads back.")
    ] = None,
    ui: Annotated[
        bool, typer.Option("--ui", help="Also serve the console on loopback. Its link is printed to standard error.")
    ] = False,
) -> int:
    """Serve a workspace to a language-model host: over stdio, or over HTTP with a bearer token."""
    from blendwright.server.serve import Settings, Watch
    from blendwright.server.serve import serve as run

    if directory is not None:
        _change_directory(directory)

    statements: list[HostStatement] = []
    if host_profile is not None:
        statements.append(HostStatement("host profile", read_host_profile(host_profile)))
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

    on_call = None
    if address is not None and sys.stderr.isatty():
        on_call = _show_call
    roots = None
    if root:
        roots = tuple(root)
    settings = Settings(
        workspace=Path(workspace),
        blender=blender,
        roots=roots,
        direct=tools == "direct",
        statements=tuple(statements),
        address=address,
        token=bearer_token,
        watch=Watch(
            on_new_workspace=lambda created: notes().show(
                f"created workspace {created}; edit {POLICY} to change its policy"
            ),
            on_listening=lambda where: _show_address(where, made_up),
            on_call=on_call,
        ),
    )
    if ui:
        companion = COMPANION.offer()
        if companion is None:
            raise Refusal.of(Fault.ARGS_INVALID, "this installation has no console", "Omit --ui.")
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
    """Show where the server listens and the configuration entry that a host needs.

    A generated token (`made_up`) is shown once. The configuration entry names the environment variable and never
    contains the token.
    """
    out = notes()
    url = f"http://{address[0]}:{address[1]}/mcp"
    out.show(f"serving {url}")
    if made_up:
        out.labelled("bearer token (shown once):", made_up, "", text_style="bold")
    out.show(f"configuration entry for a host that supports HTTP, with the token in {TOKEN}:")
    headers = {"Authorization": f"Bearer ${{{TOKEN}}}"}
    out.show("  " + json.dumps({"mcpServers": {"blendwright": {"type": "http", "url": url, "headers": headers}}}))


def _show_call(ended: CallEnded) -> None:
    style = "red"
    if ended.ok:
        style = ""
    notes().show(f"{time.strftime('%H:%M:%S')}  {ended.line()}", style)


def _change_directory(directory: Path) -> None:
    try:
        os.chdir(directory)
    except OSError as error:
        message = f"cannot change to the directory {directory}: {error.strerror}"
        raise Refusal.of(Fault.ARGS_INVALID, message, "Name an existing directory.") from error


def address_of(text: str) -> tuple[str, int]:
    """Return host and port from `HOST:PORT`. Put brackets around an IPv6 host, as in a URL.

    Raises Refusal when the text has another form.
    """
    host, colon, port = text.rpartition(":")
    if ":" in host and not host.startswith("["):
        host = f"[{host}]"
    if not colon or not host or not port.isdecimal() or not 0 < int(port) < 65536:
        raise Refusal.of(
            Fault.ARGS_INVALID,
            f"'{text}' is not HOST:PORT",
            "Give a host and a port, for example --http 127.0.0.1:8000.",
        )
    return host, int(port)
