"""Answers to approval requests that wait in a workspace, from outside the process that asked. These functions take
no lock.
"""

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
    """Return the requests that wait for an answer."""
    with contextlib.closing(JournalView(Path(workspace).resolve())) as journal:
        return journal.approvals.listed()


def session_allowances(workspace: str | Path) -> tuple[StoredApproval, ...]:
    """Return the kinds of operation that a person allowed for a session."""
    with contextlib.closing(JournalView(Path(workspace).resolve())) as journal:
        return journal.approvals.allowances()


def revoke_allowances(workspace: str | Path, ids: Sequence[str], *, by: str) -> list[StoredApproval]:
    """Revoke permissions for a session, so that the next operation of each kind needs a question. Raises Refusal
    for an unknown id.
    """
    return [revoke(Path(workspace).resolve(), id, by) for id in ids]


def decline(workspace: str | Path, ids: Sequence[str], *, by: str) -> list[StoredApproval]:
    """Answer every request with no. Raises Refusal for a request that no longer accepts an answer."""
    return [answer(Path(workspace).resolve(), id, ApprovalAnswer.DECLINED, by) for id in ids]


def approve(
    workspace: str | Path, ids: Sequence[str], approver: ApprovalPrompt | None, *, by: str, unseen: bool = False
) -> list[StoredApproval]:
    """Ask the approver about every request. A request without a yes keeps waiting.

    `unseen` approves requests without a question, except those that a person must see. Raises Refusal, before any
    answer, when a request can no longer be answered, or when a question is necessary and no approver exists.
    """
    directory = Path(workspace).resolve()
    requests = [waiting(directory, id) for id in ids]
    if approver is None:
        unanswerable = [stored.request for stored in requests if stored.request.in_person or not unseen]
        if unanswerable:
            raise Refusal([_no_terminal(request) for request in unanswerable])

    results: list[StoredApproval] = []
    for stored in requests:
        if approver is None or (unseen and not stored.request.in_person):
            decision = ApprovalAnswer.APPROVED
        else:
            # `in_person` prevents that a yes to this request also allows others of its level.
            decision = approver.ask(replace(stored.request, in_person=True))
        if decision is ApprovalAnswer.APPROVED:
            results.append(answer(directory, stored.request.id, decision, by))
        else:
            results.append(stored)
    return results


def _no_terminal(request: ApprovalRequest) -> Finding:
    if request.in_person:
        message = f"a person must see and approve request {request.id}, but there is no terminal to show it"
        return Finding(Fault.POLICY_BLOCKED, message, "", "Run this command in a terminal, and answer there.")
    message = f"there is no terminal to ask about request {request.id}"
    return Finding(Fault.POLICY_BLOCKED, message, "", "List the requests with `blendwright approve`, then pass --yes.")


def parse_grants(names: Sequence[str]) -> frozenset[str]:
    """Return the grants with these names: safety levels, safety modes, tools, directories and hidden files. Raises
    Refusal for other names.
    """
    grantable = [*SafetyLevel, *SafetyMode, *catalog.tools()]
    for name in names:
        if name not in grantable and not Path(name).exists():
            otherwise = "Pass a safety level, a safety mode, a tool, a directory or a hidden file."
            cure = did_you_mean(name, grantable, otherwise=otherwise)
            raise Refusal.of(Fault.SCHEMA_INVALID, f"there is nothing named '{name}' to approve", cure)

    grants: set[str] = set()
    for name in names:
        if name in grantable:
            grants.add(name)
        else:
            grants.add(str(Path(name).resolve()))
    return frozenset(grants)
