"""The entry point of the program `blendwright`. It runs one command and reports the error that ends it."""

from __future__ import annotations

import errno
import os
import sys
from typing import Any, NoReturn

from blendwright.cli.output import Exit, begin_output, fail, notes
from blendwright.util.interrupts import accept_interrupts
from blendwright.values.errors import BlendwrightError, EnvironmentUnfit, JournalError, Refusal
from blendwright.values.faults import RENDERINGS, Fault

# Environment variable that prints a stack trace for a report of a defect. Without it, users see no stack trace.
TRACE = "BLENDWRIGHT_TRACE"
# Error numbers of the operating system that no program can avoid, such as a full disk.
SYSTEM = {errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO, errno.EACCES, errno.EPERM, errno.EMFILE, errno.ENFILE}


def main() -> None:
    """Run a command and end the process. Print a message for each error, and choose the exit code."""
    try:
        begin_output()
        accept_interrupts()
        from blendwright.cli.application import run  # after Ctrl-C is accepted: typer takes a while to load

        result = run()
        sys.exit(result if isinstance(result, int) else Exit.DONE)
    except Refusal as error:
        fail(RENDERINGS[error.findings[0].fault].core, error.message, error.cure, Exit.REFUSED, error.findings)
    except (EnvironmentUnfit, JournalError) as error:
        fail("environment_unfit", error.message, error.cure, Exit.UNFIT)
    except BlendwrightError as error:
        fail("failed", error.message, error.cure, Exit.FAILED)
    except KeyboardInterrupt:
        fail("timeout", "interrupted", "Run it again when it is wanted after all.", Exit.INTERRUPTED, cancelled=True)
    except Exception as error:
        # Errors of typer about the command line, such as an unknown option, format their own message.
        if hasattr(error, "format_message"):
            _usage(error)
        if isinstance(error, OSError) and error.errno in SYSTEM:
            message = f"{error.filename or 'the system'}: {error.strerror}"
            fail("environment_unfit", message, "Make room, or check the permissions.", Exit.UNFIT)
        if os.environ.get(TRACE):
            import logging

            logging.getLogger(__name__).exception("blendwright failed")
        cure = f"This is a defect. Set {TRACE}=1 to see where it happened, and report it."
        fail("internal_error", f"{type(error).__name__}: {error}", cure, Exit.FAILED)


def _usage(error: Any) -> NoReturn:
    message: str = error.format_message()
    if message.startswith("Usage:"):
        # The command line names no command: typer raises the help text, which is not an error.
        notes().show(message)
        sys.exit(Exit.REFUSED)
    context: Any = getattr(error, "ctx", None)
    command: str
    if context is None:
        command = " ".join(("blendwright", *sys.argv[1:2]))
    else:
        command = context.command_path
    fail(RENDERINGS[Fault.ARGS_INVALID].core, message, f"See: {command} --help", Exit.REFUSED)
