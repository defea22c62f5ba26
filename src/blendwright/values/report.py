"""The report of a plan: every dialect renders it into the form of its result contract.

A summary of the receipts covers all operations together: the weakest determinism class, the seeds, and everything
created or changed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from blendwright.values.faults import Fault
from blendwright.values.findings import Finding
from blendwright.values.outcome import DeterminismClass
from blendwright.values.plan import Boundary, Origin

OperationStatus = Literal["succeeded", "failed", "rolled_back", "skipped_idempotent", "skipped", "refused"]
RunStatus = Literal["succeeded", "partial", "failed", "rolled_back", "refused"]
Action = Literal["retry", "replace_args", "drop", "insert_precondition"]

# Determinism classes from the strongest promise to the weakest.
CLASSES: tuple[str, ...] = get_args(DeterminismClass)
DONE: frozenset[OperationStatus] = frozenset({"succeeded", "skipped_idempotent"})


@dataclass(frozen=True, slots=True)
class Repair:
    """An entry of a repair plan: an operation and the action that fixes it."""

    operation_id: str
    action: Action

    def to_json(self) -> dict[str, str]:
        return {"operation_id": self.operation_id, "action": self.action}


@dataclass(frozen=True, slots=True)
class StepDetails:
    """Details of an operation that had the worker exclusively, in addition to its receipt.

    Times are None for phases that the operation did not reach. `changes` come from the worker: kind, names, and the
    change. They remain in the scene, unless `reverted_by` names how they were undone. `determinism` describes the
    result. `printed` holds the output of code that ended before it could answer.
    """

    changes: Sequence[Sequence[str]] = ()
    artifacts: tuple[str, ...] = ()
    reverted_by: str | None = None
    answered: bool = True
    plan_ms: float | None = None
    execute_ms: float | None = None
    verify_ms: float | None = None
    determinism: str = ""
    deadline_seconds: float | None = None
    printed: str | None = None

    def partial_work(self) -> dict[str, Any] | None:
        """Return what remains of a failed operation's work and what was undone; None if it changed nothing."""
        if self.answered:
            if self.reverted_by is None:
                return None
            return {"kept": [], "taken_back": [list(change) for change in self.changes]}

        scene = "the code worked on a copy, which was discarded"
        if self.reverted_by:
            scene = "rebuilt from the journal"
        work: dict[str, Any] = {
            "kept": [],
            "scene": f"as before the call; {scene}",
            "deadline_seconds": self.deadline_seconds,
        }
        if self.printed is not None:
            work["printed"] = self.printed
        return work


@dataclass(frozen=True, slots=True)
class OperationReport:
    """The report of one operation.

    `fault` is None if it has no problem; `message` explains any status other than `succeeded`.

    `blocked` is True if a dependency prevented it: a missing, cyclic or failed one, directly or through others.
    `origin` names the macro and the caller's operation that this step belongs to.
    """

    operation_id: str
    tool: str
    status: OperationStatus
    position: int
    safety_level: str | None = None
    fault: Fault | None = None
    message: str = ""
    findings: tuple[Finding, ...] = ()
    blocked: bool = False
    result: Mapping[str, Any] | None = None
    scene_hash_before: str | None = None
    scene_hash_after: str | None = None
    mcp_call_id: str | None = None
    blender_mutation_id: str | None = None
    operation_key: str | None = None
    commit: int | None = None
    receipt: Mapping[str, Any] | None = None
    timings: Mapping[str, float] = field(default_factory=dict[str, float])
    origin: Origin | None = None
    details: StepDetails | None = None

    @property
    def done(self) -> bool:
        return self.status in DONE

    @property
    def partial_work(self) -> dict[str, Any] | None:
        """The remaining and undone work of an operation that failed after it had begun, or None."""
        if self.fault is None or self.details is None:
            return None
        return self.details.partial_work()

    def to_json(self) -> dict[str, Any]:
        fault = macro = partial_work = None
        if self.fault is not None:
            fault, partial_work = self.fault.value, self.partial_work
        if self.origin is not None:
            macro = _step_of(self.origin)
        return {
            "operation_id": self.operation_id,
            "tool": self.tool,
            "status": self.status,
            "safety_level": self.safety_level,
            "fault": fault,
            "message": self.message,
            "findings": [finding.to_json() for finding in self.findings],
            "blocked": self.blocked,
            "result": _copy(self.result),
            "scene_hash_before": self.scene_hash_before,
            "scene_hash_after": self.scene_hash_after,
            "mcp_call_id": self.mcp_call_id,
            "blender_mutation_id": self.blender_mutation_id,
            "operation_key": self.operation_key,
            "commit": self.commit,
            "receipt": _copy(self.receipt),
            "timings": dict(self.timings),
            "macro": macro,
            "partial_work": partial_work,
        }


def _copy(mapping: Mapping[str, Any] | None) -> dict[str, Any] | None:
    if mapping is None:
        return None
    return dict(mapping)


def _step_of(origin: Origin) -> dict[str, Any]:
    return {
        "operation_id": origin.operation_id,
        "name": origin.macro,
        "version": origin.version,
        "step": origin.step,
        "steps": origin.steps,
        "title": origin.title,
    }


