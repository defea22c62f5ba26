"""How payloads name one of several sockets that share a name: `Value#2` is the second one of that name."""

from __future__ import annotations

import re
from collections.abc import Sequence

NUMBERED = re.compile(r"(.+)#([1-9][0-9]*)$", re.DOTALL)


def positions_named(names: Sequence[str], key: str) -> list[int]:
    """The positions that a key means: those of all sockets of that name, else the one that its number says."""
    positions = [position for position, name in enumerate(names) if name == key]
    numbered = NUMBERED.match(key)
    if positions or numbered is None:
        return positions
    number = int(numbered[2])
    return positions_named(names, numbered[1])[number - 1 : number]
