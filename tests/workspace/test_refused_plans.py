"""Plans that are wrong, given to an open workspace: they are refused whole, before anything runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import blendwright
from blendwright.dialects import steps
from blendwright.values.report import RunReport
from support.plans.documents import box, step

WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "an unknown field": (box("b", colour="red"), "SCHEMA_INVALID"),
    "a missing dependency": (box("b", "nobody"), "DEPENDENCY_MISSING"),
    "a cycle": (box("b", "b"), "GRAPH_CYCLE"),
    "an unknown tool": (box("b", tool_name="no.such"), "TOOL_NOT_ALLOWED"),
    "a wrong argument": (box("b", args={"kind": "cub"}), "ARGS_INVALID"),
}


def run(place: Path, *listed: dict[str, Any]) -> RunReport:
    return run_document(place, {"request_id": "wrong", "operations": list(listed)})


def run_document(place: Path, document: dict[str, Any]) -> RunReport:
    with blendwright.open(place, spare=False) as scene:
        report = scene.run(document, request_id="wrong")
        records = [record.record for record in scene.journal.audit.records(limit=10)]
        assert all(record["request_id"] != "wrong" for record in records), "something of it was tried"
    return report


@pytest.mark.proves("OPS-SCHEMA-05")
@pytest.mark.parametrize("case", WRONG)
def test_a_plan_with_one_thing_wrong_in_it_runs_nothing(tmp_path: Path, case: str) -> None:
    operation, code = WRONG[case]
    report = run(tmp_path / "workspace", box("a"), operation)
    assert report.status == "refused" and {finding.fault.value for finding in report.all_findings()} == {code}
    assert {operation.status for operation in report.operations} <= {"refused", "skipped"}


@pytest.mark.proves("OPS-TOOL-02")
def test_a_plan_with_a_tool_that_the_policy_denies_runs_nothing(tmp_path: Path) -> None:
    place = tmp_path / "workspace"
    place.mkdir()
    (place / "blendwright.toml").write_text('[policy.levels]\ndestructive = "deny"\n')
    delete = box("b", "a", tool_name="object.delete", args={"name": "Box a"}, safety_level="destructive")
    report = run(place, box("a"), delete)
    assert report.status == "refused"
    assert [(finding.rule, finding.pointer) for finding in report.all_findings()] == [("level_denied", "/operations/1")]


@pytest.mark.proves("STEPS-SEM-01")
def test_a_payload_in_which_a_step_waits_for_nothing_known_runs_nothing(tmp_path: Path) -> None:
    report = run_document(tmp_path / "workspace", {"steps": [step("a"), step("b", "nobody")]})
    assert report.status == "refused"
    result = steps.render(report)
    assert result is not None and result[-1]["task_status"] == "BLOCKED"
    assert [entry["skipped"] for entry in result[:-1]] == [True, True]


@pytest.mark.proves("STEPS-VALID-05")
def test_a_malformed_payload_runs_nothing(tmp_path: Path) -> None:
    report = run_document(tmp_path / "workspace", {"steps": [step("a"), step("b", colour="red")]})
    assert report.status == "refused" and [finding.pointer for finding in report.all_findings()] == ["/steps/1/colour"]
