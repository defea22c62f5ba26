"""A worker that is started before it is known what will be asked of it: Blender loads while the core does.

It is a guess: the Blender of this environment with the usual limits. A pool takes it only where that is just what it would start itself;
otherwise it is ended, and nothing was lost but some time of another processor core. Loads little, since it comes before everything else.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from blendwright.bridge.sources.python_environment import PythonEnvironment
from blendwright.bridge.spawn import Child, WorkerSettings, spawn


@dataclass(frozen=True, slots=True)
class EarlyWorker:
    """A process that nobody has spoken with yet."""

    child: Child
    command: Sequence[str]
    settings: WorkerSettings
    release: Callable[[], None]
    """To be called when it has ended: removes the directory that its scratch is in."""

    def fits(self, command: Sequence[str], settings: WorkerSettings) -> bool:
        """Whether this command with these settings would have started the same, elsewhere on the disk."""
        here = replace(settings, scratch_root=self.settings.scratch_root)
        return (self.command, self.settings) == (command, here)

    def discard(self) -> None:
        """End it and remove what it has."""
        from blendwright.bridge.worker import WorkerProcess

        try:
            worker = WorkerProcess(self.child)
            worker.kill()
            worker.close(0.0)
        finally:
            self.release()


def own_command() -> list[str]:
    """Starts a worker of this environment."""
    return PythonEnvironment().command([])


def start(scratch: Path, release: Callable[[], None]) -> EarlyWorker:
    """Raises EnvironmentUnfit where it cannot be started, OSError where there can be no scratch."""
    settings = WorkerSettings(scratch)
    return EarlyWorker(spawn(PythonEnvironment().command, settings), own_command(), settings, release)
