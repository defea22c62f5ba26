"""The protocol between the engine and the host of the current scene.

There are two hosts: a worker process without a window (`LiveScene`), and a window that a person has open
(`WindowScene` in the package `window`). The engine knows only this protocol, so it runs without the package
`window`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from blendwright.engine.scene.external_files import External, Externals
from blendwright.engine.scene.head_state import HeadState
from blendwright.util.cancel import CancelToken
from blendwright.values.errors import BlendwrightError
from blendwright.values.events import CallIds
from blendwright.wire.blender_profile import WorkerProfile
from blendwright.wire.methods import StepAnswer, StepRequest
from blendwright.wire.remote_scene import HANG_SECONDS, RemoteScene

if TYPE_CHECKING:
    from blendwright.engine.files.access import FileAccess
    from blendwright.engine.heartbeat import Waiting
    from blendwright.engine.invocation import Invocation
    from blendwright.engine.ledger import Ledger
    from blendwright.engine.moves.navigation import History
    from blendwright.engine.sending.exclusive_step import StepOutcome


class ExclusiveRunner(Protocol):
    """A runner for calls that must not share the scene with other calls. It runs one call at a time."""

    def run(
        self,
        call: Invocation,
        *,
        seconds: float,
        run_ends: float,
        cancel: CancelToken | None = None,
        waiting: Callable[[Waiting], None] | None = None,
        verify: bool = False,
        rehearse: str | None = None,
    ) -> StepOutcome:
        """Run the call. Raises EnvironmentUnfit when Blender or the disk is not usable; the next use rebuilds the
        scene.
        """
        ...


class SceneHost(Protocol):
    """The host of the current scene, which HEAD determines. Not thread-safe: one caller at a time."""

    catalogue: str
    """The fingerprint of the tools that the worker must know."""
    externals: Externals
    """The external files that workers may read."""
    head: HeadState
    epoch: int
    """The number of the current series of steps that are sent without waiting. It rises after a failed step and
    never falls.
    """

    @property
    def adopted(self) -> frozenset[tuple[str, str]]:
        """The datablocks, by kind and name, that a person changed manually since the last plan."""
        ...

    @property
    def profile(self) -> WorkerProfile: ...

    @property
    def hash(self) -> str:
        """The hash of the scene, available even without a living worker."""
        ...

    @property
    def ready(self) -> bool:
        """True when a living worker holds the scene."""
        ...

    @property
    def worth_saving(self) -> bool:
        """True when only this worker has the right scene, because redo led to another one."""
        ...

    def worker(self) -> RemoteScene:
        """Return a living worker that holds the scene. Rebuild the scene if necessary."""
        ...

    def turn(self, label: str) -> AbstractContextManager[None]:
        """Return a context for one plan or call. In a window it is one undo step, with `label` as its name."""
        ...

    def step(self, request: StepRequest, *, deadline: float, cancel: CancelToken | None) -> StepAnswer:
        """Run one step in the worker. If the worker fails, the next worker starts from HEAD."""
        ...

    def record_commit(self, hash: str, redo_ms: float, *, saved: bool) -> None:
        """Record that the worker's scene is committed up to this hash. `saved` means that its last commit has a
        checkpoint.
        """
        ...

    def follow_head(self) -> None:
        """Drop the worker's scene because HEAD moved. The next use rebuilds it."""
        ...

    def follow_rollback(self) -> None:
        """Drop the worker's scene after a rollback. The rebuild may use the same worker again."""
        ...

    def discard(self) -> None:
        """End the worker because its scene does not match the journal."""
        ...

    def report_loss(self, error: BlendwrightError, ids: CallIds) -> None:
        """Report why a worker failed in a call, with the end of its log, and end the worker."""
        ...

    def report_log(self, ids: CallIds, message: str) -> None:
        """Report the end of the worker's log after a tool raised in it."""
        ...

    def checkpoint(self) -> None:
        """Save HEAD's scene if a worker holds it, so that later sessions need no redo."""
        ...

    def save(self, *, deadline: float = HANG_SECONDS) -> Path:
        """Return HEAD's scene as a file after computing and comparing its hash again."""
        ...

    def take_worker(self) -> RemoteScene:
        """Return a ready worker without a scene. The caller owns it."""
        ...

    def close(self) -> None:
        """Release the scene after the workers have ended. No thread of the session writes after this call."""
        ...

    def exclusive_runner(self, ledger: Ledger, files: FileAccess) -> ExclusiveRunner:
        """Return the host's runner for calls that need the scene for themselves."""
        ...

    def history(self) -> History:
        """Return the history moves that this host supports."""
        ...


class ProcessScene(SceneHost, Protocol):
    """A scene in a worker process, which another process may replace at any time."""

    def release_worker(self) -> RemoteScene | None:
        """Give a living worker, if one exists, to a caller that loads another scene than HEAD's into it."""
        ...

    def adopt_worker(self, worker: RemoteScene, redo_ms: float) -> None:
        """Continue with a worker that holds the scene of the moved HEAD. `redo_ms` is the cost of that move."""
        ...

    def fresh_worker(self, *, bare: bool = False, seconds: float | None = None) -> RemoteScene:
        """Return a ready worker without a scene, which the caller owns, and start the next spare worker.

        The worker may read the external files unless it is `bare`. Raises DeadlinePassed when no worker is ready
        within `seconds`.
        """
        ...

    def replace_worker(self, worker: RemoteScene) -> None:
        """Continue with a worker that holds the scene of the next commit, and end the previous worker."""
        ...

    def allow_externals(self) -> bool:
        """Let new workers read the workspace's external files. Return True when there are any."""
        ...

    def start_proof(self) -> None:
        """Start another process for `prove_step` while the step runs."""
        ...

    def arriving_files(self, reads: Collection[str]) -> tuple[External, ...]:
        """Return the external files that the uncommitted step has named. `reads` are the paths in its arguments."""
        ...

    def prove_step(self, made: str, *, seconds: float) -> tuple[Path, str]:
        """Save the scene with the uncommitted step, open it in another process, and continue there.

        Return the file and the hash that the other process found. `made` is the hash that the first process
        reported.
        """
        ...
