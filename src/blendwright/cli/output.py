"""What commands print and how they end. With `--json`, standard output is exactly one document; everything else goes to standard error."""

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

    from blendwright.cli.drawing import Drawing
    from blendwright.records.results import Difference
    from blendwright.values.outcome import Outcome
    from blendwright.values.plan import Plan
    from blendwright.values.report import RunReport

# Where nobody looks at a screen nothing is wrapped: lines are then for programs and files.
UNBOUNDED = 10_000
# A text, or a text and its style.
Cell = str | tuple[str, str]
LONGEST_VALUE = 120
# Of one sort that are listed one by one.
MOST_REPAIRS = 5


class Exit(IntEnum):
    DONE = 0
    FAILED = 1
    REFUSED = 2
    UNFIT = 3
    INTERRUPTED = 130

    @classmethod
    def of_call(cls, outcome: Outcome) -> Exit:
        """2 when nothing ran, 1 when it ran and failed, 130 when it was called off."""
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
        """The same for a plan and for what was asked for beside it."""
        if report.cancelled or any(outcome.cancelled for outcome in extra):
            return cls.INTERRUPTED
        statuses = {operation.status for operation in report.operations}
        # All that was tried was refused: a person declined, and nothing went before it.
        nothing_ran = "refused" in statuses and statuses <= {"refused", "skipped", "skipped_idempotent"}
        if report.status == "refused" or nothing_ran:
            return cls.REFUSED
        if report.ok and all(outcome.ok for outcome in extra):
            return cls.DONE
        return cls.FAILED


def console() -> SafeConsole:
    """Standard output for people."""
    bounded = sys.stdout.isatty() or "COLUMNS" in os.environ
    return SafeConsole(width=None if bounded else UNBOUNDED)


def notes() -> SafeConsole:
    """Standard error for people."""
    return SafeConsole(stderr=True)


def present(
    json: bool, document: Callable[[], Any], show: Callable[[SafeConsole], None], exit_code: Exit = Exit.DONE
) -> Exit:
    """End a command: print its result as the one document for programs, or show it to people, and return the exit code."""
    if json:
        print_json(document())
    else:
        show(console())
    return exit_code


_LAYOUT = orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE | orjson.OPT_PASSTHROUGH_DATACLASS


# The standard output on which a document was begun: whatever happens from then on, there is no second one.
_printed_on: Any = None


def begin_output() -> None:
    """A command begins: it has printed nothing yet."""
    global _printed_on
    _printed_on = None


def print_json(document: Any) -> None:
    """What is no plain data in it is rendered by its own `to_json` when its turn comes, and held no longer than that."""
    global _printed_on
    if out := getattr(sys.stdout, "buffer", None):  # without standard output there is no file at all
        text = orjson.dumps(document, default=lambda value: value.to_json(), option=_LAYOUT)
        _printed_on = sys.stdout
        out.write(text)
        out.flush()


def note_recovered(sentences: Iterable[str]) -> None:
    """What had to be put in order when the workspace was opened."""
    for sentence in sentences:
        notes().labelled("recovered:", sentence, "bold yellow")


def note_outcome(outcome: Outcome) -> None:
    """What was asked for beside a plan goes to standard error, which is free in either form of output."""
    for artifact in outcome.artifacts:
        notes().show(f"wrote {artifact}")
    note_cleaned((outcome.result or {}).get("cleaned", ()))
    note_remarks((outcome.result or {}).get("notes", ()))
    for finding in outcome.findings:
        notes().show(f"{outcome.tool}: {finding.message}. {finding.cure or ''}".rstrip(), "red")


def note_remarks(sentences: Iterable[str]) -> None:
    """What may surprise about a result although nothing went wrong: that a picture is black, and why."""
    for sentence in dict.fromkeys(sentences):
        notes().labelled("note:", sentence, "bold yellow")


def note_cleaned(entries: Iterable[Mapping[str, Any]]) -> None:
    """Which code of the scene an exported file goes without."""
    for entry in entries:
        what = f"{entry['what']} of {entry['kind']} '{entry['name']}' {entry['where']}".rstrip()
        notes().labelled("left out:", what, "bold yellow")


def note_external_files(findings: Iterable[Finding]) -> None:
    """What is wrong with the files that a scene refers to."""
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
    """End the program with an error that is data for machines and a few lines for people, each finding with its place."""
    # Also when the command line could not be parsed.
    as_json = "--json" in sys.argv[1:]
    error: dict[str, Any] = {"code": code, "message": message, "cure": cure}
    if cancelled:
        error["details"] = {"cancelled": True}
    if not (as_json and _printed_as_json(error, findings)):
        for text, own_cure in [(_with_pointer(finding), finding.cure) for finding in findings] or [(message, None)]:
            notes().labelled("error:", text, "bold red")
            if own_cure:
                notes().show("  " + own_cure)
        if cure and cure not in [finding.cure for finding in findings]:
            notes().show("  " + cure)
    _drop_lost_output()
    sys.exit(exit_code)


