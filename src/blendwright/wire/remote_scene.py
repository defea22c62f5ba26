"""The scene in a worker, as the core uses it: one typed method for each request that a worker answers.

Subclasses implement the connection with `submit` and `call`. No other code names the methods of the wire. File names
are relative to the worker's scratch directory.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from typing import Any

from blendwright.util.cancel import CancelToken
from blendwright.values.errors import EnvironmentUnfit
from blendwright.wire import methods
from blendwright.wire.blender_profile import WorkerProfile
from blendwright.wire.file_facts import FileFacts
from blendwright.wire.methods import (
    ActiveItem,
    BulkAnswer,
    ExportAnswer,
    ExternalPath,
    RedoAnswer,
    RedoStep,
    StepAnswer,
    StepRequest,
    SwapAnswer,
)
from blendwright.wire.worker_port import ChildProcess

# The deadline of requests that are not calls. It only protects against a Blender that hangs.
HANG_SECONDS = 600.0


class RemoteScene(ABC):
    """A Blender after the handshake, and its scene. Every method raises WorkerLost, DeadlinePassed, Cancelled,
    ProtocolBreach or WorkerFault.
    """

    profile: WorkerProfile
    catalogue: str
    """The fingerprint of the tool catalogue that the worker knows."""

    # ------------------------------------------------------------------ the connection

    @property
    @abstractmethod
    def alive(self) -> bool: ...

    @property
    def process(self) -> ChildProcess | None:
        """Return the worker's process if the core started it, else None."""
        return None

    @abstractmethod
    def submit(self, method: str, params: Mapping[str, Any]) -> Future[Any]:
        """Send a request without waiting or blocking. Answers come in the order of the requests."""

    @abstractmethod
    def call(
        self,
        method: str,
        params: Mapping[str, Any],
        *,
        deadline: float | None,
        cancel: CancelToken | None = None,
        label: str | None = None,
    ) -> Any:
        """Send a request, wait at most `deadline` seconds, and return the answer.

        After a timeout or a cancellation, the call abandons the worker. Errors mention `label`.
        """

    @abstractmethod
    def abandon(self) -> None:
        """Give up the worker and its scene at once, and kill a child process. Waiting calls fail with WorkerLost."""

    @abstractmethod
    def close(self, timeout: float = 1.0) -> None:
        """Let the worker end, abandon it after `timeout` seconds, and remove its files."""

    def require_process(self) -> ChildProcess:
        """Return the child process, whose scratch directory exchanges files. Raises EnvironmentUnfit if the core did
        not start the worker.
        """
        if self.process is None:
            raise EnvironmentUnfit(
                "this needs a Blender process that Blendwright started itself: files are exchanged through its scratch directory",
                cure="Detach the open window, and use bpy or a Blender executable.",
            )
        return self.process

    # ------------------------------------------------------------------ the scene

    def step(self, request: StepRequest, *, deadline: float, cancel: CancelToken | None = None) -> StepAnswer:
        """Run one step and wait for it."""
        return self.call(methods.STEP.name, request, deadline=deadline, cancel=cancel, label=request["tool"])

    def submit_step(self, request: StepRequest) -> Future[StepAnswer]:
        """Send a step after the requests that are already on their way."""
        return self.submit(methods.STEP.name, request)

    def submit_bulk(self, steps: Sequence[StepRequest], epoch: int) -> Future[BulkAnswer]:
        """Send several steps in one request after the requests that are already on their way. The worker hashes and
        answers them together.
        """
        return self.submit(methods.BULK.name, {"steps": steps, "epoch": epoch})

    def submit_redo(self, steps: Sequence[RedoStep]) -> Future[RedoAnswer]:
        """Send committed steps to run again, all in one request."""
        return self.submit(methods.REDO.name, {"steps": list(steps)})

    def reset(self) -> str:
        """Empty the scene and return its hash."""
        return self.call(methods.RESET.name, {}, deadline=HANG_SECONDS)["hash"]

    def open(
        self, file: str, *, full: bool = True, deadline: float = HANG_SECONDS, cancel: CancelToken | None = None
    ) -> str:
        """Replace the scene by that of a .blend file without running its scripts. Return its hash, which is
        meaningless without `full`.
        """
        return self.call(methods.OPEN.name, {"path": file, "full": full}, deadline=deadline, cancel=cancel)["hash"]

    def save(
        self, file: str, *, full: bool = True, deadline: float = HANG_SECONDS, cancel: CancelToken | None = None
    ) -> str:
        """Write the scene to a .blend file and return its hash, recomputed with `full`."""
        return self.call(methods.SAVE.name, {"path": file, "full": full}, deadline=deadline, cancel=cancel)["hash"]

    def export(self, file: str, *, keep_unused: bool = False, deadline: float = HANG_SECONDS) -> ExportAnswer:
        """Write the scene to a .blend file for use outside the workspace, without code that would run on opening.

        With `keep_unused` the file also keeps datablocks without users.
        """
        request: methods.ExportRequest
        if keep_unused:
            request = {"path": file, "keep_unused": True}
        else:
            request = {"path": file}
        return self.call(methods.EXPORT.name, request, deadline=deadline)

    def swap(self, file: str, *, deadline: float, drop_unused: bool = False, home: str = "") -> SwapAnswer:
        """Open a file in place of the scene, and return the differences.

        `drop_unused` removes datablocks without users. `home` is the directory of the file that this one is a copy
        of.
        """
        request: methods.SwapRequest
        if drop_unused:
            request = {"path": file, "drop_unused": True}
        else:
            request = {"path": file}
        if home:
            request["home"] = home
        return self.call(methods.SWAP.name, request, deadline=deadline)

    def active_content(self, *, deadline: float) -> list[ActiveItem]:
        """Return the items of the scene that would run automatically or that name a file."""
        return self.call(methods.ACTIVE_CONTENT.name, {}, deadline=deadline)["active_content"]

    def external_files(self) -> list[ExternalPath]:
        """Return the stored paths of all files that the scene refers to, with the kind and name of the referring
        datablock.
        """
        return self.call(methods.EXTERNAL_FILES.name, {}, deadline=HANG_SECONDS)["paths"]

    def relocate_files(self, file: str, new_paths: Mapping[str, str]) -> str:
        """Give external files other paths, save the scene to a file and open it. Return its hash."""
        request = {"path": file, "new_paths": dict(new_paths)}
        return self.call(methods.RELOCATE_FILES.name, request, deadline=HANG_SECONDS)["hash"]

    def content(self, file: str, keys: Sequence[Sequence[str]] | None = None) -> int:
        """Write the content of these datablocks, or of all, to a file as named values. Return the number of
        datablocks.
        """
        request: dict[str, Any] = {"path": file}
        if keys is not None:
            request["keys"] = [[*key] for key in keys]
        return self.call(methods.CONTENT.name, request, deadline=HANG_SECONDS)["blocks"]

    def read_back(
        self, file: str, form: str, profile: str, *, deadline: float, cancel: CancelToken | None = None
    ) -> FileFacts:
        """Import a file of another format in place of the scene, and return its measures."""
        request = {"path": file, "form": form, "profile": profile}
        answer = self.call(methods.READ_BACK.name, request, deadline=deadline, cancel=cancel)
        return answer["facts"]

    def hash(self, *, full: bool = False) -> str:
        """Return the scene's incremental hash, or with `full` a recomputed one."""
        return self.call(methods.HASH.name, {"full": full}, deadline=HANG_SECONDS)["hash"]

    def unlisted(self) -> list[list[str]]:
        """Return kind, name and digest of every datablock that a snapshot does not show with its fingerprint."""
        return self.call(methods.UNLISTED.name, {}, deadline=HANG_SECONDS)["blocks"]
