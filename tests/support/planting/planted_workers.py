"""Workers in which some code was changed: a Blender that does something differently."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self

from blendwright.bridge.spawn import WorkerSettings
from blendwright.bridge.worker_source import WorkerSource
from blendwright.wire.worker_environment import EXTENSIONS
from blendwright.wire.worker_port import WorkerPool


@dataclass(frozen=True)
class PlantedWorkers(WorkerSource):
    """Those of another source, which run a file of Python before they answer."""

    source: WorkerSource
    file: Path

    @classmethod
    def from_text(cls, text: str) -> Self | None:
        return None

    def open_pool(self, settings: WorkerSettings, *, spares: int = 1) -> WorkerPool:
        environment = {**settings.environment, EXTENSIONS: str(self.file)}
        return self.source.open_pool(replace(settings, environment=environment), spares=spares)
