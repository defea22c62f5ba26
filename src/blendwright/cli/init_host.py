"""blendwright init-host: enter the server into a language-model host's own configuration."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from blendwright.app.hosts import HOSTS, Scope, entry, host_named, install, snippet
from blendwright.app.policy_files import home_directory
from blendwright.cli.output import AsJson, Exit, Workspace, console, print_json


def init_host(
    name: Annotated[str, typer.Argument(metavar="HOST", help=f"One of: {', '.join(HOSTS)}.")],
    workspace: Workspace = ".blendwright",
    scope: Annotated[Scope, typer.Option("--scope", help="For this user everywhere, or for this project.")] = "user",
    replace: Annotated[bool, typer.Option("--replace", help="Replace an entry of ours that differs.")] = False,
    show: Annotated[bool, typer.Option("--print", help="Only print what to write into its file.")] = False,
    json: AsJson = False,
) -> int:
    """Configure a host to start our server. Everything else in its configuration stays as it is."""
    host = host_named(name)
    wanted = entry(host, Path(workspace))
    if show:
        text = snippet(host, wanted)
        if json:
            print_json({"ok": True, "host": name, "written": False, "entry": wanted, "text": text})
        else:
            sys.stdout.write(text)
        return Exit.DONE
    file = host.file(scope, home=home_directory(), project=Path.cwd())
    written = install(host, file, wanted, replace=replace)
    if json:
        print_json({"ok": True, "host": name, "file": str(file), "written": written, "entry": wanted})
        return Exit.DONE
    word = "wrote" if written else "was there already:"
    console().print(Text(f"{word} {file}"))
    console().print(Text(f"check it: blendwright doctor --host {name}", style="dim"))
    return Exit.DONE
