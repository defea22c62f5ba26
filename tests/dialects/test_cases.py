"""The regression cases under tests/cases: each document is judged as it was when the contract's version was published."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from blendwright.dialects import operations, steps
from blendwright.schemas.published import schema
from blendwright.values.findings import Finding
from blendwright.values.json_reader import read_json
from plans import findings

CASES = Path(__file__).parent.parent / "cases"


def judged(kind: str, document: Any) -> tuple[Finding, ...]:
    if kind == "steps/result":
        return steps.validate_result(document)
    if kind == "steps/payload":
        return steps.validate_payload(document)
    return findings(operations.DIALECT.parse(document))


def of(kind: str, verdict: str) -> list[Any]:
    paths = sorted(path for path in (CASES / kind / verdict).glob("*.json") if ".expected" not in path.name)
    assert paths
    return [pytest.param(kind, path, id=f"{kind}/{path.stem}") for path in paths]


@pytest.mark.proves("OPS-SCHEMA-01", "STEPS-PAYLOAD-01", "STEPS-PAYLOAD-02", "STEPS-RESULT-01")
@pytest.mark.parametrize(
    ("kind", "path"), [*of("operations", "valid"), *of("steps/payload", "valid"), *of("steps/result", "valid")]
)
def test_what_keeps_to_the_contract_has_no_findings(kind: str, path: Path) -> None:
    document, found = read_json(path.read_bytes())
    assert not found
    assert judged(kind, document) == ()


@pytest.mark.proves(
    "OPS-SCHEMA-01",
    "OPS-SCHEMA-02",
    "OPS-SCHEMA-03",
    "STEPS-PAYLOAD-01",
    "STEPS-PAYLOAD-02",
    "STEPS-PAYLOAD-03",
    "STEPS-PAYLOAD-04",
    "STEPS-PAYLOAD-05",
    "STEPS-PAYLOAD-06",
    "STEPS-PAYLOAD-07",
    "STEPS-RESULT-01",
    "STEPS-RESULT-02",
    "STEPS-RESULT-03",
    "STEPS-RESULT-04",
    "STEPS-META-01",
    "STEPS-META-02",
    "STEPS-META-03",
    "STEPS-META-05",
    "STEPS-VERSION-01",
    "OPS-FIELD-01",
    "OPS-FIELD-02",
    "OPS-FIELD-03",
    "OPS-FIELD-04",
    "OPS-FIELD-05",
    "OPS-FIELD-06",
    "OPS-FIELD-07",
    "STEPS-VERSION-02",
)
@pytest.mark.parametrize(
    ("kind", "path"), [*of("operations", "invalid"), *of("steps/payload", "invalid"), *of("steps/result", "invalid")]
)
def test_what_breaks_the_contract_has_exactly_the_findings_it_had(kind: str, path: Path) -> None:
    document, found = read_json(path.read_bytes())
    assert not found
    expected = json.loads(path.with_suffix(".expected.json").read_text())
    found = judged(kind, document)
    assert [{"code": finding.fault.value, "pointer": finding.pointer} for finding in found] == expected
    assert all(finding.message and finding.cure for finding in found)


@pytest.mark.proves("STEPS-VERSION-01")
def test_the_published_schemas_carry_the_contract_version() -> None:
    for name in ("steps_payload.v1", "steps.v1"):
        assert schema(name)["title"].endswith(f" {steps.CONTRACT_VERSION}")
    assert steps.CONTRACT_VERSION.split(".")[0] == "1"


@pytest.mark.proves("OPS-SCHEMA-02")
def test_the_planner_schema_is_closed_at_every_level_but_the_arguments() -> None:
    planner = schema("planner_operations.v1")
    operation = planner["properties"]["operations"]["items"]
    assert planner["additionalProperties"] is False and operation["additionalProperties"] is False
    assert operation["properties"]["args"]["additionalProperties"] is True
    assert planner["$schema"].endswith("2020-12/schema")
    assert operation["required"] == ["operation_id", "tool_name", "args", "depends_on", "safety_level"]


@pytest.mark.proves("OPS-VERSION-01")
def test_every_schema_is_published_under_its_version() -> None:
    for name in (
        "planner_operations.v1",
        "operations_result.v1",
        "failure_payload.v1",
        "steps_payload.v1",
        "steps.v1",
    ):
        assert schema(name)["$id"] == f"https://blendwright.dev/schemas/{name.replace('_', '-')}.json"
