"""What commands that take a plan share: its options, reading its text, and stopping cleanly when interrupted."""

from __future__ import annotations

import contextlib
import signal
import sys
import threading
from collections.abc import Generator
from pathlib import Path
from typing import Annotated

import typer

from blendwright.dialects import registry
from blendwright.values.cancel import CancelToken
from blendwright.values.errors import Refusal
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding
from blendwright.values.json_reader import LARGEST
from blendwright.values.plan import Boundary

PlanFile = Annotated[str, typer.Argument(metavar="PLAN", help="A file, or - for standard input.")]
TakenBack = Annotated[
    Boundary, typer.Option("--boundary", help="What a failure takes back: the operation, or the whole plan.")
]
RequestId = Annotated[
    str | None, typer.Option("--request-id", metavar="ID", help="For plans that do not bring their own.")
]


def _dialect_name(value: str) -> str:
    if value not in registry.names():
        raise typer.BadParameter(f"'{value}' is not one of {', '.join(registry.names())}.")
    return value


InDialect = Annotated[
    str | None,
    typer.Option(
        "--dialect",
        parser=_dialect_name,
        metavar="|".join(registry.names()),
        help="Take it for this dialect, whatever its shape.",
    ),
]

CURE = "Give the path of a JSON file, or - for standard input."


def plan_text(path: str) -> bytes:
    """The text of a file, or of standard input for -; at most one byte more than any dialect reads."""
    try:
        if path == "-":
            return sys.stdin.buffer.read(LARGEST + 1)
        with Path(path).open("rb") as file:
            return file.read(LARGEST + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise Refusal([Finding(Fault.SCHEMA_INVALID, f"cannot read {path}: {reason}", "", CURE)]) from error


@contextlib.contextmanager
def stops_on_interrupt(cancel: CancelToken) -> Generator[None]:
    """Ctrl-C once: stop cleanly. A second time: as ever."""

    def interrupted(number: int, frame: object) -> None:
        signal.signal(signal.SIGINT, before)
        # Not here: a handler runs in the middle of whatever the main thread does, which may hold the locks that this needs.
        threading.Thread(target=cancel.cancel).start()

    before = signal.signal(signal.SIGINT, interrupted)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
