"""The difference of two scenes for people, whoever found it: a comparison of commits, a preview, a model's proposal."""

from __future__ import annotations

from typing import Any

import orjson
from rich.console import Console
from rich.text import Text

from blendwright.run.differences import Difference

LONGEST_VALUE = 120


def show_difference(found: Difference, out: Console, *, none: str | None = None) -> None:
    """One line for what came or went, and one for each changed property; `none` where there is nothing of all that."""
    for style, sign, entries in (("green", "+", found.created), ("red", "-", found.removed)):
        for entry in entries:
            out.print(Text(f"{sign} ", style=style).append(f"{entry.kind} {entry.name}", style="default"))
    for changed in found.changed:
        out.print(Text("~ ", style="yellow").append(f"{changed.kind} {changed.name}", style="default"))
        for change in changed.properties:
            out.print(Text(f"    {change.property}: {_value(change.old)} → {_value(change.new)}", style="dim"))
    if found.unseen:
        out.print(Text("~ something that snapshots do not show", style="yellow"))
    if found.is_empty and none is not None:
        out.print(Text(none))


def _value(value: Any) -> str:
    """Short: numbers as people write them, long texts cut. None stands for what is not there."""
    match value:
        case None:
            return "-"
        case bool() | str():
            text = str(value)
        case float():
            text = f"{value:g}"
        case [*parts]:
            text = f"[{', '.join(map(_value, parts))}]"
        case _:
            text = orjson.dumps(value).decode()
    return text if len(text) <= LONGEST_VALUE else text[:LONGEST_VALUE] + "…"
