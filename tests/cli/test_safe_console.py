"""What others wrote is shown on the terminal and never obeyed."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
from rich.table import Table
from rich.text import Text
from rich.tree import Tree

from blendwright.cli.drawing import Drawing
from blendwright.cli.output import notes
from support.hosts.mcp import operation
from support.processes.shell import Shell

HOSTILE = "evil\x1b[1A\x1b[2K\u202ename"
SHOWN = "evil\\x1b[1A\\x1b[2K\\u202ename"


def screen(width: int = 100) -> Drawing:
    return Drawing(file=io.StringIO(), highlight=False, soft_wrap=True, width=width, force_terminal=True)


def printed(out: Drawing) -> str:
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


class Screen(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def _a_terminal_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:  # pyright: ignore[reportUnusedFunction]
    """What the machine that runs the tests says about terminals does not count."""
    for name in ("NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE", "COLORTERM"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")


def test_styles_of_lines_reach_a_terminal_and_no_file(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal, file = Screen(), io.StringIO()
    for output in (terminal, file):
        monkeypatch.setattr("sys.stderr", output)
        notes().labelled("error:", "it is so", "bold red")
        notes().show("  a fix", "dim")
    assert terminal.getvalue() == "\x1b[1;31merror: \x1b[0m\x1b[1;39mit is so\x1b[0m\n\x1b[2m  a fix\x1b[0m\n"
    assert file.getvalue() == "error: it is so\n  a fix\n"


def test_a_finding_that_quotes_a_plan_cannot_speak_to_the_terminal(shell: Shell) -> None:
    step: dict[str, Any] = operation("a", HOSTILE, {})
    ran = shell("validate", "-", code=2, stdin=json.dumps({"request_id": "r", "operations": [step]}).encode())
    assert SHOWN in ran.out
    assert "\x1b" not in ran.out + ran.err and "\u202e" not in ran.out + ran.err
