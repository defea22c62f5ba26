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
from blendwright.cli.output import SafeConsole, notes
from support.hosts.mcp import operation
from support.processes.shell import Shell
from support.suite.in_one_test import in_one_test

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


LINES: list[tuple[tuple[str, str], ...]] = [
    (("valid ", "bold green"), ("operations", "default")),
    (("  Leave it out.", "dim"),),
    (("plain", ""),),
    (("", ""),),
    (("", "bold"), ("only this", "default")),
    (("name ", "bold"), ("version 1", "dim")),
    (("+ ", "green"), ("", "default")),
    (("several\n\nlines ", "bold yellow"), ("and\nmore\n", "default")),
    (("[bold]no markup[/bold] :smile: 3.14 'x' http://a.b ", ""), ("x" * 300, "cyan")),
    (("äöü 漢字 → … ", "red"), ("z", "default")),
    (("a\ttab ", "bold red"), ("in\tboth", "default")),
    (("bell\x07 and\r\n return ", "dim"), (HOSTILE, "default")),
    ((HOSTILE, "bold red"), ("x", "default")),
    (("shown as \ufe0f nothing", ""),),
]
ENVIRONMENTS: dict[str, dict[str, str]] = {
    "nothing said": {},
    "no colour": {"NO_COLOR": "1"},
    "no colour, but empty": {"NO_COLOR": ""},
    "dumb": {"TERM": "dumb"},
    "unknown": {"TERM": "Unknown"},
    "forced": {"FORCE_COLOR": "1"},
    "forced not to": {"FORCE_COLOR": ""},
    "forced where it is dumb": {"FORCE_COLOR": "1", "TERM": "dumb"},
    "compatible": {"TTY_COMPATIBLE": "1"},
    "not compatible": {"TTY_COMPATIBLE": "0", "FORCE_COLOR": "1"},
    "many colours": {"COLORTERM": "truecolor"},
    "few colours": {"TERM": "linux"},
}


@pytest.mark.parametrize("file", [Screen, io.StringIO], ids=["terminal", "pipe"])
@pytest.mark.parametrize("environment", ENVIRONMENTS)
def test_lines_are_what_rich_would_make_of_them(
    monkeypatch: pytest.MonkeyPatch, environment: str, file: type[io.StringIO]
) -> None:
    for name, value in ENVIRONMENTS[environment].items():
        monkeypatch.setenv(name, value)
    for parts in LINES:
        ours, theirs = file(), file()
        monkeypatch.setattr("sys.stderr", ours)
        out = SafeConsole(stderr=True)
        out.parts(*parts)
        monkeypatch.setattr("sys.stderr", theirs)
        drawing = SafeConsole(stderr=True).drawing
        (text, style), *others = parts
        drawn = Text(text, style=style)
        for other in others:
            drawn.append(*other)
        drawing.print(drawn)
        assert ours.getvalue() == theirs.getvalue(), parts
        assert "\x1b[1A" not in ours.getvalue() and "\u202e" not in ours.getvalue()
        assert out.is_terminal == drawing.is_terminal


def test_plain_lines_need_no_drawing(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Screen()
    monkeypatch.setattr("sys.stderr", terminal)
    out = notes()
    out.labelled("error:", "it is so", "bold red")
    out.show("  a cure", "dim")
    assert "drawing" not in vars(out)
    assert terminal.getvalue() == "\x1b[1;31merror: \x1b[0m\x1b[1;39mit is so\x1b[0m\n\x1b[2m  a cure\x1b[0m\n"


@in_one_test({"escape": HOSTILE, "tab": "a\tb", "variant": "a\ufe0fb", "return": "a\rb"})
def test_what_has_to_be_made_visible_or_laid_out_is_left_to_the_drawing(text: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.stderr", io.StringIO())
        out = notes()
        out.show(text)
        assert "drawing" in vars(out)


def test_after_a_drawing_lines_are_part_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """A display that moves makes room for them."""
    terminal = Screen()
    monkeypatch.setattr("sys.stderr", terminal)
    out, drawn = notes(), list[str]()

    def draw(text: Text, end: str) -> None:
        drawn.append(text.plain + end)

    monkeypatch.setattr(out.drawing, "print", draw)
    out.show("meanwhile")
    assert drawn == ["meanwhile\n"] and terminal.getvalue() == ""


def test_a_finding_that_quotes_a_plan_cannot_speak_to_the_terminal(shell: Shell) -> None:
    step: dict[str, Any] = operation("a", HOSTILE, {})
    ran = shell("validate", "-", code=2, stdin=json.dumps({"request_id": "r", "operations": [step]}).encode())
    assert SHOWN in ran.out
    assert "\x1b" not in ran.out + ran.err and "\u202e" not in ran.out + ran.err
