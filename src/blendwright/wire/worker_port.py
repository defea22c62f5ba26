"""The ports to Blender processes, as those who run plans see them.

Says what a worker and a pool of workers promise, and how a call is cancelled; processes and pipes are the bridge's affair.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from blendwright.values.cancel import CancelToken
from blendwright.wire.profiles import WorkerProfile


@dataclass(frozen=True, slots=True)
class Readable:
    """A file that workers may read: the one that had this path and was judged, not whatever has it later."""

    path: Path
    device: int
    inode: int


class WorkerPort(Protocol):
    """One Blender process that has said hello."""

    @property
    def profile(self) -> WorkerProfile: ...

    @property
    def catalogue(self) -> str:
        """The fingerprint of the tool catalogue that the worker knows."""
        ...

    @property
    def scratch(self) -> Path:
        """The only directory the worker may write to; gone after `close`."""
        ...

    @property
    def pid(self) -> int: ...

    @property
    def alive(self) -> bool: ...

    def log_tail(self) -> list[str]:
        """The last lines that it, and Blender in it, wrote."""
        ...

    def submit(self, method: str, params: Mapping[str, Any]) -> Future[Any]:
        """Send a request without waiting, never blocking; answers come in the order of the requests."""
        ...

    def call(
        self, method: str, params: Mapping[str, Any], *, deadline: float | None, cancel: CancelToken | None = None
    ) -> Any:
        """Send and wait, at most `deadline` seconds; past it, or on cancel, the worker is killed at once.

        Raises WorkerLost, DeadlinePassed, Cancelled, ProtocolBreach or WorkerFault.
        """
        ...

    def kill(self) -> None:
        """End it by SIGKILL; calls that wait fail with WorkerLost."""
        ...

    def close(self, timeout: float = 1.0) -> None:
        """Let it end by itself, kill it after `timeout` seconds, and remove its scratch."""
        ...


class PoolPort(Protocol):
    """Where workers come from."""

    def take(self, *, bare: bool = False) -> WorkerPort:
        """A ready worker, the caller's from now on; raises EnvironmentUnfit when Blender cannot be started.

        A `bare` one may read nothing of what `allow` allows.
        """
        ...

    def warm(self) -> None:
        """Start a spare in the background."""
        ...

    def allow(self, readable: Sequence[Readable]) -> None:
        """Let workers that are started from now on read these files; those that have been given out stay as they are."""
        ...

    def close(self) -> None:
        """End every worker that came from here and remove what they left."""
        ...
