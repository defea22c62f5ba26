"""The typer application: its commands, read from their signatures and loaded when they are called."""

from __future__ import annotations

import os
import sys
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

import blendwright
from blendwright.cli.commands import COMMANDS, CORE, command_function
from blendwright.cli.examples import epilog
from blendwright.cli.output import console

# Read by whoever opens a workspace.
LOG_LEVEL = "BLENDWRIGHT_LOG"
# What holds for every command.
SETTINGS: dict[str, Any] = {
    "add_completion": False,
    "pretty_exceptions_enable": False,
    "rich_markup_mode": None,
    # A wide terminal shows more of each summary.
    "context_settings": {"max_content_width": 120},
}


class LateCommands(TyperGroup):
    """Knows the names and summaries of its commands, and loads the one that runs."""

    def list_commands(self, ctx: Any) -> list[str]:
        self._know_all()
        return list(self.commands)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name in CORE:
            return _placeholder(cmd_name)
        # Only for a name that is not in the core: this imports the capabilities. Suggestions for a wrong name come from here too.
        self._know_all()
        return self.commands.get(cmd_name)

    def _know_all(self) -> None:
        for name in COMMANDS:
            self.commands.setdefault(name, _placeholder(name))

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        name, command, rest = super().resolve_command(ctx, args)
        if name is not None and name in COMMANDS:
            command = load_command(name)
        return name, command, rest


def _placeholder(name: str) -> Any:
    """A command with its summary only."""
    return TyperCommand(name, help=COMMANDS[name].summary, rich_markup_mode=None)


def load_command(name: str) -> Any:
    """The command itself, with everything that it needs."""
    target = command_function(name)
    # A group of its own, so that a command is made as one of several, with the settings of all.
    alone = typer.Typer(**SETTINGS)
    alone.callback()(lambda: None)
    if isinstance(target, typer.Typer):
        alone.add_typer(target, name=name)
    else:
        alone.command(name)(target)
    group: Any = get_command(alone)
    loaded = group.commands[name]
    _add_examples(name, loaded)
    return loaded


def _add_examples(path: str, command: Any) -> None:
    """What the help of a command, and of those in it, ends with."""
    command.epilog = epilog(path)
    for name, inner in getattr(command, "commands", {}).items():
        _add_examples(f"{path} {name}", inner)


app = typer.Typer(
    name="blendwright",
    cls=LateCommands,
    help="Change Blender scenes through checked, verified and reversible plans and tool calls.",
    no_args_is_help=True,
    **SETTINGS,
)


def _version(show: bool) -> None:
    if show:
        console().show(f"blendwright {blendwright.__version__}")
        raise typer.Exit


@app.callback()
def options(
    verbose: Annotated[
        bool, typer.Option("--verbose", help="Show the log on standard error; it goes before the command.")
    ] = False,
    version: Annotated[
        bool, typer.Option("--version", help="Show the version and exit.", callback=_version, is_eager=True)
    ] = False,
) -> None:
    if verbose:
        os.environ.setdefault(LOG_LEVEL, "info")


def run() -> Any:
    """Run the command that the words of this process ask for; what it returns. Raises what typer raises for wrong ones."""
    try:
        return app(prog_name="blendwright", standalone_mode=False)
    except typer.Exit as stop:
        sys.exit(stop.exit_code)
    except typer.Abort:
        raise KeyboardInterrupt from None
