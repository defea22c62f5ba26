"""Registration of the capability `proofs`."""

from __future__ import annotations

from blendwright.capabilities import Capability, Command

CAPABILITY = Capability(
    name="proofs",
    summary="Signed proofs of the audit chain.",
    commands={
        "audit": Command("proofs.commands", "audit_app", "The audit chain."),
    },
    examples={
        "audit": ("blendwright audit verify",),
        "audit verify": ("blendwright audit verify", "blendwright audit verify proof.jsonl"),
        "audit bundle": ("blendwright audit bundle proof.jsonl", "blendwright audit bundle proof.jsonl --scenes"),
        "audit key": ("blendwright audit key",),
        "audit list": ("blendwright audit list --status failed", "blendwright audit list --tool object.delete"),
    },
)
