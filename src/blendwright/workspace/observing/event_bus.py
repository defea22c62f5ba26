"""Distribution of a workspace's events to its observers. The bus removes an observer that raises.

OpenTelemetry is an observer if the standard OTEL_* variables configure it, and is not loaded otherwise. It exports
over OTLP. An export never stops the work: a collector that does not answer only delays closing the workspace for a
moment.
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
# The time that closing a workspace waits for a collector.
FLUSH_SECONDS = 3.0
EXTRA = (
    "OpenTelemetry is configured by OTEL_* variables, but the extra is not installed: pip install 'blendwright[otel]'"
)


class Export:
    """An observer that sends spans, metrics or both to a collector. Its constructor loads OpenTelemetry."""

    def __init__(self, *, traces: bool, metrics: bool) -> None:
        from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
        from opentelemetry.sdk.resources import SERVICE_NAME, OTELResourceDetector, Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor

        from blendwright.workspace.observing.telemetry import NAME, Telemetry, meter_provider

        # OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES take precedence over our own name.
        resource = Resource({SERVICE_NAME: NAME}).merge(OTELResourceDetector().detect())
        self._tracers = None
        if traces:
            self._tracers = TracerProvider(resource=resource, shutdown_on_exit=False)
            self._tracers.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
        self._meters = None
        if metrics:
            readers = [PeriodicExportingMetricReader(OTLPMetricExporter())]
            self._meters = meter_provider(readers, resource)
        self._telemetry = Telemetry(self._tracers, self._meters, ids_in_examples=True)

    def __call__(self, event: events.Event) -> None:
        self._telemetry(event)
        if isinstance(event, events.WorkspaceClosed):
            # A daemon thread, because the SDK may wait for a collector longer than FLUSH_SECONDS.
            closing = threading.Thread(target=self._close, name="blendwright-otel", daemon=True)
            closing.start()
            closing.join(FLUSH_SECONDS)

    def _close(self) -> None:
        if self._tracers is not None:
            self._tracers.shutdown()
        if self._meters is not None:
            self._meters.shutdown()


def configured(environment: Mapping[str, str]) -> tuple[bool, bool]:
    """Return whether the environment asks to export traces, and whether it asks to export metrics."""
    if environment.get(DISABLED, "").strip().lower() == "true":
        return False, False
    return _is_exported(environment, "TRACES"), _is_exported(environment, "METRICS")


def installed() -> bool:
    """Return whether the SDK and the exporter are installed.

    Other packages often install the SDK without the exporter.
    """
    try:
        return all(
            find_spec(part) is not None for part in ("opentelemetry.sdk", "opentelemetry.exporter.otlp.proto.http")
        )
    except ModuleNotFoundError:  # a parent package is missing
        return False


def _is_exported(environment: Mapping[str, str], signal: str) -> bool:
    exporter = environment.get(f"OTEL_{signal}_EXPORTER", "").strip().lower()
    if exporter:
        return exporter == "otlp"
    return any(environment.get(name) for name in (ENDPOINT, f"OTEL_EXPORTER_OTLP_{signal}_ENDPOINT"))


class EventBus:
    """The observer that the engine calls.

    It passes events on to observers, which are added after the workspace is locked.
    """

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
                # An outermost place: the event has already happened, and a failing observer must not hide that.
                self._observers.remove(observer)
                self(events.Defect(error))


def open_event_bus(
    bus: EventBus, workspace: Path, observers: Iterable[events.Observer] = (), *, redact: Sequence[str] = ()
) -> None:
    """Add the log, OpenTelemetry if the environment configures it, and the observers of the caller.

    The log must not quote the values of the arguments that `redact` names.
    """
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
