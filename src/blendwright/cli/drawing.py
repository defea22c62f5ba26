"""What is more than lines of text: tables, trees and displays that move. rich draws them, and is loaded by whoever needs one."""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.text import Text

from blendwright.util.invisible_text import escape_invisible


class Drawing(Console):
    """rich lets escape sequences inside a text through to the terminal; only those that rich makes itself pass here."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        if isinstance(renderable, Text) and not renderable.plain.isprintable():
            escaped = escape_invisible(renderable.plain)
            # Before it is laid out, so that it is given the room it needs.
            if escaped != renderable.plain:
                renderable = renderable.blank_copy(escaped)
        for segment in super().render(renderable, options):
            yield segment if segment.control else Segment(escape_invisible(segment.text), segment.style)
