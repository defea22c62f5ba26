"""The registration of the capability `batch`."""

from __future__ import annotations

from blendwright.capabilities import Capability, Command

CAPABILITY = Capability(
    name="batch",
    summary="Run one program for every row of a table on the Blenders of this machine.",
    commands={
        "batch": Command("batch.commands.batch", "batch_app", "Run a program for every row of a table."),
    },
    offers={"console.batches": "batch.console.section:SECTION"},
    examples={
        "batch": ("blendwright batch run toys.star --seeds 0:500 --workers 2 --out toys",),
        "batch run": (
            "blendwright batch run toys.star --seeds 0:500 --workers 2 --out toys",
            "blendwright batch run toys.star --params toys.csv --output glb --out toys",
            "blendwright batch run toys.json --out toys        # the same command again resumes the batch",
        ),
        "batch status": ("blendwright batch status toys",),
        "batch retry": ("blendwright batch retry toys --failed",),
        "batch show": ("blendwright batch show toys 42",),
        "batch export": ("blendwright batch export toys.star --seeds 0:500 --out toys --to job --format openjd",),
    },
)
