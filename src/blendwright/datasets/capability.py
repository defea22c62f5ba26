"""The registration of the capability `datasets`."""

from __future__ import annotations

from blendwright.capabilities import Capability

CAPABILITY = Capability(
    name="datasets",
    summary="Write training data sets from the annotated cases of a batch.",
    offers={"batch.commands": "datasets.commands:COMMAND"},
    needs=("batch",),
    examples={
        "batch dataset": ("blendwright batch dataset toys --format coco --to toys/coco",),
    },
)
