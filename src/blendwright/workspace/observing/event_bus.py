"""Hands every event of one workspace to its observers, and decides who they are. An observer that raises is removed.

OpenTelemetry is one of them as the standard OTEL_* variables configure it: exports over OTLP, or nothing at all, and then nothing of it
is loaded. An export never stops the work: a collector that does not answer costs at most a moment when the workspace is closed.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path

from blendwright.values import events
from blendwright.workspace.observing.counters import EventCounters
from blendwright.workspace.observing.log import OFF, Log, shown_level

ENDPOINT = "OTEL_EXPORTER_OTLP_ENDPOINT"
DISABLED = "OTEL_SDK_DISABLED"
# How long closing a workspace may wait for a collector.
FLUSH_SECONDS = 3.0
EXTRA = (
    "OpenTelemetry is configured by OTEL_* variables, but the extra is not installed: pip install 'blendwright[otel]'"
)


class Export:
    """An observer that sends spans, metrics or both to a collector. Loads OpenTelemetry."""

    def __init__(self, *, traces: bool, metrics: bool) -> None:
        from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
        from opentelemetry.sdk.resources import SERVICE_NAME, OTELResourceDetector, Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor

        from blendwright.workspace.observing.telemetry import NAME, Telemetry, meter_provider

        # What OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES say comes before our own name.
        resource = Resource({SERVICE_NAME: NAME}).merge(OTELResourceDetector().detect())
        if traces:
            self._tracers = TracerProvider(resource=resource, shutdown_on_exit=False)
        else:
            self._tracers = None
        if self._tracers is not None:
            self._tracers.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
        if metrics:
            readers = [PeriodicExportingMetricReader(OTLPMetricExporter())]
        else:
            readers = []
        if metrics:
            self._meters = meter_provider(readers, resource)
        else:
            self._meters = None
        self._telemetry = Telemetry(self._tracers, self._meters, ids_in_examples=True)

    def __call__(self, event: events.Event) -> None:
        self._telemetry(event)
        if isinstance(event, events.WorkspaceClosed):
            # In a thread that may be left behind: the SDK waits for a collector longer than anyone wants to.
            closing = threading.Thread(target=self._close, name="blendwright-otel", daemon=True)
            closing.start()
            closing.join(FLUSH_SECONDS)

    def _close(self) -> None:
        if self._tracers is not None:
            self._tracers.shutdown()
        if self._meters is not None:
            self._meters.shutdown()


def configured(environment: Mapping[str, str]) -> tuple[bool, bool]:
    """Whether traces and metrics are to be exported."""
    if environment.get(DISABLED, "").strip().lower() == "true":
        return False, False
    return _is_exported(environment, "TRACES"), _is_exported(environment, "METRICS")


def installed() -> bool:
    """Whether all parts are there: the SDK often comes along with other packages, the exporter does not."""
    try:
        return all(
            find_spec(part) is not None for part in ("opentelemetry.sdk", "opentelemetry.exporter.otlp.proto.http")
        )
    except ModuleNotFoundError:  # a package above one of them
        return False


def _is_exported(environment: Mapping[str, str], signal: str) -> bool:
    exporter = environment.get(f"OTEL_{signal}_EXPORTER", "").strip().lower()
    if exporter:
        return exporter == "otlp"
    return any(environment.get(name) for name in (ENDPOINT, f"OTEL_EXPORTER_OTLP_{signal}_ENDPOINT"))


class EventBus:
    """The observer that the engine is given; those behind it are added once the workspace is ours."""

    def __init__(self) -> None:
        self.counters = EventCounters()
        self._observers: list[events.Observer] = [self.counters]

    def add(self, observer: events.Observer) -> None:
        self._observers.append(observer)

    def __call__(self, event: events.Event) -> None:
        for observer in tuple(self._observers):
            try:
                observer(event)
            except Exception as error:
                # An outermost place: what an event reports has happened, and no observer may make it look as if it had not.
                self._observers.remove(observer)
                self(events.Defect(error))


def open_event_bus(
    bus: EventBus, workspace: Path, observers: Iterable[events.Observer] = (), *, redact: Sequence[str] = ()
) -> None:
    """Add the observers: the log, OpenTelemetry where the environment configures it, and those of the caller.

    The log must not quote the values of the arguments that `redact` names."""
    shown = shown_level()
    if shown != OFF:
        bus.add(Log(workspace, shown=shown, redact=redact))
    for observer in observers:
        bus.add(observer)
    traces, metrics = configured(os.environ)
    if traces or metrics:
        if installed():
            bus.add(Export(traces=traces, metrics=metrics))
        else:
            bus(events.Remark(EXTRA))
