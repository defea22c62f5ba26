"""A dialect is one value in the registry: everything else works with it from there."""

from __future__ import annotations

import json
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

import blendwright
from blendwright.cli.run import run
from blendwright.cli.validate import validate
from blendwright.dialects import operations, registry
from blendwright.dialects.dialect import Dialect, ParsedDocument
from blendwright.values.errors import Refusal
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding
from blendwright.values.macro_report import reports_by_caller
from blendwright.values.plan import Operation, Places
from blendwright.values.report import RunReport

PLACES = Places(id="", tool="", args="", depends_on="", safety_level="")


def parse_document(document: Any) -> ParsedDocument:
    """Empties by name, one after the other."""
    names = document.get("empties") if isinstance(document, dict) else None  # type: ignore[misc]
    if not isinstance(names, list):
        return ParsedDocument((), (Finding(Fault.SCHEMA_INVALID, "no list", "/empties", "Give a list of names."),))
    listed = [
        Operation(f"empty{place}", "object.create_empty", {"name": name}, (), None, place, f"/empties/{place}", PLACES)
        for place, name in enumerate(names)  # type: ignore[misc]
    ]
    return ParsedDocument(tuple(listed))


def render(report: RunReport) -> dict[str, Any]:
    return {"made": [one.operation_id for one in reports_by_caller(report.operations) if one.done], "ok": report.ok}


EMPTIES = Dialect(
    name="empties",
    form="'empties'",
    recognises=lambda keys: "empties" in keys,
    parse_document=parse_document,
    render=render,
    tie_break="position",
    on_failure="stop",
    conclusion=lambda result: [("good", "made:", ", ".join(result["made"]))],
)


@pytest.fixture(autouse=True)
def empties() -> Generator[None]:
    registry.register(EMPTIES)
    yield
    registry.unregister(EMPTIES.name)


def test_a_registered_dialect_is_recognised_named_and_read() -> None:
    assert registry.names()[-1] == "empties"
    plan = registry.read_plan(b'{"empties": ["A", "B"]}')
    assert (plan.dialect, len(plan.operations), len(plan.request_id)) == ("empties", 2, 64)
    assert registry.read_plan(b'{"empties": []}', dialect="empties", request_id="mine").request_id == "mine"
    finding = registry.recognise({})
    assert isinstance(finding, Finding) and "'empties' (empties)" in (finding.cure or "")
    with pytest.raises(Refusal, match="more than once"):
        registry.read_plan(b'{"empties": [], "empties": []}')
    (wrong,) = registry.parse_plan({"empties": [2**60]}).findings
    assert wrong.pointer == "/empties/0"
    assert registry.parse_plan([], dialect="empties").findings, "what is no object is refused, not raised"


def test_a_name_stands_for_one_dialect() -> None:
    with pytest.raises(ValueError, match="operations"):
        registry.register(operations.DIALECT)


def test_a_plan_in_a_registered_dialect_runs_from_the_api_and_from_the_command_line(
    tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    document = {"empties": ["A", "B"]}
    workspace = tmp_path / "workspace"
    with blendwright.open(workspace, spare=False) as scene:
        report = scene.run(document)
        assert registry.render(report) == {"made": ["empty0", "empty1"], "ok": True}
        assert scene.run({"empties": 5}).status == "refused"
    file = tmp_path / "plan.json"
    file.write_text(json.dumps(document))
    assert validate(str(file), workspace=str(workspace), json=True) == 0
    assert json.loads(capfdbinary.readouterr().out)["dialect"] == "empties"
    assert run(str(file), workspace=str(workspace), json=True) == 0
    printed = json.loads(capfdbinary.readouterr().out)
    assert (printed["dialect"], printed["result"]["made"]) == ("empties", ["empty0", "empty1"])
    assert {one["status"] for one in printed["report"]["operations"]} == {"skipped_idempotent"}
    assert run(str(file), workspace=str(workspace)) == 0
    assert b"made: empty0, empty1" in capfdbinary.readouterr().out
