"""Registers the capability `proofs`."""

from __future__ import annotations

from blendwright.capabilities import Capability, Command

CAPABILITY = Capability(
    name="proofs",
    summary="Signed proofs of the audit chain.",
    commands={
        "audit": Command("proofs.commands", "audit_app", "The audit chain."),
    },
)
