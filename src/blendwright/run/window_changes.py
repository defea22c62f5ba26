"""What a person changed in a window, in words."""

from __future__ import annotations

from collections.abc import Sequence

from blendwright.values.findings import cut

MOST_NAMED = 8


def described(changes: Sequence[Sequence[str]]) -> str:
    """One line of what came, went and changed: `Cube changed (objects), Lamp created (objects) and 3 more`."""
    named = [f"{cut(change[1])} {change[-1]} ({change[0]})" for change in changes[:MOST_NAMED]]
    more = len(changes) - len(named)
    return ", ".join(named) + (f" and {more} more" if more else "")
