"""Saved scenes: staged files, checkpoints in the journal, and the result of garbage collection."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

# Commits that can be redone in the time that Blender takes to start. Redo of a simple operation takes about 0.1
# ms.
REDO_BUDGET = 5000


@dataclass(frozen=True, slots=True)
class StagedCheckpoint:
    """A saved scene that is durable among the checkpoint files, but has no journal row yet."""

    file: str
    sha256: str
    size: int
    scene_hash: str


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A saved scene with a journal row: `path` is its file, `scene_hash` is the hash of its commit."""

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
    """The files that `gc` removed or would remove. `lost` are the commits whose scenes can no longer be rebuilt."""

    files: tuple[str, ...]
    bytes: int
    kept: int
    lost: tuple[int, ...]
