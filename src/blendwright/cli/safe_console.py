"""A console that shows text and obeys none: names, code and messages from others cannot move the cursor or erase what was printed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from blendwright.values.findings import Finding
from blendwright.values.invisible import escape_invisible

# A text, or a text and its style.
Cell = str | tuple[str, str] | Text


class SafeConsole(Console):
    """rich lets escape sequences inside a text through to the terminal; only those that rich makes itself pass here."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        if isinstance(renderable, Text) and not renderable.plain.isprintable():
            escaped = escape_invisible(renderable.plain)
            # Before it is laid out, so that it is given the room it needs.
            renderable = renderable if escaped == renderable.plain else renderable.blank_copy(escaped)
        for segment in super().render(renderable, options):
            yield segment if segment.control else Segment(escape_invisible(segment.text), segment.style)

    def show(self, text: str, style: str = "", *, end: str = "\n") -> None:
        """Print a text as it is: rich would take square brackets in a plain string for markup."""
        self.print(Text(text, style=style), end=end)

    def labelled(self, label: str, text: str, style: str, *, text_style: str = "default") -> None:
        """Print a styled label and, behind it, what it is about."""
        self.print(Text(f"{label} ", style=style).append(text, style=text_style))

    def findings(self, findings: Iterable[Finding], *, without_pointer: str = "(plan)") -> None:
        """Print each finding with its code, its place and its cure."""
        for finding in findings:
            self.labelled(finding.fault.value, f"{finding.pointer or without_pointer}: {finding.message}", "bold red")
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
        table = Table(*headers, box=None, padding=(0, 2, 0, indent), show_header=bool(headers))
        for row in rows:
            table.add_row(*(Text(*cell) if isinstance(cell, tuple) else Text(cell) if isinstance(cell, str) else cell
                            for cell in row))  # fmt: skip
        for column in table.columns:
            column.overflow = "fold"
        self.print(table)
