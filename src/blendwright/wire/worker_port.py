"""What those who run plans may expect of workers: the pool they come from, and what only a child process has."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Protocol, Self

if TYPE_CHECKING:
    from blendwright.wire.remote_scene import RemoteScene


@dataclass(frozen=True, slots=True)
class ReadableFile:
    """A file that workers may read: the one that had this path when it was checked, not whatever has it later."""

    path: Path
    device: int
    inode: int
    link: str = ""
    """Where a scene in the worker's scratch looks for it, seen from there; nowhere but at its path when empty."""


class ChildProcess(Protocol):
    """What a worker offers beyond its scene when the core started it; a window that a person has open has none of it."""

    @property
    def pid(self) -> int: ...

    @property
    def scratch(self) -> Path:
        """The only directory the worker may write to; gone after it was closed."""
        ...

    @property
    def scratch_mb(self) -> int:
        """How much it may have there."""
        ...

    def log_tail(self) -> list[str]:
        """The last lines that it, and Blender in it, wrote."""
        ...

    def kill(self) -> None:
        """End it by SIGKILL; calls that wait fail with WorkerLost."""
        ...


class WorkerPool(Protocol):
    """Workers of one source."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def take(self, *, bare: bool = False, seconds: float | None = None) -> "RemoteScene":
        """A ready worker, the caller's from now on; raises EnvironmentUnfit when Blender cannot be started.

        A `bare` one may read nothing of what `allow` allows. Raises DeadlinePassed where none is ready in so many seconds.
        """
        ...

    def warm(self) -> None:
        """Start a spare in the background."""
        ...

    def allow(self, readable: Sequence[ReadableFile]) -> None:
        """Let workers that are started from now on read these files; those that were taken before stay as they are."""
        ...

    def close(self) -> None:
        """End every worker that came from here and remove what they left."""
        ...
