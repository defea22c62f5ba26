"""A plan on a copy of the scene: the effects of a plan without doing it.

The copy has its own worker and journal, both deleted afterwards. The plan therefore takes the same steps as a real
run: known operations, gates, failures, rebuilds. A preview must change nothing in the workspace.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

from blendwright.approvals.ask import Approvals, AskedCall
from blendwright.engine.calls import call
from blendwright.engine.contract import ContractDraft
from blendwright.engine.files.access import FileAccess, Staged
from blendwright.engine.files.assets import NO_ASSETS, AssetSupply
from blendwright.engine.files.delivery import deliver_picture, written_files
from blendwright.engine.files.render_frames import KeptFrames
from blendwright.engine.files.roots import FileRoots
from blendwright.engine.files.scratch import copy_scene, open_scene_file
from blendwright.engine.moves.navigation import CHECKOUT, History
from blendwright.engine.options import RunOptions
from blendwright.engine.runner import Runner
from blendwright.engine.scene.differences import (
    SceneSnapshot,
    compare,
    limit_difference,
    objects_to_inspect,
    take_snapshot,
    with_modifier_settings,
)
from blendwright.engine.scene.host import SceneHost
from blendwright.engine.scene.renames import renaming_calls
from blendwright.engine.session import Session
from blendwright.journal import Journal
from blendwright.policy.objections import approval_ruling_for
from blendwright.policy.policy import Ruling
from blendwright.policy.refusals import refusal
from blendwright.policy.session_contract import ContractTerms
from blendwright.records.results import Preview
from blendwright.tool_api.promises import SafetyLevel
from blendwright.tool_api.tool import AnyTool
from blendwright.values.approval import ApprovalRequest, Approver
from blendwright.values.errors import Refusal
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding
from blendwright.values.outcome import Outcome
from blendwright.values.plan import Schedule
from blendwright.values.report import OperationReport, RunReport, summarise_receipts
from blendwright.wire.remote_scene import RemoteScene


class PreviewFiles(FileAccess):
    """File access of a preview: it reads from the allowed roots, and drops the files that operations write.

    It remembers the paths of written files, because a second operation that writes to the same path must find a
    conflict. No operation of a plan can read the output of an earlier one.
    """

    def __init__(self, roots: FileRoots, nowhere: Path, *, scratch_mb: int, assets: AssetSupply = NO_ASSETS) -> None:
        super().__init__(roots.roots, nowhere, workspace=roots.workspace, scratch_mb=scratch_mb, assets=assets)
        self._written: set[Path] = set()

    @classmethod
    def replacing(cls, files: FileAccess, nowhere: Path) -> Self:
        """Return a preview's file access with the roots and the size limit of `files`."""
        return cls(files.roots, nowhere, scratch_mb=files.scratch_mb, assets=files.assets)

    def deliver(self, staged: Staged) -> list[str]:
        paths: list[Path] = []
        for directory, target in staged.outputs.items():
            for written_file in written_files(directory, target):
                path = self._destination(written_file, target)
                if path != target and path in self._written:
                    message = f"{path}, which belongs to the output, already exists"
                    raise Refusal([Finding(Fault.SCENE_CONFLICT, message, "", "Choose another path.")])
                paths.append(path)
        self._written.update(paths)
        return []

    def kept_frames(self, key: str) -> KeptFrames | None:
        return None

    def deliver_frames(self, template: str, scratch: Path, numbers: range, overwrite: bool) -> list[str]:
        return []

    def keep_artifacts(self, names: Sequence[str], scratch: Path) -> list[str]:
        return []

    def _findings(self, path: Path, role: str, at: str, overwrite: bool) -> Iterator[Finding]:
        if role == "write" and path in self._written and not overwrite:
            message = f"{path} already exists"
            yield Finding(Fault.SCENE_CONFLICT, message, at, "Choose another path, or set overwrite to true.")
        else:
            yield from super()._findings(path, role, at, overwrite)


