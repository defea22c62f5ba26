"""What became of a plan: the one report that every dialect renders into its own result contract, and what its receipts promise
together: the weakest determinism class, the seeds, and everything that was made or changed."""

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

# From the strongest promise to the weakest.
CLASSES: tuple[str, ...] = get_args(DeterminismClass)
DONE: frozenset[OperationStatus] = frozenset({"succeeded", "skipped_idempotent"})


@dataclass(frozen=True, slots=True)
class Repair:
    """One entry of a repair plan."""

    operation_id: str
    action: Action

    def to_json(self) -> dict[str, str]:
        return {"operation_id": self.operation_id, "action": self.action}


@dataclass(frozen=True, slots=True)
class StepDetails:
    """What is known of an operation that had the worker for itself, beyond its receipt. Times are None for phases not reached.

    `changes` are the worker's: kind, names and what became of it. They stand unless `reverted_by` says how they were taken back.
    `determinism` is what may be said of its result. `printed` is there for code that did not live to answer.
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
        """What became of the work of an operation that failed; None where there was none."""
        if self.answered:
            changes = [list(change) for change in self.changes]
            if self.reverted_by is None:
                return None
            return {"kept": [], "taken_back": changes}
        if self.reverted_by:
            scene = "rebuilt from the journal"
        else:
            scene = "the code worked on a copy, which was thrown away"
        work: dict[str, Any] = {"kept": [], "scene": f"as before the call; {scene}"}
        if self.printed is None:
            printed = {}
        else:
            printed = {"printed": self.printed}
        return work | {"deadline_seconds": self.deadline_seconds} | printed


@dataclass(frozen=True, slots=True)
class OperationReport:
    """One operation. `fault` is None where nothing went wrong with it; `message` says why it is not `succeeded`.

    `blocked`: kept from running by a dependency that is missing, in a cycle, or failed, directly or through others.
    `origin`: the macro, and the caller's operation, that this is a step of.
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
        """Of an operation that failed after it had begun."""
        if self.fault is None or self.details is None:
            return None
        return self.details.partial_work()

    def to_json(self) -> dict[str, Any]:
        return {
            "operation_id": self.operation_id,
            "tool": self.tool,
            "status": self.status,
            "safety_level": self.safety_level,
            "fault": None if self.fault is None else self.fault.value,
            "message": self.message,
            "findings": [finding.to_json() for finding in self.findings],
            "blocked": self.blocked,
            "result": None if self.result is None else dict(self.result),
            "scene_hash_before": self.scene_hash_before,
            "scene_hash_after": self.scene_hash_after,
            "mcp_call_id": self.mcp_call_id,
            "blender_mutation_id": self.blender_mutation_id,
            "operation_key": self.operation_key,
            "commit": self.commit,
            "receipt": None if self.receipt is None else dict(self.receipt),
            "timings": dict(self.timings),
            "macro": None if self.origin is None else _step_of(self.origin),
            "partial_work": None if self.fault is None else self.partial_work,
        }


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
    """One run of a plan, or its refusal. `operations` are in schedule order; `findings` belong to none of them.

    Times are seconds since the epoch. `contract` is the fingerprint of what the run was held to, where it came that far.
    `scene_hash_before` and `scene_hash_after` are those of the scene around the run, None where no scene was looked at.
    `checkpoint` describes the latest consistent one, where the caller needs to know. `remarks` are the plan's own.
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
    """By operation, those that it waited for without its plan saying so, and why."""
    notes: tuple[str, ...] = ()
    """What the author of the plan should know although nothing is wrong, in sentences."""

    def __post_init__(self) -> None:
        if self.status == "succeeded" and (self.findings or not all(report.done for report in self.operations)):
            raise ValueError("a run with an operation that was not done is no success")

    @property
    def ok(self) -> bool:
        return self.status == "succeeded"

    @property
    def recoverable(self) -> bool:
        """Whether a change of operations makes the plan executable: then `repair` says which."""
        return bool(self.repair)

    @property
    def cancelled(self) -> bool:
        """Whether it was called off before all was done."""
        return any(report.fault is Fault.CANCELLED for report in self.operations)

    def all_findings(self) -> Iterator[Finding]:
        """What is wrong with the plan as a whole, then with its operations in schedule order."""
        yield from self.findings
        for report in self.operations:
            yield from report.findings

    def to_json(self) -> dict[str, Any]:
        return {**self.outline(), "operations": [report.to_json() for report in self.operations]}

    def outline(self) -> dict[str, Any]:
        """The same with the operations as they are, for a writer that renders them one by one."""
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
            "checkpoint": None if self.checkpoint is None else dict(self.checkpoint),
            "started": self.started,
            "finished": self.finished,
            "timings": dict(self.timings),
            "implied_by": {id: dict(others) for id, others in self.implied_by.items()},
            "notes": list(self.notes),
        }


# Sentences that are told of one plan: a loop may say each of them of many things.
MOST_NOTES = 12


@dataclass(frozen=True, slots=True)
class ReceiptSummary:
    """`determinism_class` is None when there is no receipt. `seeds` are by operation; `tolerance` is the largest. `notes` are what results
    say of themselves that may surprise, each sentence once: that a picture is black."""

    determinism_class: str | None
    seeds: Mapping[str, int]
    tolerance: float | None
    handles: tuple[Mapping[str, str], ...]
    notes: tuple[str, ...] = ()

    @property
    def seed(self) -> int | None:
        """The seed, where all operations that have one share it."""
        distinct = set(self.seeds.values())
        if len(distinct) == 1:
            return distinct.pop()
        return None


def summarise_receipts(operations: Iterable[OperationReport]) -> ReceiptSummary:
    """Of the operations that are done; what failed or was rolled back has no receipt."""
    receipts = [report.receipt for report in operations if report.done and report.receipt is not None]
    ranks = [CLASSES.index(receipt["determinism_class"]) for receipt in receipts]
    tolerances = [receipt["tolerance"] for receipt in receipts if receipt.get("tolerance") is not None]
    results = [receipt["result"] for receipt in receipts if receipt.get("result")]
    notes = list(dict.fromkeys([note for result in results for note in result.get("notes", ())]))
    if (left := len(notes) - MOST_NOTES) > 0:
        notes[MOST_NOTES:] = [f"… and {left} more notes in the results."]
    return ReceiptSummary(
        determinism_class=CLASSES[max(ranks)] if ranks else None,
        seeds={receipt["operation_id"]: receipt["seed"] for receipt in receipts if receipt.get("seed") is not None},
        tolerance=max(tolerances, default=None),
        handles=tuple(_handles(receipts)),
        notes=tuple(notes),
    )


def _handles(receipts: Iterable[Mapping[str, Any]]) -> list[Mapping[str, str]]:
    """Each once, in the order in which they came; what a later operation removed is no handle any more."""
    handles: dict[tuple[str, str], Mapping[str, str]] = {}
    for receipt in receipts:
        for change in receipt.get("changes", ()):
            if change["change"] == "removed":
                handles.pop((change["kind"], change["name"]), None)
        for handle in receipt.get("handles", ()):
            handles[handle["kind"], handle["name"]] = dict(handle)
    return list(handles.values())
