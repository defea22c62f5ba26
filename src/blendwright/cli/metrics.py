"""blendwright metrics: what the journal of a workspace tells in numbers, for Prometheus."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from blendwright.app.read_workspace import read_journal
from blendwright.cli.output import AsJson, Exit, Workspace, print_json

if TYPE_CHECKING:
    from prometheus_client import Metric


def metrics(
    workspace: Workspace = ".blendwright",
    openmetrics: Annotated[
        bool, typer.Option("--openmetrics", help="The OpenMetrics format, with the ids of the latest calls.")
    ] = False,
    json: AsJson = False,
) -> int:
    """Operations, failures, durations, commits and checkpoints of a workspace as Prometheus text; takes no lock."""
    from blendwright.app.observing.metrics import Metrics
    from blendwright.app.observing.tally import of_journal

    with read_journal(workspace) as journal:
        found = Metrics(of_journal(journal))
    if json:
        print_json({"ok": True, "metrics": [_family(family) for family in found.registry.collect()]})
    else:
        sys.stdout.write(found.openmetrics() if openmetrics else found.text())
    return Exit.DONE


def _family(family: Metric) -> dict[str, Any]:
    samples = [{"name": sample.name, "labels": dict(sample.labels), "value": sample.value} for sample in family.samples]
    return {"name": family.name, "type": family.type, "help": family.documentation, "samples": samples}
