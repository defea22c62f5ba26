"""Counters as Prometheus metrics: in a registry of its own, as text, or as OpenMetrics text with examples that carry the ids.

Ids are no labels, which would make a series of every call. In OpenMetrics each count names its latest request and operation
instead, each bucket its latest call and mutation; the audit leads from there to everything else.
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

# OpenMetrics: what the names and values of an example may have together.
EXAMPLE_CHARACTERS = 128
# All four ids rarely fit. Counts say what was asked for, durations which call it was.
PLAN_FIRST = ("gemini_request_id", "operation_id", "mcp_call_id", "blender_mutation_id")
CALL_FIRST = ("mcp_call_id", "blender_mutation_id", "operation_id", "gemini_request_id")


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

    def to_json(self) -> list[dict[str, Any]]:
        """Every metric with its samples."""
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
        yield from self._stored() if counters.stored is not None else self._live()

    def _operations(self) -> Iterator[Metric]:
        counters = self._counters
        labels = ["tool", "status"]
        operations = _counter("operations", "Operations, as their audit records say.", labels, counters.operations)
        # The family takes no example of a counter; its samples do.
        operations.samples = [
            sample._replace(
                exemplar=_example(counters.examples[sample.labels["tool"], sample.labels["status"]], 1.0, PLAN_FIRST)
            )
            for sample in operations.samples
        ]
        yield operations
        meaning = "Operations that were not done, by what went wrong."
        yield _counter("failures", meaning, ["tool", "error_code"], counters.failures)
        seconds = HistogramMetricFamily(
            "blendwright_operation_seconds", "Time of an operation inside Blender.", labels=["tool"]
        )
        for tool, durations in sorted(counters.durations.items()):
            seconds.add_metric([tool], _buckets(durations), durations.sum)
        yield seconds
        spent = {phase: us / 1e6 for phase, us in counters.phases.items()}
        yield _counter("phase_seconds", "The same by phase of the lifecycle.", ["phase"], spent)

    def _counts(self, meanings: Mapping[str, str]) -> Iterator[Metric]:
        for name, meaning in meanings.items():
            yield CounterMetricFamily(f"blendwright_{name}", meaning, value=self._counters.counts[name])

    def _live(self) -> Iterator[Metric]:
        counters = self._counters
        yield from self._counts(LIVE_COUNTS)
        yield _counter("runs", "Runs of plans.", ["dialect", "status"], counters.runs)
        yield _counter("refusals", "Findings for which nothing was run.", ["error_code"], counters.refusals)
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


def _counter(
    name: str, meaning: str, labels: list[str], counts: Mapping[str, float] | Mapping[tuple[str, str], float]
) -> CounterMetricFamily:
    """A count for each label or pair of labels."""
    family = CounterMetricFamily(f"blendwright_{name}", meaning, labels=labels)
    for key, count in sorted(counts.items()):
        family.add_metric([key] if isinstance(key, str) else key, count)
    return family


def _buckets(durations: Durations) -> list[Any]:
    """Cumulative, as the format wants them."""
    buckets: list[Any] = []
    total = 0
    bounds = [*map(str, durations.bounds), "+Inf"]
    for bound, count, example in zip(bounds, durations.counts, durations.examples, strict=True):
        total += count
        buckets.append([bound, total, None if example is None else _example(*example, CALL_FIRST)])
    return buckets


def _example(record: Record, value: float, ids: Sequence[str]) -> Exemplar:
    """The ids as far as they fit, whole: each of them leads to the others."""
    labels: dict[str, str] = {}
    left = EXAMPLE_CHARACTERS
    for name in ids:
        id = record[RECORD_FIELDS[name]]
        if id is not None and len(name) + len(id) <= left:
            labels[name] = id
            left -= len(name) + len(id)
    return Exemplar(labels, value)
