"""A workspace that is open: its scene can be called upon, and plans run on it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from blendwright.app.compiling import Compiler
from blendwright.app.plans import parse_plan
from blendwright.app.previewing import preview_beside
from blendwright.app.session_scratch import SessionScratch
from blendwright.contracts.envelopes import ToolResult, tool_result
from blendwright.contracts.journal_port import JournalPort
from blendwright.contracts.profiles import BlenderProfile
from blendwright.contracts.session import Session
from blendwright.contracts.tool import AnyTool, registry_fingerprint
from blendwright.contracts.worker_port import CancelToken, PoolPort
from blendwright.plan.schedule import schedule
from blendwright.run.board import Progress
from blendwright.run.executor import Executor
from blendwright.run.files import FileAccess
from blendwright.run.history import History
from blendwright.run.ledger import Ledger
from blendwright.run.live_scene import LiveScene
from blendwright.run.preview import Preview
from blendwright.run.runner import Runner
from blendwright.run.solo import Solo
from blendwright.values.errors import BlendwrightError
from blendwright.values.outcome import Outcome
from blendwright.values.plan import Boundary, Plan
from blendwright.values.report import RunReport

# Redo beyond this is worth a checkpoint when the workspace is closed: saving costs a small part of it.
WORTH_SAVING_MS = 300.0


class OpenScene:
    """Close it, or use it in a `with` statement. `recovered` says what had to be put in order when it was opened."""

    def __init__(
        self,
        scratch: SessionScratch,
        pool: PoolPort,
        journal: JournalPort,
        scene: LiveScene,
        tools: Mapping[str, AnyTool],
        session: Session,
        files: FileAccess,
        recovered: tuple[str, ...],
    ) -> None:
        self.recovered = recovered
        self._scratch = scratch
        self._pool = pool
        self._journal = journal
        self._scene = scene
        self._tools = tools
        self._session = session
        self._files = files
        self._closed = False
        ledger = Ledger(journal, scene)
        solo = Solo(scene, journal, ledger, files)
        self._executor = Executor(scene, ledger, solo, tools, session, files)
        self._runner = Runner(scene, journal, ledger, solo, tools, session, files)
        self._compiler = Compiler(tools, session)
        self._registry = registry_fingerprint(type(tool) for tool in tools.values())

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def call(self, tool: str, /, **args: Any) -> ToolResult:
        """Call a tool with its arguments. A failure is a result with `ok` false, never an exception."""
        return tool_result(self.outcome(tool, args))

    def outcome(
        self,
        tool: str,
        args: Any,
        *,
        deadline: float | None = None,
        limit: float | None = None,
        verify: bool = False,
        snapshot: bool = False,
        rehearse: str | None = None,
        cancel: CancelToken | None = None,
        parse_ms: float = 0.0,
    ) -> Outcome:
        """Call a tool and get everything that is known about it, before any contract renders it.

        deadline: seconds, at most what the session allows. limit: what the session allows, for a call of the program's own.
        verify: read back also after a read-only tool.
        snapshot: the scene afterwards, in the outcome. rehearse: take the call back ("inverse" or "memfile") and prove it.
        """
        return self._executor.call(
            tool,
            args,
            deadline=deadline,
            limit=limit,
            verify=verify,
            snapshot=snapshot,
            rehearse=rehearse,
            cancel=cancel,
            parse_ms=parse_ms,
        )

    def run(
        self,
        plan: Plan | Mapping[str, Any],
        *,
        request_id: str | None = None,
        boundary: Boundary = "operation",
        timeout: float | None = None,
        cancel: CancelToken | None = None,
        progress: Progress | None = None,
    ) -> RunReport:
        """Run a plan: a document of any dialect, or one that was parsed already (then request_id and boundary are its own).

        What was done before under the same ids is not done again. `progress` is called with each operation once it is durable.
        """
        valid = self._compiler.compile(plan, request_id, boundary)
        if isinstance(valid, RunReport):
            return valid
        ordered = schedule(valid, self._registry, self._scene.hash)
        return self._runner.run(ordered, valid.failing, seconds=timeout, cancel=cancel, progress=progress)

    def preview(
        self,
        plan: Plan | Mapping[str, Any],
        *,
        request_id: str | None = None,
        boundary: Boundary = "operation",
        image: Path | None = None,
        timeout: float | None = None,
        cancel: CancelToken | None = None,
    ) -> Preview:
        """What a plan would do, found out on a copy of the scene in another worker; `image` is where to write a picture of it."""
        if not isinstance(plan, Plan):
            plan = parse_plan(dict(plan), request_id=request_id, boundary=boundary)
        if self._journal.head is None:
            self._scene.worker()  # what a new workspace starts from is its first commit, and so comes along into the copy
        place = self._scratch.path.parents[1]
        return preview_beside(
            plan, place, self._pool, self._tools, self._session, self._files,
            image=image, timeout=timeout, cancel=cancel,
        )  # fmt: skip

    @property
    def hash(self) -> str:
        """The fingerprint of the scene as it stands."""
        return self._scene.hash

    @property
    def journal(self) -> JournalPort:
        """The history of the workspace."""
        return self._journal

    @property
    def history(self) -> History:
        """Checkout, undo, redo, adopt, gc."""
        return History(self._journal, self._scene, self._pool, self._registry)

    @property
    def blender(self) -> BlenderProfile:
        """The Blender that holds the scene."""
        return self._scene.profile

    @property
    def worker_pid(self) -> int:
        """The process of that Blender."""
        return self._scene.worker().pid

    def close(self) -> None:
        """End Blender and remove what it left; a second time does nothing."""
        if self._closed:
            return
        self._closed = True
        try:
            if self._scene.redo_ms > WORTH_SAVING_MS:
                self._scene.checkpoint()
        except BlendwrightError:
            # A checkpoint is a convenience; what is wrong with the scene or the disk shows when it is needed next.
            pass
        finally:
            self._pool.close()
            self._journal.close()
            self._scratch.remove()
