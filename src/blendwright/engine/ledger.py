"""The one path on which anything is written to the journal: receipts, commits, readings and audit records of calls.

Whatever was not committed did not happen: a write that is refused ends the worker, whose scene nobody can account for.
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

MOST_HANDLES = 1000
NOT_REACHED = (None, None, None)


class Ledger:
    """Turns what became of calls into entries, and writes them."""

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
        """The entry of a step that was kept. One that left the scene as it was needs no redo, and so can always be replayed.

        One that was saved did not, whatever the hashes say."""
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
                # Nobody will ask for this very call again: what it read, which may be a whole scene, need not be kept.
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
            {**receipt, "externals": [external.to_json() for external in externals]} if externals else receipt,
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
        """The record of a call that leaves the scene as it was; `fault` says why, where something went wrong with it."""
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
        """One transaction. When it has returned, and not before, the entries may be acknowledged."""
        try:
            written = self._journal.commit(entries, keeps=keeps)
        except BlendwrightError:
            self._scene.discard()
            raise
        commits = [entry for entry in entries if isinstance(entry, NewCommit)]
        if commits:
            last = commits[-1]
            redo_us = sum(spent or 0 for commit in commits for spent in commit.audit.phases_us)
            self._scene.record_commit(last.hash_after, redo_us / 1000, saved=last.checkpoint is not None)
        elif keeps is not None:
            self._scene.head.advance_background()
        return written


def changes_of(changes: Sequence[Sequence[str]]) -> tuple[dict[str, str], ...]:
    return tuple({"kind": kind, "name": " / ".join(names), "change": change} for kind, *names, change in changes)


def handles_of(changes: Sequence[Sequence[str]]) -> tuple[dict[str, str], ...]:
    """Stable handles of what the call made or changed: kind and name, which hold until a rename or a deletion."""
    # What is linked has more words, and no tool takes it by its name.
    alive = [each for each in changes if each[0] != "member" and len(each) == 3 and each[-1] != "removed"]
    return tuple({"kind": kind, "name": name} for kind, name, *_ in alive[:MOST_HANDLES])


def _phases_us(answer: StepAnswer) -> tuple[int | None, int | None, int | None]:
    plan, execute, verify = answer["plan_ms"], answer["execute_ms"], answer["verify_ms"]
    return (
        None if plan is None else round(plan * 1000),
        None if execute is None else round(execute * 1000),
        None if verify is None else round(verify * 1000),
    )


def _receipt(call: Invocation, answer: StepAnswer, mutation: str | None, contract: str | None) -> Mapping[str, Any]:
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
        "approval": None if call.approval is None else call.approval.id,
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
    """The audit record of an operation that could not even begin."""
    audit = AuditDetails(new_id(), operation.safety_level or "read_only", error_code=finding.fault.value)
    return NewAudit(plan.request_id, operation.id, operation.tool, "failed", scene_hash, scene_hash, audit)
