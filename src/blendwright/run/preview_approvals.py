"""Whether a person allows an operation of a previewed plan.

Rules about how much a call may change are not asked about: it changes a copy, and whoever is to allow the plan wants to see what it
would do. Rules about tools, modes, directories and reading hold as they do in a run: what code prints and what a file holds shows in a
preview as well.
"""

from __future__ import annotations

from collections.abc import Sequence

from blendwright.policy.approvals import ApprovalRequest
from blendwright.policy.policy import Ruling
from blendwright.policy.refusals import refusal
from blendwright.policy.session_contract import Terms
from blendwright.run.approvals import Approvals
from blendwright.run.invocation import Invocation
from blendwright.tool_api.promises import SafetyLevel
from blendwright.values.findings import Finding

WRITES = frozenset({SafetyLevel.SAFE_WRITE.value, SafetyLevel.DESTRUCTIVE.value})


class PreviewApprovals(Approvals):
    """On the journal of the copy, which knows the answers that were given before."""

    def _ruling(self, terms: Terms, call: Invocation) -> Ruling | None:
        ruling = super()._ruling(terms, call)
        if ruling is None or ruling.in_person:
            return None  # trusted code runs in no preview: it is refused where it would
        remaining = [(name, why) for name, why in zip(ruling.asked, ruling.reasons, strict=True) if name not in WRITES]
        return (
            Ruling(ruling.verdict, tuple(why for _, why in remaining), tuple(name for name, _ in remaining))
            if remaining
            else None
        )

    def leave(self, requests: Sequence[ApprovalRequest]) -> list[Finding]:
        """What is kept for later would be gone with the copy."""
        return [_missing(request) for request in requests]


def _missing(request: ApprovalRequest) -> Finding:
    message = f"{request.tool} must be allowed by a person ({', '.join(request.why)}), in a preview too"
    return refusal("preview_unasked", message, option=request.options)
