"""Registers the capability `batch`."""

from __future__ import annotations

from blendwright.capabilities import Capability, Command

CAPABILITY = Capability(
    name="batch",
    summary="One program for every row of a table, on the Blenders of this machine.",
    commands={
        "batch": Command(
            "batch.commands.batch", "batch_app", "Run a program for every row of a table, and go on after anything."
        ),
    },
    offers={"console.batches": "batch.console.section:SECTION"},
)
