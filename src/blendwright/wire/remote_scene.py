"""The scene in a worker, seen from the core: one typed method for each request that a worker answers.

How requests travel is for the subclass (`submit` and `call`); nobody else names the methods of the wire. File names are relative to
the worker's scratch directory.
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

# For what is not a call and has no deadline of its own: only a bound against a Blender that hangs.
HANG_SECONDS = 600.0


class RemoteScene(ABC):
    """One Blender that has said hello, and the scene in it. Every method raises WorkerLost, DeadlinePassed, Cancelled, ProtocolBreach or
    WorkerFault."""

    profile: WorkerProfile
    catalogue: str
    """The fingerprint of the tool catalogue that the worker knows."""

    # ------------------------------------------------------------------ the connection

    @property
    @abstractmethod
    def alive(self) -> bool: ...

    @property
    def process(self) -> ChildProcess | None:
        """The process behind it, where the core started it."""
        return None

    @abstractmethod
    def submit(self, method: str, params: Mapping[str, Any]) -> Future[Any]:
        """Send a request without waiting, never blocking; answers come in the order of the requests."""

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
        """Send and wait, at most `deadline` seconds; past it, or on cancel, the worker is abandoned. Errors speak of `label`."""

    @abstractmethod
    def abandon(self) -> None:
        """Give it up at once, with its scene; calls that wait fail with WorkerLost. A child process is killed."""

    @abstractmethod
    def close(self, timeout: float = 1.0) -> None:
        """Let it end by itself, give it up after `timeout` seconds, and remove what it left."""

    def require_process(self) -> ChildProcess:
        """For what goes through files in the worker's scratch. Raises EnvironmentUnfit where there is no such directory."""
        if self.process is None:
            raise EnvironmentUnfit(
                "this needs a Blender process that Blendwright started itself: files are exchanged through its scratch directory",
                cure="Leave out the open window, and use bpy or a Blender executable.",
            )
        return self.process

    # ------------------------------------------------------------------ the scene

    def step(self, request: StepRequest, *, deadline: float, cancel: CancelToken | None = None) -> StepAnswer:
        """Run one step and wait for it."""
        return self.call(methods.STEP.name, request, deadline=deadline, cancel=cancel, label=request["tool"])

    def submit_step(self, request: StepRequest) -> Future[StepAnswer]:
        """Send a step behind those that are on their way."""
        return self.submit(methods.STEP.name, request)

    def submit_bulk(self, steps: Sequence[StepRequest], epoch: int) -> Future[BulkAnswer]:
        """Send several steps behind those that are on their way, in one request: they are hashed together, and answered together."""
        return self.submit(methods.BULK.name, {"steps": steps, "epoch": epoch})

    def submit_redo(self, steps: Sequence[RedoStep]) -> Future[RedoAnswer]:
        """Send committed steps to be run again, all in one request: nobody is asked between them."""
        return self.submit(methods.REDO.name, {"steps": list(steps)})

    def reset(self) -> str:
        """Empty the scene; returns its hash."""
        return self.call(methods.RESET.name, {}, deadline=HANG_SECONDS)["hash"]

    def open(
        self, file: str, *, full: bool = True, deadline: float = HANG_SECONDS, cancel: CancelToken | None = None
    ) -> str:
        """Replace the scene by that of a .blend file, whose scripts never run; returns its hash, unless `full` says that nobody needs
        it."""
        return self.call(methods.OPEN.name, {"path": file, "full": full}, deadline=deadline, cancel=cancel)["hash"]

    def save(
        self, file: str, *, full: bool = True, deadline: float = HANG_SECONDS, cancel: CancelToken | None = None
    ) -> str:
        """Write the scene to a .blend file; returns its hash, recomputed where `full` says so."""
        return self.call(methods.SAVE.name, {"path": file, "full": full}, deadline=deadline, cancel=cancel)["hash"]

    def export(self, file: str, *, keep_unused: bool = False, deadline: float = HANG_SECONDS) -> ExportAnswer:
        """Write the scene to a .blend file that leaves the workspace, without code that would run where it is opened.

        With `keep_unused` the file also keeps datablocks without users."""
        request: methods.ExportRequest
        if keep_unused:
            request = {"path": file, "keep_unused": True}
        else:
            request = {"path": file}
        return self.call(methods.EXPORT.name, request, deadline=deadline)

    def swap(self, file: str, *, deadline: float, drop_unused: bool = False, home: str = "") -> SwapAnswer:
        """Open a file in place of the scene, and compare the two. `drop_unused`: without what nothing in it uses. `home`: where the file
        lies of which this is a copy."""
        request: methods.SwapRequest
        if drop_unused:
            request = {"path": file, "drop_unused": True}
        else:
            request = {"path": file}
        if home:
            request["home"] = home
        return self.call(methods.SWAP.name, request, deadline=deadline)

    def active_content(self, *, deadline: float) -> list[ActiveItem]:
        """What the scene has that would run by itself, or that names a file."""
        return self.call(methods.ACTIVE_CONTENT.name, {}, deadline=deadline)["active_content"]

    def external_files(self) -> list[ExternalPath]:
        """The paths of all files that the scene refers to, as they stand in it, with the kind and name of who refers to them."""
        return self.call(methods.EXTERNAL_FILES.name, {}, deadline=HANG_SECONDS)["paths"]

    def relocate_files(self, file: str, new_paths: Mapping[str, str]) -> str:
        """Give external files other paths and save the scene to a file, which is then opened; returns its hash."""
        request = {"path": file, "new_paths": dict(new_paths)}
        return self.call(methods.RELOCATE_FILES.name, request, deadline=HANG_SECONDS)["hash"]

    def content(self, file: str, keys: Sequence[Sequence[str]] | None = None) -> int:
        """Write the content of these datablocks, or of all, to a file as named values; returns how many there are."""
        request: dict[str, Any] = {"path": file}
        if keys is not None:
            request["keys"] = [[*key] for key in keys]
        return self.call(methods.CONTENT.name, request, deadline=HANG_SECONDS)["blocks"]

    def read_back(
        self, file: str, form: str, profile: str, *, deadline: float, cancel: CancelToken | None = None
    ) -> FileFacts:
        """Bring a file of another format in, in place of the scene, and measure it."""
        request = {"path": file, "form": form, "profile": profile}
        answer = self.call(methods.READ_BACK.name, request, deadline=deadline, cancel=cancel)
        return answer["facts"]

    def hash(self, *, full: bool = False) -> str:
        """The scene's hash: as kept from step to step, or with `full` recomputed."""
        return self.call(methods.HASH.name, {"full": full}, deadline=HANG_SECONDS)["hash"]

    def unlisted(self) -> list[list[str]]:
        """Kind, name and digest of every datablock that a snapshot does not show with a fingerprint of its own."""
        return self.call(methods.UNLISTED.name, {}, deadline=HANG_SECONDS)["blocks"]
