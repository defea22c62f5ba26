"""Saved scenes: one that is staged, one that the journal has a row for, and what collecting garbage removed."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

# Redo of a simple operation takes about 0.1 ms: so many commits are redone within the time that Blender takes to start.
REDO_BUDGET = 5000


@dataclass(frozen=True, slots=True)
class StagedCheckpoint:
    """A saved scene that lies durably among the checkpoints; it counts once a row names it."""

    file: str
    sha256: str
    size: int
    scene_hash: str


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A saved scene: `path` is the file, `scene_hash` that of the commit it belongs to."""

    id: int
    commit: int
    generation: int
    scene_hash: str
    sha256: str
    size: int
    path: Path
    timestamp: str


@dataclass(frozen=True, slots=True)
class GcReport:
    """What `gc` removed, or would; `lost` are the commits whose scene can no longer be rebuilt."""

    files: tuple[str, ...]
    bytes: int
    kept: int
    lost: tuple[int, ...]