WRITES = frozenset({SafetyLevel.SAFE_WRITE.value, SafetyLevel.DESTRUCTIVE.value})


class PreviewApprovals(Approvals):
    """Approvals of a preview, with the journal of the copy, which contains earlier answers.

    A preview does not ask about the amount of changes: it changes a copy, and the approver wants to see the
    effects first. Rules about tools, modes, directories and reading hold as in a run, because a preview also shows
    printed text and the content of files.
    """

    def __init__(self, journal: Journal, files: FileAccess) -> None:
        super().__init__(journal, files)
        self._left_to_run: dict[str, Ruling] = {}

    def questions_of_a_run(self, approver: Approver | None) -> tuple[str, ...]:
        """Return the questions that a run would ask and this preview did not, each as a tool with its rules.

        Questions with a standing grant are left out.
        """
        if approver is None:
            granted = frozenset[str]()
        else:
            granted = approver.grants
        return tuple(
            f"{tool} ({', '.join(ruling.reasons)})"
            for tool, ruling in self._left_to_run.items()
            if not granted.issuperset(ruling.grants)
        )

    def _ruling(self, terms: ContractTerms, call: AskedCall) -> Ruling | None:
        ruling = super()._ruling(terms, call)
        if ruling is None or ruling.in_person:
            return None  # a preview refuses trusted code at its execution
        if not WRITES.isdisjoint(ruling.grants):
            self._left_to_run[call.tool.name] = ruling
        remaining = [(name, why) for name, why in zip(ruling.grants, ruling.reasons, strict=True) if name not in WRITES]
        if not remaining:
            return None
        grants = tuple(grant for grant, _ in remaining)
        reasons = tuple(reason for _, reason in remaining)
        return Ruling(ruling.verdict, reasons, grants)

    def leave(self, requests: Sequence[ApprovalRequest]) -> list[Finding]:
        """Return a refusal for each request. A pending request would be deleted with the copy."""
        return [_missing(request) for request in requests]


def _missing(request: ApprovalRequest) -> Finding:
    message = f"a person must allow {request.tool}, even in a preview ({', '.join(request.why)})"
    return refusal("preview_unasked", message, option=request.options)


Look = Callable[[RemoteScene], None]
PICTURE = "picture.png"
# Render samples; with the denoiser, this number gives a clean picture.
PICTURE_SAMPLES = 10


@dataclass(frozen=True, slots=True)
class _Replacing:
    """A preview of a replacement for the last plan: the commits where that plan began and ended, and the scene
    before the preview.
    """

    history: History
    base: int
    last: int
    before: SceneSnapshot
    baseline: Path


def _asked_about_move(terms: ContractTerms, approver: Approver | None) -> tuple[str, ...]:
    """Return the question about going back to the start of the last plan, if the rules of a run require one."""
    ruling = approval_ruling_for(terms, CHECKOUT, SafetyLevel.SAFE_WRITE.value)
    if approver is None:
        granted = frozenset[str]()
    else:
        granted = approver.grants
    if ruling is None or granted.issuperset(ruling.grants):
        return ()
    return (f"{CHECKOUT} ({', '.join(ruling.reasons)})",)


