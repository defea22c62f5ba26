"""Answers to approval requests that wait in a workspace, given from outside the process that asked. Takes no lock."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from blendwright.journal import JournalView
from blendwright.journal.approvals import answer, revoke, waiting
from blendwright.records.requests import StoredApproval
from blendwright.tool_api.promises import SafetyLevel, SafetyMode
from blendwright.tools import catalog
from blendwright.values.approval import ApprovalAnswer, ApprovalPrompt, ApprovalRequest
from blendwright.values.errors import Refusal
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding, did_you_mean


def pending_approvals(workspace: str | Path) -> tuple[StoredApproval, ...]:
    """The requests that wait for an answer."""
    with contextlib.closing(JournalView(Path(workspace).resolve())) as journal:
        return journal.approvals.listed()


def session_allowances(workspace: str | Path) -> tuple[StoredApproval, ...]:
    """The kinds of operation that a person allowed for a session."""
    with contextlib.closing(JournalView(Path(workspace).resolve())) as journal:
        return journal.approvals.allowances()


def revoke_allowances(workspace: str | Path, ids: Sequence[str], *, by: str) -> list[StoredApproval]:
    """Take back what was allowed for a session: the next operation of the kind is asked about. Raises Refusal for another id."""
    return [revoke(Path(workspace).resolve(), id, by) for id in ids]


def decline(workspace: str | Path, ids: Sequence[str], *, by: str) -> list[StoredApproval]:
    """Answer every request with no. Raises Refusal for one that cannot be answered any more."""
    return [answer(Path(workspace).resolve(), id, ApprovalAnswer.DECLINED, by) for id in ids]


def approve(
    workspace: str | Path, ids: Sequence[str], approver: ApprovalPrompt | None, *, by: str, unseen: bool = False
) -> list[StoredApproval]:
    """Have the approver asked about every request. One that gets no yes goes on waiting.

    `unseen` approves without a question what need not be seen by a person. Raises Refusal, before anything is answered, when a
    request cannot be answered any more, or somebody would have to be asked and there is nobody."""
    directory = Path(workspace).resolve()
    requests = [waiting(directory, id) for id in ids]
    if approver is None and (
        unanswerable := [stored.request for stored in requests if stored.request.in_person or not unseen]
    ):
        raise Refusal([_nobody_to_ask(request) for request in unanswerable])
    results: list[StoredApproval] = []
    for stored in requests:
        if approver is None or (unseen and not stored.request.in_person):
            decision = ApprovalAnswer.APPROVED
        else:
            # A yes to this one is no yes to others of its level.
            decision = approver.ask(replace(stored.request, in_person=True))
        results.append(
            answer(directory, stored.request.id, decision, by) if decision is ApprovalAnswer.APPROVED else stored
        )
    return results


def _nobody_to_ask(request: ApprovalRequest) -> Finding:
    if request.in_person:
        message = f"{request.id} can only be allowed by a person who has seen it, and there is no terminal to ask on"
        return Finding(Fault.POLICY_BLOCKED, message, "", "Run this command in a terminal, and answer there.")
    message = f"there is no terminal to ask about {request.id} on"
    return Finding(Fault.POLICY_BLOCKED, message, "", "Look at it with `blendwright approve`, then give --yes.")


def parse_grants(names: Sequence[str]) -> frozenset[str]:
    """What may be done without asking, by the names of safety levels, safety modes, tools, directories and hidden files. Raises Refusal."""
    grantable = [*SafetyLevel, *SafetyMode, *catalog.tools()]
    for name in names:
        if name not in grantable and not Path(name).exists():
            otherwise = "Name a safety level, a safety mode, a tool, a directory or a hidden file."
            cure = did_you_mean(name, grantable, otherwise=otherwise)
            raise Refusal.of(Fault.SCHEMA_INVALID, f"there is nothing named '{name}' to approve", cure)
    return frozenset(name if name in grantable else str(Path(name).resolve()) for name in names)
