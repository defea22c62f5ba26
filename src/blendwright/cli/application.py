"""The typer application. It loads the module of a command only when that command runs."""

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

# Environment variable with the log level. The function that opens a workspace reads it.
LOG_LEVEL = "BLENDWRIGHT_LOG"
# Settings of typer for every command.
SETTINGS: dict[str, Any] = {
    "add_completion": False,
    "pretty_exceptions_enable": False,
    "rich_markup_mode": None,
    # A wide terminal shows more of each summary.
    "context_settings": {"max_content_width": 120},
}


class LateCommands(TyperGroup):
    """A command group that knows all names and summaries, but imports only the command that runs."""

    def list_commands(self, ctx: Any) -> list[str]:
        self._add_placeholders()
        return list(self.commands)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name in CORE:
            return _placeholder(cmd_name)
        # This imports the capabilities, so do it only for a name outside the core. Typer suggests names from this list for a wrong name.
        self._add_placeholders()
        return self.commands.get(cmd_name)

    def _add_placeholders(self) -> None:
        for name in COMMANDS:
            self.commands.setdefault(name, _placeholder(name))

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        name, command, remaining_args = super().resolve_command(ctx, args)
        if name is not None and name in COMMANDS:
            command = load_command(name)
        return name, command, remaining_args


def _placeholder(name: str) -> Any:
    """Return a command that has only a summary, for lists and suggestions."""
    return TyperCommand(name, help=COMMANDS[name].summary, rich_markup_mode=None)


def load_command(name: str) -> Any:
    """Import a command and return its click command, with the examples in its help. Raise KeyError for an unknown name."""
    target = command_function(name)
    # Typer builds a command differently when it is the only one. A separate group with a callback avoids that.
    single = typer.Typer(**SETTINGS)
    single.callback()(lambda: None)
    if isinstance(target, typer.Typer):
        single.add_typer(target, name=name)
    else:
        single.command(name)(target)
    group: Any = get_command(single)
    loaded = group.commands[name]
    _add_examples(name, loaded)
    return loaded


def _add_examples(path: str, command: Any) -> None:
    """Set the examples at the end of the help of a command and of its subcommands."""
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
    """Run the command that the arguments of this process name, and return its result. Raise typer's errors for wrong arguments."""
    try:
        return app(prog_name="blendwright", standalone_mode=False)
    except typer.Exit as stop:
        sys.exit(stop.exit_code)
    except typer.Abort:
        raise KeyboardInterrupt from None
