"""A terminal that shows text and obeys none: names, code and messages from others cannot move its cursor or erase what it said."""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.text import Text

from blendwright.values.invisible import escape_invisible


class Screen(Console):
    """rich lets escape sequences inside a text through to the terminal; only those that rich makes itself pass here."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        if isinstance(renderable, Text) and not renderable.plain.isprintable():
            shown = escape_invisible(renderable.plain)
            # Before it is laid out, so that it is given the room it needs.
            renderable = renderable if shown == renderable.plain else renderable.blank_copy(shown)
        for segment in super().render(renderable, options):
            yield segment if segment.control else Segment(escape_invisible(segment.text), segment.style)
