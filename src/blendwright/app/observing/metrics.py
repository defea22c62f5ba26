"""Counters as Prometheus metrics: in a registry of its own, as text, or as OpenMetrics text with examples that carry the ids.

Ids are no labels, which would make a series of every call. In OpenMetrics each count and each bucket names its latest call and
mutation instead; the audit leads from there to everything else.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.openmetrics import exposition
from prometheus_client.registry import Collector
from prometheus_client.samples import Exemplar

from blendwright.app.observing.counters import Durations, EventCounters, Record

COUNTS = {
    "commits": "Commits to the journal.",
    "rollbacks": "Plans that were taken back as a whole.",
    "quarantines": "Times that journal and scene disagreed.",
}
# Only a process that is alive knows these.
LIVE_COUNTS = {
    "recoveries": "Openings after which something had to be put in order.",
    "worker_restarts": "Scenes rebuilt in another worker.",
    "workers_lost": "Workers that died, or were ended because of a call.",
    "checkpoints": "Scenes saved.",
    "checkpoint_bytes": "Bytes of saved scenes.",
}


class Metrics:
    """The metrics of one counters. `registry` can be given to any exporter of prometheus-client."""

    def __init__(self, counters: EventCounters) -> None:
        self.registry = CollectorRegistry(auto_describe=False)
        self.registry.register(_Collector(counters))

    def text(self) -> str:
        """The Prometheus text format."""
        return generate_latest(self.registry).decode()

    def openmetrics(self) -> str:
        """The OpenMetrics text format."""
        untyped: Any = exposition
        return untyped.generate_latest(self.registry).decode()


class _Collector(Collector):
    def __init__(self, counters: EventCounters) -> None:
        self._counters = counters

    def collect(self) -> Iterable[Metric]:
        counters = self._counters
        yield from self._operations()
        yield from self._counts()
        moves = CounterMetricFamily("blendwright_head_moves", "Moves through the history.", labels=["kind"])
        for kind, count in sorted(counters.moves.items()):
            moves.add_metric([kind], count)
        yield moves
        yield from self._stored() if counters.stored is not None else self._live()

    def _operations(self) -> Iterator[Metric]:
        counters = self._counters
        operations = CounterMetricFamily(
            "blendwright_operations", "Operations, as their audit records say.", labels=["tool", "status"]
        )
        for (tool, status), count in sorted(counters.operations.items()):
            operations.add_metric([tool, status], count)
            # The family takes no example of a counter; its sample does.
            last = operations.samples[-1]
            operations.samples[-1] = last._replace(exemplar=_example(counters.examples[tool, status], 1.0))
        yield operations
        failures = CounterMetricFamily(
            "blendwright_failures", "Operations that were not done, by what went wrong.", labels=["tool", "error_code"]
        )
        for (tool, code), count in sorted(counters.failures.items()):
            failures.add_metric([tool, code], count)
        yield failures
        seconds = HistogramMetricFamily(
            "blendwright_operation_seconds", "Time of an operation inside Blender.", labels=["tool"]
        )
        for tool, durations in sorted(counters.durations.items()):
            seconds.add_metric([tool], _buckets(durations), durations.sum)
        yield seconds
        phases = CounterMetricFamily(
            "blendwright_phase_seconds", "The same by phase of the lifecycle.", labels=["phase"]
        )
        for phase, spent in sorted(counters.phases.items()):
            phases.add_metric([phase], spent / 1e6)
        yield phases

    def _counts(self) -> Iterator[Metric]:
        for name, meaning in COUNTS.items():
            yield CounterMetricFamily(f"blendwright_{name}", meaning, value=self._counters.counts[name])

    def _live(self) -> Iterator[Metric]:
        counters = self._counters
        for name, meaning in LIVE_COUNTS.items():
            yield CounterMetricFamily(f"blendwright_{name}", meaning, value=counters.counts[name])
        runs = CounterMetricFamily("blendwright_runs", "Runs of plans.", labels=["dialect", "status"])
        for (dialect, status), count in sorted(counters.runs.items()):
            runs.add_metric([dialect, status], count)
        yield runs
        refusals = CounterMetricFamily(
            "blendwright_refusals", "Findings for which nothing was run.", labels=["error_code"]
        )
        for code, count in sorted(counters.refusals.items()):
            refusals.add_metric([code], count)
        yield refusals
        for name, meaning, durations in (
            ("run", "Time of a run.", counters.run_durations),
            ("rebuild", "Time until a worker held the scene.", counters.rebuild_durations),
        ):
            family = HistogramMetricFamily(f"blendwright_{name}_seconds", meaning)
            family.add_metric([], _buckets(durations), durations.sum)
            yield family

    def _stored(self) -> Iterator[Metric]:
        """What lies in the workspace now, and so can also become less."""
        stored = self._counters.stored
        assert stored is not None
        yield GaugeMetricFamily("blendwright_requests", "Requests that the audit knows.", value=stored.requests)
        yield GaugeMetricFamily("blendwright_kept_checkpoints", "Saved scenes.", value=stored.checkpoints)
        yield GaugeMetricFamily("blendwright_kept_checkpoint_bytes", "Their bytes.", value=stored.checkpoint_bytes)
        yield CounterMetricFamily("blendwright_openings", "Openings for writing.", value=stored.openings)
        intents = GaugeMetricFamily("blendwright_intents", "Announced effects outside the scene.", labels=["state"])
        for state, count in stored.intents.items():
            intents.add_metric([state], count)
        yield intents


def _buckets(durations: Durations) -> list[Any]:
    """Cumulative, as the format wants them."""
    buckets: list[Any] = []
    total = 0
    bounds = [*map(str, durations.bounds), "+Inf"]
    for bound, count, example in zip(bounds, durations.counts, durations.examples, strict=True):
        total += count
        buckets.append([bound, total, None if example is None else _example(*example)])
    return buckets


def _example(record: Record, value: float) -> Exemplar:
    """An example may have 128 characters: these two ids fit, and lead to the others."""
    labels = {"mcp_call_id": record["mcp_call_id"]}
    if record["blender_mutation_id"] is not None:
        labels["blender_mutation_id"] = record["blender_mutation_id"]
    return Exemplar(labels, value)
