"""Where in a program something stands: from the texts of Starlark's errors and stacks, and from the program's own syntax.

Starlark tells the line of a call and the column of an error. The columns of calls and of their arguments are read with Python's own
parser, which understands all that Starlark allows; where it does not, the beginning of the line serves. Runs in the evaluator's process.
"""

from __future__ import annotations

import ast
import re
from typing import NamedTuple

from blendwright.programs.recording import FRAME, MAIN

ERROR = re.compile(r"(?:^|\n)error: (.*?)\n +--> (<\w+>):(\d+):(\d+)", re.DOTALL)
PRELUDE = "<prelude>"


class CallSite(NamedTuple):
    """A call in a program: what is called, where it begins, and where each named argument stands."""

    callee: str
    line: int
    column: int
    arguments: dict[str, tuple[int, int]]


class Syntax:
    """The calls of one file, by the line in which they begin."""

    def __init__(self, text: str) -> None:
        self._lines = text.split("\n")
        self._calls: dict[int, list[CallSite]] = {}
        try:
            tree = ast.parse(text)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return
        for node in ast.walk(tree):
            if isinstance(node, ast.Call):
                words = {
                    word.arg: (word.lineno, self._column(word.lineno, word.col_offset))
                    for word in node.keywords
                    if word.arg is not None
                }
                site = CallSite(_dotted(node.func), node.lineno, self._column(node.lineno, node.col_offset), words)
                self._calls.setdefault(node.lineno, []).append(site)

    def call(self, line: int, callee: str) -> CallSite:
        """The call of something in a line, else any call there, else the beginning of the line."""
        sites = self._calls.get(line, [])
        named = [site for site in sites if site.callee == callee]
        return (named or sites or [CallSite("", line, self.first_column(line), {})])[0]

    def first_column(self, line: int) -> int:
        text = self._lines[line - 1] if 0 < line <= len(self._lines) else ""
        return len(text) - len(text.lstrip()) + 1

    def _column(self, line: int, offset: int) -> int:
        """Counted in characters from one, as Starlark counts; Python's parser counts bytes."""
        return len(self._lines[line - 1].encode()[:offset].decode(errors="replace")) + 1


def _dotted(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute):
        return f"{_dotted(node.value)}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else ""


class ErrorPlace(NamedTuple):
    """What an error of Starlark says: its message, its place, and the lines that led there, the innermost first.

    `column` is None where the error arose inside of what we provide, and the place is that of the call."""

    message: str
    label: str
    line: int
    column: int | None
    frames: list[tuple[str, int]]


def read_error(text: str) -> ErrorPlace:
    frames = [(label, int(line)) for label, line in FRAME.findall(text) if label != PRELUDE][::-1]
    match = ERROR.search(text)
    if match is None:
        label, line = frames[0] if frames else (MAIN, 1)
        return ErrorPlace(text.removeprefix("error: ").split("\n")[0], label, line, None, frames)
    message, label, line, column = match[1], match[2], int(match[3]), int(match[4])
    if label == PRELUDE:
        label, line = frames[0] if frames else (MAIN, 1)
        return ErrorPlace(message, label, line, None, frames)
    return ErrorPlace(message, label, line, column, frames)


def with_markers(text: str) -> str:
    """The program with a call of `_at(LINE)` before each statement: for finding out where one ends its process."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return text
    lines = text.split("\n")
    marks: dict[int, str] = {}
    for node in ast.walk(tree):
        for body in _bodies(node):
            for statement in body:
                before = lines[statement.lineno - 1].encode()[: statement.col_offset].decode(errors="replace")
                if not before.strip():
                    marks[statement.lineno] = f"{before}_at({statement.lineno})"
    marked: list[str] = []
    for number, line in enumerate(lines, 1):
        marked += [marks[number], line] if number in marks else [line]
    return "\n".join(marked)


def _bodies(node: ast.AST) -> list[list[ast.stmt]]:
    if isinstance(node, (ast.Module, ast.FunctionDef, ast.For)):
        return [node.body]
    if isinstance(node, ast.If):
        # An `elif` is an `if` in the other branch, and nothing can stand before it.
        chained = len(node.orelse) == 1 and isinstance(node.orelse[0], ast.If)
        return [node.body] if chained else [node.body, node.orelse]
    return []
