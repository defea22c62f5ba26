"""Where workers come from: the base of all sources, and what holds for the workers of any of them.

The kinds are in `bridge/sources`, one file each. Nobody else builds a pool.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Self

from blendwright.bridge.spawn import WorkerSettings
from blendwright.wire.worker_port import WorkerPool

if TYPE_CHECKING:
    from blendwright.bridge.pool import Pool


class WorkerSource(ABC):
    """One way to get workers."""

    @classmethod
    @abstractmethod
    def from_text(cls, text: str) -> Self | None:
        """The source that the text of `--blender` names; None where the text does not name this kind."""

    @abstractmethod
    def open_pool(self, settings: WorkerSettings, *, spares: int = 1) -> WorkerPool:
        """A pool of workers of this source; it starts none before it is asked for one."""


class ProcessSource(WorkerSource):
    """Workers that are child processes of the core."""

    @abstractmethod
    def command(self, arguments: list[str]) -> list[str]:
        """The command line that starts a worker with these arguments. Raises EnvironmentUnfit where there can be none."""

    def open_pool(self, settings: WorkerSettings, *, spares: int = 1) -> Pool:
        from blendwright.bridge.pool import Pool  # not above: a worker can be started before this is loaded

        return Pool(self.command, settings, spares=spares)
