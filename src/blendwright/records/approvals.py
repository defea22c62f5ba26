"""Approvals as the journal stores them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from blendwright.policy.approvals import ApprovalRequest

ApprovalState = Literal["pending", "approved", "declined", "used"]


@dataclass(frozen=True, slots=True)
class StoredApproval:
    """A question and what became of it; `given_by` says how it was answered."""

    request: ApprovalRequest
    state: ApprovalState
    given_by: str | None
