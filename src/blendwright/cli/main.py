"""The program `blendwright`: its commands, and what becomes of errors that end one."""

from __future__ import annotations

import errno
import logging
import os
import sys
from typing import Annotated, Any, NoReturn

import typer

import blendwright
from blendwright.cli import approvals, ask, blender, catalogue, history, hosts, running, scene, upgrading, workspace
from blendwright.cli.options import option
from blendwright.cli.output import Exit, begin_output, console, fail, notes
from blendwright.cli.refusals import refusing_calls, refusing_plans
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
    help="Change Blender scenes through checked, verified and reversible plans and tool calls.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
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


app.command("new")(workspace.new)
app.command("run")(refusing_plans(running.run))
app.command("ask")(ask.ask)
app.command("eval")(ask.evaluation)
app.command("preview")(refusing_plans(running.preview))
app.command("call")(refusing_calls(running.call))
app.command("validate")(running.validate)
app.command("tools")(catalogue.tools)
app.command("macros")(catalogue.macros)
app.command("schemas")(catalogue.schemas)
app.command("contract")(workspace.contract)
app.command("approve")(approvals.approve)
app.command("nodes")(catalogue.nodes)
app.command("snapshot")(scene.snapshot)
app.command("gates")(scene.gates)
app.command("log")(history.log)
app.command("show")(history.show)
app.command("diff")(history.diff)
app.command("checkout")(history.checkout)
app.command("undo")(history.undo)
app.command("redo")(history.redo)
app.command("export")(history.export)
app.command("adopt")(history.adopt)
app.command("gc")(history.gc)
app.command("externals")(workspace.externals)
app.add_typer(history.audit_app, name="audit")
app.command("metrics")(workspace.metrics)
app.command("replay")(history.replay)
app.command("upgrade")(upgrading.upgrade)
app.command("compare")(upgrading.compare)
app.command("recover")(workspace.recover)
app.command("serve")(hosts.serve)
app.add_typer(blender.blender_app, name="blender")
app.command("doctor")(hosts.doctor)
app.command("init-host")(hosts.init_host)


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
