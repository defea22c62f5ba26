"""Events as OpenTelemetry spans and metrics: a run, its operations, and their phases. Blendwright loads it only if
configured.

The caller provides the providers; this module neither reads nor sets global ones. It makes a span when its operation
is durable, with the times of the audit record, so that trace and audit agree.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from time import time_ns
from typing import TYPE_CHECKING, Any

from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.metrics import MeterProvider
from opentelemetry.trace import Span, Status, StatusCode, TracerProvider

from blendwright.values import events
from blendwright.workspace.observing.counters import (
    COUNTS,
    LIVE_COUNTS,
    PHASES,
    RECORD_FIELDS,
    SUCCESSES,
    counts_of,
    named_ids,
)

if TYPE_CHECKING:
    from opentelemetry.sdk.metrics import MeterProvider as SdkMeterProvider
    from opentelemetry.sdk.metrics.export import MetricReader
    from opentelemetry.sdk.resources import Resource

NAME = "blendwright"
# Attributes have the names of the log fields. `_named` adds our prefix, as the OpenTelemetry conventions require.
ATTRIBUTES = RECORD_FIELDS | {"audit_sequence": "sequence"}


class _CurrentRun(threading.local):
    """The run of the current thread. Each run that waits for a person has a separate thread."""

    def __init__(self) -> None:
        self.span: Span | None = None
        self.request_id: str | None = None
        self.schedule: str | None = None


class Telemetry:
    """An observer that reports to the given providers; either may be None.

    With `ids_in_examples`, the provider must have a view for each of INSTRUMENT_LABELS. Ids then go to examples and
    make no series.
    """

    def __init__(
        self,
        tracers: TracerProvider | None = None,
        meters: MeterProvider | None = None,
        *,
        ids_in_examples: bool = False,
    ) -> None:
        if tracers is None:
            self._tracer = None
        else:
            self._tracer = tracers.get_tracer(NAME)
        if meters is None:
            self._meters = None
        else:
            self._meters = _Instruments(meters, ids_in_examples)
        self._run = _CurrentRun()

    def __call__(self, event: events.Event) -> None:
        match event:
            case events.RunStarted():
                self._started(event)
            case events.RunEnded():
                labels = {"dialect": event.report.dialect, "status": event.report.status}
                spent = event.report.timings.get("run_ms")
                self._ended(labels, spent, ok=event.report.ok)
            case events.RunBrokenOff():
                self._ended({"dialect": event.dialect, "status": "broken_off"}, None, ok=False)
            case events.Committed() | events.RolledBack():
                self._operations(event)
            case events.SceneBuilt():
                self._note("scene built", pid=event.pid, redone=event.redone, seconds=event.seconds)
            case events.WorkerTrouble():
                self._note("worker trouble", message=event.message, **named_ids(event.ids))
            case events.Quarantined():
                self._note("quarantined", reason=event.reason)
            case _:
                pass
        if self._meters is not None:
            for name, count in counts_of(event).items():
                if count:
                    self._meters.counts[name].add(count)

    def _started(self, event: events.RunStarted) -> None:
        self._run.request_id, self._run.schedule = event.request_id, event.schedule_hash
        if self._tracer is not None:
            about = {
                "gemini_request_id": event.request_id,
                "schedule_hash": event.schedule_hash,
                "dialect": event.dialect,
                "boundary": event.boundary,
                "operations": event.operations,
                "scene_hash_before": event.baseline,
            }
            self._run.span = self._tracer.start_span("run", context=Context(), attributes=dict(_named(about)))

    def _ended(self, labels: Mapping[str, str], spent_ms: float | None, *, ok: bool) -> None:
        if self._meters is not None:
            self._meters.runs.add(1, labels)
            if spent_ms is not None:
                self._meters.run_seconds.record(spent_ms / 1000, labels, _within(self._run.span))
        if self._run.span is not None:
            self._run.span.set_attributes(dict(_named({"status": labels["status"]})))
            if not ok:
                self._run.span.set_status(Status(StatusCode.ERROR, labels["status"]))
            self._run.span.end()
        self._run.span = self._run.request_id = self._run.schedule = None

    def _operations(self, event: events.Committed | events.RolledBack) -> None:
        for record, commit in zip(event.records, event.commits, strict=True):
            span = None
            schedule = None
            if record["request_id"] == self._run.request_id:
                span, schedule = self._run.span, self._run.schedule
            context = _within(span)
            if self._tracer is not None:
                context = self._span(record, commit, context, schedule)
            if self._meters is not None:
                self._meters.add(record, context)

    def _span(self, record: Mapping[str, Any], commit: int | None, context: Context, schedule: str | None) -> Context:
        assert self._tracer is not None
        ended = _ns(record["timestamp"])
        started = ended - 1000 * sum(record[field] or 0 for _, field in PHASES)
        about = {name: record[field] for name, field in ATTRIBUTES.items()}
        about |= {"commit": commit, "schedule_hash": schedule}
        span = self._tracer.start_span(
            f"operation {record['tool_name']}", context=context, attributes=dict(_named(about)), start_time=started
        )
        within = trace.set_span_in_context(span, context)
        for phase, field in PHASES:
            if record[field] is not None:
                part = self._tracer.start_span(
                    f"phase {phase}",
                    context=within,
                    attributes=dict(_named({"mcp_call_id": record["mcp_call_id"], "phase": phase})),
                    start_time=started,
                )
                started += 1000 * record[field]
                part.end(started)
        if record["status"] not in SUCCESSES:
            span.set_status(Status(StatusCode.ERROR, record["error_code"] or record["status"]))
        span.end(ended)
        return within

    def _note(self, name: str, **about: Any) -> None:
        if self._run.span is not None:
            self._run.span.add_event(name, dict(_named(about)), time_ns())


# The labels of instruments for single operations. All other fields of an operation belong on an example.
INSTRUMENT_LABELS = {
    "blendwright.operations": frozenset({"tool", "status"}),
    "blendwright.failures": frozenset({"tool", "error_code"}),
    "blendwright.operation.duration": frozenset({"tool"}),
}
EXAMPLES = "OTEL_METRICS_EXEMPLAR_FILTER"
IDS = ("gemini_request_id", "operation_id", "mcp_call_id", "blender_mutation_id")


def meter_provider(readers: Sequence[MetricReader], resource: Resource | None = None) -> SdkMeterProvider:
    """Return a provider whose examples have the ids of operations. The ids are in no label."""
    from opentelemetry.sdk.metrics import AlwaysOnExemplarFilter
    from opentelemetry.sdk.metrics import MeterProvider as SdkMeterProvider
    from opentelemetry.sdk.metrics.view import View

    views = [View(instrument_name=name, attribute_keys=set(labels)) for name, labels in INSTRUMENT_LABELS.items()]
    # The SDK's default has examples only inside traces. The user can override this choice with the variable.
    if EXAMPLES in os.environ:
        examples = None
    else:
        examples = AlwaysOnExemplarFilter()
    return SdkMeterProvider(readers, resource, examples, shutdown_on_exit=False, views=views)


class _Instruments:
    """OpenTelemetry instruments for the metrics of the Prometheus text.

    Ids are on the spans, to which the SDK links its examples, or also on the examples.
    """

    def __init__(self, provider: MeterProvider, ids_in_examples: bool) -> None:
        meter = provider.get_meter(NAME)
        if ids_in_examples:
            self._ids = IDS
        else:
            self._ids = ()
        operations, failures, seconds = INSTRUMENT_LABELS
        self.operations = meter.create_counter(operations)
        self.failures = meter.create_counter(failures)
        self.operation_seconds = meter.create_histogram(seconds, unit="s")
        self.runs = meter.create_counter("blendwright.runs")
        self.run_seconds = meter.create_histogram("blendwright.run.duration", unit="s")
        self.counts = {name: meter.create_counter(f"blendwright.{name}") for name in (*COUNTS, *LIVE_COUNTS)}

    def add(self, record: Mapping[str, Any], context: Context) -> None:
        tool = record["tool_name"]
        ids = dict(_named({name: record[RECORD_FIELDS[name]] for name in self._ids}))
        self.operations.add(1, {"tool": tool, "status": record["status"], **ids}, context)
        if record["error_code"] is not None:
            self.failures.add(1, {"tool": tool, "error_code": record["error_code"], **ids}, context)
        if record["plan_us"] is not None:
            seconds = sum(record[field] or 0 for _, field in PHASES) / 1e6
            self.operation_seconds.record(seconds, {"tool": tool, **ids}, context)


def _within(span: Span | None) -> Context:
    """Return a context with this span only.

    It never uses the context of the current thread, which may be any thread of the caller.
    """
    if span is None:
        return Context()
    return trace.set_span_in_context(span, Context())


def _named(about: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for name, value in about.items():
        if value is not None:
            yield f"{NAME}.{name}", value


def _ns(timestamp: str) -> int:
    """Return a timestamp as nanoseconds since the epoch, without the rounding of a float."""
    moment = datetime.fromisoformat(timestamp)
    return int(moment.timestamp()) * 1_000_000_000 + moment.microsecond * 1000
