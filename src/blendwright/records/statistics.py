"""What a journal holds, counted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Statistics:
    """What a journal holds, counted. `openings` is how often it was opened for writing, `requests` how many asked for something."""

    commits: Mapping[str, int]
    moves: Mapping[str, int]
    intents: Mapping[str, int]
    requests: int
    openings: int
    quarantines: int
    checkpoints: int
    checkpoint_bytes: int
