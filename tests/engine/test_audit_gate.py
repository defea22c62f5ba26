"""An audit as a gate of a plan: what does not pass takes the plan back, and the repairs that an audit names are a plan that passes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import blendwright
from blendwright.values.approval import Approver
from blendwright.values.faults import Fault

CLEANUP = Path(__file__).parents[2] / "examples" / "cleanup"


def plan(request_id: str, *calls: tuple[str, dict[str, Any]], safety_level: str = "safe_write") -> dict[str, Any]:
    operations: list[dict[str, Any]] = []
    for number, (tool, args) in enumerate(calls):
        before = [operations[-1]["operation_id"]] if operations else []
        level = "read_only" if tool == "scene.audit" else safety_level
        operations.append(
            {
                "operation_id": f"op{number:02}",
                "tool_name": tool,
                "args": args,
                "depends_on": before,
                "safety_level": level,
            }
        )
    return {"request_id": request_id, "operations": operations}


def test_a_plan_that_does_not_pass_its_audit_is_taken_back_and_the_repairs_that_it_names_run_as_they_are(
    tmp_path: Path,
) -> None:
    crate = ("mesh.create_primitive", {"kind": "cube", "name": "Crate", "location": [0, 0, 1]})
    high = ("mesh.create_primitive", {"kind": "cube", "name": "High", "size": 1, "location": [0, 0, 5]})
    gate = ("scene.audit", {"require": "warning"})
    with blendwright.open(tmp_path / "workspace", spare=False) as scene:
        before = scene.call("scene.snapshot").result
        report = scene.run(plan("gate", crate, high, gate), boundary="plan")
        assert not report.ok
        findings = [finding for finding in report.all_findings() if finding.rule]
        assert [finding.rule for finding in findings] == ["floating", "no_camera", "no_light"]
        assert {finding.fault for finding in findings} == {Fault.VERIFICATION_FAILED}
        assert scene.call("scene.snapshot").result == before, "the plan left something behind"

        assert scene.run(plan("messy", crate, high)).ok
        audited = scene.call("scene.audit").result
        assert audited is not None and audited["warnings"] == 3
        repairs = [(call["tool"], call["args"]) for found in audited["findings"] for call in found["repair"]]
        assert scene.run(plan("mended", *repairs, gate), boundary="plan").ok


def test_the_messy_example_is_mended_by_what_its_audit_names(tmp_path: Path) -> None:
    messy, mended = (json.loads((CLEANUP / f"{name}_scene.json").read_text()) for name in ("messy", "mended"))
    granted = Approver(grants=frozenset({"destructive"}))
    with blendwright.open(tmp_path / "workspace", spare=False, approver=granted) as scene:
        report = scene.run(messy)
        assert report.ok
        audited = report.operations[-1].result
        assert audited is not None and (audited["errors"], audited["warnings"], audited["infos"]) == (2, 6, 4)
        named = {json.dumps([call["tool"], call["args"]]) for found in audited["findings"] for call in found["repair"]}
        *repairs, world, rename, gate = mended["operations"]
        assert {json.dumps([one["tool_name"], one["args"]]) for one in repairs} == named
        assert (world["tool_name"], rename["tool_name"]) == ("scene.set_world", "object.rename")
        assert gate["args"]["require"] == "info"
        result = scene.run(mended, boundary="plan")
        assert result.ok, list(result.all_findings())
        passed = result.operations[-1].result
        assert passed is not None and passed["rules"] == []
