"""OpenTelemetry as the environment configures it, against a collector that speaks HTTP."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.abc import MetaPathFinder
from pathlib import Path

import pytest

from blendwright.values import events
from blendwright.workspace.observing import event_bus
from blendwright.workspace.observing.event_bus import EXTRA, EventBus, Export, configured, open_event_bus

RECORD = {
    "timestamp": "2026-01-01T00:00:00.000000Z", "request_id": "r", "operation_id": "a", "mcp_call_id": "c" * 32,
    "blender_mutation_id": "m" * 32, "tool_name": "object.create_empty", "safety_level": "safe_write", "status": "succeeded",
    "scene_hash_before": "one", "scene_hash_after": "two", "error_code": None, "plan_us": 10, "execute_us": 20,
    "verify_us": 30, "sequence": 1, "prev": "x",
}  # fmt: skip


class Collector(ThreadingHTTPServer):
    """Keeps what is posted, by path."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.posted: dict[str, bytes] = {}
        self.may_answer = threading.Event()
        self.may_answer.set()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        assert isinstance(self.server, Collector)
        self.server.posted[self.path] = self.server.posted.get(self.path, b"") + body
        assert self.server.may_answer.wait(60)
        self.send_response(200)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def collector() -> Iterator[Collector]:
    with Collector() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def test_spans_and_metrics_reach_the_collector_of_the_environment(
    collector: Collector, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url)
    monkeypatch.setenv("OTEL_SERVICE_NAME", "workshop")
    export = Export(traces=True, metrics=True)
    export(events.Committed([RECORD], [1]))
    export(events.WorkspaceClosed())
    assert set(collector.posted) == {"/v1/traces", "/v1/metrics"}
    for id in (RECORD["mcp_call_id"], RECORD["blender_mutation_id"], "workshop"):
        assert str(id).encode() in collector.posted["/v1/traces"]
    assert b"blendwright.operation.duration" in collector.posted["/v1/metrics"]


def test_a_collector_that_never_answers_is_not_waited_for(
    collector: Collector, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(event_bus, "FLUSH_SECONDS", 0.05)
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url)
    collector.may_answer.clear()
    export = Export(traces=True, metrics=True)
    export(events.Committed([RECORD], [1]))
    export(events.WorkspaceClosed())
    [closing] = [thread for thread in threading.enumerate() if thread.name == "blendwright-otel"]
    assert closing.is_alive(), "the workspace was closed while the collector still owed its answer"
    collector.may_answer.set()
    closing.join()


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({}, (False, False)),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://there"}, (True, True)),
        ({"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://there"}, (True, False)),
        ({"OTEL_METRICS_EXPORTER": "otlp"}, (False, True)),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://there", "OTEL_TRACES_EXPORTER": "none"}, (False, True)),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://there", "OTEL_SDK_DISABLED": "true"}, (False, False)),
    ],
)
def test_nothing_is_exported_unless_the_environment_says_so(
    environment: dict[str, str], expected: tuple[bool, bool]
) -> None:
    assert configured(environment) == expected


@pytest.mark.parametrize("missing", ["opentelemetry.sdk", "opentelemetry.exporter.otlp"])
def test_without_all_its_parts_it_is_not_installed_and_a_remark_says_what_to_do(
    missing: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1")
    monkeypatch.setattr(sys, "meta_path", [_Without(missing), *sys.meta_path])
    for name in [name for name in sys.modules if name == missing or name.startswith(f"{missing}.")]:
        monkeypatch.delitem(sys.modules, name)
    told: list[events.Event] = []
    open_event_bus(EventBus(), tmp_path, [told.append])
    assert [event.message for event in told if isinstance(event, events.Remark)] == [EXTRA]


class _Without(MetaPathFinder):
    """An installation without one package."""

    def __init__(self, missing: str) -> None:
        self._missing = missing

    def find_spec(self, fullname: str, path: object, target: object = None) -> None:
        if fullname == self._missing or fullname.startswith(f"{self._missing}."):
            raise ModuleNotFoundError(f"No module named '{fullname}'", name=fullname)
