"""Counters as Prometheus metrics: in their own registry, as text, or as OpenMetrics text with examples that have the
ids.

Ids are not labels, because that would make one series per call. In OpenMetrics, each count names its latest request
and operation as an example, and each bucket its latest call and mutation. The audit leads from there to everything
else.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.openmetrics import exposition
from prometheus_client.registry import Collector
from prometheus_client.samples import Exemplar

from blendwright.workspace.observing.counters import (
    COUNTS,
    LIVE_COUNTS,
    RECORD_FIELDS,
    Durations,
    EventCounters,
    Record,
)

# OpenMetrics limits the length of all names and values of an example together.
EXAMPLE_CHARACTERS = 128
# All four ids rarely fit. Counts prefer the ids of the request, durations prefer the ids of the call.
PLAN_FIRST = ("gemini_request_id", "operation_id", "mcp_call_id", "blender_mutation_id")
CALL_FIRST = ("mcp_call_id", "blender_mutation_id", "operation_id", "gemini_request_id")


class Metrics:
    """The metrics of one set of counters. `registry` works with any exporter of prometheus-client."""

    def __init__(self, counters: EventCounters) -> None:
        self.registry = CollectorRegistry(auto_describe=False)
        self.registry.register(_Collector(counters))

    def text(self) -> str:
        """Return the metrics in the Prometheus text format."""
        return generate_latest(self.registry).decode()

    def openmetrics(self) -> str:
        """Return the metrics in the OpenMetrics text format."""
        untyped: Any = exposition
        return untyped.generate_latest(self.registry).decode()

    def to_json(self) -> list[dict[str, Any]]:
        """Return every metric with its samples."""
        return [_family(family) for family in self.registry.collect()]


def _family(family: Metric) -> dict[str, Any]:
    samples = [{"name": sample.name, "labels": dict(sample.labels), "value": sample.value} for sample in family.samples]
    return {"name": family.name, "type": family.type, "help": family.documentation, "samples": samples}


class _Collector(Collector):
    def __init__(self, counters: EventCounters) -> None:
        self._counters = counters

    def collect(self) -> Iterable[Metric]:
        counters = self._counters
        yield from self._operations()
        yield from self._counts(COUNTS)
        yield _counter("head_moves", "Moves through the history.", ["kind"], counters.moves)
        if counters.stored is not None:
            yield from self._stored()
        else:
            yield from self._live()

    def _operations(self) -> Iterator[Metric]:
        counters = self._counters
        labels = ["tool", "status"]
        operations = _counter(
            "operations", "Operations by the status in their audit records.", labels, counters.operations
        )
        # The metric family accepts no examples for counters, but its samples do.
        for index, sample in enumerate(operations.samples):
            latest = counters.examples[sample.labels["tool"], sample.labels["status"]]
            operations.samples[index] = sample._replace(exemplar=_example(latest, 1.0, PLAN_FIRST))
        yield operations
        meaning = "Operations that failed, by error code."
        yield _counter("failures", meaning, ["tool", "error_code"], counters.failures)
        seconds = HistogramMetricFamily(
            "blendwright_operation_seconds", "Time of an operation inside Blender.", labels=["tool"]
        )
        for tool, durations in sorted(counters.durations.items()):
            seconds.add_metric([tool], _buckets(durations), durations.sum)
        yield seconds
        phase_seconds = {phase: us / 1e6 for phase, us in counters.phases.items()}
        yield _counter("phase_seconds", "Time inside Blender by phase of the lifecycle.", ["phase"], phase_seconds)

    def _counts(self, meanings: Mapping[str, str]) -> Iterator[Metric]:
        for name, meaning in meanings.items():
            yield CounterMetricFamily(f"blendwright_{name}", meaning, value=self._counters.counts[name])

    def _live(self) -> Iterator[Metric]:
        counters = self._counters
        yield from self._counts(LIVE_COUNTS)
        yield _counter("runs", "Runs of plans.", ["dialect", "status"], counters.runs)
        yield _counter("refusals", "Findings that refused a plan or call.", ["error_code"], counters.refusals)
        for name, meaning, durations in (
            ("run", "Time of a run.", counters.run_durations),
            ("rebuild", "Time until a worker held the scene.", counters.rebuild_durations),
        ):
            family = HistogramMetricFamily(f"blendwright_{name}_seconds", meaning)
            family.add_metric([], _buckets(durations), durations.sum)
            yield family

    def _stored(self) -> Iterator[Metric]:
        """Yield the metrics about the present content of the workspace, which can also decrease."""
        stored = self._counters.stored
        assert stored is not None
        yield GaugeMetricFamily("blendwright_requests", "Requests in the audit.", value=stored.requests)
        yield GaugeMetricFamily("blendwright_kept_checkpoints", "Saved scenes.", value=stored.checkpoints)
        yield GaugeMetricFamily(
            "blendwright_kept_checkpoint_bytes", "Bytes of saved scenes.", value=stored.checkpoint_bytes
        )
        yield CounterMetricFamily("blendwright_openings", "Openings for writing.", value=stored.openings)
        intents = GaugeMetricFamily("blendwright_intents", "Announced effects outside the scene.", labels=["state"])
        for state, count in stored.intents.items():
            intents.add_metric([state], count)
        yield intents


def _counter(
    name: str, meaning: str, labels: list[str], counts: Mapping[str, float] | Mapping[tuple[str, str], float]
) -> CounterMetricFamily:
    """Return a metric family with a count for each label or pair of labels."""
    family = CounterMetricFamily(f"blendwright_{name}", meaning, labels=labels)
    for key, count in sorted(counts.items()):
        family.add_metric([key] if isinstance(key, str) else key, count)
    return family


def _buckets(durations: Durations) -> list[Any]:
    """Return the buckets of a histogram with cumulative counts, as the format requires."""
    buckets: list[Any] = []
    total = 0
    bounds = [*map(str, durations.bounds), "+Inf"]
    for bound, count, example in zip(bounds, durations.counts, durations.examples, strict=True):
        total += count
        exemplar = None
        if example is not None:
            exemplar = _example(*example, CALL_FIRST)
        buckets.append([bound, total, exemplar])
    return buckets


def _example(record: Record, value: float, ids: Sequence[str]) -> Exemplar:
    """Return an example with as many whole ids as fit. Each id leads to the other ids."""
    labels: dict[str, str] = {}
    remaining = EXAMPLE_CHARACTERS
    for name in ids:
        id = record[RECORD_FIELDS[name]]
        if id is not None and len(name) + len(id) <= remaining:
            labels[name] = id
            remaining -= len(name) + len(id)
    return Exemplar(labels, value)
