"""blendwright metrics: what the journal of a workspace says in numbers, for Prometheus."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from blendwright.app.queries import journal_metrics
from blendwright.cli.options import AsJson, Workspace
from blendwright.cli.output import present
from blendwright.cli.safe_console import SafeConsole

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
    numbers = journal_metrics(workspace)

    def show(_: SafeConsole) -> None:
        # As it is: the format of Prometheus is for programs too.
        sys.stdout.write(numbers.openmetrics() if openmetrics else numbers.text())

    families = numbers.registry.collect
    return present(json, lambda: {"ok": True, "metrics": [_family(family) for family in families()]}, show)


def _family(family: Metric) -> dict[str, Any]:
    samples = [{"name": sample.name, "labels": dict(sample.labels), "value": sample.value} for sample in family.samples]
    return {"name": family.name, "type": family.type, "help": family.documentation, "samples": samples}
