"""Previewing a plan: a copy of the workspace to throw away, and the plan run on it. Takes no lock, and writes nothing that stays."""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from collections.abc import Generator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from blendwright.app.recovery import recover
from blendwright.app.session_scratch import SessionScratch
from blendwright.app.workspace_settings import load_settings
from blendwright.bridge.sources import worker_source
from blendwright.bridge.worker_source import WorkerSource
from blendwright.dialects.registry import parse_plan
from blendwright.journal import Journal
from blendwright.journal.journal_copy import copy_journal, has_journal
from blendwright.plan.refusal import refused
from blendwright.plan.validate import ValidPlan, validate
from blendwright.policy.policy import Policy
from blendwright.policy.session_contract import Proposal
from blendwright.run.active_contract import ContractDraft
from blendwright.run.externals import Externals
from blendwright.run.files import FileAccess
from blendwright.run.live_scene import LiveScene
from blendwright.run.options import DEFAULT_OPTIONS, RunOptions
from blendwright.run.preview import Preview, Previewer
from blendwright.run.session import Session
from blendwright.tool_api.tool import AnyTool
from blendwright.tools.registry import registry_fingerprint
from blendwright.values.errors import EnvironmentUnfit
from blendwright.values.plan import Plan
from blendwright.wire.worker_port import WorkerPool


def preview(
    plan: Plan | Mapping[str, Any],
    workspace: str | Path = ".blendwright",
    options: RunOptions = DEFAULT_OPTIONS,
    *,
    scene: str | Path | None = None,
    blender: str | Path | WorkerSource | None = None,
    image: str | Path | None = None,
    roots: Sequence[str | Path] | None = None,
    policy: Policy | None = None,
    proposal: Proposal | None = None,
    tools: Mapping[str, AnyTool] | None = None,
    environment: Mapping[str, str] | None = None,
) -> Preview:
    """What a plan would do to the scene of a workspace, which may be in use, or not exist yet.

    scene: a .blend file to start from, where the workspace has no scene. image: where to write a picture of the result. The
    other arguments are those of `open`. Raises EnvironmentUnfit when the workspace or the file cannot be used.
    """
    settings = load_settings(Path(workspace).resolve(), tools=tools, roots=roots, policy=policy, proposal=proposal)
    start = None if scene is None else Path(scene).resolve()
    if start is not None and not start.is_file():
        raise EnvironmentUnfit(f"there is no file {start}", cure="Check the path given as scene.")
    if not isinstance(plan, Plan):
        plan = parse_plan(dict(plan))
    # Before Blender is started: most of what is wrong with a plan shows without it.
    valid = validate(plan, settings.tools, settings.draft.terms.demanding(options.determinism), settings.macros)
    if not isinstance(valid, ValidPlan):
        return Preview(refused(plan, valid))
    target = None if image is None else Path(image).resolve()
    with (
        _temporary_directory(settings.directory) as directory,
        worker_source(blender).open_pool(settings.worker_settings(directory / "scratch", environment)) as pool,
    ):
        copy = _Copy(settings.directory, directory, pool, start=start, spare=False)
        return copy.preview(valid, settings.draft, settings.files, settings.tools, options, target)


def preview_beside(
    plan: Plan, workspace: Path, pool: WorkerPool, session: Session, options: RunOptions, *, image: Path | None = None
) -> Preview:
    """The same for a workspace that is open, with a worker of its pool."""
    terms = session.draft.terms.demanding(options.determinism)
    valid = validate(plan, session.tools, terms, session.macros)
    if not isinstance(valid, ValidPlan):
        return Preview(refused(plan, valid))
    options = replace(options, approver=options.approver or session.approver)
    with _temporary_directory(workspace) as directory:
        copy = _Copy(workspace, directory, pool, start=None, spare=True)
        return copy.preview(valid, session.draft, session.files, session.tools, options, image)


class _Copy:
    """A copy of a workspace in a directory that goes with it."""

    def __init__(self, workspace: Path, directory: Path, pool: WorkerPool, *, start: Path | None, spare: bool) -> None:
        self._workspace = workspace
        self._directory = directory
        self._pool = pool
        self._start = start
        self._spare = spare

    def preview(
        self,
        valid: ValidPlan,
        draft: ContractDraft,
        files: FileAccess,
        tools: Mapping[str, AnyTool],
        options: RunOptions,
        image: Path | None,
    ) -> Preview:
        registry = registry_fingerprint(type(tool) for tool in tools.values())
        with contextlib.closing(self._journal()) as journal:
            recover(journal, 0)
            scene = LiveScene(
                self._pool, journal, registry, spare=self._spare, start=self._start_copy(),
                origin=None if self._start is None else self._start.parent, externals=Externals(files.roots),
            )  # fmt: skip
            try:
                previewer = Previewer(scene, journal, tools, draft, files, self._directory)
                return previewer.run(valid.schedule(registry, scene.hash), options, image=image)
            finally:
                scene.discard()

    def _journal(self) -> Journal:
        copy = self._directory / "workspace"
        if has_journal(self._workspace):
            copy_journal(self._workspace, copy)
        journal = Journal(copy)
        if self._start is not None and journal.head is not None:
            journal.close()
            raise EnvironmentUnfit(
                f"the workspace {self._workspace} has a scene already, which {self._start.name} would replace",
                cure="Leave the scene out to go on with what is there, or name another workspace.",
            )
        return journal

    def _start_copy(self) -> Path | None:
        """A copy that nobody writes to while it is read."""
        if self._start is None:
            return None
        copy = self._directory / "opened" / self._start.name
        copy.parent.mkdir()
        try:
            shutil.copyfile(self._start, copy)
        except OSError as error:
            raise EnvironmentUnfit(
                f"{self._start} cannot be read: {error.strerror}", cure="Check its permissions."
            ) from error
        return copy


@contextlib.contextmanager
def _temporary_directory(place: Path) -> Generator[Path]:
    """A directory for one preview: in the scratch of the workspace, so that checkpoints need no copying, or where there is none yet,
    among the temporary files, since a preview starts no workspace."""
    if not has_journal(place):
        with tempfile.TemporaryDirectory(prefix="blendwright-preview-") as room:
            yield Path(room).resolve()
        return
    try:
        # Not beside the sessions: whoever clears away what those left behind has something to tell about it.
        scratch = SessionScratch(place / "scratch" / "previews")
    except OSError as error:
        raise EnvironmentUnfit(
            f"{place} cannot be written to: {error.strerror}", cure="Check its permissions."
        ) from error
    try:
        yield scratch.path
    finally:
        scratch.remove()
