"""The protocol between the engine and the place where the current scene is open.

There are two hosts: a worker process without a window (`LiveScene`), and a window that a person has open (`WindowScene` in the package
`window`). The engine knows this protocol only, so it runs without the package `window`.
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
    """Runs one call at a time that must not share the scene with other calls."""

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
        """Run the call. Raises EnvironmentUnfit when there is no Blender or no disk; the next need rebuilds the scene."""
        ...


class SceneHost(Protocol):
    """Holds the current scene. HEAD decides what that scene is. Not thread-safe: one caller at a time."""

    catalogue: str
    """The fingerprint of the tools that the worker must know."""
    externals: Externals
    """The external files that workers may read."""
    head: HeadState
    epoch: int
    """The number of the steps that are sent without waiting. It rises after one of them failed and is never lowered."""

    @property
    def adopted(self) -> frozenset[tuple[str, str]]:
        """The datablocks, by kind and name, that a person changed by hand since the last plan."""
        ...

    @property
    def profile(self) -> WorkerProfile: ...

    @property
    def hash(self) -> str:
        """The hash of the scene, also when its worker is gone."""
        ...

    @property
    def ready(self) -> bool:
        """Whether a living worker holds the scene already."""
        ...

    @property
    def worth_saving(self) -> bool:
        """Whether only this worker can tell what the scene is, because redo led to another one."""
        ...

    def worker(self) -> RemoteScene:
        """Return a living worker with the scene in it. Rebuilds the scene when needed."""
        ...

    def turn(self, label: str) -> AbstractContextManager[None]:
        """Enclose one plan or call, named for people. In a window it is one undo step."""
        ...

    def step(self, request: StepRequest, *, deadline: float, cancel: CancelToken | None) -> StepAnswer:
        """Run one step in the worker. A worker that fails in it is gone, and the next one starts from HEAD."""
        ...

    def record_commit(self, hash: str, redo_ms: float, *, saved: bool) -> None:
        """Note that the scene in the worker was committed up to this hash. `saved`: its last commit has a checkpoint."""
        ...

    def follow_head(self) -> None:
        """Give up the worker's scene because HEAD moved; the next need rebuilds it."""
        ...

    def follow_rollback(self) -> None:
        """Give up the worker's scene after a rollback. Nothing is wrong with the worker, so the rebuild may use it again."""
        ...

    def discard(self) -> None:
        """Give up the worker because its scene is not what the journal says."""
        ...

    def report_loss(self, error: BlendwrightError, ids: CallIds) -> None:
        """Report why a worker failed in a call, with the end of its log, and give the worker up."""
        ...

    def report_log(self, ids: CallIds, message: str) -> None:
        """Report the end of the worker's log after a tool raised in it."""
        ...

    def checkpoint(self) -> None:
        """Save HEAD's scene where a worker holds it, so that no later session has to redo what led to it."""
        ...

    def save(self, *, deadline: float = HANG_SECONDS) -> Path:
        """Return HEAD's scene as a file, whose hash was computed again and compared."""
        ...

    def take_worker(self) -> RemoteScene:
        """Return a ready worker without a scene. It belongs to the caller."""
        ...

    def close(self) -> None:
        """Let go of the scene after the workers have ended. No thread of the session writes after this."""
        ...

    def exclusive_runner(self, ledger: Ledger, files: FileAccess) -> ExclusiveRunner:
        """Return the host's way to run a call that has the scene for itself."""
        ...

    def history(self) -> History:
        """Return the moves through the history that this host can make."""
        ...


class ProcessScene(SceneHost, Protocol):
    """A scene in a worker process of its own, which may be replaced by another process at any time."""

    def release_worker(self) -> RemoteScene | None:
        """Give the worker, where one is alive, to a caller that brings another scene than HEAD's into it."""
        ...

    def adopt_worker(self, worker: RemoteScene, redo_ms: float) -> None:
        """Continue with a worker that holds the scene to which HEAD has moved; `redo_ms` is what that move cost."""
        ...

    def fresh_worker(self, *, bare: bool = False, seconds: float | None = None) -> RemoteScene:
        """Return a ready worker without a scene, which may read the external files unless it is `bare`.

        The worker belongs to the caller, and the next spare starts. Raises DeadlinePassed when none is ready in time."""
        ...

    def replace_worker(self, worker: RemoteScene) -> None:
        """Continue with a worker that holds the scene which is about to be committed, and end the one before it."""
        ...

    def allow_externals(self) -> bool:
        """Let workers that start from now on read the workspace's external files. Returns whether there are any."""
        ...

    def start_proof(self) -> None:
        """Start another process for `prove_step` while the step runs."""
        ...

    def arriving_files(self, reads: Collection[str]) -> tuple[External, ...]:
        """Return the external files that the step which is about to be committed has named. `reads` are its arguments."""
        ...

    def prove_step(self, made: str, *, seconds: float) -> tuple[Path, str]:
        """Save the scene with the step that is about to be committed, open it in another process, and continue there.

        Returns the file and the hash that the other process found; `made` is the hash that the first one reported."""
        ...
