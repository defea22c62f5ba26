"""OpenTelemetry as the standard OTEL_* variables configure it: exports over OTLP, or nothing at all.

Without those variables nothing of it is loaded. An export never stops the work: a collector that does not answer costs
at most a moment when the workspace is closed.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING

from blendwright.values import events

if TYPE_CHECKING:
    from opentelemetry.sdk.metrics import MeterProvider
    from opentelemetry.sdk.metrics.export import MetricReader
    from opentelemetry.sdk.resources import Resource

ENDPOINT = "OTEL_EXPORTER_OTLP_ENDPOINT"
DISABLED = "OTEL_SDK_DISABLED"
EXAMPLES = "OTEL_METRICS_EXEMPLAR_FILTER"
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

        from blendwright.app.observing.telemetry import NAME, Telemetry

        # What OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES say comes before our own name.
        resource = Resource({SERVICE_NAME: NAME}).merge(OTELResourceDetector().detect())
        self._tracers = TracerProvider(resource=resource, shutdown_on_exit=False) if traces else None
        if self._tracers is not None:
            self._tracers.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
        readers = [PeriodicExportingMetricReader(OTLPMetricExporter())] if metrics else []
        self._meters = meter_provider(readers, resource) if metrics else None
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


def meter_provider(readers: Sequence[MetricReader], resource: Resource | None = None) -> MeterProvider:
    """One whose examples carry the ids of operations, which are in no label."""
    from opentelemetry.sdk.metrics import AlwaysOnExemplarFilter, MeterProvider
    from opentelemetry.sdk.metrics.view import View

    from blendwright.app.observing.telemetry import INSTRUMENT_LABELS

    views = [View(instrument_name=name, attribute_keys=set(labels)) for name, labels in INSTRUMENT_LABELS.items()]
    # The SDK's own default has examples only where there are traces; who sets the variable decides.
    examples = None if EXAMPLES in os.environ else AlwaysOnExemplarFilter()
    return MeterProvider(readers, resource, examples, shutdown_on_exit=False, views=views)


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
