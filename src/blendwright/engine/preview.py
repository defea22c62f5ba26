"""A plan on a copy of the scene: what it would do, without doing it.

The copy has a worker and a journal of its own, both thrown away afterwards, so that the plan takes exactly the way of a real
run: known operations, gates, failures, rebuilds. Nothing here may reach the workspace.
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
    """Files are read from the allowed roots as ever, written to the worker's scratch and dropped there.

    Remembers what would have been written, since a second operation that writes there would meet it.

    No operation of a plan can read what an earlier one wrote: formats that are written the same way each time are not read so.
    """

    def __init__(self, roots: FileRoots, nowhere: Path, *, scratch_mb: int, assets: AssetSupply = NO_ASSETS) -> None:
        super().__init__(roots.roots, nowhere, workspace=roots.workspace, scratch_mb=scratch_mb, assets=assets)
        self._written: set[Path] = set()

    @classmethod
    def replacing(cls, files: FileAccess, nowhere: Path) -> Self:
        """With the same roots, and the same bound."""
        return cls(files.roots, nowhere, scratch_mb=files.scratch_mb, assets=files.assets)

    def deliver(self, staged: Staged) -> list[str]:
        paths: list[Path] = []
        for directory, target in staged.outputs.items():
            for made in written_files(directory, target):
                path = self._destination(made, target)
                if path != target and path in self._written:
                    message = f"{path}, which belongs to it, exists"
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
            yield Finding(Fault.SCENE_CONFLICT, f"{path} exists", at, "Choose another path, or set overwrite to true.")
        else:
            yield from super()._findings(path, role, at, overwrite)


WRITES = frozenset({SafetyLevel.SAFE_WRITE.value, SafetyLevel.DESTRUCTIVE.value})


class PreviewApprovals(Approvals):
    """On the journal of the copy, which knows the answers that were given before.

    Rules about how much a call may change are not asked about: it changes a copy, and whoever is to allow the plan wants to see what
    it would do. Rules about tools, modes, directories and reading hold as they do in a run: what code prints and what a file holds
    shows in a preview as well.
    """

    def __init__(self, journal: Journal, files: FileAccess) -> None:
        super().__init__(journal, files)
        self._left_to_run: dict[str, Ruling] = {}

    def questions_of_a_run(self, approver: Approver | None) -> tuple[str, ...]:
        """What nobody was asked about here and a run would ask about, unless it is granted beforehand: tools, and the rules."""
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
            return None  # trusted code runs in no preview: it is refused where it would
        if not WRITES.isdisjoint(ruling.grants):
            self._left_to_run[call.tool.name] = ruling
        remaining = [(name, why) for name, why in zip(ruling.grants, ruling.reasons, strict=True) if name not in WRITES]
        if remaining:
            return Ruling(ruling.verdict, tuple(why for _, why in remaining), tuple(name for name, _ in remaining))
        return None

    def leave(self, requests: Sequence[ApprovalRequest]) -> list[Finding]:
        """What is kept for later would be gone with the copy."""
        return [_missing(request) for request in requests]


def _missing(request: ApprovalRequest) -> Finding:
    message = f"{request.tool} must be allowed by a person ({', '.join(request.why)}), in a preview too"
    return refusal("preview_unasked", message, option=request.options)


Look = Callable[[RemoteScene], None]
PICTURE = "picture.png"
# Denoised, this few give a clean picture.
PICTURE_SAMPLES = 10


@dataclass(frozen=True, slots=True)
class _Replacing:
    """A preview in the place of the last plan: where that began and ended, and the scene as it was found."""

    history: History
    base: int
    last: int
    before: SceneSnapshot
    baseline: Path


def _asked_about_move(terms: ContractTerms, approver: Approver | None) -> tuple[str, ...]:
    """To go back to where the last plan began is asked about in a run where the rules want it."""
    ruling = approval_ruling_for(terms, CHECKOUT, SafetyLevel.SAFE_WRITE.value)
    if approver is None:
        granted = frozenset[str]()
    else:
        granted = approver.grants
    if ruling is None or granted.issuperset(ruling.grants):
        return ()
    return (f"{CHECKOUT} ({', '.join(ruling.reasons)})",)


class Previewer:
    """Previews one plan on `scene`, which must be a copy; `directory` goes with it."""

    def __init__(
        self,
        scene: SceneHost,
        journal: Journal,
        tools: Mapping[str, AnyTool],
        draft: ContractDraft,
        files: FileAccess,
        directory: Path,
    ) -> None:
        def runner(files: FileAccess, approvals: PreviewApprovals) -> Runner:
            return Runner(Session(scene, journal, tools, draft, files, approvals=approvals))

        self._scene = scene
        self._directory = directory
        written = PreviewFiles.replacing(files, directory / "written")
        self._approvals = PreviewApprovals(journal, written)
        self._runner = runner(written, self._approvals)
        # Pictures of the result are wanted, unlike those that operations of the plan make.
        pictures = FileAccess({}, directory / "pictures")
        self._picture_runner = runner(pictures, PreviewApprovals(journal, pictures))
        self._draft = draft
        self._journal = journal
        self._replacing: _Replacing | None = None

    def replace_from(self, history: History, base: int) -> None:
        """The plan is to run in the place of what was done since `base`. What it makes is compared with the scene as it is now, which is
        there again where nothing of the plan stands in the end."""
        before = take_snapshot(self._scene.worker()), self._save_baseline()
        moved = history.checkout(base, take_branch=True)
        self._replacing = _Replacing(history, base, moved.origin, *before)

    def run(
        self, schedule: Schedule, options: RunOptions, *, image: Path | None = None, look: Look | None = None
    ) -> Preview:
        """One operation at a time: who lost the worker, or the time, is then beyond doubt. `look` is called with the worker that holds
        the result, where there is one."""
        replacing = self._replacing
        if replacing is None:
            before, baseline = take_snapshot(self._scene.worker()), self._save_baseline()
        else:
            before, baseline = replacing.before, replacing.baseline
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
        done = {one.operation_id for one in report.operations if one.done}
        renamed = renaming_calls((one.tool, one.args) for one in schedule.order if one.id in done)
        difference = limit_difference(compare(before, after, renamed))
        asks = self._approvals.questions_of_a_run(options.approver)
        if replacing is not None:
            asks = (*_asked_about_move(self._draft.terms, options.approver), *asks)
        return Preview(_without_receipts(report), difference, picture, receipts, asks)

    def _save_baseline(self) -> Path:
        """The scene before the plan, kept where no worker's end takes it away."""
        baseline = self._directory / "before.blend"
        baseline.parent.mkdir(parents=True, exist_ok=True)
        copy_scene(self._scene.save(), baseline)
        return baseline

    def _reopen(self, baseline: Path) -> None:
        """The last thing that happens to the copy: what its journal says of it is of no more use."""
        open_scene_file(self._scene.worker(), baseline, "the scene before the plan")

    def _picture(self, target: Path, after: SceneSnapshot, options: RunOptions) -> Outcome:
        """Through the scene's camera where it has one, else from the front right above."""
        has_camera = after.entries["settings", "render"]["camera"] is not None
        through = {"engine": "CYCLES", "samples": PICTURE_SAMPLES, "render_shape": True}
        look: dict[str, Any]
        if has_camera:
            look = through
        else:
            look = {"view": "ISO"}
        picture_options = RunOptions(cancel=options.cancel, approver=options.approver)
        made = call(self._picture_runner, "render.preview", {**look, "artifact": PICTURE}, picture_options)
        return deliver_picture(made, target.resolve())


def _without_receipts(report: RunReport) -> RunReport:
    """Without what only a run gives: commits and receipts of the copy mean nothing to anyone."""
    return replace(report, operations=tuple(_without_receipt(operation) for operation in report.operations))


def _without_receipt(operation: OperationReport) -> OperationReport:
    if operation.status == "skipped_idempotent":
        return operation
    return replace(operation, commit=None, receipt=None, mcp_call_id=None, blender_mutation_id=None)
