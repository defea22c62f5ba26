"""The common report of a run."""

from __future__ import annotations

import orjson
import pytest

from blendwright.values.faults import Fault
from blendwright.values.findings import Finding
from blendwright.values.report import OperationReport, Repair, RunReport


def test_a_report_is_json_with_everything_in_it() -> None:
    finding = Finding(Fault.EXECUTION_FAILED, "it broke", "/operations/0")
    failed = OperationReport(
        "a", "t", "rolled_back", 0, fault=Fault.EXECUTION_FAILED, findings=(finding,), result={"n": 1}
    )
    whole = Finding(Fault.CANCELLED, "stopped")
    report = RunReport("operations", "r", "failed", (failed,), findings=(whole,), repair=(Repair("a", "retry"),))
    data = orjson.loads(orjson.dumps(report.to_json()))
    assert data["operations"][0]["status"] == "rolled_back" and data["operations"][0]["fault"] == "EXECUTION_FAILED"
    assert data["repair"] == [{"operation_id": "a", "action": "retry"}]
    assert list(report.all_findings()) == [whole, finding] and not report.ok


def test_a_success_has_nothing_to_find_fault_with() -> None:
    with pytest.raises(ValueError, match="has not succeeded"):
        RunReport("steps", "r", "succeeded", (), findings=(Finding(Fault.CANCELLED, "stopped"),))
