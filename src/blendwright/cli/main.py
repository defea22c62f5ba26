"""The program `blendwright`: it runs the command that its command line names, and reports the errors that end one."""

from __future__ import annotations

import errno
import os
import sys
from typing import Any, NoReturn

from blendwright.cli.output import Exit, begin_output, fail, notes
from blendwright.util.interrupts import accept_interrupts
from blendwright.values.errors import BlendwrightError, EnvironmentUnfit, JournalError, Refusal
from blendwright.values.faults import RENDERINGS, Fault

# Names the place of a defect, for whoever reports one; without it no stack trace reaches a user.
TRACE = "BLENDWRIGHT_TRACE"
# What no program can do anything about, wherever it happens.
SYSTEM = {errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO, errno.EACCES, errno.EPERM, errno.EMFILE, errno.ENFILE}


def main() -> None:
    """Run a command; whatever ends it becomes a message and an exit code."""
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
        # Typer's own complaints about the command line (unknown options and the like) know how to show themselves.
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
        # No command at all: what there is to know about them is no error.
        notes().show(message)
        sys.exit(Exit.REFUSED)
    context: Any = getattr(error, "ctx", None)
    command: str
    if context is None:
        command = " ".join(("blendwright", *sys.argv[1:2]))
    else:
        command = context.command_path
    fail(RENDERINGS[Fault.ARGS_INVALID].core, message, f"See: {command} --help", Exit.REFUSED)