def note_printed(plan: Plan) -> None:
    """What a program printed."""
    if plan.program is not None and plan.program.printed:
        notes().show(plan.program.printed)


def _with_pointer(finding: Finding) -> str:
    if finding.where:
        return f"{finding.where}: {finding.message}"
    return finding.message


def _printed_as_json(error: dict[str, Any], findings: Sequence[Finding]) -> bool:
    """False when people have to be told, since standard output takes nothing more, or has its one document already."""
    if findings:
        error["findings"] = [finding.to_json() for finding in findings]
    try:
        if _printed_on is sys.stdout:
            sys.stdout.flush()
            return False
        print_json({"ok": False, "error": error})
    except OSError as lost:
        return isinstance(lost, BrokenPipeError)  # who has stopped reading does not want to know
    return True


def _drop_lost_output() -> None:
    """What standard output does not take goes nowhere: otherwise Python would complain about it at its end."""
    try:
        if sys.stdout:
            sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


class SafeConsole:
    """Lines for people, in which nothing that others wrote can speak to the terminal. What is more than lines is a drawing."""

    def __init__(self, *, stderr: bool = False, width: int | None = None) -> None:
        self._stderr = stderr
        self._width = width

    @property
    def is_terminal(self) -> bool:
        return self.drawing.is_terminal

    @cached_property
    def drawing(self) -> Drawing:
        """The console of rich, which takes some 50 ms to load: `--json` on its own does not need it."""
        from blendwright.cli.drawing import Drawing

        return Drawing(stderr=self._stderr, highlight=False, soft_wrap=True, width=self._width)

    def print(self, renderable: RenderableType = "") -> None:
        """Print what rich draws; without anything, an empty line."""
        self.drawing.print(renderable)

    def show(self, text: str, style: str = "", *, end: str = "\n") -> None:
        """Print a text as it is."""
        self.parts((text, style), end=end)

    def labelled(self, label: str, text: str, style: str, *, text_style: str = "default") -> None:
        """Print a styled label and, behind it, what it is about."""
        self.parts((f"{label} ", style), (text, text_style))

    def parts(self, *parts: tuple[str, str], end: str = "\n") -> None:
        """Print texts one behind the other, each in its style laid over those before it."""
        from rich.text import Text

        (text, style), *others = parts
        drawn = Text(text, style=style)
        for other in others:
            drawn.append(*other)
        self.drawing.print(drawn, end=end)

    def findings(self, findings: Iterable[Finding], *, without_pointer: str = "(plan)") -> None:
        """Print each finding with its code, its place and its cure; one that a loop repeats is told once, with how often."""
        for finding, times in told_once(findings):
            message = f"{finding.where or without_pointer}: {finding.message}" + (
                f" ({times} times)" if times > 1 else ""
            )
            self.labelled(finding.fault.value, message, "bold red")
            if finding.cure:
                self.show(f"  {finding.cure}", "dim")

    def listing(self, rows: Sequence[Sequence[Cell]], *, none: str) -> None:
        """Print a table without lines, or a sentence that says that there is nothing."""
        if rows:
            self.columns(rows)
        else:
            self.show(none)

    def columns(self, rows: Iterable[Sequence[Cell]], *, headers: Sequence[str] = (), indent: int = 0) -> None:
        """Print a table without lines. Nothing in it is cut: what is too long for the screen goes on below."""
        from rich.table import Table
        from rich.text import Text

        table = Table(*headers, box=None, padding=(0, 2, 0, indent), show_header=bool(headers))
        for row in rows:
            table.add_row(*(Text(*cell) if isinstance(cell, tuple) else Text(cell) for cell in row))
        for column in table.columns:
            column.overflow = "fold"
        self.print(table)


def show_difference(difference: Difference, out: SafeConsole, *, none: str | None = None) -> None:
    """One line for what came or went, and one for each changed property; `none` where there is nothing of all that."""
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


def told_once(findings: Iterable[Finding]) -> Iterator[tuple[Finding, int]]:
    """Findings that read alike as the first of them and how many there are: a loop in a program makes many, and so does a function that is
    called from several places."""
    alike: dict[tuple[Fault, str, str, str | None], list[Finding]] = {}
    for one in findings:
        message, _, _ = one.message.partition(CALLED_FROM)
        alike.setdefault((one.fault, one.where, message, one.cure), []).append(one)
    return ((several[0], len(several)) for several in alike.values())


def repair_lines(entries: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Action and operation of each repair; many of one sort in a row are one line: a mistake in a loop has one place to mend."""
    for action, several in groupby(entries, key=lambda entry: entry[0]):
        first, *others = [operation for _, operation in several]
        if len(others) < MOST_REPAIRS:
            yield from ((action, operation) for operation in (first, *others))
        else:
            yield action, f"{first} to {others[-1]}, {len(others) + 1} operations"


def short_value(value: Any) -> str:
    """Short: numbers as people write them, long texts cut. None stands for what is not there."""
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
    if len(text) <= LONGEST_VALUE:
        return text
    return text[:LONGEST_VALUE] + "…"