class Previewer:
    """A previewer for one plan on `scene`, which must be a copy. The copy owns `directory`."""

    def __init__(
        self,
        scene: SceneHost,
        journal: Journal,
        tools: Mapping[str, AnyTool],
        draft: ContractDraft,
        files: FileAccess,
        directory: Path,
    ) -> None:
        def new_runner(files: FileAccess, approvals: PreviewApprovals) -> Runner:
            return Runner(Session(scene, journal, tools, draft, files, approvals=approvals))

        self._scene = scene
        self._directory = directory
        written = PreviewFiles.replacing(files, directory / "written")
        self._approvals = PreviewApprovals(journal, written)
        self._runner = new_runner(written, self._approvals)
        # Keep pictures of the result, but no pictures from operations of the plan.
        pictures = FileAccess({}, directory / "pictures")
        self._picture_runner = new_runner(pictures, PreviewApprovals(journal, pictures))
        self._draft = draft
        self._journal = journal
        self._replacing: _Replacing | None = None

    def replace_from(self, history: History, base: int) -> None:
        """Let the plan replace all work since the commit `base`.

        The preview compares its result with the present scene. If the plan leaves nothing, the preview restores
        the present scene.
        """
        before = take_snapshot(self._scene.worker())
        baseline = self._save_baseline()
        moved = history.checkout(base, take_branch=True)
        self._replacing = _Replacing(history, base, moved.origin, before, baseline)

    def run(
        self, schedule: Schedule, options: RunOptions, *, image: Path | None = None, look: Look | None = None
    ) -> Preview:
        """Run the plan on the copy and return its effects.

        Operations run one at a time, so that a lost worker or a timeout has one clear cause. `image` is the path
        for a picture. `look` is called with the worker that holds the result, if the plan succeeded.
        """
        replacing = self._replacing
        if replacing is None:
            before = take_snapshot(self._scene.worker())
            baseline = self._save_baseline()
        else:
            before = replacing.before
            baseline = replacing.baseline

        report = self._runner.run(schedule, replace(options, one_at_a_time=True))
        if replacing is not None and self._journal.head_number == replacing.base:
            replacing.history.checkout(replacing.last, take_branch=True)
            report = replace(report, scene_hash_after=self._scene.hash)

        after = take_snapshot(self._scene.worker())
        if image is None or not report.ok:
            picture = None
        else:
            picture = self._picture(image, after, options)
        if look is not None and report.ok:
            look(self._scene.worker())

        names = objects_to_inspect(before, after)
        if names:
            after = with_modifier_settings(after, names, self._scene.worker())
            self._reopen(baseline)
            before = with_modifier_settings(before, names, self._scene.worker())

        receipts = summarise_receipts(report.operations)
        done_ids = {operation.operation_id for operation in report.operations if operation.done}
        done_calls = [(operation.tool, operation.args) for operation in schedule.order if operation.id in done_ids]
        renamed = renaming_calls(done_calls)
        difference = limit_difference(compare(before, after, renamed))
        asks = self._approvals.questions_of_a_run(options.approver)
        if replacing is not None:
            asks = (*_asked_about_move(self._draft.terms, options.approver), *asks)
        return Preview(_without_receipts(report), difference, picture, receipts, asks)

    def _save_baseline(self) -> Path:
        """Save the scene before the plan to a file that outlives every worker, and return its path."""
        baseline = self._directory / "before.blend"
        baseline.parent.mkdir(parents=True, exist_ok=True)
        copy_scene(self._scene.save(), baseline)
        return baseline

    def _reopen(self, baseline: Path) -> None:
        """Open the scene from before the plan again. The journal of the copy no longer matches it, so this must be
        the last action.
        """
        open_scene_file(self._scene.worker(), baseline, "the scene before the plan")

    def _picture(self, target: Path, after: SceneSnapshot, options: RunOptions) -> Outcome:
        """Render the result through the scene's camera, or from the front right above when the scene has none."""
        has_camera = after.entries["settings", "render"]["camera"] is not None
        args: dict[str, Any]
        if has_camera:
            args = {"engine": "CYCLES", "samples": PICTURE_SAMPLES, "render_shape": True, "artifact": PICTURE}
        else:
            args = {"view": "ISO", "artifact": PICTURE}
        picture_options = RunOptions(cancel=options.cancel, approver=options.approver)
        outcome = call(self._picture_runner, "render.preview", args, picture_options)
        return deliver_picture(outcome, target.resolve())


def _without_receipts(report: RunReport) -> RunReport:
    """Return the report without commits and receipts, which refer to the deleted copy."""
    return replace(report, operations=tuple(_without_receipt(operation) for operation in report.operations))


def _without_receipt(operation: OperationReport) -> OperationReport:
    if operation.status == "skipped_idempotent":
        return operation
    return replace(operation, commit=None, receipt=None, mcp_call_id=None, blender_mutation_id=None)
