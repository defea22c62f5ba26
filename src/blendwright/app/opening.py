"""Opening a workspace: settings in, an open scene out, everything closed behind it."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from blendwright.app.session_scratch import SessionScratch
from blendwright.bridge.pool import Pool
from blendwright.bridge.spawn import SpawnOptions
from blendwright.contracts.envelopes import ToolResult, tool_result
from blendwright.contracts.profiles import BlenderProfile
from blendwright.contracts.session import Session
from blendwright.contracts.tool import AnyTool, registry_fingerprint
from blendwright.contracts.worker_port import CancelToken
from blendwright.run.executor import Executor
from blendwright.run.files import FileAccess
from blendwright.run.live_scene import LiveScene
from blendwright.run.scratch_history import ScratchHistory
from blendwright.tools import catalog
from blendwright.values.errors import EnvironmentUnfit
from blendwright.values.outcome import Outcome

DEFAULT_WORKSPACE = ".blendwright"


def open(
    workspace: str | Path = DEFAULT_WORKSPACE,
    *,
    scene: str | Path | None = None,
    blender: str | Path | None = None,
    roots: Sequence[str | Path] = (".",),
    session: Session | None = None,
    spare: bool = True,
    tools: Mapping[str, AnyTool] | None = None,
    environment: Mapping[str, str] | None = None,
) -> OpenScene:
    """Open a workspace and the scene in it.

    scene: a .blend file to start from; an empty scene otherwise. The file itself is never written.
    blender: a Blender executable; the `bpy` of this environment otherwise.
    roots: the directories in which calls may read and write files.
    session: what calls may do and cost; the defaults otherwise.
    spare: keep a second Blender ready, so that a lost one is replaced at once.
    tools: the catalogue to use, and `environment` for the worker: both for tests of the engine itself.

    Blender starts with the first call. Raises EnvironmentUnfit when the workspace or the file cannot be used.
    """
    start = None if scene is None else Path(scene)
    if start is not None and not start.is_file():
        raise EnvironmentUnfit(f"there is no file {start}", cure="Check the path given as scene.")
    place = Path(workspace).resolve()
    try:
        scratch = SessionScratch(place / "scratch")
    except OSError as error:
        raise EnvironmentUnfit(
            f"{place} cannot be a workspace: {error.strerror}", cure="Name another directory."
        ) from error
    options = SpawnOptions(
        scratch_root=scratch.path,
        blender=None if blender is None else Path(blender),
        environment=dict(environment or {}),
    )
    known = catalog.tools() if tools is None else tools
    return OpenScene(
        scratch,
        Pool(options),
        ScratchHistory(scratch.path, None if start is None else _taken_over(start, scratch)),
        known,
        session or Session(),
        FileAccess([Path(root) for root in roots], place / "artifacts"),
        spare=spare,
    )


def _taken_over(start: Path, scratch: SessionScratch) -> Path:
    """A copy of the file to start from: a scene that is rebuilt later must not depend on what became of the original."""
    kept = scratch.path / "opened" / start.name
    try:
        kept.parent.mkdir()
        shutil.copyfile(start, kept)
    except OSError as error:
        scratch.remove()
        raise EnvironmentUnfit(f"{start} cannot be read: {error.strerror}", cure="Check its permissions.") from error
    return kept


class OpenScene:
    """A scene that can be called upon; close it, or use it in a `with` statement."""

    def __init__(
        self,
        scratch: SessionScratch,
        pool: Pool,
        history: ScratchHistory,
        tools: Mapping[str, AnyTool],
        session: Session,
        files: FileAccess,
        *,
        spare: bool,
    ) -> None:
        self._scratch = scratch
        self._pool = pool
        catalogue = registry_fingerprint(type(tool) for tool in tools.values())
        self._scene = LiveScene(pool, history, catalogue, spare=spare)
        self._executor = Executor(self._scene, tools, session, files)

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
        verify: bool = False,
        snapshot: bool = False,
        rehearse: str | None = None,
        cancel: CancelToken | None = None,
        parse_ms: float = 0.0,
    ) -> Outcome:
        """Call a tool and get everything that is known about it, before any contract renders it.

        deadline: seconds, at most what the session allows. verify: read back also after a read-only tool.
        snapshot: the scene afterwards, in the outcome. rehearse: take the call back ("inverse" or "memfile") and prove it.
        """
        return self._executor.call(
            tool,
            args,
            deadline=deadline,
            verify=verify,
            snapshot=snapshot,
            rehearse=rehearse,
            cancel=cancel,
            parse_ms=parse_ms,
        )

    @property
    def hash(self) -> str:
        """The fingerprint of the scene as it stands."""
        return self._scene.hash

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
        self._pool.close()
        self._scratch.remove()
