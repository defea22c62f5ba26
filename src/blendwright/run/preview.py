"""A plan on a copy of the scene: what it would do, without doing it.

The copy has a worker and a journal of its own, both thrown away afterwards, so that the plan takes exactly the way of a real
run: known operations, gates, failures, rebuilds. Nothing here may reach the workspace.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from blendwright.policy.approvals import NOBODY, Approver
from blendwright.records.journal_port import JournalPort
from blendwright.run.active_contract import ActiveContract, ContractDraft
from blendwright.run.differences import Difference, Picture, compare, take
from blendwright.run.exclusive_step import ExclusiveStep
from blendwright.run.executor import Executor
from blendwright.run.files import FileAccess
from blendwright.run.invocation import Invocation
from blendwright.run.ledger import Ledger
from blendwright.run.live_scene import EXCHANGED, REBUILD_SECONDS, LiveScene, copy_scene
from blendwright.run.pictures import delivered
from blendwright.run.preview_approvals import PreviewApprovals
from blendwright.run.preview_files import PreviewFiles
from blendwright.run.run_state import Progress
from blendwright.run.runner import Runner
from blendwright.run.snapshots import Bounded, bounded, to_look_into, with_modifier_settings
from blendwright.tool_api.effects import Determinism
from blendwright.tool_api.tool import AnyTool
from blendwright.values.cancel import CancelToken
from blendwright.values.findings import Finding
from blendwright.values.outcome import Outcome
from blendwright.values.plan import Operation, Schedule
from blendwright.values.receipt_summary import ReceiptSummary, summarise_receipts
from blendwright.values.report import OperationReport, RunReport

PICTURE = "picture.png"
NO_DIFFERENCE = bounded(Difference((), (), (), unseen=False))


@dataclass(frozen=True, slots=True)
class Preview:
    """What a plan would do. The report's hashes are those that a run would reach; it has no commits and no receipts.

    `receipts` sums up those of the copy: what a run would promise.
    `picture` is None when none was asked for, or there is nothing to see; it has findings when it could not be made.
    """

    report: RunReport
    differences: Bounded = NO_DIFFERENCE
    picture: Outcome | None = None
    receipts: ReceiptSummary | None = None

    @property
    def ok(self) -> bool:
        return self.report.ok and (self.picture is None or self.picture.ok)

    def to_json(self) -> dict[str, Any]:
        """As the command prints it."""
        result = self.differences.difference.to_json()
        about = {"totals": dict(self.differences.totals), "unseen": result.pop("unseen")}
        return {
            "dialect": self.report.dialect,
            "ok": self.ok,
            "result": result,
            "report": {**self.report.to_json(), **about},
        }


class Previewer:
    """Previews one plan on `scene`, which must be a copy; `room` is a directory that goes with it."""

    def __init__(
        self,
        scene: LiveScene,
        journal: JournalPort,
        tools: Mapping[str, AnyTool],
        offer: ContractDraft,
        files: FileAccess,
        room: Path,
    ) -> None:
        agreement = ActiveContract(offer, scene, journal)
        ledger = Ledger(journal, scene, agreement)
        written = PreviewFiles.instead_of(files, room / "written")
        solo = ExclusiveStep(scene, journal, ledger, written)
        self._scene = scene
        self._room = room
        approvals = PreviewApprovals(journal, written)
        self._runner = _OneByOne(scene, journal, ledger, solo, tools, agreement, written, approvals)
        # Pictures of the result are wanted, unlike those that operations of the plan make.
        kept = FileAccess({}, room / "pictures")
        self._executor = Executor(
            scene, ledger, ExclusiveStep(scene, journal, ledger, kept), tools, agreement, kept, approvals
        )

    def run(
        self,
        schedule: Schedule,
        failing: Mapping[str, Finding],
        *,
        image: Path | None = None,
        seconds: float | None = None,
        cancel: CancelToken | None = None,
        progress: Progress | None = None,
        determinism: Determinism | None = None,
        approver: Approver = NOBODY,
    ) -> Preview:
        before = take(self._scene.worker())
        baseline = self._saved()
        report = self._runner.run(
            schedule,
            failing,
            seconds=seconds,
            cancel=cancel,
            progress=progress,
            determinism=determinism,
            approver=approver,
        )
        after = take(self._scene.worker())
        picture = None if image is None or not report.ok else self._picture(image, after, cancel, approver)
        names = to_look_into(before, after)
        if names:
            after = with_modifier_settings(after, names, self._scene.worker())
            self._go_back_to(baseline)
            before = with_modifier_settings(before, names, self._scene.worker())
        receipts = summarise_receipts(report.operations)
        return Preview(_unwritten(report), bounded(compare(before, after)), picture, receipts)

    def _saved(self) -> Path:
        """The scene before the plan, kept where no worker's end takes it away."""
        baseline = self._room / "before.blend"
        baseline.parent.mkdir(parents=True, exist_ok=True)
        copy_scene(self._scene.save(self._scene.hash), baseline)
        return baseline

    def _go_back_to(self, baseline: Path) -> None:
        """The last thing that happens to the copy: what its journal says of it is of no more use."""
        worker = self._scene.worker()
        copy_scene(baseline, worker.scratch / EXCHANGED)
        worker.call("scene.open", {"path": EXCHANGED}, deadline=REBUILD_SECONDS)

    def _picture(self, target: Path, after: Picture, cancel: CancelToken | None, approver: Approver) -> Outcome:
        """Through the scene's camera where it has one, else from the front right above."""
        has_camera = after.entries["settings", "render"]["camera"] is not None
        look: dict[str, Any] = {"engine": "CYCLES", "samples": 16} if has_camera else {"view": "ISO"}
        taken = self._executor.call("render.preview", {**look, "artifact": PICTURE}, cancel=cancel, approver=approver)
        return delivered(taken, target)


class _OneByOne(Runner):
    """Sends an operation only when the one before it has ended: who lost the worker, or the time, is then beyond doubt."""

    def _invocation(self, request_id: str, operation: Operation, key: str, call_id: str) -> Invocation:
        call = super()._invocation(request_id, operation, key, call_id)
        return _Alone(**{field.name: getattr(call, field.name) for field in fields(call)})


class _Alone(Invocation):
    @property
    def alone(self) -> bool:
        return True


def _unwritten(report: RunReport) -> RunReport:
    """Without what only a run gives: commits and receipts of the copy mean nothing to anyone."""
    return replace(report, operations=tuple(_without_receipt(operation) for operation in report.operations))


def _without_receipt(operation: OperationReport) -> OperationReport:
    if operation.status == "skipped_idempotent":
        return operation
    return replace(operation, commit=None, receipt=None, mcp_call_id=None, blender_mutation_id=None)
