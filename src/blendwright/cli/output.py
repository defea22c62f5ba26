"""What commands print. With `--json`, standard output is exactly one document; everything else goes to standard error."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from enum import IntEnum
from typing import Annotated, Any, NoReturn

import orjson
import typer
from rich.text import Text

from blendwright.cli.screen import Screen
from blendwright.values.findings import Finding

Workspace = Annotated[str, typer.Option("--workspace", metavar="DIR", help="The workspace to use.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document on standard output, nothing else.")]
Scene = Annotated[
    str | None, typer.Option("--scene", metavar="FILE.blend", help="Start from this file; it is not written.")
]
Blender = Annotated[
    str | None, typer.Option("--blender", metavar="PATH", help="A Blender executable to use instead of bpy.")
]


class Exit(IntEnum):
    DONE = 0
    FAILED = 1
    REFUSED = 2
    UNFIT = 3
    INTERRUPTED = 130


def console() -> Screen:
    """Standard output for people."""
    return Screen(highlight=False, soft_wrap=True)


def notes() -> Screen:
    """Standard error for people."""
    return Screen(stderr=True, highlight=False, soft_wrap=True)


def print_json(document: Any) -> None:
    sys.stdout.buffer.write(orjson.dumps(document, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))
    sys.stdout.buffer.flush()


def say_recovered(sentences: Iterable[str]) -> None:
    """What had to be put in order when the workspace was opened."""
    for sentence in sentences:
        notes().print(Text("recovered: ", style="bold yellow").append(sentence, style="default"))


def say_cleaned(entries: Iterable[Mapping[str, str]]) -> None:
    """Which code of the scene an exported file goes without."""
    for entry in entries:
        what = f"{entry['what']} of {entry['kind']} '{entry['name']}' {entry['where']}".rstrip()
        notes().print(Text("left out: ", style="bold yellow").append(what, style="default"))


def wants_json() -> bool:
    """Whether the command line asked for JSON, also when it could not be parsed."""
    return "--json" in sys.argv[1:]


def fail(code: str, message: str, cure: str | None, exit_code: Exit, findings: Sequence[Finding] = ()) -> NoReturn:
    """End the program with an error that is data for machines and a few lines for people; several findings are listed."""
    if wants_json():
        error: dict[str, Any] = {"code": code, "message": message, "cure": cure}
        if len(findings) > 1:
            error["findings"] = [finding.to_json() for finding in findings]
        print_json({"ok": False, "error": error})
    else:
        for told in [finding.message for finding in findings] if len(findings) > 1 else [message]:
            notes().print(Text("error: ", style="bold red").append(told, style="default"))
        if cure:
            notes().print(Text("  " + cure))
    sys.exit(exit_code)
