"""Sources of workers: the base classes of all kinds of source.

The kinds are in `bridge/sources`, one file each. No other code creates a pool.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Self

from blendwright.bridge.spawn import WorkerSettings
from blendwright.wire.worker_port import WorkerPool

if TYPE_CHECKING:
    from blendwright.bridge.pool import Pool


class WorkerSource(ABC):
    """A way to get workers."""

    @classmethod
    @abstractmethod
    def from_text(cls, text: str) -> Self | None:
        """Return the source that a `--blender` value names; None if the value does not name this kind."""

    @abstractmethod
    def open_pool(self, settings: WorkerSettings, *, spares: int = 1) -> WorkerPool:
        """Return a pool of workers of this source. It starts none before the first request."""


class ProcessSource(WorkerSource):
    """A source of workers that are child processes of the core."""

    @abstractmethod
    def command(self, arguments: list[str]) -> list[str]:
        """Return the command line that starts a worker with these arguments. Raise EnvironmentUnfit if that is impossible."""

    def open_pool(self, settings: WorkerSettings, *, spares: int = 1) -> Pool:
        from blendwright.bridge.pool import Pool  # local, so that an early worker can start before this import

        return Pool(self.command, settings, spares=spares)
