"""The only writer of receipts, commits, readings and audit records of calls.

An operation counts as done only after its commit. If the journal refuses a write, the ledger discards the scene,
because the worker's scene no longer matches the journal.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from blendwright.engine.contract import ActiveContract
from blendwright.engine.invocation import Invocation, new_id
from blendwright.engine.scene.external_files import External
from blendwright.engine.scene.host import SceneHost
from blendwright.journal import Journal
from blendwright.records.audit import AuditDetails, Status
from blendwright.records.changes import MOST_CHANGES
from blendwright.records.checkpoints import StagedCheckpoint
from blendwright.records.commits import CommitResult, Entry, NewAudit, NewCommit, NewReading
from blendwright.values.errors import BlendwrightError
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding
from blendwright.values.plan import Operation, Plan
from blendwright.wire.methods import StepAnswer

MAX_HANDLES = 1000
NOT_REACHED = (None, None, None)


class Ledger:
    """A writer that makes journal entries from the outcomes of calls."""

    def __init__(self, journal: Journal, scene: SceneHost, contract: ActiveContract) -> None:
        self._journal = journal
        self._scene = scene
        self._contract = contract

    def success(
        self,
        call: Invocation,
        answer: StepAnswer,
        *,
        checkpoint: StagedCheckpoint | None = None,
        settles: int | None = None,
        externals: Sequence[External] = (),
    ) -> NewCommit | NewReading:
        """Return the journal entry of a successful step.

        A step that left the scene unchanged needs no redo and is therefore replayable. A step with a checkpoint
        counts as a change, even when the hashes are equal.
        """
        mutated = answer["before"] != answer["after"] or checkpoint is not None
        if mutated:
            mutation = new_id()
        else:
            mutation = None
        receipt = _receipt(call, answer, mutation, self._contract.fingerprint)
        ids = AuditDetails(
            call.call_id,
            call.safety_level,
            mutation,
            timestamp=receipt["timestamp"],
            phases_us=_phases_us(answer),
            approval=call.approval,
        )
        if call.promises.reads_only:
            if call.single_call:
                # No caller can ask for this call again, so its result, perhaps a whole scene, need not be stored.
                receipt = {**receipt, "result": None}
            return NewReading(
                call.key,
                call.request_id,
                call.operation_id,
                call.tool.name,
                call.tool.version,
                call.args,
                answer["after"],
                receipt,
                ids,
            )

        if externals:
            receipt = {**receipt, "externals": [external.to_json() for external in externals]}
        return NewCommit(
            call.key,
            call.request_id,
            call.operation_id,
            call.tool.name,
            call.tool.version,
            call.args,
            answer["before"],
            answer["after"],
            call.promises.replayable or not mutated,
            receipt,
            ids,
            checkpoint=checkpoint,
            settles=settles,
        )

    def note(
        self,
        call: Invocation,
        status: Status,
        scene_hash: str,
        *,
        fault: Fault | None = None,
        answer: StepAnswer | None = None,
        settles: int | None = None,
    ) -> NewAudit:
        """Return the audit record of a call that left the scene unchanged. `fault` is its error, or None."""
        if fault is None:
            code = None
        else:
            code = fault.value
        if answer is None:
            phases = NOT_REACHED
        else:
            phases = _phases_us(answer)
        ids = AuditDetails(call.call_id, call.safety_level, error_code=code, phases_us=phases, approval=call.approval)
        return NewAudit(
            call.request_id, call.operation_id, call.tool.name, status, scene_hash, scene_hash, ids, settles
        )

    def write(self, entries: Sequence[Entry], *, keeps: int | None = None) -> CommitResult:
        """Write the entries in one transaction. Only after this function returns may the caller acknowledge them.

        `keeps` is the boundary whose operations this transaction keeps.
        """
        try:
            written = self._journal.commit(entries, keeps=keeps)
        except BlendwrightError:
            self._scene.discard()
            raise
        commits = [entry for entry in entries if isinstance(entry, NewCommit)]
        if commits:
            last = commits[-1]
            redo_us = 0
            for commit in commits:
                redo_us += sum(phase_us or 0 for phase_us in commit.audit.phases_us)
            self._scene.record_commit(last.hash_after, redo_us / 1000, saved=last.checkpoint is not None)
        elif keeps is not None:
            self._scene.head.advance_background()
        return written


def changes_of(changes: Sequence[Sequence[str]]) -> tuple[dict[str, str], ...]:
    return tuple({"kind": kind, "name": " / ".join(names), "change": change} for kind, *names, change in changes)


def handles_of(changes: Sequence[Sequence[str]]) -> tuple[dict[str, str], ...]:
    """Return handles of the datablocks that the call created or changed.

    A handle has a kind and a name, and holds until a rename or a deletion.
    """
    # A linked datablock has more parts, and no tool takes it by its name.
    handles: list[dict[str, str]] = []
    for change in changes:
        if change[0] != "member" and len(change) == 3 and change[-1] != "removed":
            handles.append({"kind": change[0], "name": change[1]})
    return tuple(handles[:MAX_HANDLES])


def _phases_us(answer: StepAnswer) -> tuple[int | None, int | None, int | None]:
    return (
        _microseconds(answer["plan_ms"]),
        _microseconds(answer["execute_ms"]),
        _microseconds(answer["verify_ms"]),
    )


def _microseconds(milliseconds: float | None) -> int | None:
    if milliseconds is None:
        return None
    return round(milliseconds * 1000)


def _receipt(call: Invocation, answer: StepAnswer, mutation: str | None, contract: str | None) -> Mapping[str, Any]:
    if call.approval is None:
        approval_id = None
    else:
        approval_id = call.approval.id
    return {
        "request_id": call.request_id,
        "operation_id": call.operation_id,
        "tool_name": call.tool.name,
        "tool_version": call.tool.version,
        "operation_key": call.key,
        "mcp_call_id": call.call_id,
        "blender_mutation_id": mutation,
        "safety_level": call.safety_level,
        "contract": contract,
        "approval": approval_id,
        "status": "succeeded",
        "scene_hash_before": answer["before"],
        "scene_hash_after": answer["after"],
        "result": answer["result"],
        "handles": list(handles_of(answer["changes"])),
        "changes": list(changes_of(answer["changes"][:MOST_CHANGES])),
        "determinism_class": call.promises.determinism.value,
        "seed": call.tool.seed_for(call.model),
        "tolerance": call.tool.tolerance_for(call.model),
        "timestamp": datetime.now(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z"),
    }


def unrunnable_note(plan: Plan, operation: Operation, finding: Finding, scene_hash: str) -> NewAudit:
    """Return the audit record of an operation that could not begin."""
    audit = AuditDetails(new_id(), operation.safety_level or "read_only", error_code=finding.fault.value)
    return NewAudit(plan.request_id, operation.id, operation.tool, "failed", scene_hash, scene_hash, audit)
