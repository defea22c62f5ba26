"""Opening and creating workspaces: from settings to an open scene.

Opening first repairs what another owner left. Creating a workspace adds the journal, scene, policy and example. It
starts Blender only for a given scene file; otherwise the first call begins an empty scene. It never replaces existing
files, and a failed creation leaves no files.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.resources import files
from pathlib import Path
from typing import Any

from blendwright.bridge.pool import Pool
from blendwright.bridge.spawn import EarlyWorker
from blendwright.bridge.worker_source import WorkerSource
from blendwright.engine.moves.commit_names import require_head
from blendwright.engine.scene.background_checkpoints import BackgroundCheckpoints
from blendwright.engine.scene.external_files import External, Externals, externals_of_receipt, findings_about
from blendwright.engine.scene.host import SceneHost
from blendwright.engine.scene.live_scene import LiveScene
from blendwright.engine.session import Session
from blendwright.journal import Journal
from blendwright.policy.policy import Policy
from blendwright.policy.session_contract import Proposal, SessionContract
from blendwright.tool_api.tool import AnyTool
from blendwright.values.approval import NOBODY, Approver
from blendwright.values.errors import EnvironmentUnfit, Refusal
from blendwright.values.events import Observer, WorkspaceClosed, WorkspaceOpened
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding
from blendwright.wire.console_door import ConsoleDoor
from blendwright.workspace.blender_choice import chosen_blender
from blendwright.workspace.locations import is_workspace, workspace_directory
from blendwright.workspace.observing.event_bus import EventBus, open_event_bus
from blendwright.workspace.open_scene import OpenScene
from blendwright.workspace.ownership import require_own_directory
from blendwright.workspace.policy_files import FILE as POLICY
from blendwright.workspace.reading import read_journal
from blendwright.workspace.recovery import recover
from blendwright.workspace.scene_hosts import SceneParts, bound_host, is_bound, require_unbound
from blendwright.workspace.scratch import SCRATCH, SessionScratch, unfit_on_os_error
from blendwright.workspace.settings import (
    WorkspaceSettings,
    copy_start,
    load_settings,
    require_no_scene,
)

DEFAULT_WORKSPACE = ".blendwright"
EXAMPLE = "example.json"


def open(
    workspace: str | Path = DEFAULT_WORKSPACE,
    *,
    scene: str | Path | None = None,
    blender: str | Path | WorkerSource | None = None,
    roots: Sequence[str | Path] | None = None,
    policy: Policy | None = None,
    proposal: Proposal | None = None,
    contract: SessionContract | None = None,
    approver: Approver = NOBODY,
    spare: bool = True,
    settings: WorkspaceSettings | None = None,
    durable: bool = True,
    tools: Mapping[str, AnyTool] | None = None,
    environment: Mapping[str, str] | None = None,
    observers: Sequence[Observer] = (),
    console: ConsoleDoor | None = None,
    early: EarlyWorker | None = None,
) -> OpenScene:
    """Open a workspace and the scene in it, which persists until the next opening.

    scene: a .blend file that a new workspace starts from. By default it starts from an empty scene. Blendwright never writes the file.
    blender: a version that was added (`5.2`), an executable, or an environment with a bpy. By default the Blender of [blender] in
      blendwright.toml, else the `bpy` of this environment, else the newest added one.
    roots: the directories in which calls may read and write files, and from which a scene's external files are read. By default the
      roots of the policy.
    policy: the rules and limits of calls. By default those of blendwright.toml in the workspace, the user's own file, and the defaults.
    proposal: the host's description and requests. It can only tighten the policy.
    contract: an earlier contract, which must still hold.
    approver: the person or program that answers approval questions, and the approvals given in advance.
    spare: keep a second Blender ready, which replaces a lost one at once.
    settings: the settings of another workspace, for this one. They replace policy, roots, proposal, contract and tools.
    durable: make commits survive the end of the machine, not only the end of the process.
    observers: functions of one argument that receive every event, in addition to the log and the metrics.
    console: the console of this process, which an attached window offers to open.
    early: a Blender that was started early for this workspace. The caller keeps it if the workspace cannot be opened.
    tools: the catalogue to use. `environment` is for the worker. Both are for tests of the engine itself.

    Blender starts with the first call. Raise EnvironmentUnfit when the workspace or the file cannot be used: another process has it
    open, it is in quarantine, or it already has a scene and `scene` is given. Raise Refusal when the scene file does not exist, no
    contract is possible, or a macro of the workspace is invalid.
    """
    if scene is None:
        start = None
    else:
        start = Path(scene)
    if start is not None and not start.is_file():
        raise Refusal.of(Fault.TARGET_NOT_FOUND, f"there is no file {start}", "Check the path given as scene.")
    directory = workspace_directory(workspace)
    if settings is None:
        settings = load_settings(
            directory, tools=tools, roots=roots, policy=policy, proposal=proposal, contract=contract
        )
    else:
        settings = settings.at(directory)
    draft, files = settings.draft, settings.files
    with contextlib.ExitStack() as undo:
        events = EventBus()
        journal = Journal(
            directory, heads_outside=settings.heads_outside, head_command=settings.head_command, observe=events,
            durable=durable,
        )  # fmt: skip
        undo.callback(journal.close)
        if start is not None:
            require_no_scene(journal, directory, start)
            require_unbound(directory)
        fix = "Check its permissions and the free space on its disk, or name another directory."
        with unfit_on_os_error(f"{directory} cannot be a workspace", fix):
            scratch = SessionScratch(directory / SCRATCH)
        undo.callback(scratch.remove)
        # From here on, this process holds the workspace and may write its log.
        core: dict[str, Any] = {"pid": os.getpid(), "workspace": directory.name}
        if console is not None:
            core |= console.shown()
        bound = bound_host(directory, core)
        if bound is None:
            all_observers = observers
        else:
            all_observers = (*observers, *bound.observers)
        open_event_bus(events, directory, all_observers, redact=draft.terms.audit.redact)
        undo.callback(events, WorkspaceClosed())
        recovered = recover(journal, scratch.cleared)
        events(WorkspaceOpened(str(directory), recovered))
        if start is None:
            copied_start = None
        else:
            copied_start = copy_start(start, scratch.path, files.scratch_mb)
        if bound is None:
            source = chosen_blender(directory, blender, policy)
        else:
            source = bound.worker_source(blender)
        pool = source.open_pool(settings.worker_settings(scratch.path, environment))
        if start is None:
            scene_origin = None
        else:
            scene_origin = start.resolve().parent
        background = None
        if spare:
            background = BackgroundCheckpoints(pool, journal, directory, settings.registry, observe=events)
        externals = Externals(files.roots)
        if bound is None:
            live: SceneHost = LiveScene(
                pool, journal, settings.registry, spare=spare, start=copied_start, origin=scene_origin,
                externals=externals, background=background, observe=events,
            )  # fmt: skip
        else:
            live = bound.open_scene(
                SceneParts(pool, journal, settings.registry, scratch.path, externals, background, events)
            )
            if approver.prompt is None:
                approver = replace(approver, prompt=bound.prompt)
        session = Session(
            live, journal, settings.tools, draft, files, macros=settings.macros, approver=approver, observe=events
        )
        opened = OpenScene(session, scratch, pool, recovered, events)
        if early is not None and isinstance(pool, Pool):
            pool.adopt(early)
        undo.pop_all()
    return opened


@dataclass(frozen=True, slots=True)
class NewWorkspace:
    """A new workspace.

    `written` lists the new files for the user; `scene_hash` is None until Blender has begun the scene.
    """

    directory: Path
    written: tuple[Path, ...]
    scene_hash: str | None
    externals: tuple[External, ...]

    @property
    def findings(self) -> tuple[Finding, ...]:
        """The problems of the external files of the scene."""
        return tuple(findings_about(self.externals))


def open_existing(workspace: str | Path, *, blender: str | Path | None = None) -> OpenScene:
    """Open a workspace that has commits.

    Raise EnvironmentUnfit when it does not exist, and Refusal when it has no commit.
    """
    with read_journal(workspace) as journal:
        require_head(journal)
    return open(workspace, blender=blender, spare=False)


def follow_window(workspace: str | Path, *, blender: str | Path | None = None) -> None:
    """Record the changes that a person made in the window of a workspace, for readers of the journal.

    Do nothing for a workspace without a window, or when another process has the workspace open and already follows
    the window.
    """
    directory = workspace_directory(workspace)
    if not is_bound(directory):
        return
    try:
        scene = open(directory, blender=blender, spare=False)
    except EnvironmentUnfit as error:
        if "holder" in error.details:
            return
        raise
    with scene, scene.turn("preview"):
        pass


def create_workspace(
    workspace: str | Path = DEFAULT_WORKSPACE, *, scene: str | Path | None = None, blender: str | Path | None = None
) -> NewWorkspace:
    """Create a workspace and return it. Raise Refusal when it exists already or the scene is not a file.

    Raise EnvironmentUnfit when the workspace cannot be created.
    """
    directory = workspace_directory(workspace)
    if is_workspace(directory):
        fix = "Use it as it is, or name another directory."
        raise Refusal.of(Fault.SCENE_CONFLICT, f"{directory} is a workspace already", fix)
    if scene is not None and not Path(scene).is_file():
        raise Refusal.of(Fault.SCENE_CONFLICT, f"there is no file {scene}", "Check the path given as scene.")
    require_own_directory(directory, f"no workspace is created in {directory}")
    missing_directories = [parent for parent in (directory, *directory.parents) if not parent.exists()]
    if directory.is_dir():
        present = set(directory.iterdir())
    else:
        present = set[Path]()
    opened = open(directory, scene=scene, blender=blender, spare=False)
    # Only from here on do new files in the directory belong to this process.
    with contextlib.ExitStack() as undo:
        undo.callback(_remove_created, directory, present, missing_directories)
        with opened:
            if scene is not None:
                opened.warm()
            written = _write_starter_files(directory)
            head = opened.journal.head
        undo.pop_all()
    if head is None:
        return NewWorkspace(directory, written, None, ())
    return NewWorkspace(directory, written, head.hash_after, externals_of_receipt(head.receipt))


def _write_starter_files(directory: Path) -> tuple[Path, ...]:
    written: list[Path] = []
    for path in (directory / POLICY, directory / EXAMPLE):
        with unfit_on_os_error(f"{path} cannot be written", "Check the disk and the permissions there."):
            try:
                with path.open("xb") as file:
                    file.write(files("blendwright").joinpath("workspace", "starter", path.name).read_bytes())
            except FileExistsError:
                continue
        written.append(path)
    return tuple(written)


def _remove_created(directory: Path, present: set[Path], missing_directories: Iterable[Path]) -> None:
    for entry in set(directory.iterdir()) - present:
        if entry.is_dir():
            shutil.rmtree(entry)
        else:
            entry.unlink()
    for created in missing_directories:
        created.rmdir()
