"""The program as typer knows it: its commands, read from their signatures. For help, and for command lines that are not plain."""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Callable
from typing import Annotated, Any, get_type_hints

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

import blendwright
from blendwright.cli.commands import COMMANDS, CORE, command_function
from blendwright.cli.examples import epilog
from blendwright.cli.output import console
from blendwright.cli.parameters import Parameter, option
from blendwright.entry import loaded

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
        loaded()
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
        for inner in target.registered_commands:
            inner.callback = inner.callback and for_typer(inner.callback)
        alone.add_typer(target, name=name)
    else:
        alone.command(name)(for_typer(target))
    group: Any = get_command(alone)
    loaded = group.commands[name]
    _add_examples(name, loaded)
    return loaded


def _add_examples(path: str, command: Any) -> None:
    """What the help of a command, and of those in it, ends with."""
    command.epilog = epilog(path)
    for name, inner in getattr(command, "commands", {}).items():
        _add_examples(f"{path} {name}", inner)


def for_typer(command: Callable[..., Any]) -> Callable[..., Any]:
    """The same command, with its parameters declared in typer's words beside ours."""
    function: Any = inspect.unwrap(command)
    hints = get_type_hints(function, include_extras=True)
    function.__annotations__ = {name: _with_typer(hint) for name, hint in hints.items()}
    return command


def _with_typer(hint: Any) -> Any:
    match getattr(hint, "__metadata__", ()):
        case (Parameter() as parameter,):
            names = (parameter.name,) if parameter.is_option else ()
            make: Any = typer.Option if parameter.is_option else typer.Argument
            declared = make(*names, metavar=parameter.metavar, help=parameter.help, **parameter.settings)
            return Annotated[hint, declared]
        case _:
            return hint


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
@for_typer
def options(
    verbose: Annotated[
        bool, option("--verbose", "Show the log on standard error; it goes before the command.")
    ] = False,
    version: Annotated[
        bool, option("--version", "Show the version and exit.", callback=_version, is_eager=True)
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
