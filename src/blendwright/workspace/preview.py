"""Previews of plans: a temporary copy of the workspace, on which the plan runs.

A preview takes no lock and changes no workspace.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager, nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from blendwright.bridge.worker_source import WorkerSource
from blendwright.dialects.registry import parse_plan
from blendwright.engine.moves.navigation import CHECKOUT
from blendwright.engine.moves.replaced_plans import Instead, ReplacedPlan, new_request_id, operations_of, replaced_plan
from blendwright.engine.options import DEFAULT_OPTIONS, RunOptions
from blendwright.engine.preview import Look, Previewer
from blendwright.engine.scene.external_files import Externals
from blendwright.engine.scene.live_scene import LiveScene
from blendwright.engine.session import Session
from blendwright.journal import Journal
from blendwright.journal.audit.head_notes import require_unused
from blendwright.journal.journal_copy import has_journal
from blendwright.plan.repair import refused
from blendwright.plan.validate import ValidPlan, validate
from blendwright.policy.objections import denied
from blendwright.policy.policy import Policy
from blendwright.policy.session_contract import Proposal
from blendwright.records.results import Preview
from blendwright.tool_api.promises import SafetyLevel
from blendwright.tool_api.tool import AnyTool
from blendwright.values.errors import EnvironmentUnfit, JournalError
from blendwright.values.plan import Plan
from blendwright.wire.worker_port import WorkerPool
from blendwright.workspace.blender_choice import chosen_blender
from blendwright.workspace.reading import read_journal
from blendwright.workspace.recovery import recover
from blendwright.workspace.scratch import SessionScratch, unfit_on_os_error
from blendwright.workspace.settings import WorkspaceSettings, copy_start, load_settings, require_no_scene


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
    instead: Instead = False,
) -> Preview:
    """Return the effects that a plan would have on the scene of a workspace, which may be in use, or may not exist
    yet.

    `scene` is a .blend file to start from if the workspace has no scene. `image` is the path for a picture of the
    result. With `instead`, the plan replaces the last plan or the plan of that request, and the comparison is with
    the current scene. The other arguments have the same meaning as in `open`.

    Raise EnvironmentUnfit when the workspace or the file cannot be used.
    """
    settings = load_settings(Path(workspace).resolve(), tools=tools, roots=roots, policy=policy, proposal=proposal)
    if scene is None:
        start = None
    else:
        start = Path(scene).resolve()
    if start is not None and not start.is_file():
        raise EnvironmentUnfit(f"there is no file {start}", cure="Check the path given as scene.")
    if not isinstance(plan, Plan):
        plan = parse_plan(dict(plan))
    if image is None:
        target = None
    else:
        target = Path(image).resolve()

    def open_pool(scratch: Path) -> AbstractContextManager[WorkerPool]:
        return chosen_blender(settings.directory, blender, policy).open_pool(
            settings.worker_settings(scratch, environment)
        )

    return _preview_on_copy(plan, settings, open_pool, options, start=start, spare=False, image=target, instead=instead)


class CopyPreviews:
    """Previews for an open workspace, with workers of its pool."""

    def __init__(self, workspace: Path, pool: WorkerPool, session: Session) -> None:
        self._workspace = workspace
        self._pool = pool
        self._session = session

    def preview(
        self,
        plan: Plan,
        options: RunOptions,
        *,
        image: Path | None = None,
        look: Look | None = None,
        instead: Instead = False,
    ) -> Preview:
        """Return the effects of a plan, found on a copy of the workspace."""
        session = self._session
        settings = WorkspaceSettings(self._workspace, session.tools, session.macros, session.draft, session.files)
        return _preview_on_copy(
            plan,
            settings,
            lambda _: nullcontext(self._pool),
            replace(options, approver=options.approver or session.approver),
            start=None,
            spare=True,
            image=image,
            look=look,
            instead=instead,
        )


def _preview_on_copy(
    plan: Plan,
    settings: WorkspaceSettings,
    open_pool: Callable[[Path], AbstractContextManager[WorkerPool]],
    options: RunOptions,
    *,
    start: Path | None,
    spare: bool,
    image: Path | None,
    look: Look | None = None,
    instead: Instead = False,
) -> Preview:
    # Validate before Blender starts: this finds most problems of a plan.
    valid = validate(plan, settings.tools, settings.draft.terms.demanding(options.determinism), settings.macros)
    if not isinstance(valid, ValidPlan):
        return Preview(refused(plan, valid))
    replaced: ReplacedPlan | None = None
    if instead and has_journal(settings.directory):
        objections = tuple(denied(settings.draft.terms, CHECKOUT, SafetyLevel.SAFE_WRITE.value))
        if objections:
            return Preview(refused(plan, objections))
        with read_journal(settings.directory) as journal:
            request_id = new_request_id(journal, plan.request_id)
            replaced = replaced_plan(journal, instead, settings.tools)
        valid = replace(valid, plan=replace(valid.plan, request_id=request_id))
        if replaced is not None and replaced.later:
            plan = _with_later(replace(plan, request_id=request_id), replaced)
            valid = validate(plan, settings.tools, settings.draft.terms.demanding(options.determinism), settings.macros)
            if not isinstance(valid, ValidPlan):
                return Preview(refused(plan, valid))
    if replaced is None:
        replaces = None
    else:
        replaces = replaced.base
    with _temporary_directory(settings.directory) as directory, open_pool(directory / "scratch") as pool:
        copied_start = None
        origin = None
        if start is not None:
            copied_start = copy_start(start, directory, settings.files.scratch_mb)
            origin = start.parent

        def open_scene(journal: Journal) -> LiveScene:
            if start is not None:
                require_no_scene(journal, settings.directory, start)
            recover(journal, 0)
            return LiveScene(
                pool, journal, settings.registry, spare=spare, start=copied_start, origin=origin,
                externals=Externals(settings.files.roots),
            )  # fmt: skip

        copy = partial(_copied_journal, settings.directory, request_id=valid.plan.request_id, at=replaces)
        with _copied_scene(directory, copy, open_scene) as (scene, journal):
            previewer = Previewer(scene, journal, settings.tools, settings.draft, settings.files, directory)
            if replaces is not None:
                previewer.replace_from(scene.history(), replaces)
            return previewer.run(valid.schedule(settings.registry, scene.hash), options, image=image, look=look)


def _with_later(plan: Plan, replaced: ReplacedPlan) -> Plan:
    """Return one plan that also runs the later operations again.

    A preview never rolls back a part, so one plan suffices.
    """
    commits = [commit for later in replaced.later for commit in later.commits]
    ids = [f"again_{commit.number}" for commit in commits]
    before = [operation.id for operation in plan.operations]
    again = operations_of(commits, ids, before, start=len(plan.operations))
    return replace(plan, operations=(*plan.operations, *again), boundary="plan", on_nondeterministic="accept")


@contextmanager
def _copied_scene(
    directory: Path, copy_journal: Callable[..., Journal], open_scene: Callable[[Journal], LiveScene]
) -> Generator[tuple[LiveScene, Journal]]:
    """Yield the scene on a copy of the journal. The copy has one checkpoint.

    If Blender opens that checkpoint with another scene than was saved, the next copy uses an earlier one.
    """
    skipped_ids: list[int] = []
    while True:
        copy = directory / f"workspace{len(skipped_ids)}"
        with closing(copy_journal(copy=copy, without=skipped_ids)) as journal, ExitStack() as ending:
            scene = open_scene(journal)
            ending.callback(scene.discard)
            try:
                scene.worker()
            except EnvironmentUnfit as error:
                checkpoint_id = _opened_checkpoint(journal)
                if not error.details.get("quarantined") or checkpoint_id is None:
                    raise
                skipped_ids.append(checkpoint_id)
                continue
            yield scene, journal
            return


def _opened_checkpoint(journal: Journal) -> int | None:
    head = journal.head
    if head is None:
        checkpoint = None
    else:
        checkpoint = journal.checkpoints.route(head.number).checkpoint
    if checkpoint is None:
        return None
    return checkpoint.id


def _copied_journal(
    workspace: Path, *, copy: Path, request_id: str, at: int | None, without: Sequence[int] = ()
) -> Journal:
    """Return a copy of the journal for one preview.

    Raise EnvironmentUnfit when only the checkpoints in `without` lead to the scene.
    """
    if not has_journal(workspace):
        require_unused(workspace)
        return Journal(copy)
    with read_journal(workspace) as journal:
        try:
            journal.copy_for_request(copy, request_id, without=without, at=at)
        except JournalError as error:
            if not without:
                raise
            message = "Blender opens every checkpoint that leads to the scene of the workspace with another scene than was saved"
            fix = "Run `blendwright replay` to find the last commit that still agrees with the journal."
            raise EnvironmentUnfit(message, cure=fix) from error
    return Journal(copy)


@contextmanager
def _temporary_directory(directory: Path) -> Generator[Path]:
    """Yield a directory for one preview, in the scratch of the workspace, so that checkpoints need no copying.

    For a directory without a journal, use the system's temporary files, because a preview creates no workspace.
    """
    if not has_journal(directory):
        with tempfile.TemporaryDirectory(prefix="blendwright-preview-") as room:
            yield Path(room).resolve()
        return
    with unfit_on_os_error(f"{directory} cannot be written to", "Check its permissions."):
        # Separate from the sessions, because recovery reports the abandoned sessions that it clears.
        scratch = SessionScratch(directory / "scratch" / "previews")
    try:
        yield scratch.path
    finally:
        scratch.remove()
