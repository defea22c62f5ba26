"""Locations in a program: read from Starlark's errors and stacks, and from the program's own syntax.

Starlark reports the line of a call and the column of an error. Python's own parser, which reads all of Starlark's
syntax, finds the columns of calls and of their arguments. If it fails, the beginning of the line serves. This module
runs in the evaluator's process.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from typing import NamedTuple

from blendwright.programs.recording import MAIN, Recorder

# Parts of a Starlark error: the stack in indented lines, the message, then the location. The message may contain lines from the
# program; before and after the message, text from the program never begins a line.
MESSAGE = re.compile(r"^error: ", re.MULTILINE)
ARROW = re.compile(r"^ *--> (<\w+>):(\d+):(\d+)$", re.MULTILINE)
# Number of times that each statement reports its line: enough to locate a sudden end, and cheap in a long loop.
MAX_REPORTS = 16
# Statements with markers. In a longer program only every second or third statement gets one, because markers need memory.
MAX_MARKED = 2000
PRELUDE = "<prelude>"


class CallSite(NamedTuple):
    """A call in a program: the name of its callee, its position, and the position of each named argument."""

    callee: str
    line: int
    column: int
    arguments: dict[str, tuple[int, int]]


class Syntax:
    """A parsed file: its statements, and its calls by their first line."""

    def __init__(self, text: str) -> None:
        self._lines = text.split("\n")
        self._calls: dict[int, list[CallSite]] | None = None
        try:
            # Python's parser treats these characters as line ends, which Starlark does not.
            if "\r" in text or "\f" in text:
                self._tree = None
            else:
                self._tree = ast.parse(text)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            self._tree = None

    def statements(self) -> dict[int, str]:
        """Return the numbers of the lines that begin with a statement, each with its indentation."""
        indentations: dict[int, str] = {}
        if self._tree is None:
            return indentations
        bodies = _bodies(self._tree)
        while bodies:
            for statement in bodies.pop():
                before = self._lines[statement.lineno - 1].encode()[: statement.col_offset].decode(errors="replace")
                if not before.strip():
                    indentations[statement.lineno] = before
                bodies += _bodies(statement)
        return indentations

    def _read_calls(self) -> dict[int, list[CallSite]]:
        calls: dict[int, list[CallSite]] = {}
        if self._tree is None:
            return calls
        for node in ast.walk(self._tree):
            if isinstance(node, ast.Call):
                words: dict[str, tuple[int, int]] = {}
                for word in node.keywords:
                    if word.arg is not None:
                        words[word.arg] = word.lineno, self._column(word.lineno, word.col_offset)
                site = CallSite(_dotted(node.func), node.lineno, self._column(node.lineno, node.col_offset), words)
                calls.setdefault(node.lineno, []).append(site)
        return calls

    def call(self, line: int, callee: str) -> CallSite:
        """Return the call of `callee` in a line, or else any call there, or else the beginning of the line."""
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
        """Return the column in characters from 1, as Starlark counts. Python's parser counts bytes."""
        return len(self._lines[line - 1].encode()[:offset].decode(errors="replace")) + 1


def _dotted(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute):
        return f"{_dotted(node.value)}.{node.attr}"
    if isinstance(node, ast.Name):
        return node.id
    return ""


class ErrorPlace(NamedTuple):
    """A Starlark error: its message, its location, and the lines of its callers, innermost first.

    `column` is None if the error arose inside a function of Blendwright's prelude. The location is then that of the
    call.
    """

    message: str
    label: str
    line: int
    column: int | None
    frames: list[tuple[str, int]]


def read_error(text: str, recorder: Recorder) -> ErrorPlace:
    """Parse the text of a Starlark error."""
    stack, report = "", text
    begin = MESSAGE.search(text)
    if begin is not None:
        stack, report = text[: begin.start()], text[begin.end() :]
    frames = recorder.frames(stack)

    message = report.split("\n")[0]
    arrows = list(ARROW.finditer(report))
    if arrows:
        message = report[: arrows[-1].start()]
        label, line, column = arrows[-1].groups()
        if label != PRELUDE:
            return ErrorPlace(message, label, recorder.line(label, int(line)), int(column), frames)
    if frames:
        return ErrorPlace(message, *frames[0], None, frames)
    return ErrorPlace(message, MAIN, 1, None, frames)


class Marked(NamedTuple):
    """A program whose statements report their execution, with the author's line number for each of its lines."""

    text: str
    lines: list[int]


def with_markers(text: str, statements: Mapping[int, str], tell: str) -> Marked:
    """Insert a `tell(line)` call before statements; each fires at most MAX_REPORTS times.

    The last reported line locates a program that killed its process. `tell` must be a name that the program cannot
    know.
    """
    stride = -(-len(statements) // MAX_MARKED)
    statements = {number: statements[number] for number in sorted(statements)[::stride]}
    # Each statement has a list that soon becomes empty, because testing a list is the cheapest check.
    marked, numbers = ["; ".join(f"{tell}_{number} = [{number}] * {MAX_REPORTS}" for number in statements)], [1]
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
        # An `elif` is an `if` in the other branch, so no marker can precede it.
        chained = len(node.orelse) == 1 and isinstance(node.orelse[0], ast.If)
        if chained:
            return [node.body]
        return [node.body, node.orelse]
    return []
