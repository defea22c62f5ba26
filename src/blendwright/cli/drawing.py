"""The console of rich, for tables, trees and live displays. Only commands that draw something import this module."""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.text import Text

from blendwright.util.invisible_text import escape_invisible


class Drawing(Console):
    """A console that escapes control characters inside texts, and passes only the escape sequences that rich creates.

    rich itself would pass escape sequences inside a text to the terminal.
    """

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        if isinstance(renderable, Text) and not renderable.plain.isprintable():
            escaped = escape_invisible(renderable.plain)
            # Escape before the layout, because the escaped text is longer.
            if escaped != renderable.plain:
                renderable = renderable.blank_copy(escaped)
        for segment in super().render(renderable, options):
            if segment.control:
                yield segment
            else:
                yield Segment(escape_invisible(segment.text), segment.style)
