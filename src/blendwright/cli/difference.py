"""The difference of two scenes for people, whoever asks: a comparison of commits, a preview, a model's proposal."""

from __future__ import annotations

from typing import Any

import orjson

from blendwright.cli.safe_console import SafeConsole
from blendwright.run.differences import Difference

LONGEST_VALUE = 120


def show_difference(difference: Difference, out: SafeConsole, *, none: str | None = None) -> None:
    """One line for what came or went, and one for each changed property; `none` where there is nothing of all that."""
    for style, sign, entries in (("green", "+", difference.created), ("red", "-", difference.removed)):
        for entry in entries:
            out.labelled(sign, f"{entry.kind} {entry.name}", style)
    for changed in difference.changed:
        out.labelled("~", f"{changed.kind} {changed.name}", "yellow")
        for change in changed.properties:
            out.show(f"    {change.property}: {_value(change.old)} → {_value(change.new)}", "dim")
    if difference.unseen:
        out.show("~ something that snapshots do not show", "yellow")
    if difference.is_empty and none is not None:
        out.show(none)


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
