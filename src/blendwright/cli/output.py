"""Output and exit codes of commands.

With `--json`, a command prints exactly one document to standard output. Everything else goes to standard error.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import IntEnum
from functools import cached_property
from itertools import groupby
from typing import TYPE_CHECKING, Any, NoReturn

import orjson

from blendwright.values.faults import REFUSALS, Fault
from blendwright.values.findings import Finding
from blendwright.values.plan import CALLED_FROM

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.text import Text

    from blendwright.cli.drawing import Drawing
    from blendwright.records.results import Difference
    from blendwright.values.outcome import Outcome
    from blendwright.values.plan import Plan
    from blendwright.values.report import RunReport

# Columns. Outside of a terminal, programs and files receive the lines, so that the console must not wrap them.
UNBOUNDED_WIDTH = 10_000
# A string, or a string and its style.
Cell = str | tuple[str, str]
# Characters of a value in a difference.
MAX_VALUE_LENGTH = 120
# Consecutive repairs with the same action that get a line each. More of them share one line.
MAX_LISTED_REPAIRS = 5


class Exit(IntEnum):
    """The exit codes of commands. UNFIT means that the workspace or the machine prevents the command."""

    DONE = 0
    FAILED = 1
    REFUSED = 2
    UNFIT = 3
    INTERRUPTED = 130

    @classmethod
    def of_call(cls, outcome: Outcome) -> Exit:
        """Return the exit code of a call: 2 when nothing ran, 1 when it ran and failed, 130 after a cancellation."""
        if outcome.ok:
            return cls.DONE
        if outcome.cancelled:
            return cls.INTERRUPTED
        ran = any(phase.name == "execute" and phase.ms is not None for phase in outcome.trace)
        if outcome.fault in REFUSALS and not ran:
            return cls.REFUSED
        return cls.FAILED

    @classmethod
    def of_run(cls, report: RunReport, extra: Sequence[Outcome] = ()) -> Exit:
        """Return the exit code of a plan and of its `extra` outcomes, for --export and --image."""
        if report.cancelled or any(outcome.cancelled for outcome in extra):
            return cls.INTERRUPTED
        statuses = {operation.status for operation in report.operations}
        # A person declined before any operation ran, so the run counts as refused.
        nothing_ran = "refused" in statuses and statuses <= {"refused", "skipped", "skipped_idempotent"}
        if report.status == "refused" or nothing_ran:
            return cls.REFUSED
        if report.ok and all(outcome.ok for outcome in extra):
            return cls.DONE
        return cls.FAILED


def console() -> SafeConsole:
    """Return standard output for people."""
    if sys.stdout.isatty() or "COLUMNS" in os.environ:
        return SafeConsole()
    return SafeConsole(width=UNBOUNDED_WIDTH)


def notes() -> SafeConsole:
    """Return standard error for people."""
    return SafeConsole(stderr=True)


def present(
    json: bool, document: Callable[[], Any], show: Callable[[SafeConsole], None], exit_code: Exit = Exit.DONE
) -> Exit:
    """Print the result of a command, as the JSON document for programs or as text for people, and return the exit code."""
    if json:
        print_json(document())
    else:
        show(console())
    return exit_code


_LAYOUT = orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE | orjson.OPT_PASSTHROUGH_DATACLASS


# The standard output that has received a document, or the beginning of one. It never receives a second document.
_printed_on: Any = None


def begin_output() -> None:
    """Reset the record of printed documents at the start of a command."""
    global _printed_on
    _printed_on = None


def print_json(document: Any) -> None:
    """Print one JSON document to standard output.

    Objects that are not plain data need a method `to_json`. The encoder calls it late, which saves memory.
    """
    global _printed_on
    if out := getattr(sys.stdout, "buffer", None):  # None when the process has no standard output
        text = orjson.dumps(document, default=lambda value: value.to_json(), option=_LAYOUT)
        _printed_on = sys.stdout
        out.write(text)
        out.flush()


def note_recovered(sentences: Iterable[str]) -> None:
    """Print the repairs that opening the workspace made."""
    for sentence in sentences:
        notes().labelled("recovered:", sentence, "bold yellow")


def note_outcome(outcome: Outcome) -> None:
    """Print the artifacts, remarks and findings of an export or a picture that a command made in addition to its plan.

    They go to standard error, which is free with and without --json.
    """
    for artifact in outcome.artifacts:
        notes().show(f"wrote {artifact}")
    result = outcome.result or {}
    note_cleaned(result.get("cleaned", ()))
    note_remarks(result.get("notes", ()))
    for finding in outcome.findings:
        notes().show(f"{outcome.tool}: {finding.message}. {finding.cure or ''}".rstrip(), "red")


def note_remarks(sentences: Iterable[str]) -> None:
    """Print remarks on a successful result that may surprise, such as the reason for a black picture. Skip duplicates."""
    for sentence in dict.fromkeys(sentences):
        notes().labelled("note:", sentence, "bold yellow")


def note_cleaned(entries: Iterable[Mapping[str, Any]]) -> None:
    """Print the code of the scene that an exported file leaves out."""
    for entry in entries:
        code = f"{entry['what']} of {entry['kind']} '{entry['name']}' {entry['where']}".rstrip()
        notes().labelled("left out:", code, "bold yellow")


def note_external_files(findings: Iterable[Finding]) -> None:
    """Print the problems of the files that a scene refers to."""
    for finding in findings:
        notes().labelled("external file:", finding.message, "bold yellow")
        notes().show(f"  {finding.cure}", "dim")


def fail(
    code: str,
    message: str,
    cure: str | None,
    exit_code: Exit,
    findings: Sequence[Finding] = (),
    *,
    cancelled: bool = False,
) -> NoReturn:
    """End the process with an error: one JSON document with --json, and lines with locations and fixes for people.

    If standard output already has its document, or takes none, print the lines even with --json.
    """
    # Read the arguments directly: typer may have failed to parse the command line.
    as_json = "--json" in sys.argv[1:]
    error: dict[str, Any] = {"code": code, "message": message, "cure": cure}
    if cancelled:
        error["details"] = {"cancelled": True}
    if not (as_json and _printed_as_json(error, findings)):
        _show_error(message, cure, findings)
    _drop_lost_output()
    sys.exit(exit_code)


def _show_error(message: str, cure: str | None, findings: Sequence[Finding]) -> None:
    """Print each finding with its fix, or the message when no findings exist. Print the common fix unless a finding has it."""
    out = notes()
    for finding in findings:
        out.labelled("error:", _with_pointer(finding), "bold red")
        if finding.cure:
            out.show("  " + finding.cure)
    if not findings:
        out.labelled("error:", message, "bold red")
    if cure and cure not in [finding.cure for finding in findings]:
        out.show("  " + cure)


def note_printed(plan: Plan) -> None:
    """Print the output of a program."""
    if plan.program is not None and plan.program.printed:
        notes().show(plan.program.printed)


def _with_pointer(finding: Finding) -> str:
    if finding.where:
        return f"{finding.where}: {finding.message}"
    return finding.message


def _printed_as_json(error: dict[str, Any], findings: Sequence[Finding]) -> bool:
    """Print an error as the JSON document, and return whether that is enough.

    Return False when the caller must print the error as text: standard output has its document already, or takes no more data.
    Return True when the reader closed the pipe, because then the reader wants no error.
    """
    if findings:
        error["findings"] = [finding.to_json() for finding in findings]
    try:
        if _printed_on is sys.stdout:
            sys.stdout.flush()
            return False
        print_json({"ok": False, "error": error})
    except OSError as lost:
        return isinstance(lost, BrokenPipeError)
    return True


def _drop_lost_output() -> None:
    """Discard data that standard output does not take. Otherwise Python prints an error when the process ends."""
    try:
        if sys.stdout:
            sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


class SafeConsole:
    """A console for people that escapes control characters, so that no text from a scene or a plan can control the terminal."""

    def __init__(self, *, stderr: bool = False, width: int | None = None) -> None:
        self._stderr = stderr
        self._width = width

    @property
    def is_terminal(self) -> bool:
        return self.drawing.is_terminal

    @cached_property
    def drawing(self) -> Drawing:
        """Return the console of rich. It takes about 50 ms to load, and commands with `--json` do not need it."""
        from blendwright.cli.drawing import Drawing

        return Drawing(stderr=self._stderr, highlight=False, soft_wrap=True, width=self._width)

    def print(self, renderable: RenderableType = "") -> None:
        """Print a renderable of rich, or an empty line."""
        self.drawing.print(renderable)

    def show(self, text: str, style: str = "", *, end: str = "\n") -> None:
        """Print a string without markup."""
        self.parts((text, style), end=end)

    def labelled(self, label: str, text: str, style: str, *, text_style: str = "default") -> None:
        """Print a styled label, followed by a text."""
        self.parts((f"{label} ", style), (text, text_style))

    def parts(self, *parts: tuple[str, str], end: str = "\n") -> None:
        """Print texts on one line, each with its style."""
        from rich.text import Text

        first, *following = parts
        text, style = first
        line = Text(text, style=style)
        for part in following:
            line.append(*part)
        self.drawing.print(line, end=end)

    def findings(self, findings: Iterable[Finding], *, without_pointer: str = "(plan)") -> None:
        """Print each finding with its code, location and fix. Print a finding that a loop repeats once, with its count."""
        for finding, times in count_alike(findings):
            message = f"{finding.where or without_pointer}: {finding.message}"
            if times > 1:
                message += f" ({times} times)"
            self.labelled(finding.fault.value, message, "bold red")
            if finding.cure:
                self.show(f"  {finding.cure}", "dim")

    def listing(self, rows: Sequence[Sequence[Cell]], *, none: str) -> None:
        """Print a table without lines, or the sentence `none` when it has no rows."""
        if rows:
            self.columns(rows)
        else:
            self.show(none)

    def columns(self, rows: Iterable[Sequence[Cell]], *, headers: Sequence[str] = (), indent: int = 0) -> None:
        """Print a table without lines. A cell that is too long for the screen continues on the next line."""
        from rich.table import Table

        table = Table(*headers, box=None, padding=(0, 2, 0, indent), show_header=bool(headers))
        for row in rows:
            table.add_row(*map(_cell_text, row))
        for column in table.columns:
            column.overflow = "fold"
        self.print(table)


def _cell_text(cell: Cell) -> Text:
    from rich.text import Text

    if isinstance(cell, tuple):
        text, style = cell
        return Text(text, style)
    return Text(cell)


def show_difference(difference: Difference, out: SafeConsole, *, none: str | None = None) -> None:
    """Print a line for each created, removed or renamed datablock and each changed property. Print `none` without any."""
    for style, sign, entries in (("green", "+", difference.created), ("red", "-", difference.removed)):
        for entry in entries:
            out.labelled(sign, f"{entry.kind} {entry.name}", style)
    for renamed in difference.renamed:
        out.labelled("→", f"{renamed.kind} {renamed.old} → {renamed.name}", "yellow")
    for changed in difference.changed:
        out.labelled("~", f"{changed.kind} {changed.name}", "yellow")
        for change in changed.properties:
            out.show(f"    {change.property}: {short_value(change.old)} → {short_value(change.new)}", "dim")
    if difference.unseen:
        out.show("~ something that snapshots do not show", "yellow")
    if difference.is_empty and none is not None:
        out.show(none)


def count_alike(findings: Iterable[Finding]) -> Iterator[tuple[Finding, int]]:
    """Yield the first finding of each group with equal text, and the size of the group.

    A loop in a program repeats a finding, and so does a function with several callers.
    """
    alike: dict[tuple[Fault, str, str, str | None], list[Finding]] = {}
    for finding in findings:
        message, _, _ = finding.message.partition(CALLED_FROM)
        alike.setdefault((finding.fault, finding.where, message, finding.cure), []).append(finding)
    for group in alike.values():
        yield group[0], len(group)


def repair_lines(entries: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Yield the action and the operation of each repair.

    Yield one line for many consecutive repairs with the same action, because a mistake in a loop needs one fix.
    """
    for action, group in groupby(entries, key=lambda entry: entry[0]):
        operations = [operation for _, operation in group]
        if len(operations) <= MAX_LISTED_REPAIRS:
            for operation in operations:
                yield action, operation
        else:
            yield action, f"{operations[0]} to {operations[-1]}, {len(operations)} operations"


def short_value(value: Any) -> str:
    """Return a value as short text for people. Show None as `-`, and cut long text."""
    match value:
        case None:
            return "-"
        case bool() | str():
            text = str(value)
        case float():
            text = f"{value:g}"
        case [*parts]:
            text = f"[{', '.join(map(short_value, parts))}]"
        case _:
            text = orjson.dumps(value).decode()
    if len(text) <= MAX_VALUE_LENGTH:
        return text
    return text[:MAX_VALUE_LENGTH] + "…"
