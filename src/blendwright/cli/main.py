"""The program `blendwright`: its commands, and what becomes of errors that end one."""

from __future__ import annotations

import errno
import logging
import os
import sys
from typing import Annotated, Any, NoReturn

import typer

import blendwright
from blendwright.cli.commands import COMMANDS, SETTINGS, LateCommands
from blendwright.cli.output import Exit, begin_output, console, fail, notes
from blendwright.cli.parameters import option
from blendwright.entry import accept_interrupts
from blendwright.values.errors import BlendwrightError, EnvironmentUnfit, JournalError, Refusal
from blendwright.values.faults import RENDERINGS, Fault

# Read by whoever opens a workspace.
LOG_LEVEL = "BLENDWRIGHT_LOG"
# Names the place of a defect, for whoever reports one; without it no stack trace reaches a user.
TRACE = "BLENDWRIGHT_TRACE"
# What no program can do anything about, wherever it happens.
SYSTEM = {errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO, errno.EACCES, errno.EPERM, errno.EMFILE, errno.ENFILE}

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
        bool, option("--verbose", "Show the log on standard error; it goes before the command.")
    ] = False,
    version: Annotated[
        bool, option("--version", "Show the version and exit.", callback=_version, is_eager=True)
    ] = False,
) -> None:
    if verbose:
        os.environ.setdefault(LOG_LEVEL, "info")


for _name, _command in COMMANDS.items():
    app.command(_name, help=_command.summary)(lambda: None)


def main() -> None:
    """Run a command; whatever ends it becomes a message and an exit code."""
    try:
        begin_output()
        accept_interrupts()
        result: Any = app(prog_name="blendwright", standalone_mode=False)
        sys.exit(result if isinstance(result, int) else Exit.DONE)
    except Refusal as error:
        fail(RENDERINGS[error.findings[0].fault].core, error.message, error.cure, Exit.REFUSED, error.findings)
    except (EnvironmentUnfit, JournalError) as error:
        fail("environment_unfit", error.message, error.cure, Exit.UNFIT)
    except BlendwrightError as error:
        fail("failed", error.message, error.cure, Exit.FAILED)
    except (KeyboardInterrupt, typer.Abort):
        fail("timeout", "interrupted", "Run it again when it is wanted after all.", Exit.INTERRUPTED, cancelled=True)
    except typer.Exit as stop:
        sys.exit(stop.exit_code)
    except Exception as error:
        # Typer's own complaints about the command line (unknown options and the like) know how to show themselves.
        if hasattr(error, "format_message"):
            _usage(error)
        if isinstance(error, OSError) and error.errno in SYSTEM:
            message = f"{error.filename or 'the system'}: {error.strerror}"
            fail("environment_unfit", message, "Make room, or check the permissions.", Exit.UNFIT)
        if os.environ.get(TRACE):
            logging.getLogger(__name__).exception("blendwright failed")
        cure = f"This is a defect. Set {TRACE}=1 to see where it happened, and report it."
        fail("internal_error", f"{type(error).__name__}: {error}", cure, Exit.FAILED)


def _usage(error: Any) -> NoReturn:
    message: str = error.format_message()
    if message.startswith("Usage:"):
        # No command at all: what there is to know about them is no error.
        notes().show(message)
        sys.exit(Exit.REFUSED)
    context: Any = getattr(error, "ctx", None)
    command: str = "blendwright" if context is None else context.command_path
    fail(RENDERINGS[Fault.ARGS_INVALID].core, message, f"See: {command} --help", Exit.REFUSED)
