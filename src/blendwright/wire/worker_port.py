"""The ports to workers for the code that runs plans: the pool of workers, and the extras of a child process."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Protocol, Self

if TYPE_CHECKING:
    from blendwright.wire.remote_scene import RemoteScene


@dataclass(frozen=True, slots=True)
class ReadableFile:
    """A file that workers may read.

    Its device and inode identify it, so that workers cannot read another file that later has the same path.
    """

    path: Path
    device: int
    inode: int
    link: str = ""
    """The path of a link to the file, relative to the worker's scratch directory. Empty if scenes use only `path`."""


class ChildProcess(Protocol):
    """The extras of a worker that the core started. A person's open window has none of them."""

    @property
    def pid(self) -> int: ...

    @property
    def scratch(self) -> Path:
        """Return the only directory that the worker may write to. Closing the worker removes it."""
        ...

    @property
    def scratch_mb(self) -> int:
        """Return the size limit of the scratch directory in MB."""
        ...

    def log_tail(self) -> list[str]:
        """Return the last lines that the worker and its Blender wrote."""
        ...

    def kill(self) -> None:
        """End the process by SIGKILL. Waiting calls fail with WorkerLost."""
        ...


class WorkerPool(Protocol):
    """A pool of workers of one Blender."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def take(self, *, bare: bool = False, seconds: float | None = None) -> "RemoteScene":
        """Return a ready worker, which the caller then owns.

        A `bare` worker may read none of the allowed files. Raises EnvironmentUnfit if Blender cannot start, and
        DeadlinePassed if no worker is ready within `seconds`.
        """
        ...

    def warm(self) -> None:
        """Start a spare worker in the background."""
        ...

    def allow(self, readable: Sequence[ReadableFile]) -> None:
        """Let workers that start from now on read these files. Workers taken before stay as they are."""
        ...

    def close(self) -> None:
        """End every worker of this pool and remove its files."""
        ...
