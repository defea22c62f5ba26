"""A history that lives as long as the process: a baseline in a scratch directory and a list of steps."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from blendwright.contracts.history import Baseline, RedoStep


class ScratchHistory:
    """Implements `History` without durability."""

    def __init__(self, directory: Path, scene: Path | None = None) -> None:
        self._directory = directory
        self._baseline = Baseline(scene, None)
        self._steps: list[RedoStep] = []
        self._rebases = 0

    @property
    def baseline(self) -> Baseline:
        return self._baseline

    def steps(self) -> Sequence[RedoStep]:
        return tuple(self._steps)

    def opened(self, hash: str) -> None:
        self._baseline = Baseline(self._baseline.path, hash)

    def append(self, step: RedoStep) -> None:
        self._steps.append(step)

    def rebase(self, saved: Path, hash: str) -> None:
        self._rebases += 1
        kept = self._directory / f"baseline-{self._rebases}.blend"
        saved.replace(kept)
        self._baseline = Baseline(kept, hash)
        self._steps.clear()
