"""blendwright init-host: enter the server into a language-model host's own configuration."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from blendwright.app.hosts import HOSTS, Scope, entry, host_named, install, snippet
from blendwright.app.policy_files import home_directory
from blendwright.cli.options import AsJson, Workspace
from blendwright.cli.output import present
from blendwright.cli.safe_console import SafeConsole


def init_host(
    name: Annotated[str, typer.Argument(metavar="HOST", help=f"One of: {', '.join(HOSTS)}.")],
    workspace: Workspace = ".blendwright",
    scope: Annotated[Scope, typer.Option("--scope", help="For this user everywhere, or for this project.")] = "user",
    replace: Annotated[bool, typer.Option("--replace", help="Replace an entry of ours that differs.")] = False,
    print_only: Annotated[bool, typer.Option("--print", help="Only print what to write into its file.")] = False,
    json: AsJson = False,
) -> int:
    """Configure a host to start our server. Everything else in its configuration stays as it is."""
    host = host_named(name)
    ours = entry(host, Path(workspace))
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
