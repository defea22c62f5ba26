"""One story with everything in it, told by receipts, audit, log, metrics and spans: they must agree, id by id."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from prometheus_client.openmetrics import parser as openmetrics_parser
from prometheus_client.parser import text_string_to_metric_families as parse_text

import blendwright
from blendwright.values import events
from blendwright.values.report import RunReport
from blendwright.workspace.observing.counters import count_journal
from blendwright.workspace.observing.metrics import Metrics
from blendwright.workspace.observing.telemetry import Telemetry, meter_provider
from blendwright.workspace.reading import read_journal
from support.engine.engine import TRIALS, all_tools
from support.plans.documents import box, step

Line = dict[str, Any]
# What a plan is about must not turn up in the log: it may be anything.
SECRET = "hunter2-hunter2"


@dataclass
class Story:
    """What one session left, from every side."""

    reports: dict[str, RunReport]
    audit: list[Mapping[str, Any]]
    lines: list[Line]
    spans: list[ReadableSpan]
    live: str
    openmetrics: str
    kept: str
    otel: dict[str, dict[tuple[tuple[str, Any], ...], Any]]
    examples: list[tuple[Mapping[str, Any], Mapping[str, Any]]]
    """Labels and ids of the examples of exported metrics."""
    outcome: Any
    unknown: Any

    def operations(self) -> list[Line]:
        return [line for line in self.lines if line["event"] == "operation"]

    def operation_spans(self) -> list[Mapping[str, Any]]:
        return [_plain(span) for span in self.spans if span.name.startswith("operation ")]


def _plain(span: ReadableSpan) -> dict[str, Any]:
    return {name.removeprefix("blendwright."): value for name, value in (span.attributes or {}).items()}


def _operations(request: str, *listed: dict[str, Any]) -> dict[str, Any]:
    return {"request_id": request, "operations": list(listed)}


def _trial(id: str, how: str, *waits_for: str) -> dict[str, Any]:
    return box(id, *waits_for, tool_name="trial.misbehave", args={"how": how, "name": f"trial {id}"})


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Story]:
    place = tmp_path_factory.mktemp("story") / "workspace"
    exporter, reader = InMemorySpanExporter(), InMemoryMetricReader()
    tracers, meters = TracerProvider(shutdown_on_exit=False), meter_provider([reader])
    tracers.add_span_processor(SimpleSpanProcessor(exporter))
    told: list[events.Event] = []
    made = _operations(
        "made",
        box("a", args={"kind": "cube", "name": SECRET}),
        box("b", "a"),
        box("look", "b", tool_name="scene.snapshot", args={}, safety_level="read_only"),
    )
    crashing = {
        "steps": [step("s1"), step("s2", tool={"name": "trial.misbehave", "args": {"how": "crash", "name": "x"}})]
    }
    with blendwright.open(
        place,
        spare=False,
        tools=all_tools(),
        environment=TRIALS,
        observers=[Telemetry(tracers, meters, ids_in_examples=True), told.append],
    ) as scene:
        reports = {
            "made": scene.run(made),
            "again": scene.run(made),
            "conflict": scene.run(_operations("made", box("a", args={"kind": "cube", "name": "Other"}))),
            "failed": scene.run(_operations("failed", box("c"), _trial("d", "raise", "c"), box("e", "d"))),
            "whole": scene.run(_operations("whole", box("f"), _trial("g", "raise", "f")), boundary="plan"),
            "refused": scene.run(_operations("refused", box("a", tool_name="no.such_tool"))),
            "crashed": scene.run(crashing, request_id="crashed"),
        }
        outcome = scene.outcome("object.create_empty", {"name": "Single"})
        unknown = scene.outcome("no.such_tool", {})
        live, openmetrics = scene.metrics.text(), scene.metrics.openmetrics()
    with read_journal(place) as journal:
        audit = [record.record for record in journal.audit.records(limit=10_000)]
        kept = Metrics(count_journal(journal)).text()
    lines = [json.loads(line) for line in (place / "logs" / "core.jsonl").read_text().splitlines()]
    examples: list[tuple[Mapping[str, Any], Mapping[str, Any]]] = []
    otel = _measured(reader, examples)
    meters.shutdown()
    assert isinstance(told[-1], events.WorkspaceClosed)
    yield Story(
        reports,
        audit,
        lines,
        list(exporter.get_finished_spans()),
        live,
        openmetrics,
        kept,
        otel,
        examples,
        outcome,
        unknown,
    )


def _measured(
    reader: InMemoryMetricReader, examples: list[tuple[Mapping[str, Any], Mapping[str, Any]]]
) -> dict[str, dict[tuple[tuple[str, Any], ...], Any]]:
    data: Any = reader.get_metrics_data()
    found: dict[str, dict[tuple[tuple[str, Any], ...], Any]] = {}
    for metric in data.resource_metrics[0].scope_metrics[0].metrics:
        for point in metric.data.data_points:
            count = getattr(point, "value", None)
            key = tuple(sorted(point.attributes.items()))
            examples += [
                (point.attributes, one.filtered_attributes) for one in point.exemplars if one.filtered_attributes
            ]
            found.setdefault(metric.name, {})[key] = point.count if count is None else count
    return found


def _samples(text: str, name: str) -> dict[tuple[tuple[str, str], ...], float]:
    return {
        tuple(sorted(sample.labels.items())): sample.value
        for family in parse_text(text)
        for sample in family.samples
        if sample.name == name
    }


def test_the_story_has_everything_in_it(story: Story) -> None:
    assert {name: report.status for name, report in story.reports.items()} == {
        "made": "succeeded",
        "again": "succeeded",
        "conflict": "failed",
        "failed": "failed",
        "whole": "rolled_back",
        "refused": "refused",
        "crashed": "failed",
    }
    assert {record["status"] for record in story.audit} == {"succeeded", "failed", "rolled_back", "skipped_idempotent"}


@pytest.mark.proves("OPS-CORR-02")
def test_every_invocation_has_a_call_id_that_belongs_to_one_operation(story: Story) -> None:
    operations: dict[str, set[tuple[str, str]]] = {}
    for record in story.audit:
        assert record["mcp_call_id"]
        operations.setdefault(record["mcp_call_id"], set()).add((record["request_id"], record["operation_id"]))
    assert all(len(named) == 1 for named in operations.values())
    # Only what a plan took back again is told twice under the same invocation.
    twice = [id for id, count in Counter(record["mcp_call_id"] for record in story.audit).items() if count > 1]
    assert {operations[id].copy().pop() for id in twice} == {("whole", "f")}
    for report in story.reports.values():
        for operation in report.operations:
            if operation.status in ("succeeded", "failed", "rolled_back") and report.status != "refused":
                assert (report.request_id, operation.operation_id) in operations[str(operation.mcp_call_id)]
    assert (story.outcome.request_id, "call") in operations[story.outcome.mcp_call_id]
    assert story.unknown.mcp_call_id is None and not story.unknown.ok


@pytest.mark.proves("OPS-CORR-03")
def test_every_mutation_is_logged_with_its_call_and_its_operation(story: Story) -> None:
    logged = {line["blender_mutation_id"]: line for line in story.operations() if line["status"] == "succeeded"}
    receipts = [
        operation.receipt
        for report in story.reports.values()
        for operation in report.operations
        if operation.receipt is not None and operation.status == "succeeded"
    ]
    mutations = [receipt for receipt in receipts if receipt["scene_hash_before"] != receipt["scene_hash_after"]]
    assert len(mutations) >= 4
    for receipt in mutations:
        line = logged[receipt["blender_mutation_id"]]
        for name in ("operation_id", "mcp_call_id", "scene_hash_before", "scene_hash_after", "commit"):
            assert line[name] == receipt[name]
        assert line["gemini_request_id"] == receipt["request_id"]
    assert logged[story.outcome.blender_mutation_id]["mcp_call_id"] == story.outcome.mcp_call_id
    changed = [
        record for record in story.audit if record["status"] == "succeeded" and record["tool_name"] != "workspace.new"
    ]
    for record in changed:
        assert (record["blender_mutation_id"] is None) == (record["scene_hash_before"] == record["scene_hash_after"])


@pytest.mark.proves("OPS-CORR-04", "OPS-CORR-05")
def test_log_lines_spans_and_metrics_tell_what_the_audit_tells(story: Story) -> None:
    names = ("operation_id", "mcp_call_id", "blender_mutation_id", "tool_name", "safety_level", "status", "error_code",
             "scene_hash_before", "scene_hash_after")  # fmt: skip
    told = [(record["request_id"], record["sequence"], *(record[name] for name in names)) for record in story.audit]
    assert told == [
        (line["gemini_request_id"], line["audit_sequence"], *(line[name] for name in names))
        for line in story.operations()
    ]
    assert told == [
        (span["gemini_request_id"], span["audit_sequence"], *(span.get(name) for name in names))
        for span in story.operation_spans()
    ]
    statuses = Counter((record["status"], record["tool_name"]) for record in story.audit)
    expected = {(("status", status), ("tool", tool)): count for (status, tool), count in statuses.items()}
    assert _samples(story.live, "blendwright_operations_total") == expected
    assert _samples(story.kept, "blendwright_operations_total") == expected
    assert story.otel["blendwright.operations"] == expected
    codes = Counter((record["error_code"], record["tool_name"]) for record in story.audit if record["error_code"])
    failures = {(("error_code", code), ("tool", tool)): count for (code, tool), count in codes.items()}
    assert {code for code, _ in codes} == {"IDEMPOTENCY_CONFLICT", "EXECUTION_FAILED", "WORKER_LOST"}
    assert _samples(story.live, "blendwright_failures_total") == failures
    assert _samples(story.kept, "blendwright_failures_total") == failures
    assert story.otel["blendwright.failures"] == failures


@pytest.mark.proves("OPS-CORR-04")
def test_every_log_line_has_the_ids_that_apply_to_it(story: Story) -> None:
    assert all(line["workspace"] and line["timestamp"].endswith("Z") and line["level"] for line in story.lines)
    schedules = {report.request_id: report.schedule_hash for name, report in story.reports.items() if name != "again"}
    for line in story.operations():
        planned = line["gemini_request_id"] in schedules
        assert planned == ("schedule_hash" in line)
    for name in ("run started", "run ended"):
        lines = [line for line in story.lines if line["event"] == name]
        assert all(line["gemini_request_id"] and "schedule_hash" in line for line in lines)
    by_event = {line["event"]: line for line in story.lines}
    assert by_event["worker lost"]["gemini_request_id"] == "crashed"
    assert by_event["worker lost"]["operation_id"] == "s2"
    assert by_event["worker lost"]["mcp_call_id"] == story.reports["crashed"].operations[1].mcp_call_id
    assert by_event["plan rolled back"]["gemini_request_id"] == "whole"
    assert by_event["scene rebuilt"]["pid"] != by_event["scene built"]["pid"]


def test_what_a_worker_wrote_when_a_tool_raised_is_in_the_log_under_the_same_call(story: Story) -> None:
    raised = [line for line in story.lines if line["event"] == "tool raised"]
    assert [line["operation_id"] for line in raised] == ["d", "g"]
    for line in raised:
        assert f"mcp_call_id {line['mcp_call_id']}" in "\n".join(line["worker_log"])
        assert any("Traceback" in said for said in line["worker_log"])


def test_the_log_holds_no_arguments(story: Story) -> None:
    assert story.reports["made"].operations[0].result is not None
    assert SECRET in json.dumps(story.reports["made"].to_json())
    assert SECRET not in json.dumps(story.lines)


def test_prometheus_text_has_runs_durations_workers_and_checkpoints(story: Story) -> None:
    runs = Counter((report.dialect, report.status) for report in story.reports.values())
    assert _samples(story.live, "blendwright_runs_total") == {
        (("dialect", dialect), ("status", status)): count for (dialect, status), count in runs.items()
    }
    done = [record for record in story.audit if record["plan_us"] is not None]
    assert sum(_samples(story.live, "blendwright_operation_seconds_count").values()) == len(done)
    spent = sum(record[f"{phase}_us"] or 0 for record in done for phase in ("plan", "execute", "verify"))
    assert sum(_samples(story.kept, "blendwright_phase_seconds_total").values()) == pytest.approx(spent / 1e6)
    commits = sum(1 for line in story.operations() if line["commit"] is not None and line["status"] == "succeeded")
    for text in (story.live, story.kept):
        assert _samples(text, "blendwright_commits_total") == {(): commits}
        assert _samples(text, "blendwright_rollbacks_total") == {(): 1}
    # After what the whole plan did was taken back, and after the crash.
    assert _samples(story.live, "blendwright_worker_restarts_total") == {(): 2}
    assert _samples(story.live, "blendwright_workers_lost_total") == {(): 1}
    assert _samples(story.live, "blendwright_refusals_total")[(("error_code", "TOOL_NOT_ALLOWED"),)] == 2
    assert _samples(story.kept, "blendwright_openings_total") == {(): 1}
    assert story.otel["blendwright.commits"] == {(): commits}
    assert story.otel["blendwright.rollbacks"] == {(): 1}


def test_openmetrics_examples_lead_to_calls_of_the_audit(story: Story) -> None:
    untyped: Any = openmetrics_parser
    calls = {record["mcp_call_id"]: record for record in story.audit}
    examples = [
        sample.exemplar.labels
        for family in untyped.text_string_to_metric_families(story.openmetrics)
        for sample in family.samples
        if sample.exemplar is not None
    ]
    assert len(examples) > 5
    for labels in examples:
        record = calls[labels["mcp_call_id"]]
        ids = {
            "gemini_request_id": record["request_id"],
            "operation_id": record["operation_id"],
            "blender_mutation_id": record["blender_mutation_id"],
        }
        assert {name: ids.get(name, labels["mcp_call_id"]) for name in labels} == labels
        assert sum(len(name) + len(value) for name, value in labels.items()) <= 128, "what the format allows"
    assert any({"gemini_request_id", "operation_id"} <= labels.keys() for labels in examples)
    assert any({"mcp_call_id", "blender_mutation_id"} <= labels.keys() for labels in examples)


def test_examples_of_exported_metrics_carry_all_ids_and_no_label_does(story: Story) -> None:
    calls = {record["mcp_call_id"]: record for record in story.audit}
    assert len(story.examples) > 5
    for labels, ids in story.examples:
        record = calls[ids["blendwright.mcp_call_id"]]
        assert ids["blendwright.gemini_request_id"] == record["request_id"]
        assert ids["blendwright.operation_id"] == record["operation_id"]
        assert ids.get("blendwright.blender_mutation_id") == record["blender_mutation_id"]
        assert labels.keys() <= {"tool", "status", "error_code"}


def test_spans_go_from_the_run_over_its_operations_to_their_phases(story: Story) -> None:
    spans = {span.context.span_id: span for span in story.spans if span.context is not None}
    runs = [span for span in story.spans if span.name == "run"]
    assert [_plain(span)["gemini_request_id"] for span in runs] == [
        "made",
        "made",
        "made",
        "failed",
        "whole",
        "crashed",
    ]
    assert [_plain(span)["status"] for span in runs] == [
        report.status for name, report in story.reports.items() if name != "refused"
    ]
    assert all(span.parent is None and "schedule_hash" in _plain(span) for span in runs)
    for span in story.spans:
        if span.name.startswith("operation ") and span.parent is not None:
            above = spans[span.parent.span_id]
            assert _plain(above)["gemini_request_id"] == _plain(span)["gemini_request_id"]
        elif span.name.startswith("phase "):
            assert span.parent is not None
            above = spans[span.parent.span_id]
            assert _plain(above)["mcp_call_id"] == _plain(span)["mcp_call_id"]
            assert above.start_time is not None and span.start_time is not None
            assert above.end_time is not None and span.end_time is not None
            assert above.start_time <= span.start_time <= span.end_time <= above.end_time
    single = [span for span in story.spans if _plain(span).get("mcp_call_id") == story.outcome.mcp_call_id]
    assert {span.name for span in single} >= {"operation object.create_empty", "phase execute"}


def test_an_observer_that_fails_is_left_out_and_the_work_goes_on(tmp_path: Path) -> None:
    from blendwright.workspace.observing.event_bus import EventBus

    heard: list[events.Event] = []

    def broken(event: events.Event) -> None:
        raise RuntimeError("no")

    watch = EventBus()
    watch.add(broken)
    watch.add(heard.append)
    watch(events.HeadMoved("undo", 2, 1))
    watch(events.HeadMoved("redo", 1, 2))
    assert [type(event) for event in heard] == [events.Defect, events.HeadMoved, events.HeadMoved]
    assert watch.counters.moves == {"undo": 1, "redo": 1}
