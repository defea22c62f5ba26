"""Where in a program something stands: from the texts of Starlark's errors and stacks, and from the program's own syntax.

Starlark tells the line of a call and the column of an error. The columns of calls and of their arguments are read with Python's own
parser, which understands all that Starlark allows; where it does not, the beginning of the line serves. Runs in the evaluator's process.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from typing import NamedTuple

from blendwright.programs.recording import MAIN, Recorder

# What Starlark says of an error: the stack with indented lines, the message, then where it arose. The message may have lines of the
# program's making; what is of the program before and behind it never begins a line.
MESSAGE = re.compile(r"^error: ", re.MULTILINE)
ARROW = re.compile(r"^ *--> (<\w+>):(\d+):(\d+)$", re.MULTILINE)
# How often each statement tells that it is reached: enough for what ends a process at once, and little for a long loop.
TOLD = 16
# Of a longer program every second statement tells it, every third, and so on: the marks take memory too.
MOST_MARKED = 2000
PRELUDE = "<prelude>"


class CallSite(NamedTuple):
    """A call in a program: what is called, where it begins, and where each named argument stands."""

    callee: str
    line: int
    column: int
    arguments: dict[str, tuple[int, int]]


class Syntax:
    """One file as Python's parser sees it: its statements, and its calls by the line in which they begin."""

    def __init__(self, text: str) -> None:
        self._lines = text.split("\n")
        self._calls: dict[int, list[CallSite]] | None = None
        try:
            # Of other ends of lines Python's parser counts more of them.
            if "\r" in text or "\f" in text:
                self._tree = None
            else:
                self._tree = ast.parse(text)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            self._tree = None

    def statements(self) -> dict[int, str]:
        """The lines that begin with a statement, with their indentation."""
        found: dict[int, str] = {}
        if self._tree is None:
            bodies = []
        else:
            bodies = _bodies(self._tree)
        while bodies:
            for statement in bodies.pop():
                before = self._lines[statement.lineno - 1].encode()[: statement.col_offset].decode(errors="replace")
                if not before.strip():
                    found[statement.lineno] = before
                bodies += _bodies(statement)
        return found

    def _read_calls(self) -> dict[int, list[CallSite]]:
        calls: dict[int, list[CallSite]] = {}
        for node in () if self._tree is None else ast.walk(self._tree):
            if isinstance(node, ast.Call):
                words = {
                    word.arg: (word.lineno, self._column(word.lineno, word.col_offset))
                    for word in node.keywords
                    if word.arg is not None
                }
                site = CallSite(_dotted(node.func), node.lineno, self._column(node.lineno, node.col_offset), words)
                calls.setdefault(node.lineno, []).append(site)
        return calls

    def call(self, line: int, callee: str) -> CallSite:
        """The call of something in a line, else any call there, else the beginning of the line."""
        if self._calls is None:
            self._calls = self._read_calls()
        sites = self._calls.get(line, [])
        named = [site for site in sites if site.callee == callee]
        return (named or sites or [CallSite("", line, self.first_column(line), {})])[0]

    def first_column(self, line: int) -> int:
        if 0 < line <= len(self._lines):
            text = self._lines[line - 1]
        else:
            text = ""
        return len(text) - len(text.lstrip()) + 1

    def _column(self, line: int, offset: int) -> int:
        """Counted in characters from one, as Starlark counts; Python's parser counts bytes."""
        return len(self._lines[line - 1].encode()[:offset].decode(errors="replace")) + 1


def _dotted(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute):
        return f"{_dotted(node.value)}.{node.attr}"
    if isinstance(node, ast.Name):
        return node.id
    return ""


class ErrorPlace(NamedTuple):
    """What an error of Starlark says: its message, its place, and the lines that led there, the innermost first.

    `column` is None where the error arose inside of what we provide, and the place is that of the call."""

    message: str
    label: str
    line: int
    column: int | None
    frames: list[tuple[str, int]]


def read_error(text: str, recorder: Recorder) -> ErrorPlace:
    begin = MESSAGE.search(text)
    stack, said = ("", text) if begin is None else (text[: begin.start()], text[begin.end() :])
    frames = recorder.frames(stack)
    arrows = list(ARROW.finditer(said))
    if arrows:
        message = said[: arrows[-1].start()]
    else:
        message = said.split("\n")[0]
    if arrows and (label := arrows[-1][1]) != PRELUDE:
        return ErrorPlace(message, label, recorder.line(label, int(arrows[-1][2])), int(arrows[-1][3]), frames)
    label, line = frames[0] if frames else (MAIN, 1)
    return ErrorPlace(message, label, line, None, frames)


class Marked(NamedTuple):
    """A program in which statements tell that they are reached, and the line of the program for each of its lines."""

    text: str
    lines: list[int]


def with_markers(text: str, statements: Mapping[int, str], tell: str) -> Marked:
    """The program with a call of `tell` before each of its statements, until it was made often enough: for knowing where a program was
    when it ended its process. `tell` must be a name that the program cannot know."""
    every = -(-len(statements) // MOST_MARKED)
    statements = {number: statements[number] for number in sorted(statements)[::every]}
    # A list for each statement, which is soon empty: asking that of it is the cheapest of questions.
    marked, numbers = ["; ".join(f"{tell}_{number} = [{number}] * {TOLD}" for number in statements)], [1]
    for number, line in enumerate(text.split("\n"), 1):
        if number in statements:
            marked.append(f"{statements[number]}if {tell}_{number}: {tell}({tell}_{number}.pop())")
            numbers.append(number)
        marked.append(line)
        numbers.append(number)
    return Marked("\n".join(marked), numbers)


def _bodies(node: ast.AST) -> list[list[ast.stmt]]:
    if isinstance(node, (ast.Module, ast.FunctionDef, ast.For)):
        return [node.body]
    if isinstance(node, ast.If):
        # An `elif` is an `if` in the other branch, and nothing can stand before it.
        chained = len(node.orelse) == 1 and isinstance(node.orelse[0], ast.If)
        if chained:
            return [node.body]
        return [node.body, node.orelse]
    return []
