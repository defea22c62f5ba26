"""The port through which the executor sees the truth of a scene: a baseline file and the steps since."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol


@dataclass(frozen=True, slots=True)
class RedoStep:
    """A step that was kept: enough to run it again and to prove that it led to the same scene."""

    tool: str
    version: int
    args: Mapping[str, Any]
    after: str


@dataclass(frozen=True, slots=True)
class Baseline:
    """Where redo starts: a .blend file, or the empty scene when `path` is None. `hash` is None until it was opened once."""

    path: Path | None
    hash: str | None


class History(Protocol):
    """The scene in a worker's memory is only a cache of this."""

    @property
    def baseline(self) -> Baseline: ...

    def steps(self) -> Sequence[RedoStep]:
        """What was kept since the baseline, in order."""
        ...

    def opened(self, hash: str) -> None:
        """The baseline was opened for the first time and has this hash."""
        ...

    def append(self, step: RedoStep) -> None: ...

    def rebase(self, saved: Path, hash: str) -> None:
        """Take over a saved scene as the new baseline; what was redone from the old one is not needed any more."""
        ...