@dataclass(frozen=True, slots=True)
class RunReport:
    """The report of a run of a plan, or of its refusal.

    `operations` are in schedule order; `findings` belong to none of them.

    Times are seconds since the epoch. `contract` is the fingerprint of the run's contract, if it got that far.
    `scene_hash_before` and `scene_hash_after` describe the scene around the run, or are None if no scene was read.
    `checkpoint` describes the latest consistent checkpoint, if the caller needs it. `remarks` come from the plan.
    """

    dialect: str
    request_id: str
    status: RunStatus
    operations: tuple[OperationReport, ...]
    findings: tuple[Finding, ...] = ()
    repair: tuple[Repair, ...] = ()
    schedule_hash: str | None = None
    boundary: Boundary = "operation"
    contract: str | None = None
    scene_hash_before: str | None = None
    scene_hash_after: str | None = None
    checkpoint: Mapping[str, Any] | None = None
    started: float | None = None
    finished: float | None = None
    timings: Mapping[str, float] = field(default_factory=dict[str, float])
    remarks: Mapping[str, Any] | None = None
    implied_by: Mapping[str, Mapping[str, str]] = field(default_factory=dict[str, Mapping[str, str]])
    """The unstated dependencies of each operation by id, each with its reason."""
    notes: tuple[str, ...] = ()
    """Notes for the author of the plan, in sentences; they are not problems."""

    def __post_init__(self) -> None:
        undone = any(not report.done for report in self.operations)
        if self.status == "succeeded" and (self.findings or undone):
            raise ValueError("a run with findings or undone operations has not succeeded")

    @property
    def ok(self) -> bool:
        return self.status == "succeeded"

    @property
    def recoverable(self) -> bool:
        """True if changing operations can make the plan executable; `repair` then lists the changes."""
        return bool(self.repair)

    @property
    def cancelled(self) -> bool:
        """True if someone cancelled the run before all operations were done."""
        return any(report.fault is Fault.CANCELLED for report in self.operations)

    def all_findings(self) -> Iterator[Finding]:
        """Yield the findings about the plan as a whole, then the findings about its operations in schedule order."""
        yield from self.findings
        for report in self.operations:
            yield from report.findings

    def to_json(self) -> dict[str, Any]:
        return {**self.outline(), "operations": [report.to_json() for report in self.operations]}

    def outline(self) -> dict[str, Any]:
        """Return the JSON form with the operations as objects, for a writer that renders them one by one."""
        return {
            "dialect": self.dialect,
            "request_id": self.request_id,
            "status": self.status,
            "operations": self.operations,
            "findings": [finding.to_json() for finding in self.findings],
            "repair": [entry.to_json() for entry in self.repair],
            "schedule_hash": self.schedule_hash,
            "boundary": self.boundary,
            "contract": self.contract,
            "scene_hash_before": self.scene_hash_before,
            "scene_hash_after": self.scene_hash_after,
            "checkpoint": _copy(self.checkpoint),
            "started": self.started,
            "finished": self.finished,
            "timings": dict(self.timings),
            "implied_by": {id: dict(reasons) for id, reasons in self.implied_by.items()},
            "notes": list(self.notes),
        }


# Notes about one plan. A loop may give the same note for many items.
MAX_NOTES = 12


@dataclass(frozen=True, slots=True)
class ReceiptSummary:
    """A summary of receipts. `determinism_class` is None without receipts.

    `seeds` are by operation id; `tolerance` is the largest. `notes` are the distinct notes of the results about
    surprising outcomes, such as a black picture.
    """

    determinism_class: str | None
    seeds: Mapping[str, int]
    tolerance: float | None
    handles: tuple[Mapping[str, str], ...]
    notes: tuple[str, ...] = ()

    @property
    def seed(self) -> int | None:
        """The common seed of all operations that have one, or else None."""
        distinct = set(self.seeds.values())
        if len(distinct) == 1:
            return distinct.pop()
        return None


def summarise_receipts(operations: Iterable[OperationReport]) -> ReceiptSummary:
    """Summarise the receipts of the operations that are done; failed and undone operations have none."""
    receipts: list[Mapping[str, Any]] = []
    ranks: list[int] = []
    seeds: dict[str, int] = {}
    tolerances: list[float] = []
    notes: dict[str, None] = {}
    for report in operations:
        receipt = report.receipt
        if not report.done or receipt is None:
            continue
        receipts.append(receipt)
        ranks.append(CLASSES.index(receipt["determinism_class"]))
        if receipt.get("seed") is not None:
            seeds[receipt["operation_id"]] = receipt["seed"]
        if receipt.get("tolerance") is not None:
            tolerances.append(receipt["tolerance"])
        if receipt.get("result"):
            notes |= dict.fromkeys(receipt["result"].get("notes", ()))

    determinism_class = None
    if ranks:
        determinism_class = CLASSES[max(ranks)]
    shown_notes = list(notes)[:MAX_NOTES]
    if len(notes) > MAX_NOTES:
        shown_notes.append(f"… and {len(notes) - MAX_NOTES} more notes in the results.")
    return ReceiptSummary(
        determinism_class=determinism_class,
        seeds=seeds,
        tolerance=max(tolerances, default=None),
        handles=tuple(_handles(receipts)),
        notes=tuple(shown_notes),
    )


def _handles(receipts: Iterable[Mapping[str, Any]]) -> list[Mapping[str, str]]:
    """Return the distinct handles in the order of creation, without items that a later operation removed."""
    handles: dict[tuple[str, str], Mapping[str, str]] = {}
    for receipt in receipts:
        for change in receipt.get("changes", ()):
            if change["change"] == "removed":
                handles.pop((change["kind"], change["name"]), None)
        for handle in receipt.get("handles", ()):
            handles[handle["kind"], handle["name"]] = dict(handle)
    return list(handles.values())
