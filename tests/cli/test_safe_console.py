"""What others wrote is shown on the terminal and never obeyed."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
from rich.table import Table
from rich.text import Text
from rich.tree import Tree

from blendwright.cli.output import SafeConsole
from hosts import operation
from shell import Shell

HOSTILE = "evil\x1b[1A\x1b[2K\u202ename"
SHOWN = "evil\\x1b[1A\\x1b[2K\\u202ename"


def screen(width: int = 100) -> SafeConsole:
    return SafeConsole(file=io.StringIO(), highlight=False, soft_wrap=True, width=width, force_terminal=True)


def printed(out: SafeConsole) -> str:
    assert isinstance(out.file, io.StringIO)
    return out.file.getvalue()


def row(*cells: str | Text) -> Table:
    table = Table(box=None, show_header=False)
    for _ in cells:
        table.add_column(overflow="fold")
    table.add_row(*cells)
    return table


@pytest.mark.parametrize(
    "renderable",
    [
        Text(HOSTILE),
        Text("error: ", style="bold red").append(HOSTILE, style="default"),
        HOSTILE.replace("[", "\\["),
        Tree(Text(HOSTILE)),
        row(Text(HOSTILE)),
    ],
    ids=["text", "appended", "string", "tree", "cell"],
)
def test_escape_sequences_of_others_do_not_reach_the_terminal(renderable: Text | str | Tree | Table) -> None:
    out = screen()
    out.print(renderable)
    seen = printed(out)
    assert "\x1b[1A" not in seen and "\x1b[2K" not in seen and "\u202e" not in seen
    assert "\\x1b[1A" in seen


def test_styles_of_our_own_do() -> None:
    out = screen()
    out.print(Text("bold", style="bold"))
    assert printed(out) == "\x1b[1mbold\x1b[0m\n"


def test_a_finding_that_quotes_a_plan_cannot_speak_to_the_terminal(shell: Shell) -> None:
    step: dict[str, Any] = operation("a", HOSTILE, {})
    ran = shell("validate", "-", code=2, stdin=json.dumps({"request_id": "r", "operations": [step]}).encode())
    assert SHOWN in ran.out
    assert "\x1b" not in ran.out + ran.err and "\u202e" not in ran.out + ran.err
