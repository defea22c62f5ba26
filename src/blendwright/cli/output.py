"""What commands print. With `--json`, standard output is exactly one document; everything else goes to standard error."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from enum import IntEnum
from pathlib import Path
from typing import Annotated, Any, NoReturn

import orjson
import typer
from rich.table import Table
from rich.text import Text

from blendwright.app.opening import place_of
from blendwright.cli.screen import Screen
from blendwright.values.errors import Refusal
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding

# Where nobody looks at a screen nothing is wrapped: lines are then for programs and files.
UNBOUNDED = 10_000


def _directory(workspace: str) -> str:
    """Whatever a command does with a workspace, a file cannot be one."""
    place_of(workspace)
    return workspace


Workspace = Annotated[
    str, typer.Option("--workspace", metavar="DIR", help="The workspace to use.", callback=_directory)
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document on standard output, nothing else.")]
Scene = Annotated[
    str | None, typer.Option("--scene", metavar="FILE.blend", help="Start from this file; it is not written.")
]
Blender = Annotated[
    str | None, typer.Option("--blender", metavar="PATH", help="A Blender executable to use instead of bpy.")
]


def _png(image: Path | None) -> Path | None:
    if image is not None and image.suffix.lower() != ".png":
        message, cure = f"{image} is not the name of a .png file", "Pictures are written as PNG: end the name in .png."
        raise Refusal([Finding(Fault.ARGS_INVALID, message, "", cure)])
    return image


Image = Annotated[
    Path | None,
    typer.Option("--image", metavar="PNG", help="Write a picture of the scene there afterwards.", callback=_png),
]


class Exit(IntEnum):
    DONE = 0
    FAILED = 1
    REFUSED = 2
    UNFIT = 3
    INTERRUPTED = 130


def console() -> Screen:
    """Standard output for people."""
    bounded = sys.stdout.isatty() or "COLUMNS" in os.environ
    return Screen(highlight=False, soft_wrap=True, width=None if bounded else UNBOUNDED)


class Columns(Table):
    """A table without lines. Nothing in it is cut: what is too long for the screen goes on below."""

    def __init__(self, *headers: str, indent: int = 0) -> None:
        super().__init__(*headers, box=None, padding=(0, 2, 0, indent), show_header=bool(headers))

    def row(self, *cells: str | Text) -> None:
        self.add_row(*cells)
        for column in self.columns:
            column.overflow = "fold"


def notes() -> Screen:
    """Standard error for people."""
    return Screen(stderr=True, highlight=False, soft_wrap=True)


def print_json(document: Any) -> None:
    if out := getattr(sys.stdout, "buffer", None):  # without standard output there is no file at all
        out.write(orjson.dumps(document, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))
        out.flush()


def say_recovered(sentences: Iterable[str]) -> None:
    """What had to be put in order when the workspace was opened."""
    for sentence in sentences:
        notes().print(Text("recovered: ", style="bold yellow").append(sentence, style="default"))


def say_cleaned(entries: Iterable[Mapping[str, Any]]) -> None:
    """Which code of the scene an exported file goes without."""
    for entry in entries:
        what = f"{entry['what']} of {entry['kind']} '{entry['name']}' {entry['where']}".rstrip()
        notes().print(Text("left out: ", style="bold yellow").append(what, style="default"))


def wants_json() -> bool:
    """Whether the command line asked for JSON, also when it could not be parsed."""
    return "--json" in sys.argv[1:]


def fail(code: str, message: str, cure: str | None, exit_code: Exit, findings: Sequence[Finding] = ()) -> NoReturn:
    """End the program with an error that is data for machines and a few lines for people, each finding with its place."""
    if not (wants_json() and _told({"code": code, "message": message, "cure": cure}, findings)):
        for told, own in [(_placed(finding), finding.cure) for finding in findings] or [(message, None)]:
            notes().print(Text("error: ", style="bold red").append(told, style="default"))
            if own:
                notes().print(Text("  " + own))
        if cure and cure not in [finding.cure for finding in findings]:
            notes().print(Text("  " + cure))
    _let_go_if_lost()
    sys.exit(exit_code)


def _placed(finding: Finding) -> str:
    return f"{finding.pointer}: {finding.message}" if finding.pointer else finding.message


def _told(error: dict[str, Any], findings: Sequence[Finding]) -> bool:
    """Tell it as a document; False when people have to be told, since standard output takes nothing more."""
    if findings:
        error["findings"] = [finding.to_json() for finding in findings]
    try:
        print_json({"ok": False, "error": error})
    except OSError as lost:
        return isinstance(lost, BrokenPipeError)  # who has stopped reading does not want to know
    return True


def _let_go_if_lost() -> None:
    """What standard output does not take goes nowhere: otherwise Python would complain about it at its end."""
    try:
        if sys.stdout:
            sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
