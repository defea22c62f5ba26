"""The regression cases under tests/cases, for tests that name each of them: a document is judged as it was when the contract's version was
published."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from blendwright.dialects import operations, steps
from blendwright.schemas.json_reader import read_json
from blendwright.values.findings import Finding
from support.plans.documents import findings

CASES = Path(__file__).parent.parent / "cases"
OPERATIONS, PAYLOAD, RESULT = "operations", "steps/payload", "steps/result"
# What tests name; a file that none of them names is judged by nobody.
NAMED: set[Path] = set()


def valid(kind: str, *names: str) -> pytest.MarkDecorator:
    return _each(kind, "valid", names)


def invalid(kind: str, *names: str) -> pytest.MarkDecorator:
    return _each(kind, "invalid", names)


def _each(kind: str, verdict: str, names: tuple[str, ...]) -> pytest.MarkDecorator:
    paths = [CASES / kind / verdict / f"{name}.json" for name in names]
    NAMED.update(paths)
    return pytest.mark.parametrize("case", [pytest.param((kind, path), id=path.stem) for path in paths])


Case = tuple[str, Path]


def judged(case: Case) -> tuple[Finding, ...]:
    kind, path = case
    document, found = read_json(path.read_bytes())
    assert not found
    if kind == RESULT:
        return steps.validate_result(document)
    if kind == PAYLOAD:
        return steps.validate_payload(document)
    return findings(operations.DIALECT.parse(document))


def has_exactly_the_findings_it_had(case: Case) -> None:
    expected = json.loads(case[1].with_suffix(".expected.json").read_text())
    found = judged(case)
    assert [{"code": finding.fault.value, "pointer": finding.pointer} for finding in found] == expected
    assert expected and all(finding.message and finding.cure for finding in found)


def assert_all_are_named(*kinds: str) -> None:
    """Every file under these directories is a case that some test names, or what is expected of one."""
    there = {path for kind in kinds for path in (CASES / kind).rglob("*.json")}
    named = {path for path in NAMED if any(path.is_relative_to(CASES / kind) for kind in kinds)}
    documents = {path for path in there if ".expected" not in path.name}
    expected = {path.with_suffix(".expected.json") for path in named if path.parent.name == "invalid"}
    assert documents == named
    assert there - documents == expected
