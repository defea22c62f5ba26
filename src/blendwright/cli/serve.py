"""blendwright serve: the engine as an MCP server for language-model hosts."""

from __future__ import annotations

import os
import secrets
import signal
from pathlib import Path
from typing import Annotated, Literal

import anyio
import typer

from blendwright.cli.options import Blender, Workspace
from blendwright.cli.output import Exit, notes
from blendwright.values.errors import Refusal
from blendwright.values.faults import Fault

TOKEN = "BLENDWRIGHT_TOKEN"


def serve(
    workspace: Workspace = ".blendwright",
    blender: Blender = None,
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
    envelope: Annotated[
        Literal["tool_result", "core"], typer.Option("--envelope", help="The form of results.")
    ] = "tool_result",
) -> int:
    """Serve a workspace to a language-model host: over stdio, or over HTTP with a bearer token."""
    from blendwright.server.serve import Settings
    from blendwright.server.serve import serve as run

    if directory is not None:
        _change_directory(directory)
    address = None if http is None else address_of(http)
    bearer_token = token or os.environ.get(TOKEN) or ""
    if address is not None and not bearer_token:
        bearer_token = secrets.token_urlsafe(24)
        notes().labelled("bearer token (shown once):", bearer_token, "", text_style="bold")
    if address is not None:
        notes().show(f"serving http://{address[0]}:{address[1]}/mcp")
    settings = Settings(
        workspace=Path(workspace),
        blender=blender,
        roots=tuple(root) if root else None,
        direct=tools == "direct",
        envelope=envelope,
        address=address,
        token=bearer_token,
    )
    stopped = anyio.run(run, settings)
    return Exit.INTERRUPTED if stopped is signal.SIGINT else Exit.DONE


def _change_directory(directory: Path) -> None:
    try:
        os.chdir(directory)
    except OSError as error:
        message = f"{directory} cannot be worked in: {error.strerror}"
        raise Refusal.of(Fault.ARGS_INVALID, message, "Name a directory that is there.") from error


def address_of(text: str) -> tuple[str, int]:
    """Where to listen. A host of IPv6 is in brackets, as in an address on the web."""
    host, colon, port = text.rpartition(":")
    host = f"[{host}]" if ":" in host and not host.startswith("[") else host
    if not colon or not host or not port.isdecimal() or not 0 < int(port) < 65536:
        raise Refusal.of(Fault.ARGS_INVALID, f"'{text}' is not HOST:PORT", "For example: --http 127.0.0.1:8000")
    return host, int(port)
