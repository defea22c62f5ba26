"""blendwright serve, init-host, doctor: the engine for language-model hosts, and whether it can work here."""

from __future__ import annotations

import os
import secrets
import signal
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import anyio

from blendwright.cli.options import AsJson, Attach, Blender, MinimumDeterminism, Workspace
from blendwright.cli.output import Cell, Exit, SafeConsole, notes, present
from blendwright.cli.parameters import argument, option
from blendwright.policy.host_profile import EnvelopeName, HostLimits, HostStatement, Verification
from blendwright.setup.doctor import Check, check_environment, check_host
from blendwright.setup.hosts import HOSTS, Scope, entry, host_named, install, remote_entry, snippet
from blendwright.values.errors import Refusal
from blendwright.values.faults import Fault
from blendwright.workspace.contracts import read_host_profile
from blendwright.workspace.locations import home_directory
from blendwright.workspace.policy_files import FILE as POLICY
from blendwright.workspace.scene_hosts import AttachedWindow, require_window_capability

if TYPE_CHECKING:
    from blendwright.server.transport.call_log import CallEnded

TOKEN = "BLENDWRIGHT_TOKEN"


def serve(
    workspace: Workspace = ".blendwright",
    blender: Blender = None,
    attach: Attach = None,
    http: Annotated[str | None, option("--http HOST:PORT", "Streamable HTTP there, instead of stdio.")] = None,
    token: Annotated[
        str | None, option("--token TOKEN", f"The bearer token of HTTP; or {TOKEN}; made up otherwise.")
    ] = None,
    tools: Annotated[
        Literal["plans", "direct"], option("--tools", "direct adds every tool of the catalogue.")
    ] = "plans",
    root: Annotated[
        list[str] | None,
        option("--root DIR", "Files may be read and written here, instead of where the policy says; repeatable."),
    ] = None,
    directory: Annotated[
        Path | None, option("--directory DIR", "Relative paths and roots start here, wherever the host starts us.")
    ] = None,
    host_profile: Annotated[
        Path | None, option("--host-profile FILE", "What hosts can take, as JSON, where they cannot say it themselves.")
    ] = None,
    payload_bytes: Annotated[int | None, option("--payload-bytes N", "The largest message.", min=1024)] = None,
    call_seconds: Annotated[float | None, option("--call-seconds S", "How long a host waits.", min=0.001)] = None,
    streaming: Annotated[bool | None, option("--streaming/--no-streaming", "Progress while a call runs.")] = None,
    cancellation: Annotated[
        bool | None, option("--cancellation/--no-cancellation", "Whether hosts call calls off.")
    ] = None,
    envelope: Annotated[EnvelopeName | None, option("--envelope", "The form of results.")] = None,
    determinism: MinimumDeterminism = None,
    verification: Annotated[Verification | None, option("--verification", "Whose results are read back.")] = None,
    ui: Annotated[bool, option("--ui", "The console beside it, on loopback; its link goes to standard error.")] = False,
) -> int:
    """Serve a workspace to a language-model host: over stdio, or over HTTP with a bearer token."""
    from blendwright.server.serve import Settings, Watch
    from blendwright.server.serve import serve as run

    if directory is not None:
        _change_directory(directory)
    statements = [] if host_profile is None else [HostStatement("host profile", read_host_profile(host_profile))]
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
    address = None if http is None else address_of(http)
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
        from blendwright.console.commands import with_console

        settings = with_console(settings)
    if attach is not None:
        window = require_window_capability("--attach needs a window")
        _show_attached(window.attach_if_open(workspace, attach, blender=blender))
    stopped = anyio.run(run, settings)
    return Exit.INTERRUPTED if stopped is signal.SIGINT else Exit.DONE


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
    out.show("  " + remote_entry(url, TOKEN))


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
    host = f"[{host}]" if ":" in host and not host.startswith("[") else host
    if not colon or not host or not port.isdecimal() or not 0 < int(port) < 65536:
        raise Refusal.of(Fault.ARGS_INVALID, f"'{text}' is not HOST:PORT", "For example: --http 127.0.0.1:8000")
    return host, int(port)


def init_host(
    name: Annotated[str, argument("HOST", f"One of: {', '.join(HOSTS)}.")],
    workspace: Workspace = ".blendwright",
    scope: Annotated[Scope, option("--scope", "For this user everywhere, or for this project.")] = "user",
    replace: Annotated[bool, option("--replace", "Replace an entry of ours that differs.")] = False,
    print_only: Annotated[bool, option("--print", "Only print what to write into its file.")] = False,
    attach: Attach = None,
    json: AsJson = False,
) -> int:
    """Configure a host to start our server. Everything else in its configuration stays as it is."""
    host = host_named(name)
    ours = entry(host, Path(workspace), attach)
    document = {"ok": True, "host": name, "entry": ours}
    if print_only:
        text = snippet(host, ours)

        def show_text(_: SafeConsole) -> None:
            # As it is: it may be sent into a file.
            sys.stdout.write(text)

        return present(json, lambda: document | {"written": False, "text": text}, show_text)
    file = host.file(scope, home=home_directory(), project=Path.cwd())
    written = install(host, file, ours, replace=replace)

    def show(out: SafeConsole) -> None:
        out.show(f"{'wrote' if written else 'was there already:'} {file}")
        out.show(f"check it: blendwright doctor --host {name}", "dim")

    return present(json, lambda: document | {"file": str(file), "written": written}, show)


def doctor(
    blender: Blender = None,
    host: Annotated[str | None, option("--host HOST", "Also check the set-up of this language-model host.")] = None,
    json: AsJson = False,
) -> int:
    """Check that Blendwright can work here; says what is missing and how to get it."""
    from blendwright.cli.progress import waiting  # not above: a server that starts has no use for it

    with waiting("looking, and starting a Blender", show=not json):
        checks = [*check_environment(blender), *([] if host is None else check_host(host))]
    fit = all(check.ok or not check.required for check in checks)
    return present(
        json,
        lambda: {"ok": fit, "checks": [check.to_json() for check in checks]},
        lambda out: _show_checks(out, checks, fit),
        Exit.DONE if fit else Exit.UNFIT,
    )


def _show_checks(out: SafeConsole, checks: list[Check], fit: bool) -> None:
    rows: list[tuple[Cell, ...]] = []
    for check in checks:
        word = ("ok", "green") if check.ok else ("missing", "red") if check.required else ("note", "yellow")
        rows.append((word, (check.name, "bold"), check.found))
        if check.cure and not check.ok:
            rows.append(("", "", check.cure))
    out.columns(rows)
    out.show("ready" if fit else "not ready: see what is missing above")
