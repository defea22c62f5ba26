"""Previewing a plan: a copy of the workspace to throw away, and the plan run on it. Takes no lock, and writes nothing that stays."""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from collections.abc import Generator, Mapping, Sequence
from pathlib import Path
from typing import Any

from blendwright.app.plans import parse_plan
from blendwright.app.policy_files import allowed_roots, load_policy
from blendwright.app.recovery import recover
from blendwright.app.session_scratch import SessionScratch
from blendwright.bridge.pool import Pool
from blendwright.bridge.spawn import SpawnOptions
from blendwright.journal import Journal
from blendwright.journal.journal_copy import copy_journal, has_journal
from blendwright.macros import Macro, load_macros, macro_registry
from blendwright.plan.refusal import refused
from blendwright.plan.schedule import schedule
from blendwright.plan.validate import ValidPlan, validate
from blendwright.policy.approvals import NOBODY, Approver
from blendwright.policy.policy import Policy
from blendwright.policy.session_contract import Proposal
from blendwright.run.active_contract import ContractDraft
from blendwright.run.externals import Externals
from blendwright.run.files import FileAccess
from blendwright.run.live_scene import LiveScene
from blendwright.run.preview import Preview, Previewer
from blendwright.run.run_state import Progress
from blendwright.tool_api.effects import Determinism
from blendwright.tool_api.tool import AnyTool
from blendwright.tools import catalog
from blendwright.tools.registry import registry_fingerprint
from blendwright.values.cancel import CancelToken
from blendwright.values.errors import EnvironmentUnfit
from blendwright.values.plan import Boundary, Plan
from blendwright.wire.worker_port import PoolPort


def preview(
    plan: Plan | Mapping[str, Any],
    workspace: str | Path = ".blendwright",
    *,
    scene: str | Path | None = None,
    blender: str | Path | None = None,
    image: str | Path | None = None,
    request_id: str | None = None,
    boundary: Boundary = "operation",
    timeout: float | None = None,
    cancel: CancelToken | None = None,
    progress: Progress | None = None,
    roots: Sequence[str | Path] | None = None,
    policy: Policy | None = None,
    proposal: Proposal | None = None,
    determinism: Determinism | None = None,
    approver: Approver = NOBODY,
    tools: Mapping[str, AnyTool] | None = None,
    environment: Mapping[str, str] | None = None,
) -> Preview:
    """What a plan would do to the scene of a workspace, which may be in use, or not exist yet.

    scene: a .blend file to start from, where the workspace has no scene. image: where to write a picture of the result. The
    other arguments are those of `open` and `run`. Raises EnvironmentUnfit when the workspace or the file cannot be used.
    """
    place = Path(workspace).resolve()
    known = catalog.tools() if tools is None else tools
    macros = load_macros(place, known)
    rules = allowed_roots(policy or load_policy(place).policy, roots)
    offer = ContractDraft(known.values(), proposal=proposal, policy=rules, macros=macro_registry(macros.values()))
    start = None if scene is None else Path(scene).resolve()
    if start is not None and not start.is_file():
        raise EnvironmentUnfit(f"there is no file {start}", cure="Check the path given as scene.")
    if not isinstance(plan, Plan):
        plan = parse_plan(dict(plan), request_id=request_id, boundary=boundary)
    # Before Blender is started: most of what is wrong with a plan shows without it.
    findings = validate(plan, known, offer.terms.demanding(determinism), macros=macros)
    if not isinstance(findings, ValidPlan):
        return Preview(refused(plan, findings))
    files = FileAccess(
        offer.terms.constraints.rules.roots,
        place / "artifacts",
        workspace=place,
        scratch_mb=offer.terms.constraints.scratch_mb,
    )
    target = None if image is None else Path(image).resolve()
    with _room(place) as room:
        options = SpawnOptions(
            scratch_root=room / "scratch",
            blender=None if blender is None else Path(blender),
            environment=dict(environment or {}),
            memory_mb=offer.terms.constraints.memory_mb,
            scratch_mb=offer.terms.constraints.scratch_mb,
        )
        with Pool(options) as pool:
            copied = _Copy(place, room, pool, start=start, spare=False)
            return copied.preview(
                plan, known, macros, offer, files, target, timeout, cancel, progress, determinism, approver
            )


def preview_beside(
    plan: Plan,
    place: Path,
    pool: PoolPort,
    tools: Mapping[str, AnyTool],
    macros: Mapping[str, Macro],
    offer: ContractDraft,
    files: FileAccess,
    *,
    image: Path | None = None,
    timeout: float | None = None,
    cancel: CancelToken | None = None,
    progress: Progress | None = None,
    determinism: Determinism | None = None,
    approver: Approver = NOBODY,
) -> Preview:
    """The same for a workspace that is open, with a worker of its pool."""
    with _room(place) as room:
        copied = _Copy(place, room, pool, start=None, spare=True)
        return copied.preview(
            plan, tools, macros, offer, files, image, timeout, cancel, progress, determinism, approver
        )


class _Copy:
    """A copy of the workspace at `place`."""

    def __init__(self, place: Path, room: Path, pool: PoolPort, *, start: Path | None, spare: bool) -> None:
        self._place = place
        self._room = room
        self._pool = pool
        self._start = start
        self._spare = spare

    def preview(
        self,
        plan: Plan,
        tools: Mapping[str, AnyTool],
        macros: Mapping[str, Macro],
        offer: ContractDraft,
        files: FileAccess,
        image: Path | None,
        timeout: float | None,
        cancel: CancelToken | None,
        progress: Progress | None,
        determinism: Determinism | None,
        approver: Approver,
    ) -> Preview:
        valid = validate(plan, tools, offer.terms.demanding(determinism), macros=macros)
        if not isinstance(valid, ValidPlan):
            return Preview(refused(plan, valid))
        registry = registry_fingerprint(type(tool) for tool in tools.values())
        with contextlib.closing(self._journal()) as journal:
            recover(journal, 0)
            scene = LiveScene(
                self._pool, journal, registry, spare=self._spare, start=self._taken_over(),
                origin=None if self._start is None else self._start.parent, externals=Externals(files.reach),
            )  # fmt: skip
            try:
                ordered = schedule(valid, registry, scene.hash)
                previewer = Previewer(scene, journal, tools, offer, files, self._room)
                return previewer.run(
                    ordered,
                    valid.failing,
                    image=image,
                    seconds=timeout,
                    cancel=cancel,
                    progress=progress,
                    determinism=determinism,
                    approver=approver,
                )
            finally:
                scene.discard()

    def _journal(self) -> Journal:
        copy = self._room / "workspace"
        if has_journal(self._place):
            copy_journal(self._place, copy)
        journal = Journal(copy)
        if self._start is not None and journal.head is not None:
            journal.close()
            raise EnvironmentUnfit(
                f"the workspace {self._place} has a scene already, which {self._start.name} would replace",
                cure="Leave the scene out to go on with what is there, or name another workspace.",
            )
        return journal

    def _taken_over(self) -> Path | None:
        """A copy that nobody writes to while it is read."""
        if self._start is None:
            return None
        taken = self._room / "opened" / self._start.name
        taken.parent.mkdir()
        try:
            shutil.copyfile(self._start, taken)
        except OSError as error:
            raise EnvironmentUnfit(
                f"{self._start} cannot be read: {error.strerror}", cure="Check its permissions."
            ) from error
        return taken


@contextlib.contextmanager
def _room(place: Path) -> Generator[Path]:
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
